"""Spans shorter than a pixel put together, so that a picture needs no more of them than pixels."""

from __future__ import annotations

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats.arrays import BoolArray, FloatArray, IntArray
from gviz.stats.ordering import is_ascending


@dataclass(frozen=True, slots=True)
class MergedSpans:
    """Spans and groups of spans, by lane and start: arrays of one length.

    Attributes
    ----------
    slowest
        int64: the longest span of each group, as an index into what was given.
    start_ns, end_ns
        float64: first start and last end of the group.
    count
        int64: spans in it; 1: a span as it was.
    """

    slowest: IntArray
    start_ns: FloatArray
    end_ns: FloatArray
    count: IntArray


def merge_spans(
    lane: IntArray, start_ns: FloatArray, end_ns: FloatArray, bucket_ns: float, alone: BoolArray
) -> MergedSpans:
    """Return spans with those shorter than a bucket merged, one group a bucket and lane.

    A span belongs to the bucket it starts in. Where spans of a lane do not overlap, groups do
    not either, and a group is at most two buckets long.

    Parameters
    ----------
    lane, start_ns, end_ns
        The spans, in any order.
    bucket_ns
        Length of a bucket; 0 merges nothing.
    alone
        True for spans that are never merged.
    """
    start, end, of_lane = start_ns, end_ns, lane
    order = np.arange(len(lane))
    if not is_ascending((lane, start_ns)):
        order = np.lexsort((start_ns, lane))
        start, end, of_lane, alone = start[order], end[order], of_lane[order], alone[order]
    single = alone | (end - start >= bucket_ns)
    bucket = np.floor(start / bucket_ns) if bucket_ns > 0 else start
    new = np.ones(len(order), bool)
    new[1:] = single[1:] | single[:-1] | (of_lane[1:] != of_lane[:-1]) | (bucket[1:] != bucket[:-1])
    first = np.flatnonzero(new)
    count = np.diff(np.append(first, len(order)))
    longest = _longest(end - start, first, count)
    last = np.maximum.reduceat(end, first) if len(first) else end
    return MergedSpans(order[longest], start[first], last, count.astype(np.int64))


def _longest(length: FloatArray, first: IntArray, count: IntArray) -> IntArray:
    """Return the index of the longest span of each group, the last of equals."""
    if not len(first):
        return first
    most = np.repeat(np.maximum.reduceat(length, first), count)
    found: IntArray = np.maximum.reduceat(
        np.where(length == most, np.arange(len(length)), -1), first
    )
    return found


def merge_gaps(
    start_ns: FloatArray, end_ns: FloatArray, bucket_ns: float
) -> tuple[FloatArray, FloatArray]:
    """Return start and end of gaps; those shorter than a bucket become one of their summed length.

    The sum of all gaps stays as it is, and so does that of each bucket, nearly: how idle a pixel
    is may be computed from either. Gaps are in order and apart from each other.
    """
    if bucket_ns <= 0 or not len(start_ns):
        return start_ns, end_ns
    lane = np.zeros(len(start_ns), np.int64)
    found = merge_spans(lane, start_ns, end_ns, bucket_ns, np.zeros(len(start_ns), bool))
    first = np.searchsorted(start_ns, found.start_ns)
    return found.start_ns, found.start_ns + np.add.reduceat(end_ns - start_ns, first)
