"""Memory that graphs allocate: which node frees it, and what each device held for it."""

from __future__ import annotations

from gviz.cuda import NodeType
from gviz.recording import rows
from gviz.runs import Rows
from gviz.spool.folding.graphs import (
    FAILED_CAPTURE,
    FAILED_INSTANTIATION,
    FoldedGraph,
    Graphs,
)
from gviz.spool.streams import Contents
from gviz.stats import UNKNOWN

FREED_IN_GRAPH = "in the same graph"
FREED_IN_OTHER = "in another graph"
NOT_FREED = "not while gviz watched"


def build_allocations(graphs: Graphs, contents: Contents) -> list[rows.Allocation]:
    """Return a row for each alloc node, with what frees its address.

    Graphs of which no executable could be made allocate nothing.
    A free node of the same top-level graph comes first, then the first of another graph, then
    a call of the program. What nothing of these frees is freed by the next launch (an
    executable instantiated with AUTO_FREE_ON_LAUNCH), outside the recording, or never.
    """
    tops = {graph_id: graphs.top_id(graph_id) for graph_id in graphs.levels}
    levels = [
        (tops[graph_id], graph_id, level)
        for graph_id, level in graphs.levels.items()
        if graphs.levels[tops[graph_id]].row.origin not in (FAILED_CAPTURE, FAILED_INSTANTIATION)
    ]
    frees: dict[int, list[tuple[int, int, int]]] = {}
    for top, graph_id, level in levels:
        for node in _with_address(level, NodeType.MEM_FREE):
            place = top, graph_id, int(node["node_id"])
            frees.setdefault(int(node["destination_address"]), []).append(place)
    found = []
    for top, graph_id, level in levels:
        for node in _with_address(level, NodeType.MEM_ALLOC):
            address, device_id = int(node["destination_address"]), int(node["device_id"])
            places = frees.get(address, [])
            own = [place for place in places if place[0] == top]
            freed = next(iter(own or places), None)
            found.append(
                rows.Allocation(
                    graph_id=graph_id,
                    node_id=int(node["node_id"]),
                    address=address,
                    bytes=max(int(node["bytes"]), 0),
                    device_id=None if device_id == UNKNOWN else device_id,
                    free_graph_id=freed[1] if freed else None,
                    free_node_id=freed[2] if freed else None,
                    freed=FREED_IN_GRAPH
                    if own
                    else FREED_IN_OTHER
                    if places
                    else _freed_by_call(contents, address),
                )
            )
    return found


def _with_address(level: FoldedGraph, kind: NodeType) -> Rows:
    """Return the nodes of a type whose address is known."""
    is_known = level.nodes["destination_address"] != UNKNOWN
    found: Rows = level.nodes[is_known & (level.nodes["type"] == kind)]
    return found


def _freed_by_call(contents: Contents, address: int) -> str:
    call = contents.freed.get(address)
    return NOT_FREED if call is None else f"by {contents.call_names.get(call, 'the program')}"


def build_graph_memory(contents: Contents, run_id: int) -> list[rows.GraphMemory]:
    """Return the samples of each device's graph memory."""
    return [
        rows.GraphMemory(
            run_id=run_id,
            device_id=sample.device_id,
            time_ns=sample.time_ns,
            used_bytes=sample.used,
            used_high_bytes=sample.used_high,
            reserved_bytes=sample.reserved,
            reserved_high_bytes=sample.reserved_high,
        )
        for sample in {(s.device_id, s.time_ns): s for s in contents.graph_memory}.values()
    ]
