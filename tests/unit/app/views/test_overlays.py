"""Overlays in the DAG's payload, and where layouts put its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from contradicted_recordings import exchange_times
from recordings import fork_join_shape, write_loop_recording, write_recording

from gviz.app.components.dag_options import OVERLAY_NAMES, OVERLAYS
from gviz.app.views.dag.overlays import change_scale, describe_overlays, value_scale
from gviz.app.views.payload import DagRequest, dag_payload
from gviz.app.views.wire import unpack
from gviz.assets import recordings as bundled
from gviz.errors import RecordingError
from gviz.recording.reader import Recording

ASSETS = Path(next(iter(bundled.__path__)))
SHAPE = fork_join_shape()
TIMED = np.array([w.timed for w in SHAPE.works])


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Recording]:
    with Recording(write_recording(tmp_path / "small.gviz", SHAPE)) as recording:
        yield recording


def test_names_are_distinct() -> None:
    assert len(OVERLAY_NAMES) == len(OVERLAYS)


def test_every_overlay_of_a_timed_graph_has_its_array(small: Recording) -> None:
    header, arrays = unpack(dag_payload(small, 1))
    assert {"duration", "p95", "launch", "share", "slack", "kind", "kernel", "lane"} <= set(
        header["overlays"]
    )
    for facts in header["overlays"].values():
        assert len(arrays[facts["array"]]) == len(SHAPE.works)


def test_graph_without_times_has_no_overlay_of_times(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "plain.gviz", SHAPE, launches=0, eager=False)
    with Recording(path) as recording:
        header, arrays = unpack(dag_payload(recording, 1))
    assert not {"duration", "p95", "launch", "share", "slack"} & set(header["overlays"])
    assert "kind" in header["overlays"]
    assert len(arrays["critical"]) == 0


def test_times_that_contradict_dependencies_give_no_critical_path(tmp_path: Path) -> None:
    path = ASSETS / "decode_step.gviz"
    for file, is_right in ((path, True), (exchange_times(path, tmp_path / "x.gviz"), False)):
        with Recording(file) as recording:
            header, arrays = unpack(dag_payload(recording, 1))
        assert (header["path_note"] is None) is is_right
        assert ("slack" in header["overlays"]) is is_right
        assert (len(arrays["critical"]) > 0) is is_right
        assert "duration" in header["overlays"]
    assert "of 413 dependencies are contradicted by the times" in header["path_note"]


def test_slack_is_zero_on_the_critical_path_only(small: Recording) -> None:
    _, arrays = unpack(dag_payload(small, 1))
    slack, critical = arrays["slack_ns"], arrays["critical"]
    assert slack[critical].tolist() == [0.0] * len(critical)
    assert (slack > 0).any()
    edges = set(zip(arrays["edge_from"].tolist(), arrays["edge_to"].tolist(), strict=True))
    steps = zip(critical[:-1].tolist(), critical[1:].tolist(), strict=True)
    assert all(step in edges for step in steps)


def test_launch_overlay_holds_the_times_of_that_launch(small: Recording) -> None:
    launches = [x for x in small.fetch_launches(1) if x.span_count]
    for launch in launches[:2]:
        header, arrays = unpack(dag_payload(small, 1, DagRequest(launch_id=launch.launch_id)))
        assert header["launch_ordinal"] == launch.ordinal
        spans = small.fetch_spans(launch.launch_id)
        expected = dict(zip(spans.node_id.tolist(), spans.duration_ns.tolist(), strict=True))
        nodes = small.fetch_nodes(1)
        found = arrays["launch_ns"].tolist()
        assert [None if np.isnan(x) else x for x in found] == [
            expected.get(n.node_id) for n in nodes
        ]


def test_loop_body_is_summed_over_iterations(tmp_path: Path) -> None:
    with Recording(write_loop_recording(tmp_path / "loop.gviz")) as recording:
        launch = next(x for x in recording.fetch_launches(1) if x.span_count)
        _, arrays = unpack(dag_payload(recording, 2, DagRequest(launch_id=launch.launch_id)))
        spans = recording.fetch_spans(launch.launch_id)
        ids = [n.node_id for n in recording.fetch_nodes(2)]
    for node_id, total in zip(ids, arrays["launch_ns"].tolist(), strict=True):
        mine = (spans.graph_id == 2) & (spans.node_id == node_id)
        assert total == spans.duration_ns[mine].sum() > 0


@pytest.mark.parametrize("layout", ["structure", "lanes"])
def test_layout_is_the_one_requested(small: Recording, layout: str) -> None:
    header, arrays = unpack(dag_payload(small, 1, DagRequest(layout)))
    assert (header["layout"], header["layout_note"]) == (layout, None)
    assert len(arrays["x"]) == len(SHAPE.works)


def test_time_layout_stands_where_the_nodes_ran(small: Recording) -> None:
    launch = next(x for x in small.fetch_launches(1) if x.span_count)
    header, arrays = unpack(dag_payload(small, 1, DagRequest("time", launch.launch_id)))
    assert header["layout"] == "time"
    spans = small.fetch_spans(launch.launch_id)
    start = (arrays["x"] - arrays["half_width"])[TIMED]
    nodes = [n for n in small.fetch_nodes(1) if n.node_id in set(spans.node_id.tolist())]
    at = {n: i for i, n in enumerate(spans.node_id.tolist())}
    order = [at[n.node_id] for n in nodes]
    assert start.tolist() == pytest.approx(spans.start_ns[order].tolist(), abs=1)
    assert (2 * arrays["half_width"][TIMED]).tolist() == spans.duration_ns[order].tolist()
    assert (arrays["half_width"][~TIMED] == 0).all()
    assert header["width"] == (spans.start_ns + spans.duration_ns).max()


def test_time_layout_without_times_says_so(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "plain.gviz", SHAPE, launches=0, eager=False)
    with Recording(path) as recording:
        header, _ = unpack(dag_payload(recording, 1, DagRequest("time")))
    assert header["layout"] == "structure"
    assert "no node of this level has a time" in header["layout_note"]


def test_unknown_launch_is_refused(small: Recording) -> None:
    with pytest.raises(RecordingError):
        dag_payload(small, 1, DagRequest("time", 99_999))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], (None, None, False)),
        ([np.nan, 0.0], (None, None, False)),
        ([0.0, 2.0, 30.0], (2.0, 30.0, False)),
        ([2.0, 40.0, np.nan], (2.0, 40.0, True)),
    ],
)
def test_scale_is_logarithmic_where_values_look_for_it(
    values: list[float], expected: tuple[float | None, float | None, bool]
) -> None:
    scale = value_scale(np.array(values, np.float64))
    assert (scale["least"], scale["most"], scale["log"]) == expected


def test_scale_of_changes_is_that_of_the_sizes_that_count() -> None:
    values = np.array([-3.0, 2.0, 90.0, np.nan])
    counted = np.array([True, True, False, False])
    assert change_scale(values, counted) == {"least": 2.0, "most": 3.0, "log": False}
    none = np.zeros(4, bool)
    assert change_scale(values, none) == {"least": 2.0, "most": 90.0, "log": True}
    assert change_scale(np.array([0.0, np.nan]), none[:2])["most"] is None


def test_overlay_without_any_value_is_left_out() -> None:
    none = {"occupancy": np.full(3, np.nan, np.float32), "nvtx": np.full(3, -1, np.int32)}
    assert describe_overlays(none) == {}
    some = {"occupancy": np.array([np.nan, 0.5], np.float32), "nvtx": np.array([-1, 4], np.int32)}
    assert set(describe_overlays(some)) == {"occupancy", "nvtx"}
