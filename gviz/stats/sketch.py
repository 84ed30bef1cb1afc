"""Quantiles of many groups of durations in bounded memory: logarithmic histograms that merge.

A duration falls into a bucket whose width is a fixed share of its value, so that whatever is
read back is off by :data:`RELATIVE_ERROR` at most. Count, total, least and most are exact.

References
----------
C. Masson, J. Rim, H. Lee, DDSketch: a fast and fully-mergeable quantile sketch with
relative-error guarantees, VLDB 2019 (the mapping of values to buckets).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats.arrays import FloatArray, IntArray

#: A quantile is within this share of the value that stands at its rank.
RELATIVE_ERROR = 0.01
_GAMMA = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_LOG_GAMMA = float(np.log(_GAMMA))
#: Bucket 0 holds 0; 2**63 ns falls into bucket 2185.
BUCKETS = 2_200


def bucket_of(values: IntArray) -> IntArray:
    """Return the bucket of each value (int64, 0 or more)."""
    found = np.zeros(len(values), np.int64)
    positive = values > 0
    found[positive] = 1 + np.ceil(np.log(values[positive]) / _LOG_GAMMA).astype(np.int64)
    return found


def value_of(buckets: IntArray) -> FloatArray:
    """Return the value that stands for each bucket: at most the relative error off all in it."""
    return np.where(buckets == 0, 0.0, 2 * _GAMMA ** (buckets - 1.0) / (_GAMMA + 1))


@dataclass(frozen=True, slots=True)
class Histogram:
    """The buckets of one group, ascending, and how many values fell into each (int64)."""

    bucket: IntArray
    count: IntArray


class DurationSketch:
    """Durations of many groups, as exact sums and one logarithmic histogram a group.

    A group costs 40 bytes and 16 for each bucket in use; 100 buckets span a factor of 7.
    At most BUCKETS are in use, however many values were added.
    """

    def __init__(self) -> None:
        self._index: dict[int, int] = {}
        self._keys = np.zeros(0, np.int64)  # index * BUCKETS + bucket, ascending
        self._counts = np.zeros(0, np.int64)
        self._total = np.zeros(0, np.int64)
        self._least = np.zeros(0, np.int64)
        self._most = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def used_buckets(self) -> int:
        """Return the number of buckets with a value in all groups: memory grows with it."""
        return len(self._keys)

    @property
    def groups(self) -> IntArray:
        """The groups, in order of appearance."""
        return np.fromiter(self._index, np.int64, len(self._index))

    @property
    def totals(self) -> IntArray:
        """Sum of the durations of each group, in the order of :attr:`groups`."""
        return self._total[: len(self)]

    @property
    def least(self) -> IntArray:
        """Shortest duration of each group."""
        return self._least[: len(self)]

    @property
    def most(self) -> IntArray:
        """Longest duration of each group."""
        return self._most[: len(self)]

    @property
    def counts(self) -> IntArray:
        """Return the number of durations of each group."""
        found = np.zeros(len(self), np.int64)
        np.add.at(found, self._keys // BUCKETS, self._counts)
        return found

    def add(self, group: IntArray, duration_ns: IntArray) -> None:
        """Take durations in.

        Parameters
        ----------
        group, duration_ns
            int64 arrays of one length; durations 0 or more.
        """
        if not len(group):
            return
        groups, place = np.unique(group, return_inverse=True)
        index = self._places(groups)[place]
        np.add.at(self._total, index, duration_ns)
        np.minimum.at(self._least, index, duration_ns)
        np.maximum.at(self._most, index, duration_ns)
        self._take(*np.unique(index * BUCKETS + bucket_of(duration_ns), return_counts=True))

    def merge(self, other: DurationSketch, names: Mapping[int, int] | None = None) -> None:
        """Take in all that another sketch holds.

        Parameters
        ----------
        names
            The groups here that its groups become; its groups that are missing here are left
            out. None: all, under their own names.
        """
        chosen = [g for g in other._index if names is None or g in names]
        if not chosen:
            return
        theirs = np.array([other._index[g] for g in chosen], np.int64)
        renamed = np.array([g if names is None else names[g] for g in chosen], np.int64)
        ours = self._places(renamed)
        np.add.at(self._total, ours, other._total[theirs])
        np.minimum.at(self._least, ours, other._least[theirs])
        np.maximum.at(self._most, ours, other._most[theirs])
        target = np.full(len(other._index), -1, np.int64)
        target[theirs] = ours
        owner = target[other._keys // BUCKETS]
        mine = owner >= 0
        keys, place = np.unique(
            owner[mine] * BUCKETS + other._keys[mine] % BUCKETS, return_inverse=True
        )
        counts = np.zeros(len(keys), np.int64)
        np.add.at(counts, place, other._counts[mine])
        self._take(keys, counts)

    def quantile(self, fraction: float) -> FloatArray:
        """Return a quantile of each group, within RELATIVE_ERROR of the value at its rank.

        The rank of a fraction f among n values is floor(f * (n - 1)), counted from 0.
        """
        counts = self.counts
        if not len(counts):
            return np.zeros(0)
        owner = self._keys // BUCKETS
        before = np.cumsum(counts) - counts  # values in groups of lower index
        rank = np.floor((counts - 1) * fraction).astype(np.int64)
        at = np.searchsorted(np.cumsum(self._counts), before + rank, side="right")
        assert (owner[at] == np.arange(len(counts))).all()
        found = value_of(self._keys[at] % BUCKETS)
        clipped: FloatArray = np.clip(found, self.least, self.most)
        return clipped

    def histogram(self, group: int) -> Histogram:
        """Return the buckets of one group."""
        first = self._index[group] * BUCKETS
        start, end = np.searchsorted(self._keys, (first, first + BUCKETS))
        return Histogram(self._keys[start:end] - first, self._counts[start:end].copy())

    def _places(self, groups: IntArray) -> IntArray:
        """Return the index of each group, made where it is new."""
        index = self._index
        found = [index.setdefault(g, len(index)) for g in groups.tolist()]
        if len(index) > len(self._total):
            more = max(64, len(index) * 3 // 2) - len(self._total)
            self._total = np.append(self._total, np.zeros(more, np.int64))
            self._least = np.append(self._least, np.full(more, np.iinfo(np.int64).max))
            self._most = np.append(self._most, np.full(more, -1))
        return np.array(found, np.int64)

    def _take(self, keys: IntArray, counts: IntArray) -> None:
        """Add counts of distinct keys, ascending."""
        at = np.searchsorted(self._keys, keys)
        known = at < len(self._keys)
        known[known] = self._keys[at[known]] == keys[known]
        self._counts[at[known]] += counts[known]
        if not known.all():
            self._keys = np.insert(self._keys, at[~known], keys[~known])
            self._counts = np.insert(self._counts, at[~known], counts[~known])
