"""Intervals of the times of parts of a graph, from its launches one by one."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from places import ROOT

from gviz.analysis import GraphSubject, analyze
from gviz.analysis.results.launch_sums import bounds_of, path_times, sum_bounds
from gviz.model import LaunchSpans
from gviz.recording import Recording
from gviz.stats import NotComputed

BUNDLED = ROOT / "assets" / "recordings"


def spans(*executions: tuple[int, int, int]) -> LaunchSpans:
    """Return the spans of a launch from node, start and end of each."""
    node, start, end = (np.array(column, np.int64) for column in zip(*executions, strict=True))
    return LaunchSpans(node, np.zeros_like(node), start, end, np.zeros_like(node))


def subject_of(*launches: LaunchSpans, by_copy: bool = False) -> GraphSubject:
    """Return what the intervals need of a subject whose nodes run once each."""
    timed = [SimpleNamespace(spans=one) for one in launches]
    found: Any = SimpleNamespace(timed_launches=timed, is_timed_by_copy=by_copy)
    return cast(GraphSubject, found)


def launches(count: int) -> list[LaunchSpans]:
    """Return launches whose second node takes 20, 21, 22 and so on."""
    return [spans((0, 0, 10), (1, 15, 35 + at), (2, 40 + at, 50 + at)) for at in range(count)]


def test_sum_of_a_group_has_the_interval_of_its_sums_in_single_launches() -> None:
    group = np.array([0, 0, -1])
    found = sum_bounds(subject_of(*launches(8)), group, np.array([33.0]))
    # Of eight values the second and the eighth; both nodes: 30 to 37.
    assert (found.low_ns.tolist(), found.high_ns.tolist()) == ([31.0], [37.0])


def test_interval_holds_the_figure_shown() -> None:
    values = np.arange(8.0).reshape(-1, 1)
    low, high = bounds_of(values, np.array([0.5])), bounds_of(values, np.array([9.0]))
    assert (low.low_ns.tolist(), low.high_ns.tolist()) == ([0.5], [7.0])
    assert (high.low_ns.tolist(), high.high_ns.tolist()) == ([1.0], [9.0])


def test_few_launches_have_no_interval() -> None:
    (found,) = sum_bounds(subject_of(*launches(5)), np.array([0, 0, 0]), np.array([42.0])).each()
    assert (found.low, found.high) == (None, None)


def test_sum_that_copies_timed_in_part_does_not_count() -> None:
    whole = launches(8)
    part = [spans((0, 0, 1)) for _ in range(8)]
    group, shown = np.array([0, 0, 0]), np.array([42.0])
    (found,) = sum_bounds(subject_of(*whole, *part, by_copy=True), group, shown).each()
    assert (found.low, found.high) == (41.0, 47.0)
    # Of launches that are the program's own, nodes without a time did not run.
    (found,) = sum_bounds(subject_of(*whole, *part), group, shown).each()
    assert (found.low, found.high) == (1.0, 44.0)


def test_times_of_a_path_are_those_of_each_launch() -> None:
    with Recording(BUNDLED / "cupy_pipeline.gviz") as recording:
        subject = GraphSubject(recording, recording.fetch_graph(1))
        path, nodes = subject.path, subject.unrolled.node
        launch = subject.timed_launches[0].spans
        gone = np.isin(launch.node, nodes[path[1]], invert=True)
        lacking = LaunchSpans(*(x[gone] for x in (launch.node, launch.iteration, launch.start_ns,
                                                  launch.end_ns, launch.queue)))  # fmt: skip
        subject.timed_launches[:] = [
            subject.timed_launches[0],
            replace(subject.timed_launches[0], spans=lacking),
        ]
        found = path_times(subject, path)
    place = {node: at for at, node in enumerate(launch.node.tolist())}
    start, end = (
        [float(times[place[node]]) for node in nodes[path].tolist()]
        for times in (launch.start_ns, launch.end_ns)
    )
    assert found.duration_ns[0].tolist() == [b - a for a, b in zip(start, end, strict=True)]
    assert found.gap_ns[0, 2] == max(0.0, start[2] - max(end[:2]))
    # Where a node did not run, the path goes on from the one before it.
    assert np.isnan(found.duration_ns[1, 1])
    assert found.gap_ns[1, 2] == start[2] - end[0]


@pytest.mark.parametrize("name", ["decode_step_h200", "decode_server", "cupy_pipeline"])
def test_figures_of_real_launches_lie_in_their_intervals(name: str) -> None:
    with Recording(BUNDLED / f"{name}.gviz") as recording:
        (run,) = analyze(recording, most_graphs=1).runs
    (graph,) = run.graphs
    path, parts, ledger = graph.critical_path, graph.dominance, graph.ledger
    assert not isinstance(path, NotComputed)
    assert not isinstance(parts, NotComputed)
    pairs = [(path.structural_ns, path.structural_interval)]
    pairs += [(one.duration_ns, one.interval) for one in path.faster]
    pairs += [(one.alike_ns, one.alike_interval) for one in path.faster]
    if not isinstance(parts.layers, NotComputed):
        pairs += zip(parts.layers.total_ns, parts.layers.interval, strict=True)
    if not isinstance(ledger, NotComputed):
        assert path.observed_ns is not None
        pairs.append((path.observed_ns, path.observed_interval))
        pairs += [(one.gap_ns, one.interval) for one in ledger.gaps]
        pairs += [(one.alike_ns, one.alike_interval) for one in ledger.gaps]
        (bounds,) = path.gap_bounds
        gaps = (one.gap_ns for one in path.observed)
        pairs += zip(gaps, bounds.each(), strict=True)
        assert ledger.low is not None
        assert ledger.high is not None
        assert ledger.low.node_ns <= ledger.median.node_ns <= ledger.high.node_ns
    assert len(pairs) > 10
    for shown, interval in pairs:
        assert interval.low is not None
        assert interval.high is not None
        assert interval.low <= shown <= interval.high
