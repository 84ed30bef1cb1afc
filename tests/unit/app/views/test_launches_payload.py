"""The payload of several launches at once: their median, and all of them stacked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from planned_recordings import EVENTS_NS, Plan, Planned, chain_edges, in_a_row
from recordings import fork_join_shape, write_loop_recording, write_recording

from gviz.app.files.library import Library
from gviz.app.views.graph_data import first_launch, graph_view
from gviz.app.views.payload import timeline_payload
from gviz.app.views.wire import unpack
from gviz.model.launch_time import node_times
from gviz.model.tree.graph_level import read_graph_level
from gviz.recording.reader import Recording

SHAPE = fork_join_shape(stages=2, width=3, depth=2)
LAUNCHES = 5


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    path = tmp_path_factory.mktemp("launches") / "small.gviz"
    with Recording(write_recording(path, SHAPE, launches=LAUNCHES)) as recording:
        yield recording


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Recording]:
    with Recording(write_loop_recording(tmp_path / "loop.gviz", iterations=4)) as recording:
        yield recording


def lengths(recording: Recording) -> dict[int, int]:
    launches = [x for x in recording.fetch_launches(1) if x.node_level]
    return {x.ordinal: (x.gpu_end_ns or 0) - (x.gpu_start_ns or 0) for x in launches}


def test_median_launch_has_each_timed_node_once_with_its_median(small: Recording) -> None:
    header, a = unpack(timeline_payload(small, 1, "median", None))
    assert (header["graph"]["mode"], header["graph"]["launch_count"]) == ("median", LAUNCHES)
    assert len(a["graph_node_id"]) == sum(w.timed for w in SHAPE.works)
    for node, duration in zip(
        a["graph_node_id"].tolist(), a["graph_duration_ns"].tolist(), strict=True
    ):
        assert duration == pytest.approx(np.median(small.fetch_node_durations(1, (1, node))))
    assert (a["graph_count"] == LAUNCHES).all()
    assert a["graph_start_ns"].min() == 0
    assert header["stream"] is not None


def test_median_launch_lanes_never_overlap(small: Recording) -> None:
    _, a = unpack(timeline_payload(small, 1, "median", None))
    for lane in set(a["graph_lane"].tolist()):
        of = a["graph_lane"] == lane
        start, end = a["graph_start_ns"][of], (a["graph_start_ns"] + a["graph_duration_ns"])[of]
        assert (start[1:] >= end[:-1]).all()


def test_stacked_launches_have_a_row_each_with_their_own_spans(small: Recording) -> None:
    header, a = unpack(timeline_payload(small, 1, "all", None))
    graph = header["graph"]
    assert [x["ordinal"] for x in graph["launches"]] == sorted(lengths(small))
    assert len(graph["lanes"]) == LAUNCHES * graph["depth"]
    row = a["graph_lane"] // graph["depth"]
    launches = [x for x in small.fetch_launches(1) if x.node_level]
    for at, launch in enumerate(launches):
        spans = small.fetch_spans(launch.launch_id)
        assert sorted(a["graph_start_ns"][row == at].tolist()) == sorted(spans.start_ns.tolist())
        assert a["graph_duration_ns"][row == at].sum() == spans.duration_ns.sum()


def test_stacked_launches_by_length_start_with_the_longest(small: Recording) -> None:
    header, _ = unpack(timeline_payload(small, 1, "all", None, "length"))
    found = [(x["ordinal"], x["gpu_ns"]) for x in header["graph"]["launches"]]
    assert found == sorted(lengths(small).items(), key=lambda item: (-item[1], item[0]))
    assert found != sorted(found)  # or the order could not be told from that of ordinals


def test_lanes_inside_a_stacked_row_never_overlap(small: Recording) -> None:
    header, a = unpack(timeline_payload(small, 1, "all", None))
    assert header["graph"]["depth"] == 3  # the width of the fork
    for lane in set(a["graph_lane"].tolist()):
        of = a["graph_lane"] == lane
        start, end = a["graph_start_ns"][of], (a["graph_start_ns"] + a["graph_duration_ns"])[of]
        assert (start[1:] >= end[:-1]).all()


def test_loop_bodies_show_only_their_own_spans(loop: Recording) -> None:
    _, a = unpack(timeline_payload(loop, 2, "median", None))
    assert a["graph_node_id"].tolist() == [2001, 2002] * 4
    assert a["graph_iteration"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    _, a = unpack(timeline_payload(loop, 2, "all", None))
    assert set(a["graph_node_id"].tolist()) == {2001, 2002}


@pytest.mark.parametrize("launch", ["median", "all"])
def test_recording_without_launches_has_no_graph_side(tmp_path: Path, launch: str) -> None:
    path = write_recording(tmp_path / "x.gviz", SHAPE, launches=0, eager=False)
    with Recording(path) as recording:
        header, arrays = unpack(timeline_payload(recording, 1, launch, None))  # type: ignore[arg-type]
    assert (header["graph"], arrays) == (None, {})


def test_gaps_fill_what_spans_leave_free(small: Recording) -> None:
    header, a = unpack(timeline_payload(small, 1, None, None))
    for side in ("graph", "stream"):
        start, duration = a[f"{side}_start_ns"], a[f"{side}_duration_ns"].astype(np.float64)
        free = np.ones(int(header[side]["total_ns"]), bool)
        for begin, length in zip(start.astype(int), duration.astype(int), strict=True):
            free[begin : begin + length] = False
        gaps = (a[f"{side}_gap_end_ns"] - a[f"{side}_gap_start_ns"]).sum()
        assert gaps == free.sum() > 0
        # The wait for the first node is a gap, but not idle time of the launch.
        assert header[side]["idle_ns"] == free.sum() - start.min()
        whole = header[side]["total_ns"] - start.min()
        assert header[side]["idle_fraction"] == pytest.approx(header[side]["idle_ns"] / whole)


def test_idle_time_of_each_stacked_launch_is_that_of_the_launch_alone(small: Recording) -> None:
    header, _ = unpack(timeline_payload(small, 1, "all", None, "length"))
    launches = {x.ordinal: x.launch_id for x in small.fetch_launches(1) if x.node_level}
    for row in header["graph"]["launches"]:
        alone, _ = unpack(timeline_payload(small, 1, launches[row["ordinal"]], None))
        assert row["idle_ns"] == alone["graph"]["idle_ns"] > 0


@pytest.mark.parametrize("mode", ["median", "all", None])
def test_gaps_of_an_instrumented_copy_are_not_idle_time(tmp_path: Path, mode: str | None) -> None:
    # The second node starts before the first has ended: in the copy alone, as starts are its own.
    nodes = [Planned("a", 30_000, 10_000), Planned("b", 0, 30_000)]
    plan = Plan(nodes, chain_edges(2), launch={"node_method": "events"})
    with Recording(plan.write(tmp_path / "x.gviz")) as recording:
        header, a = unpack(timeline_payload(recording, 1, mode, None))
        level = read_graph_level(recording, 1)
        assert node_times(recording, 1, 1).median_ns == 40_000
    facts = header["graph"]
    assert "idle_ns" not in facts
    assert not any("idle_ns" in launch for launch in facts.get("launches", ()))
    assert len(a.get("graph_gap_start_ns", ())) == 0
    assert level.why_contradicted is None
    assert level.critical_path() is not None
    assert level.share.tolist() == [0.25, 0.75]


def test_median_of_copies_of_slices_has_all_nodes_one_slice_after_another(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(f"n{i}", 0, 10_000) for i in range(6)), gap_ns=0)
    # The two that have no time stand where the slices meet.
    untimed = [*nodes[:3], Planned("a"), Planned("b"), *nodes[3:]]
    path = Plan(untimed, chain_edges(8), launches=4, slices=2).write(tmp_path / "x.gviz")
    with Recording(path) as recording:
        one, _ = unpack(timeline_payload(recording, 1, 1, None))
        header, a = unpack(timeline_payload(recording, 1, "median", None))
    assert (one["graph"]["count"], one["graph"]["timed_count"]) == (3, 6)
    assert header["graph"]["timed_count"] == 6
    assert a["graph_node_id"].tolist() == [0, 1, 2, 5, 6, 7]
    assert header["graph"]["lanes"] == ["lane 1"]
    # The events of the first slice, and then those of the second, which began 6 us earlier.
    expected = [EVENTS_NS * (at + 1) + 10_000 * at for at in range(6)]
    assert a["graph_start_ns"].tolist() == pytest.approx(expected, abs=EVENTS_NS)


def test_slices_on_branches_side_by_side_stay_side_by_side(tmp_path: Path) -> None:
    nodes = [Planned("a", 0, 30_000), Planned("b", 1_000, 30_000)]
    path = Plan(nodes, launches=4, slices=2).write(tmp_path / "x.gviz")
    with Recording(path) as recording:
        header, a = unpack(timeline_payload(recording, 1, "median", None))
    assert header["graph"]["lanes"] == ["lane 1", "lane 2"]
    assert a["graph_start_ns"].tolist() == [2_000, 3_000]


@pytest.mark.parametrize(("slices", "shown"), [(1, 2), (2, "median")])
def test_page_begins_with_a_launch_that_shows_all_nodes(
    tmp_path: Path, slices: int, shown: object
) -> None:
    nodes = in_a_row(Planned("a", 0, 10_000), Planned("b", 0, 10_000))
    plan = Plan(nodes, chain_edges(2), launches=4, slices=slices, scales=(3.0, 1.0, 2.0, 0.5))
    library = Library([plan.write(tmp_path / "x.gviz")])
    try:
        (opened,) = library.files()
        with opened.at():
            assert first_launch(graph_view(library, opened.key, 1)) == shown
    finally:
        library.close()
