"""The verdict on a recording's contents: against eager, the slowest node, what failed."""

from __future__ import annotations

from gviz.analysis import NodeRef
from gviz.errors import NO_GRAPH
from gviz.model import Alternation, LaunchTimes
from gviz.report.document import (
    Line,
    NodeLink,
    Sentence,
    bounded,
    capitalized,
    interval_text,
    line,
    ns,
    resting_on,
    say,
    share,
    spread_text,
    state_text,
    times,
)
from gviz.report.summary import GraphSummary, LaunchSummary, RunSummary
from gviz.stats import CuptiState, Evidence
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
    """Return how long a graph's launch takes, and how that compares with eager.

    Launches as they run with the least disturbance; held against eager iterations, whose node times
    were recorded, is what was recorded likewise, unless both were timed alternately without. Where
    copies took the node times no launch was: plain ones stand against at most so much.
    """
    sides = {side.side: side for side in launches}
    graph, eager = sides.get("graph"), sides.get("stream")
    if graph is None or graph.length.evidence is None:
        return say(f"No launch of graph {graph_id} was timed.")
    took = (f"A launch of graph {graph_id} takes ", *length_of(graph.length))
    if not graph.with_node_times:
        return say(took, "; no launch has node times.")
    if graph.length.is_between_events and graph.gpu_median_ns is not None:
        first = ns(graph.gpu_median_ns, n=graph.with_node_times)
        recorded = "" if graph.length.evidence.state is CuptiState.RECORDED else "recorded, "
        took = (*took, f"; {recorded}", first, " from its first node to its last")
    if eager is None or eager.length.evidence is None:
        return say(took, "; there is no eager iteration of its work to compare with.")
    if eager.alternation is not None:
        return say(took, "; ", *_alternately(eager.alternation))
    ratio = None
    recorded_ns = graph.gpu_median_ns or graph.length.median_ns
    if recorded_ns and eager.length.median_ns is not None:
        ratio = eager.length.median_ns / recorded_ns
    cold = "a cold eager iteration " if eager.length.evidence.is_cold else "an eager iteration "
    longer = bounded(times(ratio), eager.length.evidence)
    return say(took, f", {cold}", length_of(eager.length), ", ", longer, " as long.")


def _alternately(found: Alternation) -> Line:
    """Return what the graph saves without node times, as the end of a sentence."""
    elapsed = found.elapsed
    state = state_text(Evidence("measured", elapsed.count, state=found.state))
    saved = ns(elapsed.saved_ns, n=elapsed.count, interval=elapsed.interval)
    basis = f", 95% interval {interval_text(saved)}" if saved.interval else ""
    return line(
        f"timed alternately {elapsed.count:,} times ({state}) it takes ",
        ns(elapsed.graph_ns, "measured", n=elapsed.count),
        " and an eager iteration ",
        ns(elapsed.eager_ns, "measured", n=elapsed.count),
        ": it saves ",
        saved,
        f"{basis}.",
    )


def length_of(found: LaunchTimes) -> Line:
    """Return a median with its evidence: how many, in which state, and their spread."""
    if found.evidence is None:
        return ("not timed",)
    took = resting_on(ns(found.median_ns, found.evidence.how), found.evidence)
    return line(took, f" ({spread_text(found)})")


def _total_ns(graph: GraphSummary) -> float:
    own = [side for side in graph.launches if side.side == "graph"]
    return sum(x.count * (x.length.median_ns or 0.0) for x in own)


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
    if summary.faults:
        parts.append(f"the black box has {counted(len(summary.faults), 'fault')}")
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
        return say(f"{capitalized('; '.join(parts))}.")
    more = "; 'gviz analyze' says what to change" if summary.graphs else ""
    return say(f"No capture or instantiation failed{more}.")
