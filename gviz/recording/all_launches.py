"""Launches of a graph as arrays, whether they are rows or bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.recording.int_column import decode
from gviz.recording.integrity import DamagedError
from gviz.recording.rows import LATEST_NS

if TYPE_CHECKING:
    from gviz.stats import FloatArray, IntArray, Interval

#: ``host``: the call; ``gpu``: first span's start to last span's end; ``event``: between the
#: events around the launch.
Measure = Literal["host", "gpu", "event"]
#: An instrumented copy is as long as its events make it: its length is not the launch's.
_OF_A_COPY = f"WHEN node_level = 1 AND node_method = '{rows.BY_COPY}' THEN -1"
#: The columns of table launch that stand in :class:`LaunchArrays`; a missing number is -1.
ROW_COLUMNS = (
    "ordinal",
    "launch_id",
    "coalesce(graph_exec_id, -1)",
    "coalesce(host_start_ns, -1)",
    "coalesce(host_end_ns - host_start_ns, -1)",
    f"CASE {_OF_A_COPY} ELSE coalesce(event_duration_ns, -1) END",
    f"CASE {_OF_A_COPY} ELSE coalesce(gpu_end_ns - gpu_start_ns, -1) END",
    "node_level",
)


@dataclass(frozen=True, slots=True)
class LaunchArrays:
    """Launches that have a row, in time order: int64 arrays of one length; -1: not known.

    Attributes
    ----------
    ordinal, launch_id, graph_exec_id, host_start_ns, event_duration_ns, node_level
        As in table launch.
    host_duration_ns, gpu_duration_ns
        Of the call, and from the first node's start to the last node's end.

    Of launches in whose place an instrumented copy ran neither time on the GPU is known: a copy is
    as long as its events make it.
    """

    ordinal: IntArray
    launch_id: IntArray
    graph_exec_id: IntArray
    host_start_ns: IntArray
    host_duration_ns: IntArray
    event_duration_ns: IntArray
    gpu_duration_ns: IntArray
    node_level: IntArray

    def __len__(self) -> int:
        return len(self.ordinal)

    def durations(self, measure: Measure, *, undisturbed: bool = False) -> IntArray:
        """Return a measure of the launches that have it (ns).

        ``undisturbed`` leaves out the first launch, which uploads the graph, and launches
        whose node times were recorded.
        """
        found: IntArray = getattr(self, f"{measure}_duration_ns")
        wanted = found >= 0
        if undisturbed:
            wanted &= (self.node_level == 0) & (self.ordinal > 0)
        return found[wanted]


@dataclass(frozen=True, slots=True)
class WeightedDurations:
    """Durations and how many launches have each.

    Attributes
    ----------
    values_ns, counts
        float64 and int64 arrays of one length, in no order. Binned launches have the value
        of their bucket, within 1% of their own.
    """

    values_ns: FloatArray
    counts: IntArray

    @property
    def count(self) -> int:
        """Launches."""
        return int(self.counts.sum())

    @property
    def total_ns(self) -> float:
        """Sum over the launches."""
        return float((self.values_ns * self.counts).sum())

    def median_ns(self) -> float | None:
        """Return the median; None without launches."""
        return self.quantile_ns(0.5)

    def median_interval_ns(self) -> Interval:
        """Return the 95% interval of the median; of few launches there is none."""
        from gviz.stats import interval_between, median_ranks

        ranks = median_ranks(self.count)
        return interval_between(*(self._at(ranks) if ranks else (math.nan, math.nan)))

    def quantile_ns(self, share: float) -> float | None:
        """Return what a share of the launches is shorter than, interpolated; None: none is."""
        if not self.count:
            return None
        place = share * (self.count - 1)
        below = math.floor(place)
        low, high = self._at((below, math.ceil(place)))
        return low + (high - low) * (place - below)

    def _at(self, places: tuple[int, int]) -> tuple[float, float]:
        """Return the durations at two places, from 0, of the launches by duration."""
        import numpy as np

        order = np.argsort(self.values_ns, kind="stable")
        reached = np.cumsum(self.counts[order])
        low, high = self.values_ns[order[np.searchsorted(reached, places, side="right")]].tolist()
        return low, high


def launch_arrays(found: Sequence[tuple[Any, ...]]) -> LaunchArrays:
    """Return rows of ROW_COLUMNS, by ordinal, as arrays."""
    import numpy as np

    if not set(map(type, chain.from_iterable(found))) <= {int}:
        raise DamagedError("table launch holds something that is no whole number")
    table = np.array(found, np.int64).reshape(len(found), len(ROW_COLUMNS)).T
    # Differences of two times may be twice as large as a time.
    times = table[3:7]
    if ((times < -2 * LATEST_NS) | (times > 2 * LATEST_NS)).any():
        raise DamagedError("table launch holds times that cannot be")
    return LaunchArrays(*(np.ascontiguousarray(column) for column in table))


def weigh(durations: IntArray, bins: Sequence[rows.LaunchBin]) -> WeightedDurations:
    """Return durations known one by one together with those of bins."""
    import numpy as np

    from gviz.stats import value_of

    values = [durations.astype(np.float64)]
    counts = [np.ones(len(durations), np.int64)]
    for bin_ in bins:
        values.append(np.clip(value_of(decode(bin_.bucket)), bin_.min_ns, bin_.max_ns))
        counts.append(decode(bin_.bucket_count))
    return WeightedDurations(np.concatenate(values), np.concatenate(counts))
