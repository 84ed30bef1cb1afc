"""The range of the host that was open on a thread at a moment; arrays in, arrays out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gviz.stats import IntArray

#: Ranges nested deeper lie under the last that is kept.
MOST_DEPTH = 100
#: Ranges that are Python objects at one time.
_PIECE = 65_536


def enclosing(thread_id: IntArray, start_ns: IntArray, end_ns: IntArray) -> IntArray:
    """Return the index of the range around each range on its thread; -1: there is none.

    A range that begins in another one and ends after it is taken as inside it.

    Parameters
    ----------
    thread_id, start_ns, end_ns
        Ranges in order of start, of equal starts the longest first.
    """
    found = np.full(len(start_ns), -1, np.int64)
    stacks: dict[int, list[tuple[int, int]]] = {}
    for begin in range(0, len(start_ns), _PIECE):
        piece = slice(begin, begin + _PIECE)
        columns = (column[piece].tolist() for column in (thread_id, start_ns, end_ns))
        for i, (thread, start, end) in enumerate(zip(*columns, strict=True), begin):
            stack = stacks.setdefault(thread, [])
            while stack and stack[-1][0] <= start:
                stack.pop()
            del stack[MOST_DEPTH:]
            if stack:
                found[i] = stack[-1][1]
            stack.append((end, i))
    return found


class OpenRanges:
    """Ranges of the host, looked up by thread and time.

    Parameters
    ----------
    thread_id, start_ns, end_ns
        Of each range, int64, in any order.
    """

    def __init__(self, thread_id: IntArray, start_ns: IntArray, end_ns: IntArray) -> None:
        self._order = np.lexsort((-end_ns, start_ns, thread_id))
        self._end = end_ns[self._order]
        thread, start = thread_id[self._order], start_ns[self._order]
        self._parent = enclosing(thread, start, self._end)
        self._threads, first = np.unique(thread, return_index=True)
        bounds = [*first.tolist(), len(thread)]
        self._parts = list(pairwise(bounds))
        self._start = start

    def innermost(self, thread_id: IntArray, time_ns: IntArray) -> IntArray:
        """Return the index of the innermost range that was open at each moment; -1: none was.

        Parameters
        ----------
        thread_id, time_ns
            int64, of one length.
        """
        found = np.full(len(time_ns), -1, np.int64)
        for thread, (begin, end) in zip(self._threads.tolist(), self._parts, strict=True):
            on_thread = np.flatnonzero(thread_id == thread)
            at = np.searchsorted(self._start[begin:end], time_ns[on_thread], side="right") - 1
            at[at >= 0] += begin
            # The last that began has perhaps ended: then one around it is the innermost.
            while (over := (at >= 0) & (self._end[at] <= time_ns[on_thread])).any():
                at[over] = self._parent[at[over]]
            found[on_thread] = np.where(at >= 0, self._order[at], -1)
        return found
