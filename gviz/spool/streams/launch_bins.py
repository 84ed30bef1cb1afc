"""Launches beyond those kept one by one: counted in intervals of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats import DurationSketch, Histogram, IntArray

#: What is measured of a launch, and the number of it in a bin's key.
MEASURES = ("host", "event", "gpu", "none")
#: Bins are this long at first (ns); twice as long whenever there are more than MOST_BINS.
FIRST_INTERVAL_NS = 1_000_000_000
MOST_BINS = 4_096
_LONGEST_INTERVAL_NS = 1 << 60


class BinKey(NamedTuple):
    """The subject of a bin: an executable's launches in an interval, by one measure."""

    exec_id: int
    node_level: int
    interval: int
    measure: int


@dataclass(frozen=True, slots=True)
class Bin:
    """A bin: launches called from ``start_ns`` on, for the interval, and their durations."""

    key: BinKey
    start_ns: int
    count: int
    total_ns: int
    least_ns: int
    most_ns: int
    histogram: Histogram


class LaunchBins:
    """Durations of launches by executable, node level and interval of their call."""

    def __init__(self) -> None:
        self.interval_ns = FIRST_INTERVAL_NS
        self._sketch = DurationSketch()
        self._ids: dict[BinKey, int] = {}
        self._counted: Counter[BinKey] = Counter()

    def __len__(self) -> int:
        return len(self._ids) + len(self._counted)

    def add(
        self, measure: str, exec_id: IntArray, node_level: IntArray, called_ns: IntArray,
        duration_ns: IntArray,
    ) -> None:  # fmt: skip
        """Take launches in (int64 arrays of one length)."""
        if not len(exec_id):
            return
        number = MEASURES.index(measure)
        interval = called_ns // self.interval_ns
        columns = np.stack((exec_id, node_level, interval), axis=1)
        distinct, place = np.unique(columns, axis=0, return_inverse=True)
        ids = [self._id(BinKey(row[0], row[1], row[2], number)) for row in distinct.tolist()]
        self._sketch.add(np.array(ids, np.int64)[place.reshape(-1)], duration_ns)
        self._shrink()

    def count(self, exec_id: int, count: int, called_ns: int) -> None:
        """Take launches in of which only the number is known."""
        interval = called_ns // self.interval_ns
        self._counted[BinKey(exec_id, 0, interval, MEASURES.index("none"))] += count
        self._shrink()

    def bins(self) -> Iterator[Bin]:
        """Yield every bin, by key; those without durations last."""
        place = {group: i for i, group in enumerate(self._sketch.groups.tolist())}
        totals, least, most = self._sketch.totals, self._sketch.least, self._sketch.most
        for key, group in sorted(self._ids.items()):
            i = place[group]
            histogram = self._sketch.histogram(group)
            yield Bin(
                key, key.interval * self.interval_ns, int(histogram.count.sum()), int(totals[i]),
                int(least[i]), int(most[i]), histogram,
            )  # fmt: skip
        none = Histogram(np.zeros(0, np.int64), np.zeros(0, np.int64))
        for key, count in sorted(self._counted.items()):
            yield Bin(key, key.interval * self.interval_ns, count, 0, 0, 0, none)

    def _id(self, key: BinKey) -> int:
        return self._ids.setdefault(key, len(self._ids))

    def _shrink(self) -> None:
        while len(self) > MOST_BINS and self.interval_ns < _LONGEST_INTERVAL_NS:
            self._widen()

    def _widen(self) -> None:
        """Make the interval twice as long: two neighbouring bins become one."""
        self.interval_ns *= 2
        old, self._ids = self._ids, {}
        names = {
            group: self._id(key._replace(interval=key.interval // 2)) for key, group in old.items()
        }
        counted, self._counted = self._counted, Counter()
        for key, count in counted.items():
            self._counted[key._replace(interval=key.interval // 2)] += count
        merged = DurationSketch()
        merged.merge(self._sketch, names)
        self._sketch = merged
