"""A launch as constraints, so that its times can be computed anew with something changed.

Everything starts its own gap after the last of what holds it has ended: all its dependencies, and
the work before it on its hardware queue. With the times as they were the model is the launch, to
the nanosecond. Its slack is how much later a node could have ended; with changes its length is
what the launch would have taken, if nothing else changed with them.

References
----------
Kelley and Walker (1959), Critical-path planning and scheduling: slack is the difference of latest
and earliest times. That the work before on its queue holds a node as a dependency does, and that
every node keeps its measured gap, is ours. Zhu, Phanishayee and Pekhimenko (2020), Daydream:
predicting a change's effect by timing a dependency graph of recorded work anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.analysis.launch.holds import HeldLaunch, effective_ends
from gviz.analysis.launch.unrolled import Unrolled
from gviz.dag import CriticalPath, earliest_starts, longest_path, rank_rows
from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.stats import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class LaunchChange:
    """A change of a launch.

    Attributes
    ----------
    gap_ns, duration_ns
        float64, one a vertex, instead of its own; None: as they were.
    absent
        bool, one a vertex: it takes no time, and neither does its gap; None: all are there.
    delay_ns
        float64, one a vertex: a pause behind it, in which it takes nothing of the GPU; None: none.
    dropped
        bool, one a constraint: those that no longer hold; None: all hold.
    added
        Further dependencies, (tail, head), each to a greater row.
    """

    gap_ns: FloatArray | None = None
    duration_ns: FloatArray | None = None
    absent: BoolArray | None = None
    delay_ns: FloatArray | None = None
    dropped: BoolArray | None = None
    added: Sequence[tuple[int, int]] = ()


UNCHANGED = LaunchChange()


@dataclass(frozen=True, slots=True)
class Constraints:
    """Constraints that hold; arrays of one length.

    Attributes
    ----------
    tail, head
        int64: vertices.
    lag_ns
        float64, 0 or below: from the end of the tail to when it holds the head no longer.
    """

    tail: IntArray
    head: IntArray
    lag_ns: FloatArray


@dataclass(frozen=True, slots=True)
class LaunchModel:
    """A launch as constraints; arrays of one length a vertex, then a constraint.

    Attributes
    ----------
    held
        The launch.
    row
        int64, one a vertex: every constraint leads to a greater one.
    gap_ns
        float64, one a vertex: from the end of the last of what holds it to its start; of a
        vertex that nothing holds, its start.
    duration_ns
        float64, one a vertex; 0 of those without a time.
    tail, head
        int64, one a constraint: vertices, by ascending row of the head.
    lag_ns
        float64, one a constraint: from the end of the tail to when it holds the head no longer.
        0; below 0 where a programmatic dependency ran on after its dependent had started.
    is_queue
        bool, one a constraint: it is a queue's, not an edge's.
    is_double
        bool, one a constraint: it is a queue's, and an edge holds its head just as long.
    """

    held: HeldLaunch
    row: IntArray
    gap_ns: FloatArray
    duration_ns: FloatArray
    tail: IntArray
    head: IntArray
    lag_ns: FloatArray
    is_queue: BoolArray
    is_double: BoolArray

    @property
    def whole_ns(self) -> float:
        """Return the launch's length: what its constraints give unchanged."""
        return self.held.length_ns

    def critical_path(self) -> CriticalPath:
        """Return length, starts and slack of the launch as it was, by vertex.

        Starts are those of the gap before each vertex.
        """
        weight = self.gap_ns + self.duration_ns
        single = ~self.is_double
        tail, head = self.tail[single], self.head[single]
        return longest_path(self.row, tail, head, weight[tail] + self.lag_ns[single], weight)

    def lengths_without(self, path: CriticalPath, vertices: IntArray) -> FloatArray:
        """Return how long the launch would have taken if one vertex took no time, for each of some.

        What :meth:`length_ns` returns with the duration of that one 0, but without computing all
        times anew: each path through the launch either passes the vertex, and gets shorter by its
        duration, or passes it by, and stays as long as it was.

        Parameters
        ----------
        path
            :meth:`critical_path` of this launch.
        vertices
            int64.

        References
        ----------
        Malik, Mittal and Gupta (1989), The k most vital arcs in the shortest path problem: the
        ways around are found from the distances to both ends.
        """
        weight = self.gap_ns + self.duration_ns
        until = path.start_ns + weight
        since = path.length_ns - (path.start_ns + path.slack_ns)
        over = until[self.tail] + self.lag_ns + since[self.head]
        tail_row, head_row = self.row[self.tail], self.row[self.head]
        found = path.start_ns[vertices] + since[vertices] - self.duration_ns[vertices]
        for at, vertex in enumerate(vertices.tolist()):
            row = self.row[vertex]
            above, beside = self.row < row, self.row >= row
            beside[vertex] = False
            around = (tail_row < row) & (head_row >= row) & (self.head != vertex)
            ways = (until[above], since[beside], over[around])
            found[at] = max(found[at], *(way.max(initial=0.0) for way in ways))
        return found

    def length_ns(self, change: LaunchChange = UNCHANGED) -> float:
        """Return how long the launch would have taken with a change (estimated).

        Nothing that runs side by side slows each other down more than it did.
        """
        gap, duration = self.changed_times(change)
        weight = gap + duration
        if change.delay_ns is not None:
            weight = weight + change.delay_ns
        held = self.changed_constraints(change)
        order = np.argsort(self.row[held.head], kind="stable")
        tail, head, lag = held.tail[order], held.head[order], held.lag_ns[order]
        start = earliest_starts(len(self.row), tail, head, weight[tail] + lag)
        return float((start + weight).max(initial=0.0))

    def changed_times(
        self, change: LaunchChange, gap_share: float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Return gaps and durations with a change; ``gap_share`` of an absent vertex's gap goes."""
        gap = self.gap_ns if change.gap_ns is None else change.gap_ns
        duration = self.duration_ns if change.duration_ns is None else change.duration_ns
        if change.absent is not None:
            gap = np.where(change.absent, gap * (1.0 - gap_share), gap)
            duration = np.where(change.absent, 0.0, duration)
        return gap, duration

    def changed_constraints(self, change: LaunchChange) -> Constraints:
        """Return what holds with a change, each once; those added come last."""
        kept = ~self.is_double
        if change.dropped is not None:
            # An edge that goes leaves its double to hold.
            kept = ~change.dropped & (kept | (change.dropped & ~self.is_queue).any())
        more = np.array(change.added, np.int64).reshape(-1, 2)
        return Constraints(
            tail=np.concatenate((self.tail[kept], more[:, 0])),
            head=np.concatenate((self.head[kept], more[:, 1])),
            lag_ns=np.concatenate((self.lag_ns[kept], np.zeros(len(more)))),
        )


def launch_model(held: HeldLaunch) -> LaunchModel:
    """Return a launch as constraints."""
    unrolled = held.unrolled
    queued = np.flatnonzero(held.queue_before >= 0)
    tail = np.concatenate((unrolled.tail, held.queue_before[queued]))
    head = np.concatenate((unrolled.head, queued))
    is_queue = np.arange(len(tail)) >= len(unrolled.tail)
    is_double = _find_doubles(unrolled, queued, held.queue_before[queued])
    lag = np.zeros(len(tail), np.float64)
    ended = effective_ends(unrolled, held.timed, held.start_ns, held.end_ns)
    lag[: len(ended)] = ended - held.end_ns[unrolled.tail]
    try:
        row = rank_rows(len(unrolled), tail[~is_double], head[~is_double])
    except RecordingError:
        # Clocks of two queues contradict each other: queues hold only where the edges agree.
        row = unrolled.row
    order = np.flatnonzero(row[tail] < row[head])
    order = order[np.argsort(row[head[order]], kind="stable")]
    tail, head, lag = tail[order], head[order], lag[order]
    reached = np.zeros(len(unrolled), np.float64)
    np.maximum.at(reached, head, held.end_ns[tail] + lag)
    return LaunchModel(
        held=held,
        row=row,
        gap_ns=np.where(held.timed, held.start_ns - reached, 0.0),
        duration_ns=held.duration_ns.astype(np.float64),
        tail=tail,
        head=head,
        lag_ns=lag,
        is_queue=is_queue[order],
        is_double=is_double[order],
    )


def _find_doubles(unrolled: Unrolled, head: IntArray, tail: IntArray) -> BoolArray:
    """Return which of all edges, and of a queue's constraints behind them, an edge stands for.

    A programmatic edge may hold its head for a shorter time than the queue does.
    """
    count = len(unrolled)
    full = ~unrolled.programmatic
    edges = unrolled.tail[full] * count + unrolled.head[full]
    return np.append(np.zeros(len(unrolled.tail), bool), np.isin(tail * count + head, edges))
