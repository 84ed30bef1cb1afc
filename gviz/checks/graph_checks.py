"""One graph held against limits: what it takes, what it is made of, what rules find in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median

from gviz.analysis import RULES, Advice, GraphSubject, Ignored, advise_graph, lane_count
from gviz.checks.check_result import FAILED, PASSED, UNJUDGED, Check
from gviz.checks.limits import ANY_RULE, GraphLimits, Values
from gviz.comparison import critical_paths, launch_lengths
from gviz.stats import union
from gviz.system import NO_PROGRESS, Progress

#: Share of looking at a graph that is not the search for findings.
_MEASURED = 0.4
#: Findings that a check lists in words.
_REASONS = 3
#: What is known of a measure, or why it is not.
Known = tuple[float | None, str]


def check_graph(
    subject: GraphSubject,
    limits: GraphLimits,
    ignored: Sequence[Ignored],
    progress: Progress = NO_PROGRESS,
) -> Iterator[Check]:
    """Yield what limits say of a graph.

    Parameters
    ----------
    limits
        Of this graph.
    ignored
        Findings that do not count.
    progress
        Told which limit is looked at.
    """
    measuring = progress.part(0.0, _MEASURED)
    for (what, limit), _ in measuring.each(list(limits.most.items()), lambda one: one[0]):
        measure, unit = _MEASURES[what]
        yield judge(subject, what, measure(subject), limit, unit)
    if limits.findings:
        progress.at(_MEASURED, "findings")
        yield from _findings(subject, limits.findings, ignored)


def judge(subject: GraphSubject, what: str, known: Known, limit: float, unit: str) -> Check:
    """Return whether a value is at most its limit."""
    value, reason = known
    status = UNJUDGED if value is None else PASSED if value <= limit else FAILED
    return about(subject, what, status, value=value, limit=limit, unit=unit, reason=reason)


def about(
    subject: GraphSubject,
    what: str,
    status: str,
    *,
    value: float | None = None,
    limit: float | None = None,
    unit: str = "",
    baseline: float | None = None,
    rate: float | None = None,
    reason: str = "",
) -> Check:
    """Return a check of a graph."""
    row = subject.row
    return Check(
        row.run_id,
        row.graph_id,
        subject.title,
        what,
        status,
        value,
        limit,
        unit,
        baseline,
        rate,
        reason,
    )


def _findings(subject: GraphSubject, limits: Values, ignored: Sequence[Ignored]) -> Iterator[Check]:
    advice = advise_graph(subject, ignored)
    unchecked = "; ".join(advice.not_checked)
    for rule, limit in limits.items():
        if rule != ANY_RULE and RULES[rule].find is None:
            continue  # about runs
        known = count_findings(advice, rule)
        per_launch = rule == ANY_RULE or RULES[rule].per == "launch"
        if unchecked and per_launch and (known[0] or 0) <= limit:
            # No finding where nothing was looked for says nothing.
            known = None, f"not all was looked for: {unchecked}"
        yield judge(subject, f"findings.{rule}", known, limit, "")


def count_findings(advice: Advice, rule: str) -> Known:
    """Return how many findings a rule has, or all have together, and what they are."""
    reasons = [f.reason for f in advice.findings if rule in (f.rule, ANY_RULE)]
    more = [f"and {len(reasons) - _REASONS:,} more"] if len(reasons) > _REASONS else []
    return len(reasons), "; ".join(reasons[:_REASONS] + more)


def _launch(subject: GraphSubject) -> Known:
    found = launch_lengths(subject.recording, subject.row.graph_id)
    return _typical(float(found.typical[0]), "; ".join(found.methods))


def _host(subject: GraphSubject) -> Known:
    found = subject.call_times
    return (None, found.method) if found.median_ns is None else (found.median_ns, found.method)


def _critical_path(subject: GraphSubject) -> Known:
    if subject.why_no_model:
        return None, subject.why_no_model
    return float(critical_paths(subject).typical[0]), ""


def _idle(subject: GraphSubject) -> Known:
    why_not = subject.why_no_times or subject.why_no_order
    if why_not:
        return None, why_not
    shares = [
        1 - union(x.spans.start_ns, x.spans.end_ns).total_ns / x.spans.length_ns
        for x in subject.timed_launches
        if x.spans.length_ns
    ]
    return (median(shares), "") if shares else (None, "no launch took any time")


def _nodes(subject: GraphSubject) -> Known:
    return len(subject.graph.nodes), ""


def _lanes(subject: GraphSubject) -> Known:
    if subject.why_no_edges:
        return None, subject.why_no_edges
    return max(lane_count(subject, level) for level in subject.graph.levels), ""


def _exec_memory(subject: GraphSubject) -> Known:
    known = [e.device_memory_bytes for e in subject.execs if e.device_memory_bytes is not None]
    return (max(known), "") if known else (None, "what its executables take was not measured")


def _typical(ns: float, method: str) -> Known:
    return (None, "no launch was timed") if ns != ns else (ns, method)


_MEASURES: Mapping[str, tuple[Callable[[GraphSubject], Known], str]] = {
    "launch": (_launch, "ns"),
    "host": (_host, "ns"),
    "critical_path": (_critical_path, "ns"),
    "idle": (_idle, "fraction"),
    "nodes": (_nodes, ""),
    "lanes": (_lanes, ""),
    "exec_memory": (_exec_memory, "bytes"),
}
