"""The verdict on a graph: against eager, where the time goes, the best finding."""

from __future__ import annotations

from gviz.analysis import Dominance, Finding, GraphAnalysis, StreamResult
from gviz.report.document import (
    AlikeLink,
    Content,
    Sentence,
    Verdict,
    ns,
    say,
    share,
    times,
)
from gviz.stats import Interval, NotComputed
from gviz.text import counted, duration

#: Stands where no rule found anything.
NO_FINDING = "No rule found a gain above noise."


def verdict_of(graph: GraphAnalysis) -> Verdict:
    """Return three sentences about a graph, and what in its records makes them doubtful."""
    return Verdict(
        f"graph {graph.graph_id}: {graph.name}",
        (_against_eager(graph.stream_comparison), _where_time_goes(graph), _best_finding(graph)),
        graph.doubts,
    )


def _against_eager(found: StreamResult | NotComputed) -> Sentence:
    if isinstance(found, NotComputed):
        return say(f"Not compared with eager: {found.not_computed}.")
    eager, graph, saved = found.stream.total_ns, found.graph.total_ns, found.saved
    basis = f"; {counted(eager.count, 'eager iteration')}"
    low, high = saved.interval.low, saved.interval.high
    if low is not None and high is not None:
        basis += f", 95% interval {duration(low)} to {duration(high)}"
        if low <= 0 <= high:
            difference = ns(saved.mean_ns, n=eager.count, interval=saved.interval)
            return say("The graph saves ", difference, f" per launch, which is noise{basis}.")
    if saved.mean_ns < 0:
        costs = ns(-saved.mean_ns, n=eager.count, interval=_negated(saved.interval))
        slower = times(graph.mean / eager.mean if eager.mean else None)
        basis = f" slower than eager{basis})."
        return say("The graph costs ", costs, " per launch (", slower, basis)
    saves = ns(saved.mean_ns, n=eager.count, interval=saved.interval)
    faster = times(eager.mean / graph.mean if graph.mean else None)
    return say("The graph saves ", saves, " per launch (", faster, f" faster than eager{basis}).")


def _negated(interval: Interval) -> Interval:
    if interval.low is None or interval.high is None:
        return interval
    return Interval(-interval.high, -interval.low)


def _where_time_goes(graph: GraphAnalysis) -> Sentence:
    largest = _largest(graph.dominance)
    if isinstance(graph.ledger, NotComputed):
        if largest:
            return say("Most node time of a launch: ", largest, ".")
        return say(f"Where the time of a launch goes: not computed: {graph.ledger.not_computed}.")
    median, count = graph.ledger.median, len(graph.ledger.launches)
    gaps = median.dependency_gap_ns + median.queue_wait_ns + median.late_start_ns
    noise = "" if graph.noise_ns is None else f", ±{duration(graph.noise_ns)}"
    return say(
        "A launch takes ",
        ns(median.total_ns, n=count),
        f" (median of {count:,}{noise}), of which ",
        ns(gaps, n=count),
        " (",
        share(gaps / median.total_ns if median.total_ns else 0.0),
        ") are gaps",
        "; most node time: " if largest else "",
        largest,
        ".",
    )


def _largest(found: Dominance | NotComputed) -> Content:
    """Return the name with the most node time; empty where nothing is recorded of it."""
    if isinstance(found, NotComputed) or not found.by_name.name:
        return ""
    names = found.by_name
    count = counted(names.executions[0], "node")
    return (AlikeLink("name", names.name[0]), f" ({count}, ", share(names.fraction[0]), ")")


def _best_finding(graph: GraphAnalysis) -> Sentence:
    if not graph.findings.findings:
        return say(NO_FINDING)
    best = graph.findings.findings[0]
    bound = "" if best.gain_bound == "about" else f"{best.gain_bound} "
    # The numbers behind a reason follow its colon, and stand in the list of findings.
    reason = best.reason.partition(": ")[0]
    return say(
        f"Best finding: {bound}",
        ns(best.gain_ns, "estimated"),
        f" per {best.gain_per}",
        _part_of_launch(graph, best),
        f": {reason}.",
    )


def _part_of_launch(graph: GraphAnalysis, found: Finding) -> Content:
    if found.gain_per != "launch" or isinstance(graph.ledger, NotComputed):
        return ""
    total = graph.ledger.median.total_ns
    return (" (", share(found.gain_ns / total, "estimated"), ")") if total else ""
