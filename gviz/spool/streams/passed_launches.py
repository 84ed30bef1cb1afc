"""Launches between recorded ones, of which only the number is known."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from gviz.stats import IntArray

#: Numbers that stand so close together (ns) are added up once there are MOST_TIMES.
STEP_NS = 1_000_000_000
MOST_TIMES = 100_000


class PassedLaunches:
    """Numbers of launches by executable and time.

    Attributes
    ----------
    counts
        By executable.
    """

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self._times: defaultdict[int, list[int]] = defaultdict(list)
        self._numbers: defaultdict[int, list[int]] = defaultdict(list)
        self._size = 0

    def __len__(self) -> int:
        """Return how many numbers are kept apart."""
        return self._size

    def add(self, exec_id: int, count: int, to_ns: int) -> None:
        """Take launches in, none of them later than ``to_ns``, in order of time."""
        self.counts[exec_id] += count
        times, numbers = self._times[exec_id], self._numbers[exec_id]
        if self._size >= MOST_TIMES and times and to_ns - times[-1] < STEP_NS:
            numbers[-1] += count
            return
        times.append(to_ns)
        numbers.append(count)
        self._size += 1

    def before(self, exec_id: int, times_ns: IntArray) -> IntArray:
        """Return how many of an executable's launches were before each time (int64)."""
        numbers = np.cumsum([0, *self._numbers[exec_id]], dtype=np.int64)
        order = np.array(self._times[exec_id], np.int64)
        found: IntArray = numbers[np.searchsorted(np.maximum.accumulate(order), times_ns, "right")]
        return found
