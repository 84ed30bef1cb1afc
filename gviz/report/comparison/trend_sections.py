"""The document of graphs through any number of runs: verdicts, each graph run by run, the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from gviz.comparison import Trend, TrendPoint, TrendRun, TrendSeries, remarks
from gviz.report.comparison.time_changes import shift_of
from gviz.report.document import (
    Bar,
    Content,
    Document,
    Drawing,
    Quantity,
    RunLink,
    Section,
    Sentence,
    TableBlock,
    Verdict,
    basis_text,
    column,
    ns,
    number,
    numbers,
    say,
    section,
    table,
)
from gviz.stats import How
from gviz.text import MISSING, counted

#: Graphs that are shown unless more are requested.
MOST_SERIES = 5
#: Hexadecimal digits of a commit that are shown.
_COMMIT = 10
#: Ranks that are named.
_RANKS = 8


def trend_document(trend: Trend, most_series: int | None = MOST_SERIES) -> Document:
    """Return the document of a trend; ``most_series`` None: of all graphs."""
    shown = trend.series[:most_series]
    ranks = sorted({run.rank for run in trend.runs if run.rank is not None})
    verdicts = [_verdict(series, trend.runs, named=len(ranks) > 1) for series in shown]
    if len(ranks) > 1:
        verdicts.insert(0, Verdict("", (_of_ranks(trend, ranks),)))
    if not verdicts:
        nothing = say("None of these runs has a graph that was instantiated while gviz watched.")
        verdicts = [Verdict("", (nothing,))]
    sections = [
        _series(at, series, trend.runs, named=len(ranks) > 1) for at, series in enumerate(shown)
    ]
    left = len(trend.series) - len(shown)
    if left:
        more = say(f"{counted(left, 'more graph')} (gviz trend --all).")
        sections.append(section("trend-left", "Further graphs", more))
    order = (
        "In the order in which they were recorded."
        if trend.order == "recorded"
        else "In the order given: one does not say when it was recorded."
    )
    sections.append(section("runs", "Runs", _runs(trend.runs), say(order, note=True)))
    return Document(counted(len(trend.runs), "run"), tuple(verdicts), tuple(sections))


def _of_ranks(trend: Trend, ranks: Sequence[int]) -> Sentence:
    """Return that ranks are not versions, and what is done about it."""
    listed = ", ".join(map(str, ranks[:_RANKS])) + (", ..." if len(ranks) > _RANKS else "")
    if all(len(series.points) == 1 for series in trend.series):
        return say(
            f"These runs are ranks {listed} of a job, not versions of a program: nothing is "
            "compared across ranks. 'gviz skew' compares the ranks of a job."
        )
    return say(
        f"The runs are of ranks {listed}: each rank is followed through the runs of that rank, and "
        "nothing is compared across ranks."
    )


def _name(series: TrendSeries, *, named: bool) -> str:
    return f"{series.name}, rank {series.rank or 0}" if named else series.name


def _verdict(series: TrendSeries, runs: Sequence[TrendRun], *, named: bool) -> Verdict:
    name = _name(series, named=named)
    if len(series.points) == 1:
        return Verdict(name, (_only(series.points[0]),))
    return Verdict(name, (_first_to_last(series), _largest(series, runs), *_beyond(series)))


def _only(point: TrendPoint) -> Sentence:
    """Return what the one run that has a graph says of it."""
    who = f"Only run {point.run + 1} has it"
    if point.launch_ns is None:
        return say(f"{who}, and no launch of it was timed.")
    return say(f"{who}: its launch takes ", _launch(point), f"{_basis(point)}.")


def _first_to_last(series: TrendSeries) -> Sentence:
    timed = [point for point in series.points if point.launch_ns is not None]
    if not timed:
        return say("No launch of it was timed in any run.")
    first, last = timed[0], timed[-1]
    took = _launch(last)
    if first is last or first.launch_ns is None or last.launch_ns is None:
        return say(f"Its launch was timed in run {last.run + 1} alone: ", took, f"{_basis(last)}.")
    return say(
        "Its launch takes ", took, f" in run {last.run + 1}, the last{_basis(last)}, and ",
        _launch(first),
        f" in run {first.run + 1}, the first{_basis(first)}: ",
        shift_of(last.launch_ns - first.launch_ns, first.launch_ns), ".",
    )  # fmt: skip


def _launch(point: TrendPoint) -> Quantity:
    how: How = "measured" if point.evidence is None else point.evidence.how
    return ns(point.launch_ns, how, n=point.launch_count)


def _basis(point: TrendPoint) -> str:
    return "" if point.evidence is None else f" ({basis_text(point.evidence)})"


def _largest(series: TrendSeries, runs: Sequence[TrendRun]) -> Sentence:
    steps = [pair for pair in _steps(series) if pair[1] is not None and pair[0].change_ns]
    if not steps:
        return say("No change from one run to the next was measured.")
    point, last = max(steps, key=lambda pair: abs(pair[0].change_ns or 0.0))
    words = _words(point, last)
    verdict = f" ({words})" if words else ""
    run = runs[point.run].run
    commit = f", commit {_commit(runs[point.run])}" if run.git_revision else ""
    where = f" in run {point.run + 1}, {Path(run.path).name}{commit}{verdict}."
    return say("Largest change from one run to the next: ", _change(point), where)


def _beyond(series: TrendSeries) -> Iterator[Sentence]:
    """Yield how many changes are more than noise; nothing where there is no change."""
    tested = [p for p in series.points if p.rate is not None]
    reasons = dict.fromkeys(p.untested for p in series.points if p.untested)
    found = [p for p in tested if p.significant and p.change_ns]
    if found:
        slower = sum((p.change_ns or 0.0) > 0 for p in found)
        yield say(
            f"More than noise: {counted(slower, 'run')} slower than the one before, "
            f"{len(found) - slower:,} faster."
        )
    elif tested:
        yield say("No tested change was more than noise.")
    elif reasons:
        yield say(f"Whether changes are noise was not tested: {'; '.join(reasons)}.")


def _series(at: int, series: TrendSeries, runs: Sequence[TrendRun], *, named: bool) -> Section:
    columns = [
        column("Run"), column("Recording"), column("Commit"), numbers("Nodes"),
        numbers("Launch", "Median on the GPU, least disturbed launches"), numbers("Host call"),
        numbers("Change", "Since the run before that has the graph"), column("Verdict"),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            f"{point.run + 1}",
            _recording(point, runs),
            _commit(runs[point.run]),
            number(point.node_count),
            _launch(point),
            ns(point.host_ns, "measured", n=point.host_count or None),
            _change(point),
            _words(point, last),
        ]
        for point, last in _steps(series)
    ]
    bars = tuple(
        Bar(f"{point.run + 1}: {_short(runs[point.run])}", _launch(point))
        for point in series.points
        if point.launch_ns is not None
    )
    methods = "; ".join(dict.fromkeys(point.method for point in series.points))
    return section(
        f"trend-{at}",
        _name(series, named=named),
        Drawing(f"trend-{at}", bars) if len(bars) > 1 else None,
        table("The graph run by run", columns, rows),
        say(f"Launch: {methods}.", note=True),
    )


def _recording(point: TrendPoint, runs: Sequence[TrendRun]) -> RunLink:
    run = runs[point.run].run
    return RunLink(Path(run.path).stem, run.run_id, graph_id=point.graph_id, path=run.path)


def _steps(series: TrendSeries) -> list[tuple[TrendPoint, TrendPoint | None]]:
    """Return each point with the one before."""
    return list(zip(series.points, (None, *series.points), strict=False))


def _change(point: TrendPoint) -> Content:
    if point.change_ns is None or point.launch_ns is None:
        return ""
    return shift_of(point.change_ns, point.launch_ns - point.change_ns)


def _words(point: TrendPoint, last: TrendPoint | None) -> str:
    words = remarks(point, last)
    if point.significant and point.change_ns:
        words.insert(0, "▲ slower" if point.change_ns > 0 else "▼ faster")
    return ", ".join(words)


def _runs(runs: Sequence[TrendRun]) -> TableBlock:
    columns = [
        column("Run"), column("File"), column("Recorded"),
        column("Commit", "+: with changes that were not committed"), column("GPU"), column("Rank"),
    ]  # fmt: skip
    rows = [
        [f"{at}", Path(run.run.path).name, _date(run.run.started_ns), _commit(run),
         run.gpus or MISSING, "" if run.rank is None else f"{run.rank}"]
        for at, run in enumerate(runs, start=1)
    ]  # fmt: skip
    if all(run.rank is None for run in runs):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return table("Runs by number", columns, rows)


def _commit(run: TrendRun) -> str:
    revision = (run.run.git_revision or "")[:_COMMIT]
    return revision + ("+" if run.run.git_dirty else "") if revision else MISSING


def _short(run: TrendRun) -> str:
    commit = _commit(run)
    return Path(run.run.path).stem if commit == MISSING else commit


def _date(started_ns: int | None) -> str:
    if started_ns is None:
        return MISSING
    return datetime.fromtimestamp(started_ns // 1_000_000_000, UTC).strftime("%Y-%m-%d %H:%M")
