"""The report of a fleet that was made of a real recording, against what was planted in it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fleet_recordings import EVERY_LAYER, RANKS_PER_HOST, Truth, host_of, write_fleet
from fleets import mapper_here, needs_fleet

from gviz.fleet import (
    DivergentRank,
    FleetRank,
    FleetReport,
    ask,
    build_fleet,
    find_sources,
    read_report,
)
from gviz.fleet.answers.gpu_outliers import find_gpu_outliers
from gviz.recording import Recording
from gviz.report import fleet_document, render_text
from gviz.system import Progress

pytestmark = [needs_fleet, pytest.mark.thorough]

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]

TRUTH = Truth(
    ranks=2 * RANKS_PER_HOST,
    seed=7,
    slow={3: (5, 1.8), 12: (EVERY_LAYER, 1.1)},
    divergent=frozenset({9, 14}),
    throttled=frozenset({4, 11}),
    since={12: 8},
    clocks={host_of(0): (1_000_000, 5.0), host_of(8): (-350_000, -12.0)},
)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recordings")
    list(write_fleet(folder, TRUTH))
    target = tmp_path_factory.mktemp("fleet") / "job"
    build_fleet(find_sources([str(folder)]), str(target), mapper_here)
    return target


@pytest.fixture(scope="module")
def report(fleet: Path) -> FleetReport:
    return read_report(str(fleet))


def test_report_tells_the_share_of_questions_that_are_answered(fleet: Path) -> None:
    shares: list[float] = []
    read_report(str(fleet), Progress(lambda share, text: shares.append(share)))
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, pytest.approx(1.0))
    assert len(shares) > 4


def test_slow_ranks_are_found_with_their_layer(report: FleetReport) -> None:
    found = {one.rank.rank: one for one in report.slow}
    assert set(found) == set(TRUTH.slow)
    assert found[3].layer == "layer 5"
    assert found[3].layer_fraction > 0.8
    assert found[3].nodes[0].layer == "layer 5"
    assert found[3].nodes[0].median_ns == pytest.approx(1.8 * found[3].nodes[0].usual_ns, rel=0.05)
    assert not found[3].is_even
    assert found[12].is_even
    assert found[12].excess_fraction == pytest.approx(0.1, abs=0.02)


def test_since_when_a_rank_is_slow(fleet: Path, report: FleetReport) -> None:
    found = {one.rank.rank: one for one in report.slow}
    assert (found[3].since_launch, found[3].since_ns) == (None, None)
    ((url,),) = ask(
        str(fleet), "SELECT url FROM ranks WHERE rank = 12", most_rows=1, seconds=60
    ).rows
    with Recording(str(url)) as recording:
        launch = recording.fetch_launches_with_spans(1)[TRUTH.since[12]]
    assert (found[12].since_launch, found[12].since_ns) == (launch.ordinal, launch.host_start_ns)


def test_the_others_wait_for_them(report: FleetReport) -> None:
    # Not for 9 or 14: of two that have a graph of their own, one is always the last.
    assert {one.rank.rank for one in report.awaited} == set(TRUTH.slow)


def test_ranks_with_another_graph_are_named(report: FleetReport) -> None:
    found = [(one.rank.rank, one.rank.host, one.differs) for one in report.divergent]
    assert found == [(9, host_of(9), "graphs"), (14, host_of(14), "graphs")]


def test_clocks_are_those_planted_within_the_stated_error(report: FleetReport) -> None:
    first, second = report.clocks
    assert (first.offset_ns, first.drift_ppm) == (0, 0)
    assert second.offset_ns is not None
    assert second.residual_ns is not None
    assert abs(second.offset_ns - -1_350_000) < second.residual_ns < 1_000
    assert second.drift_ppm == pytest.approx(-17.0, abs=0.1)


def test_gpus_that_are_hot_and_clocked_lower_are_named(report: FleetReport) -> None:
    found = {one.rank.rank: one for one in report.gpu_outliers}
    assert set(found) == {4, 11}
    assert all(one.is_lower and one.is_hotter for one in found.values())
    assert {one.slowed_by for one in found.values()} == {"thermal slowdown"}
    assert report.clocked_count == report.rank_count
    text = render_text(fleet_document(report), 200)
    assert "2 GPUs clocked lower and 2 hotter than others of the kind: first that of" in text


def test_gpus_without_a_temperature_are_compared_by_their_clocks() -> None:
    duckdb = pytest.importorskip("duckdb")
    clocks = [1980.0] * 8 + [1200.0]
    values = ", ".join(f"({n}, 1, 'H100', {clock}, 1980.0)" for n, clock in enumerate(clocks))
    connection = duckdb.connect()
    connection.execute(
        "CREATE VIEW gpu_clocks AS SELECT *, NULL AS temperature_celsius, NULL AS usual_celsius, "
        f"'' AS slowed_by FROM (VALUES {values}) "
        "AS of(recording_id, run_id, kind, sm_clock_mhz, usual_mhz)"
    )
    ranks = {(n, 1): FleetRank(n, 1, n, "node0000", "H100", "") for n in range(len(clocks))}
    (found,) = find_gpu_outliers(connection, ranks)
    assert (found.rank.rank, found.is_lower, found.is_hotter) == (8, True, False)


def test_the_verdict_comes_first(report: FleetReport) -> None:
    lines = render_text(fleet_document(report), 200).splitlines()
    assert lines[0] == "16 ranks on 2 machines"
    assert "2 ranks of 16 slower than the others: first rank 3 on node0000" in lines[1]
    assert "In collectives the others wait for rank" in lines[2]
    assert "Rank 9 on node0001, rank 14 on node0001 launch other graphs than most" in lines[3]


def test_communicators_and_the_slow_one_of_them_are_found(tmp_path: Path) -> None:
    truth = Truth(ranks=16, seed=5, slow={1: (6, 1.6)}, group=4, slow_links={2: 3_000})
    (tmp_path / "r").mkdir()
    list(write_fleet(tmp_path / "r", truth))
    target = str(tmp_path / "fleet")
    build_fleet(find_sources([str(tmp_path / "r")]), target, mapper_here)
    sql = "SELECT DISTINCT rank, communicator FROM communicators JOIN ranks " \
          "USING (recording_id, run_id) ORDER BY rank"  # fmt: skip
    found = ask(target, sql, most_rows=None, seconds=60).rows
    assert found == tuple((rank, truth.communicator(rank)) for rank in range(16))
    report = read_report(target)
    (link,) = report.slow_links
    assert (link.first_rank, link.last_rank, link.rank_count) == (8, 11, 4)
    assert link.hosts == (host_of(8),)
    assert link.excess_fraction == pytest.approx(0.5, abs=0.05)
    assert [one.rank.rank for one in report.slow] == [1]
    # The others of its communicator wait for rank 1; those of others have nothing to do with it.
    first = ask(target, "SELECT * FROM waits_for LIMIT 1", most_rows=1, seconds=60)
    awaited = dict(zip(first.columns, first.rows[0], strict=True))
    assert (awaited["rank"], awaited["communicator"], awaited["rank_count"]) == (1, 0, 4)
    assert awaited["longest_waiting_rank"] in (0, 2, 3)
    text = render_text(fleet_document(report), 200)
    assert "8 to 11" in text


@pytest.mark.parametrize(
    ("planted", "expected"),
    [
        ({"slow": {1: (5, 1.5)}}, "1 rank of 2 slower than the others: first rank 1"),
        ({"divergent": frozenset({1})}, "launches other graphs than the other rank"),
        ({}, "None of 2 compared ranks is slower"),
    ],
    ids=["slow", "divergent", "alike"],
)
def test_two_ranks_are_compared_with_each_other(
    tmp_path: Path, planted: dict[str, Any], expected: str
) -> None:
    recordings = tmp_path / "recordings"
    recordings.mkdir()
    list(write_fleet(recordings, Truth(ranks=2, seed=3, **planted)))
    build_fleet(find_sources([str(recordings)]), str(tmp_path / "fleet"), mapper_here)
    report = read_report(str(tmp_path / "fleet"))
    assert expected in " ".join(render_text(fleet_document(report), 100).split())
    assert [one.layer for one in report.slow] == (["layer 5"] if "slow" in planted else [])


def test_what_changed_between_two_builds(tmp_path: Path) -> None:
    target = str(tmp_path / "fleet")
    for build, slow in enumerate([{}, dict.fromkeys(range(6), (3, 1.2))]):
        folder = tmp_path / f"day{build}"
        folder.mkdir()
        for path in write_fleet(folder, Truth(ranks=6, seed=build, slow=slow)):
            with sqlite3.connect(path) as database:
                later = build * 10**14
                database.execute(
                    "UPDATE run SET started_ns = started_ns + ?, ended_ns = ended_ns + ?, "
                    "driver_version = ?",
                    (later, later, f"13.{build}"),
                )
            database.close()
        build_fleet(find_sources([str(folder)]), target, mapper_here)
        report = read_report(target)
        if not build:
            assert (report.layer_changes, report.version_changes) == ((), ())
    (change,) = report.layer_changes
    assert (change.layer, change.before_build, change.build) == ("layer 3", 1, 2)
    assert change.change_fraction == pytest.approx(0.2, abs=0.02)
    assert (change.before_rank_count, change.rank_count) == (6, 6)
    (version,) = report.version_changes
    assert (version.name, version.before, version.after) == ("driver_version", ("13.0",), ("13.1",))
    text = render_text(fleet_document(report), 200)
    assert "driver_version: 13.0 before, 13.1 now." in text


def test_ranks_that_differ_alike_share_a_row() -> None:
    ranks = [r for r in range(3_000) if r % 100] + [5_000]
    same = ("graphs", ("step 1",), ("step 2",))
    found = [DivergentRank(FleetRank(1 + r, 1, r, "a", "", "x.gviz"), *same) for r in ranks]
    other = DivergentRank(FleetRank(9_999, 1, 0, "a", "", "x.gviz"), "order", (), ())
    report = FleetReport(
        1, 6_000, 1, 1, 0, 2, 6_000, (), (), (), (*found, other), (), 6_000, (), (), ()
    )
    text = render_text(fleet_document(report), 200)
    assert "1–99, 101–199, 201–299," in text
    assert "more" in text
    assert "2,971" in text
    assert len(text.splitlines()) < 20


def test_tables_say_how_many_they_leave_out(report: FleetReport) -> None:
    text = render_text(fleet_document(report, 1), 200)
    assert text.count("… 1 more") + text.count("1 more") >= 2


def test_the_command_prints_text_and_json(fleet: Path, gviz_here: Gviz) -> None:
    text = gviz_here("fleet", "report", fleet)
    assert text.stdout.startswith("16 ranks on 2 machines\n")
    found = json.loads(gviz_here("fleet", "report", fleet, "--json").stdout)
    assert next(iter(found.items())) == ("report_version", 1)
    assert [one["rank"]["rank"] for one in found["slow"]] == [3, 12]
    assert found["slow"][0]["nodes"][0]["layer"] == "layer 5"
    missing = gviz_here("fleet", "report", fleet / "nothing")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "is no data set of a fleet" in missing.stderr
