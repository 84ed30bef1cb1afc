"""Memory that graphs allocate: what frees it, and whose memory is freed, as facts of nodes."""

from __future__ import annotations

from collections.abc import Iterable

from gviz.recording import rows
from gviz.text import byte_size

#: Label, value, how it is known.
ReleaseFact = tuple[str, str, str]


def release_facts(
    allocations: Iterable[rows.Allocation],
) -> dict[tuple[int, int], list[ReleaseFact]]:
    """Return, by (graph, node), what frees an alloc node's memory, or whose memory a node frees."""
    found: dict[tuple[int, int], list[ReleaseFact]] = {}
    for a in allocations:
        freed = ("Freed", _freed(a), "By address, among the recorded graphs")
        found.setdefault((a.graph_id, a.node_id), []).append(freed)
        if a.free_graph_id is not None and a.free_node_id is not None:
            of = _place(a.node_id, a.graph_id, a.free_graph_id)
            frees = ("Frees", of, byte_size(a.bytes))
            found.setdefault((a.free_graph_id, a.free_node_id), []).append(frees)
    return found


def _freed(allocation: rows.Allocation) -> str:
    if allocation.free_node_id is None or allocation.free_graph_id is None:
        return allocation.freed
    place = _place(allocation.free_node_id, allocation.free_graph_id, allocation.graph_id)
    return f"by {place}"


def _place(node_id: int, graph_id: int, here: int) -> str:
    return f"node {node_id}" if graph_id == here else f"node {node_id} of graph {graph_id}"
