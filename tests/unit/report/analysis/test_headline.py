"""The headline of a graph: its time, where that goes, the best finding, eager; caveats with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from app_recordings import write_imported_recording
from bare_recordings import write_no_launches
from planned_recordings import Plan, Planned, subject_of

from gviz.analysis import (
    GraphAnalysis,
    LaunchBreakdown,
    StreamResult,
    analyze,
    launch_breakdown,
)
from gviz.assets import recordings as bundled
from gviz.recording.reader import Recording
from gviz.report.analysis.headline import GraphHeadline, headline_of
from gviz.stats import Interval, NotComputed

ASSETS = Path(next(iter(bundled.__path__)))


def read(path: Path) -> tuple[GraphAnalysis, LaunchBreakdown | NotComputed]:
    with Recording(path) as recording:
        graph = analyze(recording).runs[0].graphs[0]
    return graph, launch_breakdown(subject_of(path))


@pytest.fixture(scope="module")
def training() -> tuple[GraphAnalysis, LaunchBreakdown | NotComputed]:
    return read(ASSETS / "training_step.gviz")


def headline(path: Path) -> GraphHeadline:
    return headline_of(*read(path))


def test_time_phases_finding_and_eager_are_one_line(
    training: tuple[GraphAnalysis, LaunchBreakdown | NotComputed],
) -> None:
    assert headline_of(*training).text == (
        "15.2 ms (recorded, median of 14, ±16.7 µs): backward 8.47 ms, forward 4.30 ms, "
        "update 1.09 ms, idle 1.33 ms (8.8%). Best finding: at most 7.07 ms per launch (46.5%): "
        "358 FP32 matrix products without tensor cores, 58.5% of the node time. "
        "It is at most 2.92× faster than eager (2 eager iterations, both sides recorded)."
    )


def test_parts_say_which_block_and_which_nodes_they_are_about(
    training: tuple[GraphAnalysis, LaunchBreakdown | NotComputed],
) -> None:
    graph, found = training
    assert isinstance(found, LaunchBreakdown)
    parts = headline_of(graph, found).parts
    blocks = [part.block for part in parts if part.block is not None]
    assert [found.strip.rows[row].labels[at] for row, at in blocks] == [
        "backward", "forward", "update"
    ]  # fmt: skip
    (finding,) = (part for part in parts if part.places)
    assert finding.places == graph.findings.findings[0].places
    assert len(finding.places) == 358
    assert [part.about for part in parts if part.about] == ["idle", "eager"]


def test_first_row_that_divides_the_launch_is_named() -> None:
    found = headline(ASSETS / "decode_step.gviz")
    # All of it is in 16 layers, which says nothing.
    assert found.text.startswith("1.08 ms (recorded, median of 24, ±1.10 µs): attention 535 µs, ")
    assert found.caveats[0].startswith("16 of 413 edges are programmatic")


def test_narrow_blocks_are_named_together(tmp_path: Path) -> None:
    nodes = [Planned(f"kernel_{i}", 10_000 * i, 9_000 - 1_000 * i) for i in range(7)]
    plan = Plan(nodes, [(i, i + 1) for i in range(6)])
    text = headline(plan.write(tmp_path / "x.gviz")).text
    assert "kernel_3 6.00 µs, 3 others 12.0 µs, idle " in text


def with_gain(graph: GraphAnalysis, mean_ns: float, interval: Interval) -> GraphAnalysis:
    found = graph.stream_comparison
    assert isinstance(found, StreamResult)
    stream = replace(found.stream, total_ns=replace(found.graph.total_ns, mean=10_000_000.0))
    own = replace(found.graph, total_ns=replace(found.graph.total_ns, mean=10_000_000.0 - mean_ns))
    saved = replace(found.saved, mean_ns=mean_ns, interval=interval)
    return replace(graph, stream_comparison=replace(found, stream=stream, graph=own, saved=saved))


@pytest.mark.parametrize(
    ("mean_ns", "interval", "text"),
    [
        (5_000_000.0, Interval(4e6, 6e6), "It is at most 2.00× faster than eager ("),
        (-10_000_000.0, Interval(-11e6, -9e6), "It is 2.00× slower than eager ("),
        (1_000.0, Interval(-1e6, 1e6), "It is as fast as eager within noise ("),
    ],
)
def test_eager_is_compared_as_far_as_it_can_be(
    training: tuple[GraphAnalysis, LaunchBreakdown | NotComputed],
    mean_ns: float,
    interval: Interval,
    text: str,
) -> None:
    graph, found = training
    assert text in headline_of(with_gain(graph, mean_ns, interval), found).text


def test_caveats_of_the_times_stand_beside_them(
    training: tuple[GraphAnalysis, LaunchBreakdown | NotComputed],
) -> None:
    graph, found = training
    assert isinstance(found, LaunchBreakdown)
    evidence = replace(
        found.evidence, coverage_fraction=0.5, contradiction_count=2, worst_contradiction_ns=7_000.0
    )
    assert headline_of(graph, replace(found, evidence=evidence)).text.startswith(
        "15.2 ms (recorded, median of 14, ±16.7 µs; times of 50.0% of the nodes, although its "
        "times have 2 contradictions of up to 7.00 µs): "
    )


def test_length_has_noise_from_two_launches_on(tmp_path: Path) -> None:
    for launches, start in (
        (1, "1.00 µs (recorded, only the first; "),
        (2, "1.00 µs (recorded, median of 2, ±160 ns): "),
    ):
        path = Plan([Planned("k", 0, 1_000)], launches=launches).write(
            tmp_path / f"{launches}.gviz"
        )
        assert headline(path).text.startswith(start)


def test_without_node_times_the_reason_stands_there(tmp_path: Path) -> None:
    text = headline(Plan([Planned("k", 0, 1_000)], launches=0).write(tmp_path / "x.gviz")).text
    assert text.startswith(
        "8.00 µs (CUPTI attached, median of 4). Where the time of a launch goes is not known: "
    )
    text = headline(write_no_launches(tmp_path / "y.gviz")).text
    assert text == (
        "Where the time of a launch goes is not known: the graph was not launched while gviz "
        "recorded."
    )
    text = headline(write_imported_recording(tmp_path / "dump.gviz")).text
    assert text == "Where the time of a launch goes is not known: a DOT dump carries no times."
