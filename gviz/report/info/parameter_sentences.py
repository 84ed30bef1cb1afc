"""Sentences about what nodes of a graph have besides columns: memory, parameters, events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gviz.report.document import Sentence, say
from gviz.report.summary import EventUse, GraphSummary
from gviz.text import byte_size, counted

#: Nodes whose parameters are listed, and events; a captured loop may hold thousands of them.
_LINES = 8
#: Nodes of an event that are named.
_NAMED = 4
#: Addresses of the process that was watched; of no use where something else has a name.
_HANDLES = frozenset({"event", "function", "handle", "user data"})


def parameter_sentences(graph: GraphSummary) -> Iterator[Sentence]:
    """Yield what the graph allocates, who uses its events, and other parameters of its nodes."""
    by_end = Counter(allocation.freed for allocation in graph.allocations)
    if by_end:
        size = byte_size(sum(allocation.bytes for allocation in graph.allocations))
        ends = ", ".join(f"{count:,} freed {end}" for end, count in by_end.most_common())
        yield say(f"{counted(len(graph.allocations), 'allocation')}, {size}: {ends}.")
    yield from _events(graph)
    by_node: dict[tuple[int, int], list[str]] = {}
    for parameter in graph.parameters:
        if parameter.name not in _HANDLES:
            listed = by_node.setdefault((parameter.graph_id, parameter.node_id), [])
            listed.append(f"{parameter.name} {parameter.value}")
    for node, listed in list(by_node.items())[:_LINES]:
        yield say(f"Node {node_place(graph, *node)}: {', '.join(listed)}.")
    if len(by_node) > _LINES:
        more = len(by_node) - _LINES
        yield say(f"And {counted(more, 'more node')} with parameters (--json).")


def node_place(graph: GraphSummary, graph_id: int, node_id: int) -> str:
    """Return what names a node in a graph: ids are unique in theirs, so a body's has its graph."""
    return f"{graph_id}/{node_id}" if graph_id != graph.graph_id else f"{node_id}"


def _events(graph: GraphSummary) -> Iterator[Sentence]:
    for event in graph.events[:_LINES]:
        yield say(
            f"A CUDA event, recorded by {_nodes(graph, event.recorded_by)}, waited for by "
            f"{_nodes(graph, event.waited_for_by)}{_where_else(event)}."
        )
    if len(graph.events) > _LINES:
        yield say(f"And {counted(len(graph.events) - _LINES, 'more event')} (--json).")


def _nodes(graph: GraphSummary, nodes: Sequence[tuple[int, int]]) -> str:
    if not nodes:
        return "none of its nodes"
    named = ", ".join(node_place(graph, *node) for node in nodes[:_NAMED])
    if len(nodes) == 1:
        return f"node {named}"
    more = f" and {len(nodes) - _NAMED:,} more" if len(nodes) > _NAMED else ""
    return f"nodes {named}{more}"


def _where_else(event: EventUse) -> str:
    if event.recorded_by and event.waited_for_by:
        return ""
    what = "waits for it" if event.recorded_by else "records it"
    return f": if anything {what}, it is outside of this graph"
