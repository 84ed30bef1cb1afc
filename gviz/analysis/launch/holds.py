"""The cause of each execution's start in a launch: a dependency, or work before it on its queue."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from gviz.analysis.launch.unrolled import Unrolled
from gviz.dataclass import dataclass
from gviz.model import LaunchSpans, TimeArray
from gviz.stats import BoolArray, IntArray, Intervals, group_rows, is_ascending, union

#: Clock readings of different queues differ: 160 ns as a rule, now and then 2 µs (measured on an
#: H100, docs/limits.md). Work of one queue that overlaps by more than this is not in one queue.
CLOCK_SKEW_NS = 2_000
NOTHING = -1


class Hold(IntEnum):
    """The last that an execution waited for."""

    NOTHING = 0
    DEPENDENCY = 1
    QUEUE = 2


@dataclass(frozen=True, slots=True)
class HeldLaunch:
    """A launch by vertices of its :class:`Unrolled` form, and what held each of them back.

    Attributes
    ----------
    unrolled
        The executions.
    timed
        bool: it has a span. Of others start and end are when all that they depend on had ended.
    start_ns, end_ns
        From the launch's first span's start.
    duration_ns
        Of each vertex; 0 of those without a time.
    queue
        int64: hardware queue; -1: none or not known.
    dependency
        int64: the timed vertex that ended last among those it depends on, also through vertices
        without a time; -1: none.
    via
        int64: the vertex without a time through which it depends on that one; -1: none.
    ready_ns
        When that dependency had ended, 0 without one. A programmatic dependency that ran on when
        this vertex started counts until then, or until its own start if that is later.
    queue_before
        int64: the vertex that ran before it on its queue; -1: none.
    held_by
        int8, of :class:`Hold`: which of the two ended last; of equals the dependency.
    gap_ns
        From the end of what held it to its start; below 0 where it started earlier (clock
        readings of two queues).
    busy
        The times in which any of them ran.
    """

    unrolled: Unrolled
    timed: BoolArray
    start_ns: TimeArray
    end_ns: TimeArray
    duration_ns: TimeArray
    queue: IntArray
    dependency: IntArray
    via: IntArray
    ready_ns: TimeArray
    queue_before: IntArray
    held_by: IntArray
    gap_ns: TimeArray
    busy: Intervals

    @property
    def length_ns(self) -> float:
        """From the first start to the last end; 0 without spans."""
        if not self.timed.any():
            return 0
        begin, end = self.start_ns[self.timed].min(), self.end_ns[self.timed].max()
        length: float = (end - begin).item()
        return length

    def held_until(self) -> TimeArray:
        """Return when what held each vertex had ended; its own start for those held by nothing."""
        return self.start_ns - self.gap_ns


def hold_launch(unrolled: Unrolled, vertex: IntArray, spans: LaunchSpans) -> HeldLaunch:
    """Return what held back each execution of a launch.

    Parameters
    ----------
    unrolled
        The launch's executions.
    vertex
        int64, one a span: its vertex (:meth:`Unrolled.vertex_of`).
    spans
        The launch's spans, in order of start.
    """
    count = len(unrolled)
    start, end = (np.zeros(count, spans.start_ns.dtype) for _ in range(2))
    first = spans.start_ns.min() if len(spans) else 0
    start[vertex], end[vertex] = spans.start_ns - first, spans.end_ns - first
    timed = np.zeros(count, bool)
    timed[vertex] = True
    queue = np.full(count, NOTHING, np.int64)
    queue[vertex] = spans.queue
    origin = _reach_untimed(unrolled, timed, start, end)
    dependency, via, ready = _last_dependencies(unrolled, timed, start, end, origin)
    before = _queue_before(vertex, queue, start, end)
    by_queue = (before >= 0) & ((dependency < 0) | (end[before] > ready))
    held_by = np.where(by_queue, Hold.QUEUE, np.where(dependency >= 0, Hold.DEPENDENCY, 0))
    until = np.where(by_queue, end[before], np.where(dependency >= 0, ready, start))
    return HeldLaunch(
        unrolled=unrolled,
        timed=timed,
        start_ns=start,
        end_ns=end,
        duration_ns=end - start,
        queue=queue,
        dependency=dependency,
        via=via,
        ready_ns=ready,
        queue_before=before,
        held_by=np.where(timed, held_by, 0).astype(np.int64),
        gap_ns=np.where(timed, start - until, 0),
        busy=union(start[vertex], end[vertex]),
    )


def _reach_untimed(
    unrolled: Unrolled, timed: BoolArray, start: TimeArray, end: TimeArray
) -> IntArray:
    """Fill in when vertices without a time were reached; return whose end that was (-1: none).

    A vertex with a time stands for itself.
    """
    origin = np.where(timed, np.arange(len(timed)), NOTHING)
    untimed = np.flatnonzero(~timed)
    if not len(untimed):
        return origin
    into = np.flatnonzero(~timed[unrolled.head])
    into = into[np.argsort(unrolled.row[unrolled.head[into]], kind="stable")]
    reached, source = end.tolist(), origin.tolist()
    tails, heads = unrolled.tail[into].tolist(), unrolled.head[into].tolist()
    for a, b in zip(tails, heads, strict=True):
        if source[a] >= 0 and (source[b] < 0 or reached[a] > reached[b]):
            reached[b], source[b] = reached[a], source[a]
    at = np.array(reached, end.dtype)[untimed]
    start[untimed], end[untimed] = at, at
    return np.array(source, np.int64)


def _last_dependencies(
    unrolled: Unrolled, timed: BoolArray, start: TimeArray, end: TimeArray, origin: IntArray
) -> tuple[IntArray, IntArray, TimeArray]:
    """Return the dependency that ended last, what lies between, and when it had ended."""
    count = len(timed)
    dependency, via = (np.full(count, NOTHING, np.int64) for _ in range(2))
    ready = np.zeros(count, end.dtype)
    into = unrolled.into
    into = into.take(timed[into.head] & (origin[into.tail] >= 0))
    tail, head = into.tail, into.head
    if not len(tail):
        return dependency, via, ready
    ended = effective_ends(unrolled, timed, start, end)[into.edge]
    is_first = np.append(True, head[1:] != head[:-1])
    group = np.cumsum(is_first) - 1
    # Of one dependent the last to end, of equals that of the lowest index.
    latest = np.maximum.reduceat(ended, np.flatnonzero(is_first))
    last = np.flatnonzero(ended == latest[group])
    chosen = last[np.append(True, head[last[1:]] != head[last[:-1]])]
    dependency[head[chosen]] = origin[tail[chosen]]
    via[head[chosen]] = np.where(timed[tail[chosen]], NOTHING, tail[chosen])
    ready[head[chosen]] = ended[chosen]
    return dependency, via, ready


def effective_ends(
    unrolled: Unrolled, timed: BoolArray, start: TimeArray, end: TimeArray
) -> TimeArray:
    """Return, for each edge, from when on it held its dependent no longer.

    The end of the dependency; through a programmatic edge no later than the dependent's start, but
    not before the dependency itself has started: a dependent that starts still earlier is clock
    skew. One without a time triggers nothing before it was reached.
    """
    begun, ended = start[unrolled.tail], end[unrolled.tail]
    early = unrolled.programmatic & timed[unrolled.tail]
    return np.where(early, np.clip(start[unrolled.head], begun, ended), ended)


def _queue_before(vertex: IntArray, queue: IntArray, start: TimeArray, end: TimeArray) -> IntArray:
    """Return the vertex that ran before each on its queue; ``vertex``: those with a time."""
    found = np.full(len(queue), NOTHING, np.int64)
    queued = vertex[queue[vertex] >= 0]
    if not is_ascending((start[queued], end[queued], queued)):
        queued = queued[np.lexsort((queued, end[queued], start[queued]))]
    # Numbers of one or two bytes are sorted by counting.
    queues, place = group_rows(queue[queued])
    place = place.astype(np.min_scalar_type(len(queues)))
    order = queued[np.argsort(place, kind="stable")]
    before, after = order[:-1], order[1:]
    holds = (queue[before] == queue[after]) & (end[before] <= start[after] + CLOCK_SKEW_NS)
    found[after[holds]] = before[holds]
    return found
