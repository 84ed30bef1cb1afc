"""A recording held against limits and a baseline: what ``gviz check`` prints and writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from gviz.analysis import RULES, GraphSubject, Ignored, RunSubject, advise_run
from gviz.checks.check_result import FAILED, PASSED, SKIPPED, UNJUDGED, Check, CheckReport
from gviz.checks.graph_checks import Known, about, check_graph, count_findings
from gviz.checks.limits import Limits
from gviz.checks.regression import Trial, check_node_count, judge_trials, trials
from gviz.comparison import (
    ComparedRun,
    GraphTraits,
    devices_text,
    pair_graphs,
    pair_runs,
    read_compared_run,
    read_graph_traits,
)
from gviz.cuda import NodeType
from gviz.errors import NO_GRAPH
from gviz.model import read_level_columns
from gviz.stats import to_document
from gviz.system import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from gviz.recording import Recording, rows

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
CHECK_VERSION = 1


class _Run:
    """A run with its graphs, each read once."""

    def __init__(self, recording: Recording, run: rows.Run) -> None:
        self.compared = read_compared_run(recording, run)
        self.row = run
        self.graphs = read_graph_traits(recording, run.run_id)
        self._subjects: dict[int, GraphSubject] = {}

    def subject(self, graph: GraphTraits) -> GraphSubject:
        """Return one of its graphs for the analysis."""
        if graph.graph_id not in self._subjects:
            self._subjects[graph.graph_id] = self.compared.subject(graph.graph_id)
        return self._subjects[graph.graph_id]


#: Share of the work that is not the comparison with a baseline.
_CHECKED = 0.4


def check_recording(
    recording: Recording,
    baseline: Recording | None,
    limits: Limits,
    ignored: Sequence[Ignored] = (),
    progress: Progress = NO_PROGRESS,
) -> CheckReport:
    """Return whether a recording is within limits.

    Parameters
    ----------
    recording
        What is checked.
    baseline
        What ``limits.regression`` is about; None: nothing is compared.
    limits
        What it is held against.
    ignored
        Findings that do not count.
    progress
        Told which graph is looked at, and the share that is done.

    Raises
    ------
    RecordingError
        If edges form a cycle, or a file is damaged.
    """
    runs = [_Run(recording, run) for run in recording.fetch_runs()]
    looking = progress.part(0.0, 1.0 if baseline is None else _CHECKED)
    checks = [
        check
        for run, part in looking.each(runs, lambda run: run.row.name)
        for check in _check_run(run, limits, ignored, part)
    ]
    checks += _unmatched_patterns(runs, limits)
    if baseline is not None:
        checks += _compare(runs, baseline, limits, progress.part(_CHECKED, 1.0))
    elif limits.has_regression:
        reason = "no baseline was given"
        checks += [_of_run(run.row, "regression", SKIPPED, reason=reason) for run in runs]
    checks.sort(key=lambda check: (check.run_id, check.graph_id or 0))  # stable
    bad = (FAILED,) if limits.unjudged_passes else (FAILED, UNJUDGED)
    return CheckReport(
        check_version=CHECK_VERSION,
        path=str(recording.path),
        baseline=None if baseline is None else str(baseline.path),
        passed=not any(check.status in bad for check in checks),
        unjudged_passes=limits.unjudged_passes,
        checks=tuple(checks),
    )


def _check_run(
    run: _Run, limits: Limits, ignored: Sequence[Ignored], progress: Progress
) -> Iterator[Check]:
    if not run.graphs:
        yield _of_run(run.row, "graphs", UNJUDGED, value=0, reason=NO_GRAPH)
    for graph, part in progress.each(run.graphs, lambda graph: graph.name):
        yield from check_graph(run.subject(graph), limits.of_graph(graph.name), ignored, part)
    for what, limit in limits.run.items():
        yield _judge_run(run, f"run.{what}", _graph_memory(run.compared), limit, "bytes")
    of_runs = {r: n for r, n in limits.every.findings.items() if r in RULES and not RULES[r].find}
    if of_runs:
        advice = advise_run(RunSubject(run.compared.recording, run.row), ignored)
        for rule, limit in of_runs.items():
            yield _judge_run(run, f"findings.{rule}", count_findings(advice, rule), limit, "")


def _judge_run(run: _Run, what: str, known: Known, limit: float, unit: str) -> Check:
    value, reason = known
    status = UNJUDGED if value is None else PASSED if value <= limit else FAILED
    return _of_run(run.row, what, status, value=value, limit=limit, unit=unit, reason=reason)


def _unmatched_patterns(runs: Sequence[_Run], limits: Limits) -> Iterator[Check]:
    """Yield a check for each pattern that no graph is called like: its limits hold nothing."""
    names = {graph.name for run in runs for graph in run.graphs}
    for pattern, _ in limits.named:
        if runs and not any(fnmatchcase(name, pattern) for name in names):
            reason = "no graph is called like this"
            yield _of_run(runs[0].row, f"graph {pattern}", UNJUDGED, reason=reason)


def _compare(
    runs: Sequence[_Run], baseline: Recording, limits: Limits, progress: Progress
) -> Iterator[Check]:
    by_run = {run.row.run_id: run for run in runs}
    pending: list[Trial] = []
    pairs = pair_runs(baseline.fetch_runs(), [run.row for run in runs])
    for (was, row), part in progress.each(pairs, lambda _: f"against {baseline.path.name}"):
        for found in _compare_runs(_Run(baseline, was), by_run.pop(row.run_id), limits, part):
            if isinstance(found, Trial):
                pending.append(found)
            else:
                yield found
    yield from judge_trials(pending)
    for run in by_run.values():
        yield _of_run(run.row, "regression", SKIPPED, reason="the baseline has no such run")


def _compare_runs(
    before: _Run, after: _Run, limits: Limits, progress: Progress
) -> Iterator[Trial | Check]:
    pairs = {pair.second: pair.first for pair in pair_graphs(before.graphs, after.graphs)}
    other_gpu = _other_gpu(before, after)
    known = {graph.graph_id: graph for graph in before.graphs}
    if after.graphs and not known:  # a baseline that was cut short, as a rule
        reason = "the baseline has no graph at all"
        yield _of_run(after.row, "regression.graphs", UNJUDGED, reason=reason)
    for graph, _ in progress.each(after.graphs, lambda graph: f"{graph.name} with that of before"):
        subject = after.subject(graph)
        if graph.graph_id not in pairs:
            yield about(subject, "regression", SKIPPED, reason="the baseline has no such graph")
            continue
        was, of_graph = (
            before.subject(known.pop(pairs[graph.graph_id])),
            limits.of_graph(graph.name),
        )
        yield from trials(was, subject, of_graph, other_gpu)
        if "nodes" in of_graph.regression:
            yield check_node_count(was, subject, of_graph.regression["nodes"])
    for graph in known.values():
        title = before.compared.title(graph.graph_id)
        reason = f"the baseline's graph {graph.graph_id} {title} is not there any more"
        yield _of_run(after.row, "regression.graphs", FAILED, reason=reason)
    for what, allowed in limits.run_regression.items():
        yield _compare_memory(before, after, what, allowed)


def _other_gpu(before: _Run, after: _Run) -> str:
    """Return why times of two runs cannot be compared; empty: they were measured on equal GPUs."""
    gpus = [devices_text(run.compared.recording, run.row.run_id) for run in (before, after)]
    if gpus[0] == gpus[1]:
        return ""
    named = [gpu or "an unknown GPU" for gpu in gpus]
    return f"measured on other GPUs: the baseline on {named[0]}, this on {named[1]}"


def _compare_memory(before: _Run, after: _Run, what: str, allowed: float) -> Check:
    (was, why_not), (value, reason) = _graph_memory(before.compared), _graph_memory(after.compared)
    if was is None or value is None:
        return _of_run(after.row, f"regression.{what}", UNJUDGED, unit="bytes",
                       reason=why_not or reason)  # fmt: skip
    limit = was * (1 + allowed)
    status = PASSED if value <= limit else FAILED
    return _of_run(after.row, f"regression.{what}", status, value=value, limit=limit,
                   unit="bytes", baseline=was)  # fmt: skip


def _graph_memory(compared: ComparedRun) -> Known:
    """Return the most memory that was reserved for graphs on any device."""
    known = compared.recording.fetch_graph_memory(compared.run.run_id)
    if known:
        return max(sample.reserved_high_bytes for sample in known), ""
    types = (
        read_level_columns(compared.recording, graph_id, ("type",)).integers("type")
        for graph_id in compared.graphs
    )
    if any(bool((of_graph == NodeType.MEM_ALLOC).any()) for of_graph in types):
        return None, "memory of alloc nodes was not measured"
    return 0, "no graph has an alloc node"


def _of_run(
    run: rows.Run,
    what: str,
    status: str,
    *,
    value: float | None = None,
    limit: float | None = None,
    unit: str = "",
    baseline: float | None = None,
    reason: str = "",
) -> Check:
    return Check(
        run.run_id, None, run.name, what, status, value, limit, unit, baseline, None, reason
    )


def report_to_json(report: CheckReport) -> dict[str, Any]:
    """Return a report as JSON values, with how each number came about under ``how``."""
    return to_document(report)
