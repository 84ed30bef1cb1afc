"""The tables of one graph: nodes with their names and times, edges, launches, spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields

from gviz.api.frame import Frame, Kind, from_rows, table_kinds, without
from gviz.api.recorded_graph import RecordedGraph
from gviz.cuda import node_type_name
from gviz.model import nvtx_texts
from gviz.recording import EdgeArrays, LaunchArrays, SpanArrays, rows, table_of

_STATISTICS: Mapping[str, Kind] = {
    "count": "INTEGER", "median_ns": "REAL", "p5_ns": "REAL", "p95_ns": "REAL",
    "min_ns": "INTEGER", "max_ns": "INTEGER", "total_ns": "INTEGER",
}  # fmt: skip
_NODES: Mapping[str, Kind] = {
    **table_kinds(table_of(rows.Node)),
    "kind": "TEXT", "kernel": "TEXT", "nvtx_path": "TEXT",
    **_STATISTICS,
}  # fmt: skip


def _integers(arrays: type) -> dict[str, Kind]:
    return {field.name: "INTEGER" for field in fields(arrays)}


#: The columns of each table, and their types.
KINDS: Mapping[str, Mapping[str, Kind]] = {
    "nodes": _NODES,
    "edges": _integers(EdgeArrays),
    "launches": _integers(LaunchArrays),
    "spans": _integers(SpanArrays),
}


def _nodes(graph: RecordedGraph) -> Frame:
    recording, row = graph.recording, graph.row
    functions = recording.fetch_functions(row.run_id)
    paths = nvtx_texts(recording.fetch_nvtx_paths(row.run_id))
    times = {
        t.node_id: t for t in recording.fetch_statistics(row.graph_id) if t.graph_id == row.graph_id
    }
    names = tuple(table_kinds(table_of(rows.Node)))
    found = []
    for node in graph.nodes:
        function = functions.get(node.function_id or 0)
        time = times.get(node.node_id)
        found.append(
            (
                *(getattr(node, name) for name in names),
                node_type_name(node.type),
                None if function is None else function.name,
                paths.get(node.nvtx_path_id or 0),
                *(None if time is None else getattr(time, name) for name in _STATISTICS),
            )
        )
    return from_rows(_NODES, found)


def _edges(graph: RecordedGraph) -> Frame:
    edges = graph.edges
    columns = {name: () if edges is None else getattr(edges, name) for name in KINDS["edges"]}
    return Frame(KINDS["edges"], columns)


def _launches(graph: RecordedGraph) -> Frame:
    found = graph.launches
    columns = {name: without(getattr(found, name), -1) for name in KINDS["launches"]}
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
