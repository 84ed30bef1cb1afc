"""Results of gviz.compare_stream: numbers out of a recording, and their text."""

from __future__ import annotations

from pathlib import Path

import pytest
from places import ROOT

from gviz.model.stream_comparison import SideTimes, StreamComparison, busy_ns, read_sides
from gviz.recording.reader import Recording

RECORDINGS = ROOT / "assets" / "recordings"


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([], 0),
        ([(5, 5)], 0),
        ([(0, 10), (10, 20)], 20),
        ([(0, 10), (2, 5)], 10),
        ([(20, 21), (0, 10), (5, 12)], 13),
    ],
)
def test_busy_time_is_the_length_of_the_union(
    intervals: list[tuple[int, int]], expected: int
) -> None:
    assert busy_ns(intervals) == expected


def test_sides_of_a_recording(small_recording: Path) -> None:
    with Recording(small_recording) as recording:
        (graph, *_) = [g for g in recording.fetch_graphs() if g.origin != "body"]
        nodes = len(recording.fetch_nodes(graph.graph_id))
        launches = [x for x in recording.fetch_launches(graph.graph_id) if x.span_count]
    sides = read_sides(small_recording, graph.name)
    assert sides is not None
    assert sides.node_count == nodes
    assert sides.graph.recorded_count == len(launches) - 1, "the first launch is left out"
    lengths = sorted(x.gpu_end_ns - x.gpu_start_ns for x in launches[1:])  # type: ignore[operator]
    assert sides.graph.recorded_ns is not None
    assert lengths[0] <= sides.graph.recorded_ns <= lengths[-1]
    for side in (sides.graph, sides.stream):
        assert side.idle_fraction is not None
        assert 0 <= side.idle_fraction < 1


def test_copies_in_place_of_launches_have_no_length_of_the_graph() -> None:
    sides = read_sides(RECORDINGS / "decode_step_copies.gviz", "decode_step.py:106 main")
    assert sides is not None
    assert (sides.graph.recorded_ns, sides.graph.recorded_count) == (None, 0)
    assert sides.stream.recorded_count > 0


def test_recording_without_the_graph_has_no_sides(small_recording: Path, tmp_path: Path) -> None:
    assert read_sides(small_recording, "another") is None
    assert read_sides(tmp_path / "missing.gviz", "any") is None


def _comparison(**changes: object) -> StreamComparison:
    values: dict[str, object] = {
        "name": "step",
        "framework": "torch",
        "path": Path("/tmp/step.gviz"),
        "node_count": 2503,
        "graph": SideTimes(2_000_000, 40_000, 2_100_000, 0.125, 20),
        "stream": SideTimes(5_000_000, 4_900_000, 5_200_000, 0.6, 20),
        "agrees": True,
        "differences": (),
        "notes": (),
    }
    return StreamComparison(**(values | changes))  # type: ignore[arg-type]


def test_text_says_all_that_was_found() -> None:
    assert str(_comparison()).splitlines() == [
        "step (torch, 2,503 nodes)",
        "                           graph        stream",
        "  GPU time               2.00 ms       5.00 ms",
        "  host time              40.0 µs       4.90 ms",
        "  with node times        2.10 ms       5.20 ms",
        "  idle inside              12.5%         60.0%",
        "  as a graph the GPU takes 1/2.50 of the time",
        "  results agree",
        "  recording: /tmp/step.gviz",
    ]


def test_text_says_what_is_missing_and_what_differs() -> None:
    text = str(
        _comparison(
            path=None,
            node_count=None,
            graph=SideTimes(),
            agrees=False,
            differences=("result differs",),
            notes=("nothing was recorded",),
        )
    )
    assert "step (torch)" in text
    assert text.count("not measured") == 4
    assert "results DIFFER\n    result differs" in text
    assert "note: nothing was recorded" in text
    assert "recording:" not in text
    assert "could not be compared" in str(_comparison(agrees=None))


def test_speedup_needs_both_sides() -> None:
    assert _comparison().speedup == 2.5
    assert _comparison(stream=SideTimes()).speedup is None
