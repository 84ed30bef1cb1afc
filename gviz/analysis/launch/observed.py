"""The observed critical path of a launch: what held its end back, step by step.

The path is walked from the execution that ended last, each time back to what held that one: the
dependency, or the work before it on the same hardware queue, that ended last. Unlike the
structural path it is what happened: queues, gaps and loop iterations are in it.
"""

from __future__ import annotations

import numpy as np

from gviz.analysis.launch.holds import HeldLaunch, Hold
from gviz.stats import IntArray


def observed_path(held: HeldLaunch) -> IntArray:
    """Return the vertices of the observed critical path, in order of time (int64).

    Of several that ended last, the one that started last. Empty without spans.
    """
    timed = np.flatnonzero(held.timed)
    if not len(timed):
        return timed
    last = timed[np.lexsort((timed, held.start_ns[timed], held.end_ns[timed]))[-1]]
    held_by = held.held_by.tolist()
    dependency, before = held.dependency.tolist(), held.queue_before.tolist()
    path = [int(last)]
    seen = {int(last)}
    while held_by[path[-1]] != Hold.NOTHING:
        at = path[-1]
        step = before[at] if held_by[at] == Hold.QUEUE else dependency[at]
        if step in seen:  # clocks of two queues that contradict each other
            break
        seen.add(step)
        path.append(step)
    return np.array(path[::-1], np.int64)
