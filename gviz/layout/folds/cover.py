"""Choice of the repetitions of a line of nodes that become folds: those that fold most nodes.

Taken greedily, the longest first, each cut to what is still free. A repetition of labels
counts only where the edges inside its blocks are equal too.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right, insort
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gviz.dataclass import dataclass
from gviz.layout.folds.line import Line
from gviz.layout.folds.runs import find_runs
from gviz.stats import IntArray

#: Least number of blocks; of a single node it takes more, since pairs of equal kernels are common.
LEAST_REPEATS = 2
LEAST_REPEATS_OF_ONE = 3
#: Where a block may begin is judged by its edges at so many places, the likeliest ones first.
PHASES_TRIED = 8
#: Shortest block that can hold a fold and another node or fold beside it.
LEAST_NESTING = LEAST_REPEATS_OF_ONE + 1


@dataclass(frozen=True, slots=True)
class Stretch:
    """Equal blocks one after the other.

    Attributes
    ----------
    start
        First place, counted from where the search began.
    period, repeats
        Places of a block, and number of blocks.
    inner
        Stretches inside each block, counted from its first place.
    """

    start: int
    period: int
    repeats: int
    inner: tuple[Stretch, ...] = ()

    @property
    def end(self) -> int:
        """The place after the last."""
        return self.start + self.period * self.repeats


def cover_line(line: Line, start: int, end: int) -> tuple[Stretch, ...]:
    """Return disjoint stretches of a part of a line, in order, with those inside their blocks."""
    found: list[Stretch] = []
    for stretch in _Cover(line, start, end).choose():
        inner: tuple[Stretch, ...] = ()
        # Blocks are equal, so what repeats inside the first repeats inside all.
        if stretch.period >= LEAST_NESTING:
            inner = cover_line(line, stretch.start, stretch.start + stretch.period)
        found.append(replace(stretch, start=stretch.start - start, inner=inner))
    return tuple(found)


def least_repeats(period: int) -> int:
    """Return how many blocks it takes for a fold."""
    return LEAST_REPEATS if period > 1 else LEAST_REPEATS_OF_ONE


class _Candidate(NamedTuple):
    """A stretch of places with period, in the order in which they are tried."""

    folded: int  # minus the number of nodes that it would fold, at most
    period: int
    start: int
    end: int
    is_verified: bool  # blocks from `start` on have equal edges


class _Cover:
    """Choice of stretches in a part of a line. Single use."""

    def __init__(self, line: Line, start: int, end: int) -> None:
        self._line = line
        self._claimed: list[tuple[int, int]] = []  # disjoint half-open stretches, ascending
        self._queue: list[_Candidate] = []
        self._reference: dict[tuple[int, int], int] = {}
        labels = line.labels[start:end]
        runs = find_runs(labels)
        self._offset = start
        self._sums = np.concatenate(([0], np.cumsum(_scatter(labels))))
        keys = self._sums[runs.start + runs.period] - self._sums[runs.start]
        columns = (runs.start + start, runs.end + start, runs.period, keys)
        for s, e, p, key in zip(*(c.tolist() for c in columns), strict=True):
            self._reference.setdefault((p, key), s)
            self._offer(s, e, p)

    def choose(self) -> list[Stretch]:
        """Return the stretches in order; nothing inside their blocks."""
        found: list[Stretch] = []
        while self._queue:
            best = heapq.heappop(self._queue)
            gaps = list(self._free(best.start, best.end))
            if gaps != [(best.start, best.end)]:
                # Cut anew: blocks may begin elsewhere now, so their edges are compared again.
                for low, high in gaps:
                    self._offer(low, high, best.period)
            elif best.is_verified:
                insort(self._claimed, (best.start, best.end))
                count = (best.end - best.start) // best.period
                found.append(Stretch(best.start, best.period, count))
            else:
                self._verify(best)
        return sorted(found, key=lambda stretch: stretch.start)

    def _offer(self, start: int, end: int, period: int, is_verified: bool = False) -> None:
        repeats = (end - start) // period
        if repeats >= least_repeats(period):
            if is_verified:
                end = start + repeats * period
            heapq.heappush(
                self._queue, _Candidate(-repeats * period, period, start, end, is_verified)
            )

    def _free(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of a stretch that nothing has claimed."""
        at = bisect_right(self._claimed, (start, end)) - 1
        if at < 0 or self._claimed[at][1] <= start:
            at += 1
        while at < len(self._claimed) and self._claimed[at][0] < end:
            low, high = self._claimed[at]
            if start < low:
                yield start, low
            start = max(start, high)
            at += 1
        if start < end:
            yield start, end

    def _verify(self, candidate: _Candidate) -> None:
        """Offer the parts of a repetition of labels whose blocks have equal edges.

        Where blocks of two or more kinds of edges alternate, longer blocks are offered.
        """
        period, tried = candidate.period, []
        for start in self._phases(candidate):
            repeats = (candidate.end - start) // period
            runs = find_runs(self._line.edge_classes(start, period, repeats))
            equal = np.where(runs.period == 1, runs.end - runs.start, 0)
            count = int(equal[equal >= least_repeats(period)].sum())
            tried.append((count, start, runs))
            if count == repeats:
                break
        _, start, runs = max(tried, key=lambda found: found[0])
        columns = (runs.start.tolist(), runs.end.tolist(), runs.period.tolist())
        for a, b, q in zip(*columns, strict=True):
            self._offer(start + a * period, start + b * period, q * period, q == 1)

    def _phases(self, candidate: _Candidate) -> list[int]:
        """Return the places where the first block may begin, the likeliest first.

        Between layers few results are still needed. Where that shows nothing, as in a chain,
        the first repetition of the same block in the line decides, and then the first place.
        """
        start, period = candidate.start, candidate.period
        repeats = (candidate.end - start) // period
        offset = np.arange(candidate.end - start - repeats * period + 1)
        cuts = start + offset[:, None] + period * np.arange(repeats + 1)
        cost = self._line.live[cuts].sum(axis=1)
        is_other = offset != self._aligned(start, period, len(offset))
        likeliest = np.lexsort((offset, is_other, cost))[:PHASES_TRIED]
        return [start + at for at in likeliest.tolist()]

    def _aligned(self, start: int, period: int, phases: int) -> int:
        """Return at which offset blocks begin like those of the first such repetition, else 0."""
        labels = self._line.labels
        low = start - self._offset
        key = int(self._sums[low + period] - self._sums[low])
        first = self._reference.get((period, key), start)
        wanted = labels[first : first + period].tobytes()
        among = labels[start : start + phases - 1 + period].tobytes()
        at = among.find(wanted)
        while at % labels.itemsize and at >= 0:
            at = among.find(wanted, at + 1)
        return max(at, 0) // labels.itemsize


def _scatter(labels: IntArray) -> IntArray:
    """Return numbers whose sum distinguishes sets of labels, whatever their order.

    References
    ----------
    The mixing step is that of MurmurHash3's finalizer (A. Appleby, public domain).
    """
    mixed = labels.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    mixed = (mixed ^ (mixed >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    # 31 bits, so that no sum overflows.
    return (mixed >> np.uint64(33)).astype(np.int64)
