"""A launch whose nodes share the GPU: what runs side by side slows each other down.

A node alone takes a share of the multiprocessors, by its launch shape, and a share of the memory's
bandwidth, which no record tells and is assumed. While the shares of all that runs add up to more
than one GPU, all of it runs slower by as much. How much work each node is follows from the recorded
times themselves, so that the launch as it was comes out as it was.

References
----------
Kleinrock (1967), Time-shared systems: processor sharing. Virtual time, in which all that runs
advances alike, makes a change of company one step: Zhang (1990), VirtualClock.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import inf

import numpy as np

from gviz.analysis.launch.constraints import Constraints, LaunchChange, LaunchModel
from gviz.dataclass import dataclass
from gviz.errors import CycleError
from gviz.model import TimeArray
from gviz.stats import FloatArray, distinct_values


@dataclass(frozen=True, slots=True)
class Setting:
    """Properties of the machine that no recording tells.

    Attributes
    ----------
    memory_share
        Share of the memory's bandwidth that a node takes alone: 0, nodes slow each other down only
        where they fill the multiprocessors; 1, work takes as long side by side as in a row.
    gap_share
        Share of the gap before a node that goes with the node.
    fill_share
        Share of the multiprocessors that a node fills, by its launch shape, which others beside it
        lack: 1, nodes that fill all of them take as long side by side as in a row; 0, what waits in
        one kernel leaves all of its place to another.
    """

    memory_share: float
    gap_share: float
    fill_share: float = 1.0


@dataclass(frozen=True, slots=True)
class _Progress:
    """The work done by each moment of the recorded launch, and at one rate in between."""

    moments_ns: FloatArray
    advanced: FloatArray

    def at(self, ns: TimeArray) -> FloatArray:
        """Return how far it had come by times."""
        return np.interp(ns, self.moments_ns, self.advanced)


class SharedLaunch:
    """A launch under one setting.

    Parameters
    ----------
    model
        Of the launch.
    filled
        float64, one a vertex: share of the multiprocessors that it fills.
    setting
        Of the machine.
    """

    def __init__(self, model: LaunchModel, filled: FloatArray, setting: Setting) -> None:
        self._model = model
        self._setting = setting
        is_work = model.duration_ns > 0
        self._filled = np.where(is_work, np.minimum(filled, 1.0) * setting.fill_share, 0.0)
        self._memory = np.where(is_work, setting.memory_share, 0.0)
        self._progress = self._recorded_progress()
        self._early = np.minimum(model.gap_ns, 0.0)
        self._own_order: _Order | None = None
        #: How long each vertex takes alone: its span, as far as it advanced in it.
        start, end = (self._progress.at(x) for x in (model.held.start_ns, model.held.end_ns))
        self._work = np.where(is_work, end - start, 0.0)
        self.whole_ns = self._play(LaunchChange())

    def gain_ns(self, change: LaunchChange) -> float:
        """Return what the launch would be shorter by with a change; below 0: longer.

        Raises
        ------
        CycleError
            If nodes would wait for each other.
        """
        return self.whole_ns - self._play(change)

    def _recorded_progress(self) -> _Progress:
        held = self._model.held
        start, end = held.start_ns.astype(np.float64), held.end_ns.astype(np.float64)
        moments = distinct_values(np.concatenate(([0.0], start, end)))
        begin, stop = np.searchsorted(moments, start), np.searchsorted(moments, end)
        taken = np.ones(len(moments))
        for share in (self._filled, self._memory):
            change = np.bincount(begin, share, len(moments)) - np.bincount(
                stop, share, len(moments)
            )
            taken = np.maximum(taken, np.cumsum(change))
        return _Progress(moments, np.concatenate(([0.0], np.cumsum(np.diff(moments) / taken[:-1]))))

    def _play(self, change: LaunchChange) -> float:
        model = self._model
        before = model.duration_ns
        gap, duration = model.changed_times(change, self._setting.gap_share)
        ratio = np.divide(duration, before, out=np.ones(len(before)), where=before > 0)
        nodes = _Nodes(
            work=np.where(before > 0, self._work * ratio, duration).tolist(),
            gap=np.maximum(gap, 0.0).tolist(),
            filled=self._filled.tolist(),
            memory=np.where(duration > 0, self._setting.memory_share, 0.0).tolist(),
        )
        delays = enumerate([] if change.delay_ns is None else change.delay_ns.tolist())
        order = self._order(change, np.minimum(gap, 0.0))
        return _play(nodes, order, {vertex: delay for vertex, delay in delays if delay > 0})

    def _order(self, change: LaunchChange, early: FloatArray) -> _Order:
        """Return what releases what; that of the launch as it was is made once."""
        is_own = change.dropped is None and not len(change.added)
        if not is_own or not np.array_equal(early, self._early):
            return self._make_order(change, early)
        if self._own_order is None:
            self._own_order = self._make_order(change, early)
        return self._own_order

    def _make_order(self, change: LaunchChange, early: FloatArray) -> _Order:
        constraints = self._model.changed_constraints(change)
        release = self._released_at(constraints, early)
        return _Order.of(len(early), constraints, release)

    def _released_at(self, constraints: Constraints, early: FloatArray) -> FloatArray:
        """Return what share of each constraint's tail is done when it holds its head no longer.

        Of its work, which is not that of its time: what ran beside it changed meanwhile. ``early``:
        how much before that a vertex starts (clock readings of two queues), 0 or below.
        """
        held, tail = self._model.held, constraints.tail
        begin, end = held.start_ns[tail], held.end_ns[tail].astype(np.float64)
        until = np.fmax(end + constraints.lag_ns + early[constraints.head], begin)
        done, work = self._progress.at(until) - self._progress.at(begin), self._work[tail]
        share = np.divide(done, work, out=np.ones(len(tail)), where=work > 0)
        return np.clip(share, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Vertices as they are played: work, the gap before it, and shares of the GPU of each."""

    work: list[float]
    gap: list[float]
    filled: list[float]
    memory: list[float]


@dataclass(frozen=True, slots=True)
class _Order:
    """Constraints as they are played, by what releases a vertex.

    Attributes
    ----------
    held_by
        One a vertex: how many constraints hold it.
    after
        One a vertex: those that its end releases.
    during
        Those that a part of a vertex's work releases: (part, vertex), by that vertex.
    """

    held_by: list[int]
    after: list[list[int]]
    during: dict[int, list[tuple[float, int]]]

    @classmethod
    def of(cls, count: int, constraints: Constraints, release: FloatArray) -> _Order:
        """Return it, from the part of each constraint's tail that releases its head."""
        after: list[list[int]] = [[] for _ in range(count)]
        during: dict[int, list[tuple[float, int]]] = {}
        columns = (constraints.tail.tolist(), constraints.head.tolist(), release.tolist())
        for tail, head, share in zip(*columns, strict=True):
            if share < 1.0:
                during.setdefault(tail, []).append((share, head))
            else:
                after[tail].append(head)
        held_by = np.bincount(constraints.head, minlength=count).tolist()
        return cls(held_by, after, during)


def _play(nodes: _Nodes, order: _Order, delay: dict[int, float]) -> float:
    """Return when the last vertex has ended, from event to event.

    One function, as calls of others would take half of its time.

    Parameters
    ----------
    delay
        The pause behind a vertex, of those that have one.

    Raises
    ------
    CycleError
        If nodes would wait for each other.
    """
    work, gap, filled, memory = nodes.work, nodes.gap, nodes.filled, nodes.memory
    after, during, waiting = order.after, order.during, order.held_by.copy()
    # (when, vertex) of those whose gap has begun; of -1 - vertex, its pause ends.
    starts = [(gap[v], v) for v, held_by in enumerate(waiting) if not held_by]
    heapify(starts)
    # (virtual time, vertex) of what runs: its end; of -1 - vertex, the vertex is released.
    running: list[tuple[float, int]] = []
    now = virtual = filled_now = memory_now = 0.0
    while starts or running:
        taken = filled_now if filled_now > memory_now else memory_now
        taken = taken if taken > 1.0 else 1.0
        ends = now + (running[0][0] - virtual) * taken if running else inf
        if not starts or ends <= starts[0][0]:
            now = ends
            virtual, vertex = heappop(running)
            if vertex < 0:
                released: Sequence[int] = (-1 - vertex,)
            else:
                filled_now -= filled[vertex]
                memory_now -= memory[vertex]
                if not running:
                    filled_now = memory_now = 0.0
                released = after[vertex]
        else:
            when, vertex = heappop(starts)
            virtual += (when - now) / taken
            now = when
            if vertex in during:
                for share, head in during[vertex]:
                    heappush(running, (virtual + share * work[vertex], -1 - head))
            if vertex >= 0 and work[vertex] > 0.0:
                filled_now += filled[vertex]
                memory_now += memory[vertex]
                heappush(running, (virtual + work[vertex], vertex))
                continue
            released = after[vertex if vertex >= 0 else -1 - vertex]
        if vertex in delay:
            heappush(starts, (now + delay[vertex], -1 - vertex))
            continue
        for head in released:
            waiting[head] -= 1
            if not waiting[head]:
                heappush(starts, (now + gap[head], head))
    if any(waiting):
        raise CycleError((), "with this change nodes of the graph would wait for each other")
    return now
