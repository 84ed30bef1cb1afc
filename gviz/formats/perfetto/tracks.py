"""Tracks: what stands under which process and thread in a viewer of trace events."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np

from gviz.formats.perfetto.event_text import json_text
from gviz.stats import IntArray

#: Linux gives no process or thread a greater number (PID_MAX_LIMIT, include/linux/threads.h).
_BEYOND_REAL_IDS = 4_194_304


class Tracks:
    """The numbers of processes and threads, each unique in the file, and their names."""

    def __init__(self) -> None:
        self._processes: dict[Hashable, int] = {}
        self._threads: dict[Hashable, int] = {}
        self._used: set[tuple[int, int]] = set()
        self._next = _BEYOND_REAL_IDS
        self._named: list[str] = []

    def process(self, key: Hashable, name: str, wanted: int | None = None, *, label: str) -> int:
        """Return the number of a process, made where it is new; ``wanted`` if that is free."""
        if key not in self._processes:
            number = wanted
            if number is None or number in self._processes.values():
                number = self._number()
            order = len(self._processes)
            self._processes[key] = number
            self._name("process_name", number, 0, name=name)
            self._name("process_labels", number, 0, labels=label)
            self._name("process_sort_index", number, 0, sort_index=order)
        return self._processes[key]

    def thread(self, key: Hashable, pid: int, name: str, wanted: int | None = None) -> int:
        """Return the number of a thread, made where it is new; ``wanted`` if that is free."""
        if key not in self._threads:
            number = wanted
            if number is None or (pid, number) in self._used:
                number = self._number()
            self._used.add((pid, number))
            order = len(self._threads)
            self._threads[key] = number
            self._name("thread_name", pid, number, name=name)
            self._name("thread_sort_index", pid, number, sort_index=order)
        return self._threads[key]

    def take_named(self) -> Iterator[str]:
        """Yield the events that name what was made since the last call."""
        yield from self._named
        self._named = []

    def _number(self) -> int:
        self._next += 1
        return self._next

    def _name(self, kind: str, pid: int, tid: int, **arguments: object) -> None:
        event = {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": arguments}
        self._named.append(json_text(event))


def nest(start: IntArray, end: IntArray) -> tuple[IntArray, IntArray]:
    """Return an order of intervals, and for each of them a track on which none cross.

    Intervals of one track lie inside or beside each other: viewers of trace events do not show
    those that cross.

    Parameters
    ----------
    start, end
        int64, ns.

    Returns
    -------
    order, track
        int64: indices, by start and the longer first; and, one an interval, tracks from 0.
    """
    order = np.lexsort((-end, start))
    track = np.zeros(len(start), np.int64)
    stacks: list[list[int]] = []
    begins, stops = start[order].tolist(), end[order].tolist()
    for at, begin, stop in zip(order.tolist(), begins, stops, strict=True):
        for number, stack in enumerate(stacks):
            while stack and stack[-1] <= begin:
                stack.pop()
            if not stack or stop <= stack[-1]:
                stack.append(stop)
                track[at] = number
                break
        else:
            track[at] = len(stacks)
            stacks.append([stop])
    return order, track


class Banks:
    """Sets of tracks for launches: another one while an earlier launch still runs."""

    def __init__(self) -> None:
        self._ends: list[int] = []

    def take(self, start_ns: int, end_ns: int) -> int:
        """Return the number of a set, from 0, that is free from ``start_ns`` on; take it."""
        for number, end in enumerate(self._ends):
            if end <= start_ns:
                self._ends[number] = end_ns
                return number
        self._ends.append(end_ns)
        return len(self._ends) - 1
