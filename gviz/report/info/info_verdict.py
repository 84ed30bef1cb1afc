"""The verdict on a recording's contents: against eager, the slowest node, what failed."""

from __future__ import annotations

from gviz.analysis import NodeRef
from gviz.errors import NO_GRAPH
from gviz.report.document import NodeLink, Sentence, capitalized, ns, say, share, times
from gviz.report.summary import GraphSummary, LaunchSummary, RunSummary
from gviz.text import counted


def info_verdict(summary: RunSummary) -> tuple[Sentence, ...]:
    """Return the sentences about a run: of its graph whose launches took longest, and of failures.

    They need no analysis: ``gviz analyze`` says more.
    """
    failed = _failed(summary)
    if not summary.graphs:
        return (say(f"{capitalized(NO_GRAPH)}."), failed)
    graph = max(summary.graphs, key=_total_ns)
    return (against_eager(graph.graph_id, graph.launches), _slowest(graph), failed)


def against_eager(graph_id: int, launches: tuple[LaunchSummary, ...]) -> Sentence:
    """Return how a graph's median launch compares with eager, first node to last."""
    sides = {side.side: side for side in launches}
    graph, eager = sides.get("graph"), sides.get("stream")
    if graph is None or graph.gpu_median_ns is None:
        return say(f"No launch of graph {graph_id} has node times.")
    took = ns(graph.gpu_median_ns, "measured", n=graph.with_node_times)
    head = (f"A launch of graph {graph_id} takes ", took, " from its first node to its last")
    if eager is None or eager.gpu_median_ns is None:
        return say(head, "; there is no eager iteration of its work to compare with.")
    ratio = eager.gpu_median_ns / graph.gpu_median_ns if graph.gpu_median_ns else None
    return say(
        head,
        ", an eager iteration ",
        ns(eager.gpu_median_ns, "measured", n=eager.with_node_times),
        " (",
        times(ratio),
        " as long; medians).",
    )


def _total_ns(graph: GraphSummary) -> float:
    own = [side for side in graph.launches if side.side == "graph"]
    return sum(x.count * (x.event_median_ns or x.gpu_median_ns or 0.0) for x in own)


def _slowest(graph: GraphSummary) -> Sentence:
    if not graph.slowest_nodes:
        return say("No node has a time.")
    node = graph.slowest_nodes[0]
    return say(
        "Most node time: node ",
        NodeLink(NodeRef(node.graph_id, node.node_id, node.kernel or node.name)),
        ", ",
        ns(node.median_ns, "measured", n=node.count),
        " (median); ",
        share(node.share_fraction),
        " of all.",
    )


def _failed(summary: RunSummary) -> Sentence:
    parts = []
    if summary.capture_failures:
        count = counted(len(summary.capture_failures), "capture")
        parts.append(f"{count} failed")
    if summary.instantiate_failures:
        count = counted(len(summary.instantiate_failures), "instantiation")
        parts.append(f"{count} failed")
    if summary.reinstantiations is not None:
        count = counted(summary.reinstantiations.count, "instantiation")
        parts.append(f"{count} could have been updates")
    if parts:
        return say(f"{'; '.join(parts)}.")
    return say("No capture or instantiation failed; 'gviz analyze' says what to change.")
