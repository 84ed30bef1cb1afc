"""Ranks of a job: what is slow on one of them is found, what is noise is not, clocks are judged."""

from __future__ import annotations

import json
import sqlite3
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from app_tree import links, texts
from noisy_recordings import alter
from places import ROOT
from rank_recordings import COLLECTIVE, Planted, write_ranks
from recordings import fork_join_shape, write_recording

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.server.address_page import render_page
from gviz.cli.command_line import main
from gviz.comparison.ranks.clock import judge_clock
from gviz.comparison.ranks.job import read_skew
from gviz.comparison.ranks.result import Skew
from gviz.comparison.ranks.skew import median, range_of, spread_of, waits_of
from gviz.errors import RecordingError
from gviz.recording import rows
from gviz.recording.merge import merge_recordings
from gviz.recording.reader import Recording

BUNDLED = ROOT / "assets" / "recordings"
EVEN = Planted()
#: Rank 2 takes longer in its first kernel, and so the others wait for it in the collective.
SLOW = Planted(slow=((0, 3_000), (2, -6_000)))


def skew_of(folder: Path, *planted: Planted) -> Skew:
    merged = merge_recordings(write_ranks(folder, planted), folder / "all.gviz")
    with Recording(merged) as recording:
        return read_skew(recording)


# -- the planted rank ------------------------------------------------------------------------------


def test_planted_slow_node_is_found_on_its_rank_and_nothing_else(tmp_path: Path) -> None:
    (graph,) = skew_of(tmp_path, EVEN, EVEN, SLOW, EVEN).graphs
    (node,) = [n for n in graph.nodes if n.significant]
    assert (node.name, node.slowest, graph.launch_count) == ("gemm_kernel", 2, 20)
    assert node.high_ns - node.median_ns == pytest.approx(3_000, rel=0.25)
    assert node.slowest_fraction > 0.9
    assert node.low_ns <= node.median_ns <= node.high_ns
    assert len(node.node_ids) == 4


def test_rank_that_comes_last_into_a_collective_is_named(tmp_path: Path) -> None:
    (graph,) = skew_of(tmp_path, EVEN, EVEN, SLOW, EVEN).graphs
    (collective,) = graph.collectives
    assert (collective.name, collective.last) == (COLLECTIVE, 2)
    assert collective.last_fraction > 0.9
    assert collective.waited_ns[2] == 0
    assert all(w == pytest.approx(6_000, rel=0.25) for w in (collective.waited_ns[0],))
    assert COLLECTIVE not in [node.name for node in graph.nodes]


@pytest.mark.parametrize(("timed", "is_compared"), [(1, False), (2, True)])
def test_collective_is_compared_from_two_ranks_with_times_on(
    tmp_path: Path, timed: int, is_compared: bool
) -> None:
    paths = write_ranks(tmp_path, [EVEN] * 3)
    for path in paths[timed:]:
        alter(
            path,
            "DELETE FROM span WHERE (graph_id, node_id) IN "
            f"(SELECT graph_id, node_id FROM node WHERE name = '{COLLECTIVE}')",
        )
    with Recording(merge_recordings(paths, tmp_path / "all.gviz")) as recording:
        (graph,) = read_skew(recording).graphs
    assert [c.name for c in graph.collectives] == [COLLECTIVE] * is_compared


def test_equal_ranks_are_not_called_slow(tmp_path: Path) -> None:
    (graph,) = skew_of(tmp_path, EVEN, EVEN, EVEN, EVEN).graphs
    assert [n.name for n in graph.nodes if n.significant] == []
    assert not graph.significant


def test_slow_launches_of_a_rank_are_more_than_noise(tmp_path: Path) -> None:
    (graph,) = skew_of(tmp_path, EVEN, Planted(slow=((3, 9_000),)), EVEN).graphs
    assert graph.significant
    assert [time.slowest_count for time in graph.ranks] == [0, 20, 0]


def test_late_starts_are_reported_on_one_clock_only(tmp_path: Path) -> None:
    late = replace(EVEN, late_ns=5_000_000)
    (graph,) = skew_of(tmp_path, EVEN, late).graphs
    assert graph.ranks[1].late_ns == pytest.approx(5_000_000, rel=0.1)
    assert graph.ranks[1].last_count == 20
    apart = tmp_path / "apart"
    apart.mkdir()
    skew = skew_of(apart, EVEN, replace(late, host="node018"))
    assert not skew.clock.is_one
    assert "2 machines (node017, node018)" in skew.clock.reason
    (graph,) = skew.graphs
    assert graph.start_spread_ns is None
    assert graph.ranks[1].late_ns is None
    assert graph.collectives[0].arrival_ns is None
    assert graph.ranks[1].launch_ns is not None


def test_event_copies_do_not_tell_who_comes_later(tmp_path: Path) -> None:
    late = replace(EVEN, late_ns=5_000_000)
    merged = merge_recordings(write_ranks(tmp_path, (EVEN, late)), tmp_path / "all.gviz")
    with sqlite3.connect(merged) as database:
        database.execute("UPDATE launch SET node_method='events' WHERE node_level=1")
    database.close()
    with Recording(merged) as recording:
        skew = read_skew(recording)
    (graph,) = skew.graphs
    assert skew.clock.is_one
    assert (graph.start_spread_ns, graph.ranks[1].late_ns) == (None, None)
    assert any("event copies timed the nodes" in remark for remark in skew.remarks)


def test_file_of_one_run_has_no_skew(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "one.gviz", fork_join_shape(), launches=2)
    with Recording(path) as recording, pytest.raises(RecordingError, match="'gviz merge' puts"):
        read_skew(recording)


# -- clocks ----------------------------------------------------------------------------------------


def test_recording_of_two_gpus_shows_which_all_reduce_waits_for_which_rank(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    # assets/recordings/ranks.py: layer 5 of rank 1 has three times the work.
    with Recording(BUNDLED / "ranks_h200.gviz") as recording:
        skew = read_skew(recording)
    assert [ref.rank for ref in skew.ranks] == [0, 1]
    assert len({ref.gpus for ref in skew.ranks}) == 2
    assert skew.clock.is_one
    (graph,) = skew.graphs
    assert graph.launch_count == 24
    assert len(graph.collectives) == 8
    longest, other = graph.collectives[:2]
    assert longest.context.split(" › ")[:2] == ["decode", "layer 5"]
    assert (longest.last, longest.last_fraction) == (1, 1.0)
    waits, none = longest.waited_ns
    assert waits is not None
    assert 15_000 < waits < 20_000
    assert none == 0
    # One clock: rank 0 stands in the all-reduce as long as rank 1 comes later.
    assert longest.arrival_ns == pytest.approx(waits, rel=0.05)
    assert max(w or 0 for w in other.waited_ns) < waits / 2
    slow = graph.nodes[:2]
    assert {node.context for node in slow} == {"decode › layer 5"}
    assert all(node.slowest == 1 and node.significant for node in slow)
    # The two multiplications of the layer take the time that rank 0 waits.
    assert sum(node.high_ns - node.low_ns for node in slow) == pytest.approx(waits, rel=0.1)
    assert main(["skew", str(BUNDLED / "ranks_h200.gviz")]) == 0
    text = capsys.readouterr().out
    listed = text[text.index("Waiting in collectives") :].splitlines()
    row = next(line for line in listed if "NCCL AllReduce" in line).partition("RING LL")[2].split()
    assert row[:5] == ["layer", "5", "rank", "1", "100%"]
    assert row[7:9] == ["rank", "0"]


def run(number: int, **given: object) -> rows.Run:
    reported = {"host": "a", "process_id": number, "started_ns": 10, "ended_ns": 20} | given
    return rows.Run(run_id=number, name=f"r{number}", state="completed", source="run", **reported)


@pytest.mark.parametrize(
    ("second", "is_one", "says"),
    [
        ({}, True, "share"),
        ({"host": "b"}, False, "2 machines"),
        ({"host": None}, False, "machine of r2 is not known"),
        ({"process_id": 1}, False, "were process 1 of a at the same time"),
        ({"process_id": 1, "started_ns": 30, "ended_ns": 40}, True, "share"),
    ],
)
def test_clock_is_one_where_the_machine_is(
    second: dict[str, object], is_one: bool, says: str
) -> None:
    clock = judge_clock([run(1), run(2, **second)])
    assert clock.is_one is is_one
    assert says in clock.reason


def test_imported_run_has_no_clock() -> None:
    assert not judge_clock([run(1), replace(run(2), source="import")]).is_one


# -- arrays ----------------------------------------------------------------------------------------


def test_spread_of_one_rank_is_no_spread() -> None:
    durations = np.full((3, 5, 1), np.nan)
    durations[1] = 7.0
    found = spread_of(durations)
    assert found.slowest.tolist() == [-1]
    assert np.isnan(found.probability).all()
    assert np.isnan(range_of(found.medians)).all()


def test_waits_are_counted_from_the_rank_that_took_least() -> None:
    durations = np.array([[[9.0], [9.0], [9.0]], [[4.0], [4.0], [4.0]], [[np.nan]] * 3])
    waits, last, fraction = waits_of(durations)
    assert waits[:2, 0].tolist() == [5.0, 0.0]
    assert np.isnan(waits[2, 0])
    assert (last.tolist(), fraction.tolist()) == ([1], [1.0])


def test_medians_of_nothing_change_no_filter_of_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Other threads have the same filters: the server computes in several.
    monkeypatch.setattr(warnings, "catch_warnings", None)
    durations = np.array([[[1.0, np.nan], [4.0, np.nan], [2.0, np.nan]]])
    assert median(durations, 1)[0, 0] == 2.0
    assert np.isnan(median(durations, 1)[0, 1])
    assert median(durations[0], 0)[0] == 2.0


# -- commands --------------------------------------------------------------------------------------


def test_merge_orders_by_rank_and_shows_the_clock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = write_ranks(tmp_path, [EVEN, EVEN, SLOW])
    output = tmp_path / "all.gviz"
    assert main(["merge", *map(str, reversed(paths)), "-o", str(output)]) == 0
    reported = capsys.readouterr()
    assert "on one clock: all runs are of node017" in reported.out
    assert f"gviz skew {output}" in reported.err
    with Recording(output) as recording:
        assert [r.rank for r in recording.fetch_runs()] == [0, 1, 2]
    assert main(["skew", str(output)]) == 0
    text = capsys.readouterr().out
    assert "gemm_kernel" in text
    assert "one rank is slower in" in text
    assert main(["skew", str(output), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [r["rank"] for r in document["ranks"]] == [0, 1, 2]
    assert document["how"]["NodeSkew"]["high_ns"] == "derived"


def test_folder_of_a_jobs_recordings_is_as_good_as_merged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "ranks"
    folder.mkdir()
    paths = write_ranks(folder, [EVEN, EVEN, SLOW])
    assert main(["merge", str(folder), "-o", str(tmp_path / "all.gviz")]) == 0
    capsys.readouterr()
    found = []
    for line in (["skew", str(folder)], ["skew", str(tmp_path / "all.gviz")]):
        assert main([*line, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert sorted(folder.iterdir()) == sorted(paths)


def test_merge_refuses_what_is_there_and_what_is_given_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = write_ranks(tmp_path, [EVEN, EVEN])
    copy = tmp_path / "copy.gviz"
    copy.write_bytes(paths[0].read_bytes())
    output = str(tmp_path / "all.gviz")
    for given, says in (
        ([paths[0], copy], "hold the same run, train rank 0"),
        ([paths[0], paths[0]], "same file"),
        ([paths[0], tmp_path / "none.gviz"], "there is no file"),
    ):
        assert main(["merge", *map(str, given), "-o", output]) == 1
        assert says in capsys.readouterr().err
    assert main(["merge", *map(str, paths), "-o", output]) == 0
    assert main(["merge", *map(str, paths), "-o", output]) == 1
    assert "exists" in capsys.readouterr().err
    assert main(["merge", *map(str, paths), "-o", output, "--overwrite"]) == 0


def test_merged_runs_that_are_no_job_are_remarked(tmp_path: Path) -> None:
    paths = [
        write_recording(tmp_path / f"{seed}.gviz", fork_join_shape(), launches=2, seed=seed)
        for seed in (1, 2)
    ]
    with Recording(merge_recordings(paths, tmp_path / "all.gviz")) as recording:
        skew = read_skew(recording)
    assert "at the same time: these are two machines" in skew.clock.reason


# -- the Run page ----------------------------------------------------------------------------------


def test_run_page_leads_to_the_ranks_side_by_side(tmp_path: Path) -> None:
    merged = merge_recordings(
        write_ranks(tmp_path, [EVEN, EVEN, SLOW, EVEN]), tmp_path / "all.gviz"
    )
    library = Library([merged])
    page, *_ = render_page(library, Addresses("/"), "/run", "?file=all&run=1")
    shown = texts(page)
    assert "Beside the other ranks" in shown
    assert "launches of 4 ranks on one axis" in shown
    assert "/ranks?file=all" in links(page)


def test_run_page_of_a_file_without_ranks_has_no_such_part(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "one.gviz", fork_join_shape(), launches=2)
    page, *_ = render_page(Library([path]), Addresses("/"), "/run", "?file=one&run=1")
    assert "other ranks" not in texts(page)
