"""The verdict on a graph: against eager, where the time goes, the best finding, its data."""

from __future__ import annotations

from dataclasses import replace

from gviz.analysis import (
    NODE_RULES,
    Dominance,
    Finding,
    GainSide,
    GraphAnalysis,
    LaunchLength,
    StreamResult,
)
from gviz.report.analysis.finding_gain import gain_line, gain_number
from gviz.report.document import (
    AlikeLink,
    Content,
    Sentence,
    Verdict,
    basis_text,
    bounded,
    contradictions_text,
    interval_text,
    line,
    negated,
    ns,
    resting_on,
    say,
    share,
    spread_ends,
    state_text,
    times,
)
from gviz.stats import NotComputed
from gviz.text import counted, duration

#: Stands where no rule found anything.
NO_FINDING = "No rule found a gain above noise."


def verdict_of(graph: GraphAnalysis) -> Verdict:
    """Return three or four sentences about a graph, and what in its records makes them doubtful."""
    data = data_finding(graph)
    sentences = (
        _against_eager(graph.stream_comparison),
        _where_time_goes(graph),
        best_finding(graph),
        *([] if data is None else [data]),
    )
    return Verdict(f"graph {graph.graph_id}: {graph.title}", sentences, graph.doubts)


def _against_eager(found: StreamResult | NotComputed) -> Sentence:
    if isinstance(found, NotComputed):
        return say(f"Not compared with eager: {found.not_computed}.")
    gain = found.headline
    saved = resting_on(ns(gain.saved.mean_ns, interval=gain.saved.interval), gain.evidence)
    basis = f"; {gain_basis(found)}"
    if saved.interval is not None:
        basis += f", 95% interval {interval_text(saved)}"
        if saved.interval[0] <= 0 <= saved.interval[1]:
            return say("The graph saves ", saved, f" per launch, which is noise{basis}.")
    if gain.saved.mean_ns < 0:
        slower = times(gain.graph_ns / gain.eager_ns if gain.eager_ns else None)
        basis = f" slower than eager{basis})."
        return say("The graph costs ", negated(saved), " per launch (", slower, basis)
    faster = times(gain.eager_ns / gain.graph_ns if gain.graph_ns else None)
    basis = f" faster than eager{basis})."
    return say("The graph saves ", saved, " per launch (", bounded(faster, gain.evidence), basis)


def gain_basis(found: StreamResult) -> str:
    """Return what the gain was measured on, and in which state."""
    gain = found.headline
    if not isinstance(found.alternate, NotComputed):
        count = counted(gain.evidence.n, "launch", "launches")
        state = state_text(gain.evidence)
        return f"{count} and eager iterations timed alternately in one process, {state}"
    if found.is_of_plain_launches:
        launches = counted(found.graph.total_ns.count, "launch", "launches")
        state = state_text(found.graph.evidence)
        return f"{_iterations(found.stream)} with events around each call, {launches} {state}"
    return f"{_iterations(found.stream)}, both sides {state_text(gain.evidence)}"


def _iterations(eager: GainSide) -> str:
    """Return how many iterations there are, and whether they are warm."""
    count = eager.total_ns.count
    cold = "cold " if eager.evidence.is_cold else ""
    return counted(count, f"{cold}eager iteration")


def _where_time_goes(graph: GraphAnalysis) -> Sentence:
    largest = _largest(graph.dominance)
    most = line("; most node time: ", largest) if largest else ""
    launch = _launch(graph.launch)
    if isinstance(graph.ledger, NotComputed):
        why_not = f"not computed: {graph.ledger.not_computed}"
        if launch:
            return say(launch, most or f"; where its time goes: {why_not}", ".")
        if largest:
            return say("Most node time of a launch: ", largest, ".")
        return say(f"Where the time of a launch goes: {why_not}.")
    median, evidence = graph.ledger.median, graph.ledger.evidence
    if isinstance(graph.launch, LaunchLength) and graph.launch.evidence.state == evidence.state:
        launch = ""  # the ledger's own time says it
    gaps = median.dependency_gap_ns + median.queue_wait_ns + median.late_start_ns
    noise = "" if graph.noise_ns is None else f", ±{duration(graph.noise_ns)}"
    return say(
        line(launch, "; ") if launch else "A launch takes ",
        resting_on(ns(median.total_ns), evidence),
        f" from its first node to its last ({basis_text(evidence)}{noise}), of which ",
        resting_on(ns(gaps), evidence),
        " (",
        share(gaps / median.total_ns if median.total_ns else 0.0),
        f") are gaps on its critical path{contradictions_text(evidence)}",
        most,
        ".",
    )


def _launch(found: LaunchLength | NotComputed) -> Content:
    """Return how long launches take that were disturbed least; empty: none was timed."""
    if isinstance(found, NotComputed):
        return ""
    spread = f", {spread_ends(found.low_ns, found.high_ns)}"
    return (
        "A launch takes ",
        resting_on(ns(found.median_ns, found.evidence.how), found.evidence),
        f" ({basis_text(found.evidence)}",
        f"{spread if found.evidence.n > 1 else ''})",
    )


def _largest(found: Dominance | NotComputed) -> Content:
    """Return the family with the most node time; empty where nothing is recorded of it."""
    if isinstance(found, NotComputed) or not found.by_family.name:
        return ""
    families = found.by_family
    count = counted(families.executions[0], "node")
    link = AlikeLink("family", families.name[0])
    return (link, f" ({count}, ", share(families.fraction[0]), ")")


def best_finding(graph: GraphAnalysis) -> Sentence:
    """Return the finding that can bring most, or that there is none."""
    if not graph.findings.findings:
        unchecked = any(why.startswith(NODE_RULES) for why in graph.findings.not_checked)
        return say(f"Not checked: {NODE_RULES}." if unchecked else NO_FINDING)
    best = graph.findings.findings[0]
    # The numbers behind a reason follow its colon, and stand in the list of findings.
    reason = best.reason.partition(": ")[0]
    return say(
        "Best finding: ",
        *gain_line(best, graph.findings.evidence),
        _part_of_launch(graph, best),
        f": {reason}.",
    )


def data_finding(graph: GraphAnalysis) -> Sentence | None:
    """Return what is wrong with the graph's data, or may be; None: nothing that is known."""
    found = graph.data_findings
    if isinstance(found, NotComputed) or not found:
        return None
    # What is certain stands before what may be.
    first = min(found, key=lambda one: one.is_suspicion)
    what = "A suspicion about its data" if first.is_suspicion else "Its data"
    more = f" ({len(found) - 1} more in 'gviz values')" if len(found) > 1 else ""
    return say(f"{what}: {first.reason}{more}.")


def _part_of_launch(graph: GraphAnalysis, found: Finding) -> Content:
    if found.gain_per != "launch" or isinstance(graph.ledger, NotComputed):
        return ""
    total = graph.ledger.median.total_ns
    if not total:
        return ""
    gain = gain_number(found, graph.findings.evidence)
    return (" (", replace(gain, value=found.gain_ns / total, unit="fraction"), ")")
