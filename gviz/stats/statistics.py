"""Statistics of nodes over the spans of many launches: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats.arrays import FloatArray, IntArray
from gviz.stats.grouping import group_rows, sort_in_groups


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
    nodes, group = group_rows(node_id)
    count = np.bincount(group, minlength=len(nodes)).astype(np.int64)
    first = np.cumsum(count) - count
    durations = sort_in_groups(group, duration_ns, len(nodes))
    median = _quantile(durations, first, count, 0.5)
    # Twice the deviation from the median is an integer: the median is a mean of two at most.
    twice_median = np.rint(2 * median).astype(np.int64)
    deviations = sort_in_groups(group, np.abs(2 * duration_ns - twice_median[group]), len(nodes))
    starts = sort_in_groups(group, start_ns, len(nodes))
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
