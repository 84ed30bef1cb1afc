"""Times of parts of a graph in each of its launches, and the intervals of what is shown of them.

The interval is that of the median over the launches, widened to hold the figure shown, which is
made of medians of single nodes: at least 95%.
"""

from __future__ import annotations

import numpy as np

from gviz.analysis.subject import GraphSubject
from gviz.dataclass import dataclass
from gviz.model import TimeArray
from gviz.stats import (
    LEAST_VALUES,
    FloatArray,
    IntArray,
    Interval,
    group_rows,
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
    return bounds_of(_sums(subject, of_node, len(shown_ns)).each_ns(subject), shown_ns)


def key_bounds(
    subject: GraphSubject, of_node: IntArray, kind: IntArray, key: IntArray, shown_ns: TimeArray
) -> Bounds:
    """Return the bounds of the time of what kinds of nodes have in common.

    Parameters
    ----------
    of_node
        int64, one a node of the graph: its kind.
    kind, key
        int64, pairs: that a kind of nodes has a key, a place among ``shown_ns``; each is in one.
    shown_ns
        The time of each key in the median launch.
    """
    kinds, place = group_rows(kind)
    among = np.full(max(int(of_node.max(initial=-1)), int(kind.max(initial=-1))) + 1, -1)
    among[kinds] = np.arange(len(kinds))
    found = _sums(subject, among[of_node], len(kinds))
    each = _Sums(
        column_sums(found.time_ns[:, place], key), column_sums(found.executions[:, place], key)
    )
    return bounds_of(each.each_ns(subject), shown_ns)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Times and executions of groups of nodes: arrays with a row a launch and a column a group."""

    time_ns: FloatArray
    executions: FloatArray

    def each_ns(self, subject: GraphSubject) -> FloatArray:
        """Return the times; NaN where a launch has none."""
        # An instrumented copy may time a part of a group's nodes: then it has no sum of them.
        least = self.executions.max(axis=0, initial=1) if subject.is_timed_by_copy else 1
        return np.where(self.executions < least, np.nan, self.time_ns)


def _sums(subject: GraphSubject, of_node: IntArray, count: int) -> _Sums:
    """Return the sums of nodes by their group, -1: none."""
    time_ns = np.zeros((len(subject.timed_launches), count))
    executions = np.zeros(time_ns.shape)
    for at, launch in enumerate(subject.timed_launches):
        spans = launch.spans
        group, length = of_node[spans.node], spans.end_ns - spans.start_ns
        inside = group >= 0
        if not inside.all():
            group, length = group[inside], length[inside]
        time_ns[at] = np.bincount(group, length, minlength=count)
        executions[at] = np.bincount(group, minlength=count)
    return _Sums(time_ns, executions)


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
