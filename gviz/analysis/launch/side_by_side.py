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

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from gviz.analysis.launch.constraints import Constraints, LaunchChange, LaunchModel
from gviz.errors import CycleError
from gviz.model import TimeArray
from gviz.stats import FloatArray


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
    """

    memory_share: float
    gap_share: float


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
        self._filled = np.where(is_work, np.minimum(filled, 1.0), 0.0)
        self._memory = np.where(is_work, setting.memory_share, 0.0)
        self._progress = self._recorded_progress()
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
        moments = np.unique(np.concatenate(([0.0], start, end)))
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
        work = np.where(before > 0, self._work * ratio, duration)
        memory = np.where(duration > 0, self._setting.memory_share, 0.0)
        early = np.minimum(gap, 0.0)
        constraints = model.changed_constraints(change)
        release = self._released_at(constraints, early)
        play = _Play(work, np.maximum(gap, 0.0), self._filled, memory, constraints, release)
        return play.run(change.delay_ns)

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


class _Play:
    """One run of a launch, from event to event."""

    def __init__(
        self,
        work: FloatArray,
        gap: FloatArray,
        filled: FloatArray,
        memory: FloatArray,
        constraints: Constraints,
        release: FloatArray,
    ) -> None:
        count = len(work)
        self._work, self._gap = work.tolist(), gap.tolist()
        self._filled, self._memory = filled.tolist(), memory.tolist()
        self._waiting = np.bincount(constraints.head, minlength=count).tolist()
        self._after: list[list[int]] = [[] for _ in range(count)]
        self._during: dict[int, list[tuple[float, int]]] = {}
        columns = (constraints.tail.tolist(), constraints.head.tolist(), release.tolist())
        for tail, head, share in zip(*columns, strict=True):
            if share < 1.0:
                self._during.setdefault(tail, []).append((share, head))
            else:
                self._after[tail].append(head)
        #: (when, vertex) of those whose gap has begun; of -1 - vertex, its pause ends.
        self._starts = [(self._gap[v], v) for v in range(count) if not self._waiting[v]]
        heapify(self._starts)
        #: (virtual time, vertex) of what runs: its end; of -1 - vertex, the vertex is released.
        self._running: list[tuple[float, int]] = []
        self._now = self._virtual = 0.0
        self._filled_now = self._memory_now = 0.0
        self._left = count

    def run(self, delay_ns: FloatArray | None) -> float:
        """Return when the last vertex has ended, with the pause behind each."""
        self._delay = {} if delay_ns is None else dict(enumerate(delay_ns.tolist()))
        starts, running = self._starts, self._running
        while starts or running:
            taken = max(1.0, self._filled_now, self._memory_now)
            if running:
                ends = self._now + (running[0][0] - self._virtual) * taken
            if running and (not starts or ends <= starts[0][0]):
                self._now = ends
                self._virtual, vertex = heappop(running)
                if vertex < 0:
                    self._release(-1 - vertex)
                    continue
                self._filled_now -= self._filled[vertex]
                self._memory_now -= self._memory[vertex]
                if not running:
                    self._filled_now = self._memory_now = 0.0
                self._pause(vertex)
            else:
                when, vertex = heappop(starts)
                self._virtual += (when - self._now) / taken
                self._now = when
                if vertex < 0:
                    self._end(-1 - vertex)
                else:
                    self._start(vertex)
        if self._left:
            raise CycleError((), "with this change nodes of the graph would wait for each other")
        return self._now

    def _start(self, vertex: int) -> None:
        work = self._work[vertex]
        for share, head in self._during.get(vertex, ()):
            heappush(self._running, (self._virtual + share * work, -1 - head))
        if work <= 0.0:
            self._pause(vertex)
            return
        self._filled_now += self._filled[vertex]
        self._memory_now += self._memory[vertex]
        heappush(self._running, (self._virtual + work, vertex))

    def _pause(self, vertex: int) -> None:
        delay = self._delay.get(vertex, 0.0)
        if delay > 0.0:
            heappush(self._starts, (self._now + delay, -1 - vertex))
        else:
            self._end(vertex)

    def _end(self, vertex: int) -> None:
        self._left -= 1
        for head in self._after[vertex]:
            self._release(head)

    def _release(self, vertex: int) -> None:
        self._waiting[vertex] -= 1
        if not self._waiting[vertex]:
            heappush(self._starts, (self._now + self._gap[vertex], vertex))
