"""Recordings compared as a whole: graphs, times, where a launch's change lies, and trends."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from nested_recordings import (
    NESTED,
    NESTED_CHANGED,
    NESTED_SHORTENED,
    layered,
    write_nested_recording,
)
from noisy_recordings import SHAPE, Write, alter, writer_into
from recordings import Shape, transformer_shape, write_loop_recording

from gviz.assets import recordings as bundled
from gviz.comparison.diff import RequestedPair, compare_recordings, diff_to_json
from gviz.comparison.diff_result import Diff, GraphDiff, TimeChange, Waterfall
from gviz.comparison.trend import build_trend, trend_to_json
from gviz.comparison.trend_result import Trend
from gviz.comparison.waterfall import ADDED, CHANGED, OUTSIDE, REMOVED, SAME
from gviz.errors import RecordingError
from gviz.recording.arrays import SpanArrays
from gviz.recording.merge import merge_recordings
from gviz.recording.reader import Recording
from gviz.report.comparison.level_section import lone_bodies_section
from gviz.stats.figure_fields import NotComputed, fields_of, result_classes

BUNDLED = sorted(Path(next(iter(bundled.__path__))).glob("*.gviz"))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer_into(tmp_path)


def slower(at: int, factor: float) -> Shape:
    works = list(SHAPE.works)
    works[at] = dataclasses.replace(works[at], duration_ns=round(factor * works[at].duration_ns))
    return Shape(SHAPE.name, tuple(works))


def diff(first: Path, second: Path, requested: RequestedPair | None = None) -> Diff:
    with Recording(first) as one, Recording(second) as two:
        return compare_recordings(one, two, requested)


def only_graph(found: Diff) -> GraphDiff:
    (run,) = found.runs
    (graph,) = run.graphs
    return graph


def waterfall(graph: GraphDiff) -> Waterfall:
    assert isinstance(graph.waterfall, Waterfall)
    return graph.waterfall


def causes(found: Waterfall) -> dict[str, float]:
    return {step.cause: step.change_ns for step in found.steps}


def known(change: TimeChange | NotComputed) -> TimeChange:
    assert isinstance(change, TimeChange)
    return change


# -- one graph ---------------------------------------------------------------------------


def test_recording_compared_with_itself_has_no_change(write: Write) -> None:
    path = write()
    graph = only_graph(diff(path, path))
    assert (graph.how, graph.likeness_fraction) == ("shape", 1.0)
    for change in (graph.launch, graph.host, graph.first_to_last, graph.critical_path):
        assert (known(change).change_ns, known(change).significant) == (0, False)
    assert set(causes(waterfall(graph)).values()) == {0}
    (level,) = graph.levels
    assert (level.removed, level.added, level.changed, level.moved) == ((), (), (), ())
    assert level.pair_count == level.node_count_before == len(SHAPE.works)


def test_same_program_twice_has_no_change_beyond_noise(write: Write) -> None:
    graph = only_graph(diff(write(), write()))
    changes = [graph.launch, graph.host, graph.first_to_last, graph.critical_path]
    changes += [group.time for group in (*graph.levels[0].ranges, *graph.levels[0].names)]
    assert not any(known(change).significant for change in changes)
    assert not graph.levels[0].node_times.significant.any()


def test_slower_node_is_the_launch_s_change(write: Write) -> None:
    graph = only_graph(diff(write(), write(slower(10, 40))))
    extra = 39 * SHAPE.works[10].duration_ns
    launch = graph.launch
    assert launch.significant
    assert launch.change_ns == pytest.approx(extra, rel=0.1)
    assert launch.low_ns is not None
    assert launch.high_ns is not None
    assert launch.low_ns <= launch.change_ns <= launch.high_ns
    found = causes(waterfall(graph))
    assert found[SAME] == pytest.approx(extra, rel=0.1)
    assert found[REMOVED] == found[ADDED] == found[CHANGED] == 0
    (step,) = (s for s in waterfall(graph).steps if s.cause == SAME)
    assert step.parts[0].name == graph.levels[0].node_times.name[10]


def test_layer_more_is_what_the_launch_is_longer_by(write: Write) -> None:
    graph = only_graph(diff(write(), write(transformer_shape(layers=4))))
    found = causes(waterfall(graph))
    assert found[ADDED] > 0.5 * (graph.launch.change_ns or 0)
    assert found[REMOVED] == 0
    level = graph.levels[0]
    assert (len(level.added), len(level.removed)) == (15, 0)
    (layer,) = (g for g in level.ranges if g.name == "layer 3")
    assert (layer.nodes_before, layer.nodes_after, layer.time.before_ns) == (0, 15, None)
    assert "not there, or not timed, before" in (layer.time.untested or "")
    ranges = {step.name: step for step in waterfall(graph).ranges}
    assert ranges["layer 3"].before_ns == 0 < ranges["layer 3"].after_ns


def test_steps_add_up_exactly(write: Write) -> None:
    pairs = [
        (write(), write(transformer_shape(layers=4))),
        (write(slower(3, 5)), write(transformer_shape(layers=2))),
        *((path, path) for path in BUNDLED),
        (BUNDLED[0], write()),
    ]
    for pair in pairs:
        for graph in (g for run in diff(*pair).runs for g in run.graphs):
            found = waterfall(graph)
            change = found.after_ns - found.before_ns
            assert sum(causes(found).values()) == pytest.approx(change, abs=1e-3)
            by_range = sum(step.change_ns for step in found.ranges) + found.outside_ns
            assert by_range == pytest.approx(change, abs=1e-3)
            assert causes(found)[OUTSIDE] == found.outside_ns
            for step in found.steps:
                if step.parts:
                    parts = sum(part.change_ns for part in step.parts)
                    assert parts == pytest.approx(step.change_ns, abs=1e-3)
                    assert sum(part.node_count for part in step.parts) == step.node_count


def test_bodies_of_partners_are_levels_of_their_own(tmp_path: Path) -> None:
    short = write_loop_recording(tmp_path / "short.gviz", iterations=3)
    long = write_loop_recording(tmp_path / "long.gviz", iterations=5)
    graph = only_graph(diff(short, long))
    assert [(x.before_graph_id, x.after_graph_id) for x in graph.levels] == [(1, 1), (2, 2)]
    found = waterfall(graph)
    assert sum(causes(found).values()) == pytest.approx(found.after_ns - found.before_ns)
    # The nodes of two turns more.
    assert causes(found)["nodes that came onto the path"] > 0


def test_spans_are_read_as_often_whatever_the_number_of_bodies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []
    read = Recording.fetch_graph_spans

    def counted(self: Recording, *requested: Any, **more: Any) -> SpanArrays:
        counts[-1] += 1
        return read(self, *requested, **more)

    monkeypatch.setattr(Recording, "fetch_graph_spans", counted)
    for layers in (1, 6):
        path = write_nested_recording(tmp_path / f"{layers}.gviz", layered(layers))
        counts.append(0)
        graph = only_graph(diff(path, path))
        assert len(graph.levels) == 1 + 2 * layers
    assert counts[0] == counts[1] > 0


def test_bodies_of_one_side_are_named_with_their_nodes(tmp_path: Path) -> None:
    both, more, less = (
        write_nested_recording(tmp_path / f"{at}.gviz", parts)
        for at, parts in enumerate((NESTED, NESTED_CHANGED, NESTED_SHORTENED))
    )
    graph = only_graph(diff(both, more))
    assert graph.bodies_removed == ()
    (case,) = graph.bodies_added
    assert (case.holder.name, case.holder.node_id, case.branch) == ("CONDITIONAL SWITCH", 3, 3)
    assert [node.name for node in case.nodes] == ["case3_a"]
    graph = only_graph(diff(both, less))
    assert graph.bodies_added == ()
    # The node that is gone held a child graph in its body.
    then, child = graph.bodies_removed
    assert (then.holder.name, then.branch) == ("CONDITIONAL IF", 0)
    assert (child.holder.graph_id, child.branch) == (then.graph_id, None)
    assert [node.name for node in child.nodes] == ["pack", "send"]
    assert only_graph(diff(less, both)).bodies_added == graph.bodies_removed


def _with_body_in(path: Path, node: int | None) -> Path:
    """Write a nested recording whose graph 2 is the body of another node; None: not recorded."""
    write_nested_recording(path, NESTED)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE graph SET parent_node_id=? WHERE graph_id=2", (node,))
    database.close()
    return path


@pytest.mark.parametrize("node", [None, 77], ids=["not recorded", "not there"])
def test_body_whose_parent_node_is_missing_is_named_without_it(
    tmp_path: Path, node: int | None
) -> None:
    path = _with_body_in(tmp_path / "nested.gviz", node)
    graph = only_graph(diff(path, path))
    (body, *_) = graph.bodies_removed
    assert (body.graph_id, body.holder) == (2, None)
    assert graph.bodies_added == graph.bodies_removed
    section = lone_bodies_section(graph.bodies_removed, graph.bodies_added)
    assert "in a node that is not recorded" in str(section)


def test_what_cannot_be_decided_says_why(write: Write) -> None:
    graph = only_graph(diff(write(), write(launches=0)))
    assert graph.launch.after_ns is None
    assert graph.launch.untested == "no launch of the second was timed"
    for found in (graph.waterfall, graph.critical_path, graph.first_to_last):
        assert isinstance(found, NotComputed)
        assert found.not_computed.startswith("after: ")
    one, two = write(), alter(write(), "UPDATE graph SET topology_id=NULL")
    (late,) = diff(one, two, RequestedPair(1, 1)).runs[0].graphs
    assert isinstance(late.waterfall, NotComputed)
    assert not late.levels[0].edges_known
    assert known(late.launch).rate is not None


# -- several graphs and runs ---------------------------------------------------------------


def test_noise_is_judged_over_all_graphs(write: Write, tmp_path: Path) -> None:
    before = [write(), write(transformer_shape(layers=2))]
    after = [write(slower(10, 1.1)), write(transformer_shape(layers=2))]
    alone = diff(before[0], after[0]).runs[0].graphs[0].levels[0].node_times
    sides = []
    for name, paths in (("before", before), ("after", after)):
        sides.append(tmp_path / f"{name}-all.gviz")
        merge_recordings(paths, sides[-1])
    found = diff(*sides)
    assert [run.before.run_id for run in found.runs] == [1, 2]
    together = found.runs[0].graphs[0].levels[0].node_times
    # More tests, a higher rate for each.
    assert together.rate[10] > alone.rate[10]
    assert len(found.unpaired) == 0


def test_graphs_of_one_side_are_named(write: Write) -> None:
    first, second = write(), write()
    alter(second, "UPDATE graph SET name='other'", "UPDATE topology SET hash='x'",
          "UPDATE node SET name=name || 'x', grid_x=77")  # fmt: skip
    (run,) = diff(first, second).runs
    assert run.graphs == ()
    assert [(g.graph_id, g.name) for g in run.removed] == [(1, SHAPE.name)]
    assert [(g.graph_id, g.name) for g in run.added] == [(1, "other")]
    with pytest.raises(RecordingError, match="--graph 1:ID"):
        diff(first, second, RequestedPair(1, None))
    requested = only_graph(diff(first, second, RequestedPair(1, 1)))
    assert (requested.how, requested.likeness_fraction) == ("asked", 0)


def test_absent_graph_names_the_next_step(write: Write) -> None:
    path = write()
    for requested in (RequestedPair(7, None), RequestedPair(1, 7)):
        with pytest.raises(RecordingError, match=r"no graph 7 .*gviz info"):
            diff(path, path, requested)


def test_runs_are_paired_by_rank(write: Write, tmp_path: Path) -> None:
    ranks = [
        [alter(write(), f"UPDATE run SET rank={r}") for r in side] for side in ((0, 1), (1, 2))
    ]
    paths = [tmp_path / "one-all.gviz", tmp_path / "two-all.gviz"]
    for parts, path in zip(ranks, paths, strict=True):
        merge_recordings(parts, path)
    found = diff(*paths)
    assert [(r.before.run_id, r.after.run_id) for r in found.runs] == [(2, 1)]
    assert [(Path(r.path).stem, r.run_id) for r in found.unpaired] == [
        ("one-all", 1),
        ("two-all", 2),
    ]


def test_circumstances_are_what_differs_besides_the_program(write: Write) -> None:
    first, second = write(), write()
    alter(second, "UPDATE run SET driver_version='99.0'", "UPDATE device SET name='NVIDIA X'")
    (run,) = diff(first, second).runs
    assert {c.what: c.after for c in run.circumstances} == {
        "GPU": "NVIDIA X",
        "CUDA of the driver": "99.0",
    }
    assert diff(first, write()).runs[0].circumstances == ()


# -- JSON ---------------------------------------------------------------------------------


def test_json_has_every_class_and_no_nan(write: Write) -> None:
    found = diff(write(), write(transformer_shape(layers=4)))
    value = json.loads(json.dumps(diff_to_json(found), allow_nan=False))
    assert list(value) == [*(f.name for f in dataclasses.fields(Diff)), "how"]
    assert list(value["how"]) == [cls.__name__ for cls in result_classes(Diff)]
    times = value["runs"][0]["graphs"][0]["levels"][0]["node_times"]
    assert {len(column) for column in times.values()} == {len(SHAPE.works)}
    assert {type(x) for x in times["significant"]} == {bool}


@pytest.mark.parametrize("root", [Diff, Trend])
def test_every_key_is_documented(root: type) -> None:
    for cls in result_classes(root):
        for name, how, doc in fields_of(cls):
            assert how, name
            assert doc, name


# -- trends --------------------------------------------------------------------------------


def trend(*paths: Path) -> Trend:
    recordings = [Recording(path) for path in paths]
    try:
        return build_trend(recordings)
    finally:
        for recording in recordings:
            recording.close()


def test_trend_is_in_the_order_of_recording(write: Write) -> None:
    paths = [write(), write(), write(slower(10, 40))]
    for at, path in zip((30, 10, 20), paths, strict=True):
        alter(path, f"UPDATE run SET started_ns={at}, git_revision='commit{at}', git_dirty=0")
    found = trend(*paths)
    assert found.order == "recorded"
    assert [r.run.git_revision for r in found.runs] == ["commit10", "commit20", "commit30"]
    (series,) = found.series
    assert [point.significant for point in series.points] == [False, True, True]
    assert series.points[1].change_ns == pytest.approx(39 * SHAPE.works[10].duration_ns, rel=0.1)
    assert [point.how for point in series.points] == [None, "shape", "shape"]
    json.dumps(trend_to_json(found), allow_nan=False)


def test_trend_without_dates_is_in_the_order_given(write: Write) -> None:
    paths = [alter(write(), "UPDATE run SET started_ns=NULL"), write()]
    found = trend(*paths)
    assert found.order == "given"
    assert [r.run.path for r in found.runs] == [str(path) for path in paths]


def test_trend_goes_on_over_a_run_that_lacks_the_graph(write: Write) -> None:
    paths = [write(), write(), write(transformer_shape(layers=4))]
    rename = ("UPDATE graph SET name='other'", "UPDATE topology SET hash='x'",
              "UPDATE node SET name=name || 'x', grid_x=77")  # fmt: skip
    alter(paths[1], *rename)
    for at, path in enumerate(paths):
        alter(path, f"UPDATE run SET started_ns={at}")
    found = trend(*paths)
    assert [[p.run for p in series.points] for series in found.series] == [[0, 2], [1]]
    assert found.series[0].points[1].how == "work"


def test_trend_says_where_the_gpu_changed(write: Write) -> None:
    paths = [write(), alter(write(), "UPDATE device SET name='NVIDIA X'")]
    (series,) = trend(*paths).series
    assert [point.same_gpu for point in series.points] == [True, False]
