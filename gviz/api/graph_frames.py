"""The tables of one graph: nodes with their names and times, edges, launches, spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields

from gviz.api.frame import Frame, Kind, table_kinds, without
from gviz.api.recorded_graph import GraphSpans, RecordedGraph
from gviz.cuda import node_type_name
from gviz.model import GraphTree, read_statistics, state_of
from gviz.recording import EdgeArrays, LaunchArrays, rows, table_of

_STATISTICS: Mapping[str, Kind] = {
    "count": "INTEGER", "median_ns": "REAL", "p5_ns": "REAL", "p95_ns": "REAL",
    "min_ns": "INTEGER", "max_ns": "INTEGER", "total_ns": "INTEGER",
}  # fmt: skip
_NODES: Mapping[str, Kind] = {
    **table_kinds(table_of(rows.Node)),
    "kind": "TEXT", "kernel": "TEXT", "nvtx_path": "TEXT", "nvtx_path_how": "TEXT",
    "forward_node_id": "INTEGER", "forward_how": "TEXT",
    **_STATISTICS,
}  # fmt: skip


#: How what is known of autograd's nodes is known: as the inspector says it.
_SEQUENCE, _NEXT, _BY_TIME = "autograd: sequence", "autograd: next in sequence", "by time"


def _integers(arrays: type) -> dict[str, Kind]:
    return {field.name: "INTEGER" for field in fields(arrays)}


#: The columns of each table, and their types.
KINDS: Mapping[str, Mapping[str, Kind]] = {
    "nodes": _NODES,
    "edges": _integers(EdgeArrays),
    "launches": {**_integers(LaunchArrays), "state": "TEXT"},
    "spans": _integers(GraphSpans),
}


def _nodes(graph: RecordedGraph) -> Frame:
    tree, part = graph.tree, graph.tree.levels[0].part
    nodes = tree.nodes[part]
    functions = graph.recording.fetch_functions(graph.row.run_id)
    kernels = [functions.get(number or 0) for number in nodes.listed("function_id")]
    times = read_statistics(graph.recording, tree, tuple(_STATISTICS))
    known = {"graph_id": [graph.row.graph_id] * len(nodes)}
    columns = {
        name: known[name] if name in known else nodes.listed(name)
        for name in table_kinds(table_of(rows.Node))
    }
    columns["kind"] = [node_type_name(number) for number in nodes.listed("type")]
    columns["kernel"] = [None if kernel is None else kernel.name for kernel in kernels]
    columns["nvtx_path"] = [tree.nvtx.get(path or 0) for path in nodes.listed("nvtx_path_id")]
    columns |= _origins(tree, part)
    columns |= {name: times.listed(name)[part] for name in _STATISTICS}
    return Frame(_NODES, columns)


def _origins(tree: GraphTree, part: slice) -> dict[str, list[int | str | None]]:
    """Return how ranges are known that are not a node's own, and autograd's forward operations."""
    of_forward, of_capture = tree.has_range_of_forward[part], tree.has_range_of_capture[part]
    hows = zip(of_forward.tolist(), of_capture.tolist(), strict=True)
    ids = tree.nodes.listed("node_id")
    # The level is the tree's first: an operation in a body has no id here.
    forward = [f if f < part.stop else -1 for f in tree.operations.forward[part].tolist()]
    exact = tree.operations.is_exact[part].tolist()
    return {
        "nvtx_path_how": [
            _SEQUENCE if by_forward else _BY_TIME if by_capture else None
            for by_forward, by_capture in hows
        ],
        "forward_node_id": [ids[f] if f >= 0 else None for f in forward],
        "forward_how": [
            None if f < 0 else _SEQUENCE if equal else _NEXT
            for f, equal in zip(forward, exact, strict=True)
        ],
    }


def _edges(graph: RecordedGraph) -> Frame:
    edges = graph.edges
    columns = {name: () if edges is None else getattr(edges, name) for name in KINDS["edges"]}
    return Frame(KINDS["edges"], columns)


def _launches(graph: RecordedGraph) -> Frame:
    found = graph.launches
    columns = {name: without(getattr(found, name), -1) for name in _integers(LaunchArrays)}
    runs = {run.run_id: run for run in graph.recording.fetch_runs()}
    run = runs[graph.row.run_id]
    states = [state_of(run, node_times=recorded) for recorded in (False, True)]
    columns["state"] = [states[level > 0].value for level in found.node_level.tolist()]
    return Frame(KINDS["launches"], columns)


def _spans(graph: RecordedGraph) -> Frame:
    found = graph.spans
    return Frame(KINDS["spans"], {name: getattr(found, name) for name in KINDS["spans"]})


#: Makes each of the tables.
FRAMES: Mapping[str, Callable[[RecordedGraph], Frame]] = {
    "nodes": _nodes,
    "edges": _edges,
    "launches": _launches,
    "spans": _spans,
}
