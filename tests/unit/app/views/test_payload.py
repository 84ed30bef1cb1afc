"""The payloads of the canvas views: what arrays hold for known recordings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from recordings import (
    FIRST_NODE_ID,
    GRAPH_CALL_NS,
    fork_join_shape,
    transformer_shape,
    write_loop_recording,
    write_recording,
)

from gviz.app.views.payload import dag_payload, duration_scale, timeline_payload
from gviz.app.views.timeline.timeline_side import NO_NODE
from gviz.app.views.wire import pack, unpack
from gviz.cuda.node_type import NodeType
from gviz.dag.interval_lanes import pack_lanes
from gviz.errors import RecordingError
from gviz.recording import column_reading
from gviz.recording.reader import Recording

SHAPE = fork_join_shape(stages=2, width=3, depth=2)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    path = tmp_path_factory.mktemp("payload") / "small.gviz"
    with Recording(write_recording(path, SHAPE, launches=3)) as recording:
        yield recording


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Recording]:
    with Recording(write_loop_recording(tmp_path / "loop.gviz", iterations=4)) as recording:
        yield recording


def test_pack_unpack_round_trip_keeps_arrays_aligned() -> None:
    arrays = {
        "bytes": np.arange(3, dtype=np.uint8),
        "floats": np.array([1.5, np.nan]),
        "empty": np.zeros(0, np.int32),
        "words": np.array([7, NO_NODE], np.uint32),
    }
    payload = pack({"kind": "test", "text": "µs"}, arrays)
    header, found = unpack(payload)
    assert header["text"] == "µs"
    assert all(a["offset"] % 8 == 0 for a in header["arrays"].values())
    assert (4 + int.from_bytes(payload[:4], "little")) % 8 == 0
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("value", [np.float32(np.nan), np.float32(2.5), np.int32(-1), np.uint8(3)])
def test_arrays_of_one_value_are_sent_as_one(value: np.generic) -> None:
    arrays = {"same": np.full(1000, value), "other": np.arange(1000, dtype=np.uint32)}
    payload = pack({}, arrays)
    assert len(payload) < 4300
    header, found = unpack(payload)
    assert header["arrays"]["same"]["repeated"] is True
    assert "repeated" not in header["arrays"]["other"]
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_dag_payload_holds_every_node_and_edge(small: Recording) -> None:
    header, a = unpack(dag_payload(small, 1))
    names = [header["strings"][i] for i in a["name"]]
    assert names == [w.name for w in SHAPE.works]
    assert a["node_id"].tolist() == SHAPE.node_ids
    assert a["type"].tolist() == [int(w.type) for w in SHAPE.works]
    edges = set(zip(a["edge_from"].tolist(), a["edge_to"].tolist(), strict=True))
    assert edges == {(d, i) for i, w in enumerate(SHAPE.works) for d in w.after}
    assert len(a["route_offset"]) == len(edges) + 1
    assert header["edges_known"] is True
    assert header["launch_count"] == 3


def test_dag_payload_times_are_the_medians_and_nan_without(small: Recording) -> None:
    header, a = unpack(dag_payload(small, 1))
    for i, work in enumerate(SHAPE.works):
        durations = small.fetch_node_durations(1, (1, FIRST_NODE_ID + i))
        if work.timed:
            assert a["median_ns"][i] == pytest.approx(np.median(durations))
            assert a["reason"][i] == -1
        else:
            assert np.isnan(a["median_ns"][i])
            assert header["strings"][a["reason"][i]]


def test_dag_payload_programmatic_edges_are_marked(tmp_path: Path) -> None:
    shape = transformer_shape(layers=1)
    with Recording(write_recording(tmp_path / "t.gviz", shape, launches=1)) as recording:
        _, a = unpack(dag_payload(recording, 1))
    marked = {int(b) for b in a["edge_to"][a["edge_type"] == 1]}
    assert marked == {i for i, w in enumerate(shape.works) if w.programmatic}


def test_dag_payload_unknown_graph_raises(small: Recording) -> None:
    with pytest.raises(RecordingError, match="no graph 99"):
        dag_payload(small, 99)


def test_dag_payload_body_takes_times_of_its_nodes(loop: Recording) -> None:
    header, a = unpack(dag_payload(loop, 2))
    assert a["node_id"].tolist() == [2001, 2002]
    assert a["median_ns"].tolist() == [5000, 1800]
    assert header["graph_name"] == "while loop body"


def test_dag_payload_share_is_node_time_over_launch_time(small: Recording) -> None:
    _, a = unpack(dag_payload(small, 1))
    recorded = [x for x in small.fetch_launches(1) if x.node_level]
    whole = sum((x.gpu_end_ns or 0) - (x.gpu_start_ns or 0) for x in recorded)
    last = len(SHAPE.works) - 1
    expected = small.fetch_node_durations(1, (1, FIRST_NODE_ID + last)).sum() / whole
    assert a["share"][last] == pytest.approx(expected)
    assert np.isnan(a["share"][2])  # an empty node


def test_dag_payload_loop_node_carries_the_time_of_its_body(loop: Recording) -> None:
    _, a = unpack(dag_payload(loop, 1))
    assert a["body_ns"][1] == a["median_ns"][1] == 4 * (5_000 + 1_800)
    assert np.isnan(a["body_ns"][[0, 2]]).all()
    assert a["share"][1] == pytest.approx(27_200 / (4_200 + 4 * 9_000 + 2_500))


@pytest.mark.parametrize(
    ("durations", "expected"),
    [
        ([], {"least_ns": None, "most_ns": None, "log": False}),
        ([np.nan, 0.0], {"least_ns": None, "most_ns": None, "log": False}),
        ([10.0, 150.0, np.nan], {"least_ns": 10.0, "most_ns": 150.0, "log": False}),
        ([10.0, 200.0], {"least_ns": 10.0, "most_ns": 200.0, "log": True}),
    ],
)
def test_duration_scale(durations: list[float], expected: dict[str, object]) -> None:
    assert duration_scale(np.array(durations, np.float64)) == expected


def test_timeline_payload_graph_side_starts_at_its_host_call(small: Recording) -> None:
    header, a = unpack(timeline_payload(small, 1, None, None))
    launch = small.fetch_launches(1)[0]
    spans = small.fetch_spans(launch.launch_id)
    assert header["graph"]["launch_id"] == launch.launch_id
    assert header["graph"]["call_ns"] == GRAPH_CALL_NS
    assert header["graph"]["zero"] == "host call"
    assert len(a["graph_start_ns"]) == len(spans)
    assert launch.gpu_start_ns is not None
    assert launch.host_start_ns is not None
    assert a["graph_start_ns"].min() == launch.gpu_start_ns - launch.host_start_ns
    assert (np.diff(a["graph_start_ns"]) >= 0).all()
    assert a["graph_duration_ns"].sum() == pytest.approx(spans.duration_ns.sum())


def test_timeline_payload_chosen_launch_is_shown(small: Recording) -> None:
    chosen = small.fetch_launches(1)[2]
    header, _ = unpack(timeline_payload(small, 1, chosen.launch_id, None))
    assert header["graph"]["ordinal"] == 2


def test_timeline_payload_stream_side_holds_matched_operations(small: Recording) -> None:
    header, a = unpack(timeline_payload(small, 1, None, None))
    timed = {FIRST_NODE_ID + i for i, w in enumerate(SHAPE.works) if w.timed}
    assert set(a["stream_node_id"].tolist()) == timed
    assert len(header["stream"]["lanes"]) == len(set(a["stream_stream"].tolist()))
    assert a["stream_host_start_ns"].min() == 0
    # No operation starts on the GPU before its host call was entered.
    assert (a["stream_start_ns"] > a["stream_host_start_ns"]).all()


def test_timeline_payload_operations_are_in_order_of_start_whatever_their_pages(
    tmp_path: Path,
) -> None:
    path = write_recording(tmp_path / "x.gviz", SHAPE, launches=1)
    with closing(sqlite3.connect(path)) as database, database:
        # Ids against the order of start, and every third on a stream of its own.
        database.execute("UPDATE stream_operation SET operation_id = -operation_id")
        database.execute("UPDATE stream_operation SET stream_id = 3 WHERE operation_id % 3 = 0")
        by_start = database.execute(
            "SELECT name, duration_ns, stream_id, host_end_ns - host_start_ns, "
            "start_ns - (SELECT min(host_start_ns) FROM stream_operation), node_id "
            "FROM stream_operation ORDER BY start_ns"
        ).fetchall()
    found = {}
    for values_at_once in (1 << 19, 64):
        with (
            Recording(path) as recording,
            mock.patch.object(column_reading, "VALUES_AT_ONCE", values_at_once),
        ):
            found[values_at_once] = timeline_payload(recording, 1, None, None)
    assert found[64] == found[1 << 19]
    header, a = unpack(found[64])
    names = [header["strings"][at] for at in a["stream_name"]]
    columns = ("duration_ns", "stream", "host_duration_ns", "start_ns", "node_id")
    shown = zip(names, *(a[f"stream_{name}"].tolist() for name in columns), strict=True)
    assert list(shown) == by_start
    streams = [header["stream"]["lanes"][lane] for lane in a["stream_lane"]]
    assert streams == [f"stream {row[2]}" for row in by_start]


def test_timeline_payload_operation_of_no_node_is_marked(tmp_path: Path) -> None:
    # Operations are matched to nodes of graph 1; seen from the body, none is known.
    path = write_recording(tmp_path / "x.gviz", SHAPE, launches=1)
    with Recording(path) as recording:
        level_ids = unpack(dag_payload(recording, 1))[1]["node_id"]
        ids = unpack(timeline_payload(recording, 1, None, None))[1]["stream_node_id"]
    assert NO_NODE not in ids
    assert set(ids.tolist()) <= set(level_ids.tolist())


def test_timeline_payload_without_launches_or_eager_side_is_empty(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "x.gviz", SHAPE, launches=0, eager=False)
    with Recording(path) as recording:
        header, arrays = unpack(timeline_payload(recording, 1, None, None))
    assert header["graph"] is None
    assert header["stream"] is None
    assert arrays == {}


def test_timeline_payload_loop_spans_carry_their_own_nodes(loop: Recording) -> None:
    header, a = unpack(timeline_payload(loop, 1, None, None))
    assert a["graph_node_id"].tolist() == [1001] + [1004, 1005] * 4 + [1003]
    assert a["nested_node"].tolist() == [1004, 1005]
    assert a["nested_parent"].tolist() == [1002, 1002]
    names = [header["strings"][i] for i in a["graph_name"]]
    assert names[1:3] == ["step_kernel", "check_kernel"]
    assert a["graph_iteration"].max() == 3
    assert header["stream"] is None


def test_timeline_payload_body_shows_only_its_own_spans(loop: Recording) -> None:
    _, a = unpack(timeline_payload(loop, 2, None, None))
    assert a["graph_node_id"].tolist() == [2001, 2002] * 4
    assert set(a["graph_type"].tolist()) == {int(NodeType.KERNEL)}


def test_pack_lanes_chain_keeps_its_lane_while_another_starts_first() -> None:
    # Chain 0 runs, pauses while chain 1 starts, and goes on beside it.
    start, end = np.array([0.0, 10.0, 11.0]), np.array([9.0, 30.0, 20.0])
    lane = pack_lanes(start, end, np.array([0, 1, 0]), np.zeros(3, bool))
    assert lane.tolist() == [0, 1, 0]


def test_pack_lanes_chain_returns_to_its_lane_after_it_had_to_leave() -> None:
    # The second starts before the first ends; the third finds lane 0 free again.
    start, end = np.array([0.0, 9.0, 20.0]), np.array([10.0, 20.0, 30.0])
    lane = pack_lanes(start, end, np.zeros(3, np.int64), np.zeros(3, bool))
    assert lane.tolist() == [0, 1, 0]
