"""Times of parts of a graph in each of its launches, and the intervals of what is shown of them.

The interval is that of the median over the launches, widened to hold the figure shown, which is
made of medians of single nodes: at least 95%.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gviz.analysis.subject import GraphSubject
from gviz.model import TimeArray
from gviz.stats import (
    LEAST_VALUES,
    FloatArray,
    IntArray,
    Interval,
    interval_between,
    rank_intervals,
)

#: Why there is no interval.
FEW = f"fewer than {LEAST_VALUES} launches"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Ends of 95% intervals: float64 arrays of one length; NaN: there is none."""

    low_ns: FloatArray
    high_ns: FloatArray

    def each(self) -> tuple[Interval, ...]:
        """Return them one by one."""
        return tuple(map(self.of, range(len(self.low_ns))))

    def of(self, place: int) -> Interval:
        """Return one of them."""
        return interval_between(float(self.low_ns[place]), float(self.high_ns[place]))


def bounds_of(launches: FloatArray, shown_ns: TimeArray) -> Bounds:
    """Return the bounds of figures.

    Parameters
    ----------
    launches
        float64, a row a launch and a column a figure; NaN where a launch has none.
    shown_ns
        The figures, each of which its interval holds.
    """
    low, high = rank_intervals(launches)
    return Bounds(np.minimum(low, shown_ns), np.maximum(high, shown_ns))


def sum_bounds(subject: GraphSubject, of_node: IntArray, shown_ns: TimeArray) -> Bounds:
    """Return the bounds of the time of groups of nodes.

    Parameters
    ----------
    of_node
        int64, one a node of the graph: its group; -1: none.
    shown_ns
        The time of each group in the median launch.
    """
    count = len(shown_ns)
    sums = np.zeros((len(subject.timed_launches), count))
    executions = np.zeros(sums.shape, np.int64)
    for at, launch in enumerate(subject.timed_launches):
        spans = launch.spans
        group = of_node[spans.node]
        inside = group >= 0
        length = (spans.end_ns - spans.start_ns)[inside]
        sums[at] = np.bincount(group[inside], length, minlength=count)
        executions[at] = np.bincount(group[inside], minlength=count)
    # An instrumented copy may time a part of a group's nodes: then it has no sum of them.
    least = executions.max(axis=0, initial=1) if subject.is_timed_by_copy else 1
    sums[executions < least] = np.nan
    return bounds_of(sums, shown_ns)


def column_sums(values: FloatArray, group: IntArray) -> FloatArray:
    """Return sums over groups of columns; ``group``: int64, one a column."""
    count = int(group.max(initial=-1)) + 1
    rows = [np.bincount(group, row, minlength=count) for row in values]
    return np.array(rows, np.float64).reshape(len(values), count)


@dataclass(frozen=True, slots=True)
class PathTimes:
    """Times of the executions on a path in each launch; a row a launch, NaN: none.

    Attributes
    ----------
    duration_ns
        float64, a column an execution.
    gap_ns
        float64: between the end of the path until then and its start; of the first its start.
    """

    duration_ns: FloatArray
    gap_ns: FloatArray


def observed_path_times(subject: GraphSubject) -> PathTimes:
    """Return the times of the observed path of the median launch, launch by launch."""
    return path_times(subject, subject.path)


def path_times(subject: GraphSubject, path: IntArray) -> PathTimes:
    """Return the times of a path, vertices of the median launch, launch by launch."""
    graph, unrolled, launches = subject.graph, subject.unrolled, subject.timed_launches
    start = np.full((len(launches), len(path)), np.nan)
    end = start.copy()
    for at, launch in enumerate(launches):
        spans = launch.spans
        # A launch may have more iterations than the median one.
        inside = spans.iteration < unrolled.executions[graph.level[spans.node]]
        vertex = unrolled.vertex_of(graph, spans.node[inside], spans.iteration[inside])
        for times, found in ((start, spans.start_ns), (end, spans.end_ns)):
            every = np.full(len(unrolled), np.nan)
            every[vertex] = found[inside]
            times[at] = every[path]
    reached = np.fmax.accumulate(end, axis=1)
    gap = start.copy()
    gap[:, 1:] = (start[:, 1:] - reached[:, :-1]).clip(min=0)
    return PathTimes(end - start, gap)
