"""The observed critical path of a launch: what held its end back, step by step.

The path is walked from the execution that ended last, each time back to what held that one: the
dependency, or the work before it on the same hardware queue, that ended last. Unlike the
structural path it is what happened: queues, gaps and loop iterations are in it.
"""

from __future__ import annotations

import numpy as np

from gviz.analysis.launch.holds import HeldLaunch, Hold
from gviz.stats import IntArray

#: Stands for no step before.
_NONE = -1


def observed_path(held: HeldLaunch) -> IntArray:
    """Return the vertices of the observed critical path, in order of time (int64).

    Of several that ended last, the one that started last. Empty without spans.
    """
    timed = np.flatnonzero(held.timed)
    if not len(timed):
        return timed
    last = timed[held.end_ns[timed] == held.end_ns[timed].max()]
    last = last[held.start_ns[last] == held.start_ns[last].max()][-1]
    before = np.where(held.held_by == Hold.QUEUE, held.queue_before, held.dependency)
    return _walk(int(last), np.where(held.held_by == Hold.NOTHING, _NONE, before))[::-1]


def _walk(begin: int, step: IntArray) -> IntArray:
    """Return the vertices from one on, each the step of the one before it, until there is none.

    Doubles what it knows: behind the first n vertices of a walk stand those n steps on.
    """
    count = len(step)
    # The end is a vertex of its own, which leads to itself.
    jump = np.append(np.where(step < 0, count, step), count)
    path = np.array([begin], np.int64)
    while path[-1] != count and len(path) <= count:
        path = np.concatenate((path, jump[path]))
        jump = jump[jump]
    if path[-1] == count:
        return path[: np.argmax(path == count)]
    # What was seen comes again where clocks of two queues contradict each other.
    _, first = np.unique(path, return_index=True)
    return path[: len(first)]
