"""The document of a trend: a verdict of three sentences for each graph, then run by run."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest

from gviz.assets import recordings as bundled
from gviz.comparison import Trend, TrendPoint, build_trend
from gviz.recording.reader import Recording
from gviz.report import RunLink, TableBlock, trend_document
from gviz.report.document import marked, plain

ASSETS = Path(next(iter(bundled.__path__)))


@pytest.fixture(scope="module")
def trend() -> Trend:
    opened = [Recording(path) for path in sorted(ASSETS.glob("token_step_*.gviz"))]
    try:
        return build_trend(opened)
    finally:
        for recording in opened:
            recording.close()


def sentences(trend: Trend) -> list[str]:
    (verdict,) = trend_document(trend).verdicts
    return [plain(marked(sentence.content)) for sentence in verdict.sentences]


def with_points(trend: Trend, *points: TrendPoint) -> Trend:
    return replace(trend, series=(replace(trend.series[0], points=points),))


def test_ends_then_the_largest_change(trend: Trend) -> None:
    ends, largest, _ = sentences(trend)
    # One launch of each was between events: those with node times say more.
    assert ends == (
        "Its launch takes 221 µs in run 5, the last (recorded, median of 14), and 238 µs in run 1, "
        "the first (recorded, median of 14): −16.8 µs (−7.1%) [derived]."
    )
    assert largest == (
        "Largest change from one run to the next: +136 µs (+73.8%) in run 4, token_step_4.gviz, "
        "commit f15eadfb13 (▲ slower, other shape) [derived]."
    )


def test_launch_calls_are_counted(trend: Trend) -> None:
    calls = [point.host_count for point in trend.series[0].points]
    assert len(calls) == 5
    assert min(calls) > 5


def test_changes_beyond_noise_are_counted(trend: Trend) -> None:
    first, *others = trend.series[0].points
    judged = [replace(p, rate=0.01, significant=True, untested=None) for p in others]
    assert sentences(with_points(trend, first, *judged))[2] == (
        "More than noise: 1 run slower than the one before, 3 faster."
    )
    noise = [replace(p, rate=0.5, significant=False, untested=None) for p in others]
    assert sentences(with_points(trend, first, *noise))[2] == (
        "No tested change was more than noise."
    )


def test_untested_changes_say_why(trend: Trend) -> None:
    first, second, *_ = trend.series[0].points
    few = replace(second, rate=None, significant=False, untested="1 and 1 launches were timed")
    assert sentences(with_points(trend, first, few))[2] == (
        "Whether changes are noise was not tested: 1 and 1 launches were timed."
    )


def test_graph_of_one_run_has_nothing_to_compare(trend: Trend) -> None:
    first = trend.series[0].points[0]
    (only,) = sentences(with_points(trend, first))
    assert only.startswith("Only run 1 has it: its launch takes 238 µs")
    assert sentences(with_points(trend, replace(first, launch_ns=None))) == [
        "Only run 1 has it, and no launch of it was timed."
    ]


def test_graph_that_was_timed_in_one_of_its_runs_has_no_change(trend: Trend) -> None:
    first, second, *_ = trend.series[0].points
    untimed = replace(
        second, launch_ns=None, change_ns=None, rate=None, significant=None, untested=None
    )
    ends, largest = sentences(with_points(trend, first, untimed))
    assert ends.startswith("Its launch was timed in run 1 alone: 238 µs")
    assert largest == "No change from one run to the next was measured."


def test_runs_without_graphs_have_a_verdict_all_the_same(trend: Trend) -> None:
    assert sentences(replace(trend, series=())) == [
        "None of these runs has a graph that was instantiated while gviz watched."
    ]


def test_graphs_that_are_not_shown_are_counted(trend: Trend) -> None:
    many = replace(trend, series=trend.series * 7)
    document = trend_document(many)
    assert [section.key for section in document.sections[-2:]] == ["trend-left", "runs"]
    assert len(document.verdicts) == 5
    assert len(trend_document(many, None).verdicts) == 7


def test_each_run_leads_to_its_graph(trend: Trend) -> None:
    blocks = trend_document(trend).sections[0].blocks
    (table,) = (block for block in blocks if isinstance(block, TableBlock))
    links = [part for row in table.rows for part in row[1] if isinstance(part, RunLink)]
    assert [Path(link.path or "").name for link in links] == [
        f"token_step_{n}.gviz" for n in range(1, 6)
    ]
    assert {link.graph_id for link in links} == {1}


# -- ranks of a job ------------------------------------------------------------------------


def of_ranks(*paths: Path) -> Trend:
    with ExitStack() as stack:
        return build_trend([stack.enter_context(Recording(path)) for path in paths])


def test_ranks_of_one_job_are_no_versions() -> None:
    found = of_ranks(ASSETS / "ranks_h200.gviz")
    assert [(series.rank, len(series.points)) for series in found.series] == [(0, 1), (1, 1)]
    assert all(p.change_ns is None for series in found.series for p in series.points)
    first, *others = trend_document(found).verdicts
    assert [plain(marked(s.content)) for s in first.sentences] == [
        "These runs are ranks 0, 1 of a job, not versions of a program: nothing is compared across "
        "ranks. 'gviz skew' compares the ranks of a job."
    ]
    assert [v.subject for v in others] == ["ranks.py:50 work, rank 0", "ranks.py:50 work, rank 1"]


def test_each_rank_is_followed_through_the_versions_of_a_job(tmp_path: Path) -> None:
    job = ASSETS / "ranks_h200.gviz"
    later = shutil.copy(job, tmp_path / "later.gviz")
    later.chmod(0o644)
    with closing(sqlite3.connect(later)) as database, database:
        database.execute("UPDATE run SET started_ns = started_ns + 1000000000000")
    found = of_ranks(job, later)
    # In the order of recording: rank 0 and 1 of the first version, then of the second.
    assert sorted((s.rank, [p.run for p in s.points]) for s in found.series) == [
        (0, [0, 2]), (1, [1, 3]),
    ]  # fmt: skip
    assert [p.change_ns for s in found.series for p in s.points] == [None, 0, None, 0]
    (said,) = trend_document(found).verdicts[0].sentences
    assert "each rank is followed through the runs of that rank" in plain(marked(said.content))


def test_run_without_a_rank_goes_on_as_rank_0(tmp_path: Path) -> None:
    job = ASSETS / "ranks_h200.gviz"
    alone = shutil.copy(job, tmp_path / "alone.gviz")
    alone.chmod(0o644)
    with closing(sqlite3.connect(alone)) as database, database:
        database.execute("UPDATE run SET rank = NULL, started_ns = started_ns - 1000000000000 "
                         "WHERE run_id = 1")  # fmt: skip
        database.execute("UPDATE run SET rank = 7 WHERE run_id = 2")
    found = of_ranks(alone, job)
    assert (None, 2) in [(series.rank, len(series.points)) for series in found.series]
