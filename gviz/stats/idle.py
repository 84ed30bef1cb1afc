"""Busy and idle time: the union of intervals, and its gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.stats.ordering import is_ascending

#: int64 ns, or float64 where times are medians; results have the type of what is given.
TimeArray = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals from start to end, in order, apart from each other and none of them empty."""

    start_ns: TimeArray
    end_ns: TimeArray

    def __len__(self) -> int:
        return len(self.start_ns)

    @property
    def total_ns(self) -> float:
        """Sum of the lengths; whole for whole nanoseconds."""
        total: float = (self.end_ns - self.start_ns).sum().item()
        return total


def union(start_ns: TimeArray, end_ns: TimeArray) -> Intervals:
    """Return the times in which at least one interval runs.

    Intervals that touch become one; those of no length count for nothing. Order is free.
    """
    start, end = start_ns, end_ns
    lasting = end > start
    if not lasting.all():
        start, end = start[lasting], end[lasting]
    if not is_ascending((start,)):
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
    latest = np.maximum.accumulate(end)
    new = np.ones(len(start), bool)
    new[1:] = start[1:] > latest[:-1]
    last = np.append(new[1:], True)[: len(new)]
    return Intervals(start[new], latest[last])


def gaps(busy: Intervals, begin_ns: float, finish_ns: float) -> Intervals:
    """Return the times between ``begin_ns`` and ``finish_ns`` in which nothing runs."""
    start = np.append(np.asarray(begin_ns, busy.end_ns.dtype), busy.end_ns)
    end = np.append(busy.start_ns, np.asarray(finish_ns, busy.start_ns.dtype))
    start, end = np.maximum(start, begin_ns), np.minimum(end, finish_ns)
    lasting = end > start
    kind = busy.start_ns.dtype
    return Intervals(start[lasting].astype(kind), end[lasting].astype(kind))
