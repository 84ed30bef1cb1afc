"""Graphs of recordings compared: partners, changes and times, and which graph is which."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from places import ROOT
from planned_recordings import subject_of
from recaptures import write_recaptures
from recordings import (
    Shape,
    fork_join_shape,
    transformer_shape,
    write_loop_recording,
    write_recording,
)

from gviz.comparison.changes.durations import NodeDurations
from gviz.comparison.changes.groups import by_name, by_range
from gviz.comparison.changes.time_changes import compare_durations
from gviz.comparison.compared_tree import ComparedTree
from gviz.comparison.comparison import (
    GraphComparison,
    compare_graphs,
    compare_groups,
    pair_bodies,
)
from gviz.comparison.graph_pairs import GraphPair, GraphTraits, pair_graphs, read_graph_traits
from gviz.comparison.launch_totals import (
    compared_lengths,
    critical_paths,
    first_to_last,
    host_times,
    launch_lengths,
)
from gviz.errors import RecordingError
from gviz.model.launch_time import comparable_times, launch_times
from gviz.recording.reader import Recording

BUNDLED = ROOT / "assets" / "recordings"
SHAPE = transformer_shape(layers=3)

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write recordings of shapes, each of other noise."""

    def write_one(shape: Shape, launches: int = 12) -> Path:
        seed = len(list(tmp_path.iterdir()))
        path = tmp_path / f"{seed}.gviz"
        return write_recording(path, shape, launches=launches, eager=False, seed=seed)

    return write_one


def compare(first: Path, second: Path, graph_id: int = 1) -> GraphComparison:
    with Recording(first) as one, Recording(second) as two:
        trees = ComparedTree(one, graph_id), ComparedTree(two, graph_id)
        return compare_graphs(trees[0], graph_id, trees[1], graph_id)


def changed_shape(shape: Shape, at: int, **change: object) -> Shape:
    works = list(shape.works)
    works[at] = replace(works[at], **change)  # type: ignore[arg-type]
    return Shape(shape.name, tuple(works))


def test_graph_recorded_again_is_the_same(write: Write) -> None:
    found = compare(write(SHAPE), write(SHAPE))
    count = len(SHAPE.works)
    assert found.pairs.tolist() == [[i, i] for i in range(count)]
    assert (len(found.removed), len(found.added)) == (0, 0)
    assert not found.changed.any()
    assert not found.moved.any()
    assert not found.times.significant.any()
    assert (found.times.launches_before, found.times.launches_after) == (12, 12)
    assert found.common_fraction == 1.0


def test_slower_node_is_the_one_that_changed(write: Write) -> None:
    slower = changed_shape(SHAPE, 10, duration_ns=2 * SHAPE.works[10].duration_ns)
    found = compare(write(SHAPE), write(slower))
    assert np.flatnonzero(found.times.significant).tolist() == [10]
    change = found.times.change_ns[10]
    assert change == pytest.approx(SHAPE.works[10].duration_ns, rel=0.1)
    assert found.times.after_ns[10] - found.times.before_ns[10] == change


def test_what_changed_is_reported(write: Write) -> None:
    found = compare(write(SHAPE), write(changed_shape(SHAPE, 4, grid_x=7)))
    assert np.flatnonzero(found.changed).tolist() == [4]
    (difference,) = found.differences[4]
    assert (difference.what, difference.after) == ("grid", "7 × 1 × 1")


def test_layer_more_is_added_and_the_rest_keeps_its_partners(write: Write) -> None:
    found = compare(write(SHAPE), write(transformer_shape(layers=4)))
    assert len(found.removed) == 0
    assert {found.second.context[i] for i in found.added.tolist()} == {"layer 3"}
    assert len(found.added) == 15
    contexts = [(found.first.context[a], found.second.context[b]) for a, b in found.pairs.tolist()]
    assert all(a == b for a, b in contexts)


def test_times_without_launches_are_not_tested(write: Write) -> None:
    found = compare(write(SHAPE), write(SHAPE, launches=0))
    assert np.isnan(found.times.after_ns).all()
    assert np.isnan(found.times.rate).all()
    assert found.times.untested == "no launch of the second was timed"


def test_few_launches_are_not_tested(write: Write) -> None:
    found = compare(write(SHAPE), write(SHAPE, launches=2))
    assert not np.isnan(found.times.change_ns).all()
    assert "12 and 2 launches" in found.times.untested
    assert not found.times.significant.any()


def test_times_measured_in_two_ways_are_not_tested(write: Write) -> None:
    first, second = write(SHAPE), write(SHAPE)
    with sqlite3.connect(second) as database:
        database.execute("UPDATE launch SET node_method='events'")
    database.close()
    found = compare(first, second)
    assert (
        found.times.untested == "measured in two ways, which cannot be compared: cupti and events"
    )
    assert np.isnan(found.times.probability).all()


def test_parent_of_a_body_has_the_time_inside(tmp_path: Path) -> None:
    short = write_loop_recording(tmp_path / "short.gviz", iterations=3)
    long = write_loop_recording(tmp_path / "long.gviz", iterations=5)
    found = compare(short, long)
    assert found.times.before_ns.tolist() == [3_000, 3 * 6_800, 2_500]
    assert found.times.after_ns.tolist() == [3_000, 5 * 6_800, 2_500]
    with Recording(short) as one, Recording(long) as two:
        bodies = [[g for g in r.fetch_graphs() if g.parent_graph_id == 1] for r in (one, two)]
        assert pair_bodies(found, *bodies) == [(2, 2)]
    inside = compare(short, long, graph_id=2)
    # A turn of the loop takes as long as before.
    assert inside.times.change_ns.tolist() == [0, 0]


def test_groups_are_summed_launch_by_launch(write: Write) -> None:
    slower = transformer_shape(layers=4)
    for at in (17, 18, 19):  # of layer 1
        slower = changed_shape(slower, at, duration_ns=2 * slower.works[at].duration_ns)
    found = compare(write(SHAPE), write(slower))
    ranges = by_range(found.first, found.second)
    assert ranges.name == ("layer 0", "layer 1", "layer 2", "layer 3")
    assert [len(nodes) for nodes in ranges.before] == [15, 15, 15, 0]
    times = compare_groups(found, ranges.before, ranges.after)
    assert times.significant.tolist() == [False, True, False, False]
    assert np.isnan(times.before_ns[3])
    names = by_name(found.first, found.second, found.in_replacements())
    gemv = names.name.index("gemv_bf16_gate_proj")
    assert [len(names.before[gemv]), len(names.after[gemv])] == [3, 4]
    by_kernel = compare_groups(found, names.before, names.after)
    # A layer more has one more of each.
    assert by_kernel.change_ns[gemv] == pytest.approx(found.times.before_ns[12], rel=0.1)
    assert by_kernel.significant[gemv]


def totals(path: Path) -> tuple[NodeDurations, NodeDurations, NodeDurations]:
    subject = subject_of(path)
    lengths = launch_lengths(subject.recording, 1)
    return lengths, critical_paths(subject), first_to_last(subject)


def test_launches_and_critical_paths_are_compared(write: Write) -> None:
    first, second = write(SHAPE), write(transformer_shape(layers=4))
    one = np.zeros(1, np.int64)
    with Recording(first) as before, Recording(second) as after:
        medians = [launch_times(recording, 1).median_ns for recording in (before, after)]
    launches, paths, spans = (
        compare_durations(x, y, one, one)
        for x, y in zip(totals(first), totals(second), strict=True)
    )
    assert [launches.before_ns[0], launches.after_ns[0]] == medians
    for times in (launches, paths, spans):
        assert times.significant.all()
        assert times.change_ns[0] > 0
    assert paths.before_ns[0] < spans.before_ns[0]
    for x, y in zip(totals(first), totals(write(SHAPE)), strict=True):
        assert not compare_durations(x, y, one, one).significant.any()


def test_host_times_are_those_of_calls(write: Write) -> None:
    path = write(SHAPE)
    with Recording(path) as recording:
        found = host_times(recording, 1)
        wanted = recording.fetch_launch_durations(1, "graph", "host", undisturbed=True)
    assert found.launches[:, 0].tolist() == wanted.tolist()
    assert found.typical[0] == np.median(wanted)


def test_launches_that_were_not_timed_are_none(write: Write) -> None:
    with Recording(write(SHAPE, launches=0)) as recording:
        for found in (launch_lengths(recording, 1), host_times(recording, 1)):
            assert found.launches.shape == (0, 1)
            assert np.isnan(found.typical).all()


def test_unknown_graph_is_refused(write: Write) -> None:
    with pytest.raises(RecordingError):
        compare(write(SHAPE), write(SHAPE), graph_id=9)


def test_unrelated_graphs_have_little_in_common(write: Write) -> None:
    found = compare(write(SHAPE), write(fork_join_shape()))
    assert found.common_fraction < 0.2


# -- a real GPU ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recaptures(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_recaptures(tmp_path_factory.mktemp("recaptures"))


def test_real_program_in_another_process_is_the_same(recaptures: tuple[Path, Path]) -> None:
    found = compare(BUNDLED / "decode_step.gviz", recaptures[0])
    assert found.pairs.tolist() == [[i, i] for i in range(320)]
    assert len(found.edges.removed) == len(found.edges.added) == 0
    assert not found.changed.any()
    # Every node is given other addresses.
    assert found.only_addresses.all()
    kinds = Counter(d.kind for differences in found.differences for d in differences)
    assert kinds["value"] == 0
    assert kinds["address"] > kinds["unknown"] > 0


def test_real_program_with_attention_fused(recaptures: tuple[Path, Path]) -> None:
    found = compare(recaptures[0], recaptures[1])
    assert len(found.added) == 0
    gone = Counter(found.first.title[i] for i in found.removed.tolist())
    assert len(gone) == 3
    assert set(gone.values()) == {16}
    changed = [int(i) for i in np.flatnonzero(found.changed)]
    assert len(changed) == 16
    for i in changed:
        a, b = found.pairs[i].tolist()
        assert found.differences[i][0].what == "kernel"
        assert "sdpa" in found.second.title[b]
        assert found.first.context[a] == found.second.context[b]
    # All of the other nodes are in the layer they were in.
    pairs = found.pairs.tolist()
    assert all(found.first.context[a] == found.second.context[b] for a, b in pairs)
    # On one GPU: attention took longer, kernels right behind it another time, most as before.
    times = found.times
    assert times.significant[changed].all()
    assert times.significant.sum() < 0.3 * len(pairs)


def test_halves_of_a_real_recording_do_not_differ() -> None:
    for name in ("cupy_pipeline", "decode_step", "training_step"):
        with Recording(BUNDLED / f"{name}.gviz") as recording:
            found = ComparedTree(recording, 1).durations(1)
        half, nodes = len(found.launches) // 2, np.arange(found.launches.shape[1])
        sides = [
            NodeDurations(rows, np.nanmedian(rows, axis=0), found.methods)
            for rows in (found.launches[:half], found.launches[half:])
        ]
        assert not compare_durations(*sides, nodes, nodes).significant.any(), name


# -- graphs of two runs ------------------------------------------------------------------


def work(graph_id: int, name: str, shape: str | None, *kernels: str) -> GraphTraits:
    return GraphTraits(graph_id, name, shape, Counter((k,) for k in kernels))


def test_graphs_are_paired_by_shape_then_name_then_work() -> None:
    first = [
        work(1, "train.py:10 main", "a", "x", "y"),
        work(2, "decode", "b", "x", "z"),
        work(3, "prefill", "c", "p", "q", "r"),
        work(4, "gone", "d", "g"),
    ]
    second = [
        work(7, "prefill 2", "e", "p", "q", "r", "s"),
        work(8, "decode", "f", "x", "w"),
        work(9, "train.py:12 main", "a", "x", "y"),
        work(10, "new", "h", "n"),
    ]
    assert pair_graphs(first, second) == [
        GraphPair(1, 9, "shape", 1.0),
        GraphPair(2, 8, "name", 0.5),
        GraphPair(3, 7, "work", pytest.approx(6 / 7)),
    ]


def test_graphs_of_one_shape_are_paired_in_order() -> None:
    first = [work(i, "step", "a", "x") for i in (1, 2, 3)]
    second = [work(i, "step", "a", "x") for i in (5, 6)]
    assert [(p.first, p.second) for p in pair_graphs(first, second)] == [(1, 5), (2, 6)]


def test_name_alone_is_not_enough() -> None:
    assert pair_graphs([work(1, "step", "a", "x")], [work(2, "step", "b", "y")]) == []


def test_line_that_moved_is_the_same_name() -> None:
    one, two = work(1, "a.py:10 f", "a", "x", "y", "z"), work(2, "a.py:99 f", "b", "x", "v", "w")
    assert [p.how for p in pair_graphs([one], [two])] == ["name"]


def test_no_graphs_make_no_pairs() -> None:
    assert pair_graphs([], [work(1, "step", "a", "x")]) == []


def test_graphs_of_recordings(write: Write, tmp_path: Path) -> None:
    with Recording(write(SHAPE)) as one, Recording(write(transformer_shape(layers=4))) as two:
        (pair,) = pair_graphs(read_graph_traits(one, 1), read_graph_traits(two, 1))
    assert (pair.first, pair.second, pair.how) == (1, 1, "work")
    with Recording(write_loop_recording(tmp_path / "loop.gviz")) as loop:
        # Bodies are no graphs of their own.
        assert [g.graph_id for g in read_graph_traits(loop, 1)] == [1]


@pytest.mark.parametrize(
    ("second", "ways"),
    [("token_step_2", [False, False]), ("decode_step_h200", [False, True])],
)
def test_launches_are_compared_in_one_way_that_each_side_has_enough_of(
    second: str, ways: list[bool]
) -> None:
    paths = BUNDLED / "token_step_1.gviz", BUNDLED / f"{second}.gviz"
    with Recording(paths[0]) as before, Recording(paths[1]) as after:
        alone = [launch_times(recording, 1) for recording in (before, after)]
        together = comparable_times([(before, 1), (after, 1)])
        lengths = compared_lengths((before, 1), (after, 1))
    # One launch of token_step_1 was between events.
    assert [times.is_between_events for times in alone] == ways
    assert [times.is_between_events for times in together] == [False, False]
    assert [len(side.launches) for side in lengths] == [times.count for times in together]
    one = np.zeros(1, np.int64)
    assert not compare_durations(*lengths, one, one).untested


def test_launches_that_nothing_disturbed_are_compared_where_there_are_enough() -> None:
    paths = BUNDLED / "decode_step_h200.gviz", BUNDLED / "decode_step_h200_fused.gviz"
    with Recording(paths[0]) as before, Recording(paths[1]) as after:
        found = comparable_times([(before, 1), (after, 1)])
    assert [times.is_between_events for times in found] == [True, True]


def test_few_launches_are_compared_with_few_as_they_are(write: Write) -> None:
    with Recording(write(SHAPE, launches=2)) as recording:
        (times,) = comparable_times([(recording, 1)])
        assert times == launch_times(recording, 1)
