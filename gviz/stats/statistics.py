"""Statistics of nodes over the spans of many launches: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gviz.stats.arrays import FloatArray, IntArray

#: A sort key holds the group above the value in one signed 64-bit integer.
_KEY_BITS = 63


@dataclass(frozen=True, slots=True)
class NodeStatisticsArrays:
    """One entry a node, by ascending node id; the fields are those of table node_statistics.

    Attributes
    ----------
    node_id, count, total_ns, min_ns, max_ns
        int64 arrays.
    median_ns, p5_ns, p95_ns, mad_ns, start_median_ns
        float64 arrays. Percentiles interpolate linearly, as numpy.percentile does;
        ``mad_ns`` is the median absolute deviation from the median, not scaled.
    """

    node_id: IntArray
    count: IntArray
    total_ns: IntArray
    median_ns: FloatArray
    p5_ns: FloatArray
    p95_ns: FloatArray
    min_ns: IntArray
    max_ns: IntArray
    mad_ns: FloatArray
    start_median_ns: FloatArray

    def __len__(self) -> int:
        return len(self.node_id)

    def to_tuples(self, graph_id: IntArray, node_id: IntArray) -> Iterator[tuple[Any, ...]]:
        """Yield the values of rows.NodeStatistics, for RecordingWriter.insert_tuples.

        ``graph_id`` and ``node_id`` are the keys of the nodes in the recording.
        """
        columns = (
            graph_id, node_id, self.count, self.total_ns, self.median_ns, self.p5_ns, self.p95_ns,
            self.min_ns, self.max_ns, self.mad_ns, self.start_median_ns,
        )  # fmt: skip
        for values in zip(*(column.tolist() for column in columns), strict=True):
            yield (*values, 0, None)  # every span is a row, every quantile exact


def node_statistics(
    node_id: IntArray, duration_ns: IntArray, start_ns: IntArray
) -> NodeStatisticsArrays:
    """Return the statistics of every node over all its spans (derived).

    Parameters
    ----------
    node_id, duration_ns, start_ns
        int64 arrays of one length, a span an entry, in any order. Durations below
        2**61 ns and starts relative to the launch.

    Raises
    ------
    ValueError
        If the arrays differ in length.
    """
    if not len(node_id) == len(duration_ns) == len(start_ns):
        raise ValueError(
            f"{len(node_id)} node ids, {len(duration_ns)} durations and {len(start_ns)} starts; "
            "give one of each for every span"
        )
    nodes, group = _groups(node_id)
    count = np.bincount(group, minlength=len(nodes)).astype(np.int64)
    first = np.cumsum(count) - count
    durations = _sort_in_groups(group, duration_ns, len(nodes))
    median = _quantile(durations, first, count, 0.5)
    # Twice the deviation from the median is an integer: the median is a mean of two at most.
    twice_median = np.rint(2 * median).astype(np.int64)
    deviations = _sort_in_groups(group, np.abs(2 * duration_ns - twice_median[group]), len(nodes))
    starts = _sort_in_groups(group, start_ns, len(nodes))
    return NodeStatisticsArrays(
        node_id=nodes,
        count=count,
        total_ns=np.add.reduceat(durations, first) if len(nodes) else np.zeros(0, np.int64),
        median_ns=median,
        p5_ns=_quantile(durations, first, count, 0.05),
        p95_ns=_quantile(durations, first, count, 0.95),
        min_ns=durations[first],
        max_ns=durations[first + count - 1],
        mad_ns=_quantile(deviations, first, count, 0.5) / 2,
        start_median_ns=_quantile(starts, first, count, 0.5),
    )


def _groups(node_id: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct node ids, ascending, and the place of every span's node in them."""
    if len(node_id) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    low = int(node_id.min())
    reach = int(node_id.max()) - low + 1
    if reach > 4 * len(node_id) + 1024:
        nodes, group = np.unique(node_id, return_inverse=True)
        return nodes, group.astype(np.int64)
    # Node ids lie close together in practice: counting is several times faster than sorting.
    present = np.bincount(node_id - low, minlength=reach) > 0
    place = np.cumsum(present) - 1
    return np.flatnonzero(present) + low, place[node_id - low].astype(np.int64)


def _sort_in_groups(group: IntArray, values: IntArray, groups: int) -> IntArray:
    """Return the values ordered by group, then by value."""
    if len(values) == 0:
        return values.astype(np.int64)
    low = int(values.min())
    bits = (int(values.max()) - low).bit_length()
    if bits + max(groups - 1, 0).bit_length() > _KEY_BITS:
        return values[np.lexsort((values, group))]
    # One sort of plain integers takes a quarter of the time of lexsort.
    key = (group << bits) | (values - low)
    key.sort()
    return (key & ((1 << bits) - 1)) + low


def _quantile(ordered: IntArray, first: IntArray, count: IntArray, fraction: float) -> FloatArray:
    """Return a quantile of every group of values that are ordered within their groups.

    References
    ----------
    R. Hyndman and Y. Fan, Sample quantiles in statistical packages (1996), definition 7;
    the interpolation is written from the nearer end, as numpy does, to round alike.
    """
    if len(first) == 0:
        return np.zeros(0)
    place = (count - 1) * fraction
    below = np.floor(place).astype(np.int64)
    share = place - below
    low = ordered[first + below]
    step = (ordered[first + np.minimum(below + 1, count - 1)] - low).astype(np.float64)
    found: FloatArray = np.where(share >= 0.5, low + step - step * (1 - share), low + step * share)
    return found
