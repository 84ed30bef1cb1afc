"""Memory that graphs allocate: which node frees it, and what each device held for it."""

from __future__ import annotations

import numpy as np

from gviz.cuda import NodeType
from gviz.recording import rows
from gviz.runs import Rows, blank_rows, integers
from gviz.spool.folding.graphs import FAILED_CAPTURE, FAILED_INSTANTIATION, Graphs
from gviz.spool.streams import Contents
from gviz.stats import UNKNOWN, IntArray

FREED_IN_GRAPH = "in the same graph"
FREED_IN_OTHER = "in another graph"
NOT_FREED = "not while gviz watched"


def build_allocations(graphs: Graphs, contents: Contents) -> Rows:
    """Return each alloc node's memory and what frees it, as columns of rows.Allocation.

    Graphs of which no executable could be made allocate nothing.
    A free node of the same top-level graph comes first, then the first of another graph, then
    a call of the program. What nothing of these frees is freed by the next launch (an
    executable instantiated with AUTO_FREE_ON_LAUNCH), outside the recording, or never.
    """
    allocs, alloc_tops = _with_address(graphs, NodeType.MEM_ALLOC)
    frees, free_tops = _with_address(graphs, NodeType.MEM_FREE)
    address = allocs["destination_address"]
    free_address = frees["destination_address"]
    own = _first((free_tops, free_address), (alloc_tops, address))
    place = np.where(own != UNKNOWN, own, _first((free_address,), (address,)))
    return blank_rows(
        rows.Allocation,
        len(allocs),
        graph_id=allocs["graph_id"],
        node_id=allocs["node_id"],
        address=address,
        bytes=np.maximum(allocs["bytes"], 0),
        device_id=allocs["device_id"],
        # The last place stands for no free node at all.
        free_graph_id=np.append(frees["graph_id"], UNKNOWN)[place],
        free_node_id=np.append(frees["node_id"], UNKNOWN)[place],
        freed=[
            FREED_IN_GRAPH
            if own_place != UNKNOWN
            else FREED_IN_OTHER
            if any_place != UNKNOWN
            else _freed_by_call(contents, one)
            for own_place, any_place, one in zip(
                own.tolist(), place.tolist(), address.tolist(), strict=True
            )
        ],
    )


def _with_address(graphs: Graphs, kind: NodeType) -> tuple[Rows, IntArray]:
    """Return the nodes of a type whose address is known, and the top-level graph of each."""
    nodes, tops = [blank_rows(rows.Node, 0)], [np.zeros(0, np.int64)]
    for graph_id, level in graphs.levels.items():
        top_id = graphs.top_id(graph_id)
        if graphs.levels[top_id].row.origin in (FAILED_CAPTURE, FAILED_INSTANTIATION):
            continue
        is_known = level.nodes["destination_address"] != UNKNOWN
        nodes.append(level.nodes[is_known & (level.nodes["type"] == kind)])
        tops.append(np.full(len(nodes[-1]), top_id))
    return np.concatenate(nodes), np.concatenate(tops)


def _first(keys: tuple[IntArray, ...], wanted: tuple[IntArray, ...]) -> IntArray:
    """Return the place of the first row with each of the wanted keys; UNKNOWN: there is none."""
    places: dict[tuple[int, ...], int] = {}
    for place, key in enumerate(zip(*(column.tolist() for column in keys), strict=True)):
        places.setdefault(key, place)
    return integers(
        places.get(key, UNKNOWN)
        for key in zip(*(column.tolist() for column in wanted), strict=True)
    )


def _freed_by_call(contents: Contents, address: int) -> str:
    call = contents.freed.get(address)
    return NOT_FREED if call is None else f"by {contents.call_names.get(call, 'the program')}"


def build_graph_memory(contents: Contents, run_id: int) -> Rows:
    """Return the samples of each device's graph memory, as columns of rows.GraphMemory."""
    samples = {(s.device_id, s.time_ns): s for s in contents.graph_memory}.values()
    return blank_rows(
        rows.GraphMemory,
        len(samples),
        run_id=run_id,
        device_id=integers(sample.device_id for sample in samples),
        time_ns=integers(sample.time_ns for sample in samples),
        used_bytes=integers(sample.used for sample in samples),
        used_high_bytes=integers(sample.used_high for sample in samples),
        reserved_bytes=integers(sample.reserved for sample in samples),
        reserved_high_bytes=integers(sample.reserved_high for sample in samples),
    )
