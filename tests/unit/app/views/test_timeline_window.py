"""Windows of a timeline too large to be sent whole: what is merged, left out, kept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from recordings import FIRST_NODE_ID, transformer_shape, write_recording

from gviz.app.views.payload import timeline_payload
from gviz.app.views.timeline import side_arrays, timeline_window
from gviz.app.views.timeline.timeline_window import ViewWindow, parse_window
from gviz.app.views.wire import unpack
from gviz.recording.reader import Recording

SHAPE = transformer_shape(layers=4)
TIMED = sum(w.timed for w in SHAPE.works)
LAUNCHES = 12


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    path = tmp_path_factory.mktemp("window") / "x.gviz"
    with Recording(write_recording(path, SHAPE, launches=LAUNCHES)) as found:
        yield found


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dozen launches of a small graph are too much for one answer."""
    monkeypatch.setattr(side_arrays, "SENT_WHOLE", 2 * TIMED)
    monkeypatch.setattr(timeline_window, "EXACT_SPANS", TIMED)


def test_few_spans_are_sent_whole_whatever_the_window(recording: Recording) -> None:
    header, a = unpack(
        timeline_payload(recording, 1, "all", None, window=ViewWindow(0.0, 10.0, 16, 0, 1))
    )
    assert "detail" not in header
    assert "graph_merged" not in a
    assert len(a["graph_start_ns"]) == LAUNCHES * TIMED


@pytest.mark.usefixtures("small_limits")
def test_first_answer_is_coarse_and_counts_every_span_of_its_rows(recording: Recording) -> None:
    header, a = unpack(timeline_payload(recording, 1, "all", None, window=ViewWindow(width=10)))
    assert header["graph"]["count"] == LAUNCHES * TIMED
    assert header["detail"]["bucket_ns"]["graph"] > 0
    assert a["graph_merged"].sum() == LAUNCHES * TIMED
    assert len(a["graph_merged"]) < LAUNCHES * TIMED / 2
    assert (np.diff(a["graph_start_ns"]) >= 0).all()


@pytest.mark.usefixtures("small_limits")
def test_rows_and_time_of_a_window_are_as_in_the_whole(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = ViewWindow(20_000.0, 30_000.0, 500, 3, 5)
    header, a = unpack(timeline_payload(recording, 1, "all", None, "length", window))
    assert header["detail"]["bucket_ns"]["graph"] == 0  # few: as they are
    monkeypatch.setattr(side_arrays, "SENT_WHOLE", 10**9)
    whole_header, whole = unpack(timeline_payload(recording, 1, "all", None, "length"))
    assert header["graph"]["depth"] == whole_header["graph"]["depth"]
    row = whole["graph_lane"] // whole_header["graph"]["depth"]
    end = whole["graph_start_ns"] + whole["graph_duration_ns"]
    inside = (row >= 3) & (row < 5) & (whole["graph_start_ns"] <= 30_000) & (end >= 20_000)
    expected = zip(*(whole[f"graph_{n}"][inside] for n in ("node_id", "lane", "start_ns")))  # noqa: B905
    found = zip(*(a[f"graph_{n}"] for n in ("node_id", "lane", "start_ns")))  # noqa: B905
    assert sorted(found) == sorted(expected) != []


@pytest.mark.usefixtures("small_limits")
def test_selected_node_is_there_outside_the_window_and_never_merged(recording: Recording) -> None:
    node = FIRST_NODE_ID + len(SHAPE.works) - 1
    window = ViewWindow(0.0, 1_000.0, 16, 0, LAUNCHES, (node,))
    _, a = unpack(timeline_payload(recording, 1, "all", None, window=window))
    of_node = a["graph_node_id"] == node
    assert of_node.sum() == LAUNCHES
    assert (a["graph_merged"][of_node] == 1).all()
    durations = recording.fetch_node_durations(1, (1, node))
    assert sorted(a["graph_duration_ns"][of_node].tolist()) == sorted(durations.tolist())


@pytest.mark.usefixtures("small_limits")
def test_gaps_and_calls_of_a_long_iteration_keep_their_sums(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, whole = unpack(timeline_payload(recording, 1, 1, None))
    monkeypatch.setattr(side_arrays, "SENT_WHOLE", TIMED)
    monkeypatch.setattr(timeline_window, "EXACT_SPANS", 10)
    header, a = unpack(timeline_payload(recording, 1, 1, None, window=ViewWindow(width=50)))
    assert header["stream"]["count"] == a["stream_merged"].sum() == TIMED
    gaps = [p["stream_gap_end_ns"] - p["stream_gap_start_ns"] for p in (a, whole)]
    assert gaps[0].sum() == pytest.approx(gaps[1].sum())
    assert len(gaps[0]) < len(gaps[1])
    assert "stream_host_start_ns" not in a
    names = [header["strings"][i] for i in a["stream_call_name"]]
    merged = [int(name.split()[0]) for name in names if name.endswith("launch calls")]
    alone = [name for name in names if name.startswith("launch of ")]
    assert sum(merged) + len(alone) == TIMED


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"from": "0", "to": "5"},
        {"from": "x", "to": "5", "width": "9"},
        {"from": "nan", "to": "5", "width": "9"},
        {"from": "0", "to": "inf", "width": "9"},
        {"from": "0", "to": "5", "width": "9", "rows": "a-b"},
        {"from": "0", "to": "5", "width": "9", "node": "1,x"},
    ],
)
def test_malformed_window_is_none(query: dict[str, str]) -> None:
    assert parse_window(query) is None


def test_window_is_bounded() -> None:
    query = {"from": "1", "to": "5", "width": "99999999", "rows": "7-90000", "node": "1,2"}
    assert parse_window(query) == ViewWindow(1.0, 5.0, 20_000, 7, 519, (1, 2))
