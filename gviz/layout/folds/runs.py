"""The maximal repetitions (runs) of a sequence of labels: all of them, exactly.

A run is a stretch of at least two periods, of the smallest period that it has, which can be
extended to neither side. There are fewer runs than labels. O(n log^2 n), mostly in numpy.

References
----------
H. Bannai, T. I, S. Inenaga, Y. Nakashima, M. Takeda, K. Tsuruta, The "runs" theorem (2017):
each run has a period that is the longest Lyndon word at its start, in the order of the
labels or in the reverse order. Substrings are ranked by prefix doubling after R. Karp,
R. Miller, A. Rosenberg, Rapid identification of repeated patterns (1972).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.stats import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs as int64 arrays of one length, by (start, period).

    Attributes
    ----------
    start, end
        Half-open stretch of places.
    period
        Smallest distance at which its labels are equal; at most half of its length.
    """

    start: IntArray
    end: IntArray
    period: IntArray

    def __len__(self) -> int:
        return len(self.start)


def find_runs(labels: npt.ArrayLike) -> Runs:
    """Return every run of a sequence of integer labels."""
    sequence = np.asarray(labels, np.int64).reshape(-1)
    count = len(sequence)
    if count < 2:
        empty = np.zeros(0, np.int64)
        return Runs(empty, empty, empty)
    ranks = _rank_substrings(sequence)
    suffix = ranks[-1][:count]
    smaller = _next_smaller(suffix.tolist())
    larger = _next_smaller((-suffix).tolist())
    # A run that reaches the end of the sequence is found by the smaller suffix: nothing is
    # smaller than the end, so only there it counts as a follower.
    place = np.arange(count)
    inside = larger < count
    at = np.concatenate((place, place[inside]))
    follower = np.concatenate((smaller, larger[inside]))
    may_be = _may_repeat(ranks, at, follower)
    at, follower = at[may_be], follower[may_be]
    period = follower - at
    start = at - _extend_left(ranks, at, follower)
    end = follower + _extend_right(ranks, at, follower)
    is_run = end - start >= 2 * period
    start, end, period = start[is_run], end[is_run], period[is_run]
    _, first = np.unique(start * (count + 1) + period, return_index=True)
    return Runs(start[first], end[first], period[first])


def _rank_substrings(sequence: IntArray) -> list[IntArray]:
    """Return for k = 0, 1, ... the rank (from 1) of the 2^k labels from each place on.

    The last ones rank whole suffixes. A substring that the end cuts off ranks before those it
    begins and equals no other. Each array has a 0 behind the last place.
    """
    count = len(sequence)
    ranks: list[IntArray] = []
    key, width = sequence, 1
    while True:
        inverse = np.unique(key, return_inverse=True)[1].reshape(-1)
        ranks.append(np.append(inverse.astype(np.int64) + 1, 0))
        if width >= count or int(inverse.max()) == count - 1:
            return ranks
        key = ranks[-1][:count] * (count + 1)
        key[:-width] += ranks[-1][width:count]
        width *= 2


def _next_smaller(values: list[int]) -> IntArray:
    """Return for each place the next one of a smaller value, the length where there is none."""
    found = [len(values)] * len(values)
    waiting: list[int] = []
    for place, value in enumerate(values):
        while waiting and values[waiting[-1]] > value:
            found[waiting.pop()] = place
        waiting.append(place)
    return np.array(found, np.int64)


def _may_repeat(ranks: list[IntArray], first: IntArray, second: IntArray) -> BoolArray:
    """Return which pairs of places (first < second) have equal labels over half of their distance.

    From both on, or before both. In a run the equal labels on both sides are as many as the period;
    of most pairs one comparison shows that they are fewer.
    """
    half = (second - first + 1) // 2
    level = np.frexp(half)[1] - 1  # of the largest power of two in it
    # Where a level is missing all its substrings differ.
    found = np.zeros(len(first), bool)
    for k in range(min(len(ranks), int(level.max(initial=-1)) + 1)):
        pairs = np.flatnonzero(level == k)
        rank, width, a, b = ranks[k], 1 << k, first[pairs], second[pairs]
        before = (a >= width) & (rank[np.maximum(a - width, 0)] == rank[np.maximum(b - width, 0)])
        found[pairs] = before | (rank[a] == rank[b])
    return found


def _extend_right(ranks: list[IntArray], first: IntArray, second: IntArray) -> IntArray:
    """Return how many labels from two places on (first < second) are equal."""
    length = np.zeros(len(first), np.int64)
    for level in range(len(ranks) - 1, -1, -1):
        rank = ranks[level]
        is_equal = rank[first + length] == rank[second + length]
        length += is_equal.astype(np.int64) << level
    return length


def _extend_left(ranks: list[IntArray], first: IntArray, second: IntArray) -> IntArray:
    """Return how many labels before two places (first < second) are equal."""
    length = np.zeros(len(first), np.int64)
    for level in range(len(ranks) - 1, -1, -1):
        rank, width = ranks[level], 1 << level
        a, b = first - length - width, second - length - width
        is_equal = (a >= 0) & (rank[np.maximum(a, 0)] == rank[np.maximum(b, 0)])
        length += is_equal.astype(np.int64) << level
    return length
