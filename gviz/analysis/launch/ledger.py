"""The gap ledger: where the time of one launch went, exact to the nanosecond.

The time from the first span's start to the last span's end is split along the observed critical
path: the time of the nodes on it, the gaps after a dependency had ended, and the gaps after work
on the same queue had ended. Where a node starts before the one before it on the path has ended
(programmatic launches, clocks of two queues) the time counts once, for the earlier one. What the
events around the launch saw beyond that time is one signed residual.
"""

from __future__ import annotations

import numpy as np

from gviz.analysis.launch.holds import NOTHING, HeldLaunch, Hold
from gviz.dataclass import dataclass
from gviz.model import TimeArray
from gviz.stats import BoolArray, IntArray, Intervals, figure


@dataclass(frozen=True, slots=True)
class PathSteps:
    """The steps of an observed critical path in order of time; arrays of one length.

    Attributes
    ----------
    vertex
        int64, of the launch's :class:`Unrolled` form.
    held_by
        int64, of :class:`Hold`: why the path came from the step before.
    gap_ns
        Time between the end of all steps before and the start of this one, 0 or more. Of the
        first step: from the first span's start to this one's.
    node_ns
        Time of the node that is not yet counted for a step before, 0 or more.
    hidden_ns
        The rest of its time, in which a step before ran as well.
    busy_ns
        The part of ``gap_ns`` in which other nodes of the launch ran.
    """

    vertex: IntArray
    held_by: IntArray
    gap_ns: TimeArray
    node_ns: TimeArray
    hidden_ns: TimeArray
    busy_ns: TimeArray


@dataclass(frozen=True, slots=True)
class GapLedger:
    """Parts of one launch's time; the first four add up to the total exactly."""

    total_ns: float = figure("derived", "from the first span's start to the last span's end")
    node_ns: float = figure("derived", "time of the nodes on the path")
    dependency_gap_ns: float = figure(
        "derived", "gaps on the path from the end of a dependency to the start of its dependent"
    )
    queue_wait_ns: float = figure(
        "derived", "gaps on the path from the end of other work on the same queue to the next start"
    )
    late_start_ns: float = figure(
        "derived",
        "from the first span's start to that of the path's first node, which waited for nothing "
        "that is known",
    )
    busy_gap_ns: float = figure(
        "derived",
        "part of all gaps in which other nodes of the launch ran: the path waited, the GPU did not",
    )
    idle_gap_ns: float = figure("derived", "the rest of all gaps, in which nothing ran")
    untimed_gap_ns: float = figure(
        "derived",
        "part of dependency_gap_ns in gaps with a node that CUPTI does not time, such as a host "
        "node: its time is in there",
    )
    crossing_gap_ns: float = figure(
        "derived", "part of dependency_gap_ns in gaps between nodes of different queues"
    )
    submitting_gap_ns: float | None = figure(
        "derived",
        "part of all gaps in which nothing ran and the launch call had not yet returned; null "
        "where it is not known when that was",
    )
    hidden_ns: float = figure(
        "derived",
        "time of nodes on the path that is in no part, because a node before on the path ran too",
    )


def path_steps(held: HeldLaunch, path: IntArray) -> PathSteps:
    """Return the steps of an observed path (:func:`observed_path`) with their times."""
    start, end = held.start_ns[path], held.end_ns[path]
    reached = _reached(end)
    counted = np.maximum(end - np.maximum(start, reached), 0)
    gap_end = np.maximum(start, reached)
    busy = np.zeros_like(reached)
    waited = np.flatnonzero(gap_end > reached)
    busy[waited] = _time_in(held.busy, gap_end[waited]) - _time_in(held.busy, reached[waited])
    return PathSteps(
        vertex=path,
        held_by=held.held_by[path],
        gap_ns=gap_end - reached,
        node_ns=counted,
        hidden_ns=end - start - counted,
        busy_ns=busy,
    )


def gap_ledger(held: HeldLaunch, steps: PathSteps, returned_ns: float | None = None) -> GapLedger:
    """Return where the time of one launch went.

    Parameters
    ----------
    held, steps
        The launch, and the steps of its observed path.
    returned_ns
        When the launch call returned, from the first span's start; None: not known.
    """
    by_dependency, by_queue = _of_later_steps(steps, Hold.DEPENDENCY, Hold.QUEUE)
    through = by_dependency & (held.via[steps.vertex] != NOTHING)
    queue = held.queue[steps.vertex]
    before = np.roll(queue, 1)
    crossing = by_dependency & (queue != before) & (queue >= 0) & (before >= 0)
    return GapLedger(
        total_ns=held.length_ns,
        node_ns=_sum(steps.node_ns),
        dependency_gap_ns=_sum(steps.gap_ns[by_dependency]),
        queue_wait_ns=_sum(steps.gap_ns[by_queue]),
        late_start_ns=_sum(steps.gap_ns[:1]),
        busy_gap_ns=_sum(steps.busy_ns),
        idle_gap_ns=_sum(steps.gap_ns) - _sum(steps.busy_ns),
        untimed_gap_ns=_sum(steps.gap_ns[through]),
        crossing_gap_ns=_sum(steps.gap_ns[crossing]),
        submitting_gap_ns=None if returned_ns is None else _submitting(held, steps, returned_ns),
        hidden_ns=_sum(steps.hidden_ns),
    )


def _reached(end: TimeArray) -> TimeArray:
    """Return when all steps before each had ended; the launch's first start before the first."""
    return np.maximum.accumulate(np.concatenate((np.zeros(1, end.dtype), end)))[:-1]


def _of_later_steps(steps: PathSteps, *kinds: Hold) -> list[BoolArray]:
    """Return which steps are held by each kind; the first of a path has no step before it."""
    later = np.arange(len(steps.vertex)) > 0
    return [later & (steps.held_by == kind) for kind in kinds]


def _submitting(held: HeldLaunch, steps: PathSteps, returned_ns: float) -> float:
    reached = _reached(held.end_ns[steps.vertex])
    early = np.flatnonzero((steps.gap_ns > 0) & (reached < returned_ns))
    reached = reached[early]
    stop = np.minimum(reached + steps.gap_ns[early], returned_ns)
    ran = _time_in(held.busy, stop) - _time_in(held.busy, reached)
    return float((stop - reached - ran).sum())


def _time_in(busy: Intervals, until: TimeArray) -> TimeArray:
    """Return how long something had run until each moment."""
    if not len(busy):
        return np.zeros_like(until)
    lengths = busy.end_ns - busy.start_ns
    before = np.concatenate((np.zeros(1, lengths.dtype), np.cumsum(lengths)))
    at = np.searchsorted(busy.start_ns, until, side="right")
    inside = np.minimum(until - busy.start_ns[at - 1], lengths[at - 1])
    return np.where(at > 0, before[at - 1] + inside, 0)


def _sum(times: TimeArray) -> float:
    total: float = times.sum().item()
    return total
