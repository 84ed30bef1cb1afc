"""Spans shorter than a pixel put together, so that a picture needs no more of them than pixels."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.stats.arrays import BoolArray, FloatArray, IntArray
from gviz.stats.ordering import is_ascending

#: Arrays of so many rows stay in the processor's cache, and in memory that was used before: to
#: touch fresh memory for each step takes longer than all steps of a million rows.
_ROWS_AT_ONCE = 1 << 14


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
    lane: npt.NDArray[np.integer[Any]],
    start_ns: FloatArray,
    end_ns: FloatArray,
    bucket_ns: float,
    alone: BoolArray,
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
    order = None if is_ascending((lane, start_ns)) else np.lexsort((start_ns, lane))

    def rows(begin: int, finish: int) -> slice | IntArray:
        return slice(begin, finish) if order is None else order[begin:finish]

    new = np.ones(len(lane), bool)
    for begin in range(1, len(lane), _ROWS_AT_ONCE):
        part = rows(begin - 1, begin + _ROWS_AT_ONCE)
        start, of_lane = start_ns[part], lane[part]
        single = alone[part] | (end_ns[part] - start >= bucket_ns)
        bucket = np.floor(start / bucket_ns) if bucket_ns > 0 else start
        new[begin : begin + _ROWS_AT_ONCE] = (
            single[1:] | single[:-1] | (of_lane[1:] != of_lane[:-1]) | (bucket[1:] != bucket[:-1])
        )
    first = np.flatnonzero(new)
    count = np.diff(np.append(first, len(lane)))
    longest, last = np.empty(len(first), np.int64), np.empty(len(first))
    for groups in _groups_at_once(first, len(lane)):
        begin, counts = int(first[groups.start]), count[groups]
        part = rows(begin, begin + int(counts.sum()))
        end, of_part = end_ns[part], first[groups] - begin
        longest[groups] = begin + _longest(end - start_ns[part], of_part, counts)
        last[groups] = np.maximum.reduceat(end, of_part)
    if order is not None:
        first, longest = order[first], order[longest]
    return MergedSpans(longest, start_ns[first], last, count.astype(np.int64))


def _groups_at_once(first: IntArray, length: int) -> Iterator[slice]:
    """Yield groups that follow each other and have about so many rows as are looked at at once."""
    begins = np.searchsorted(first, np.arange(0, length, _ROWS_AT_ONCE))
    for begin, end in pairwise([*begins.tolist(), len(first)]):
        if begin < end:
            yield slice(begin, end)


def _longest(length: FloatArray, first: IntArray, count: IntArray) -> IntArray:
    """Return the index of the longest span of each group, the last of equals."""
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
    lane = np.zeros(len(start_ns), np.int8)
    found = merge_spans(lane, start_ns, end_ns, bucket_ns, np.zeros(len(start_ns), bool))
    first = np.searchsorted(start_ns, found.start_ns)
    return found.start_ns, found.start_ns + np.add.reduceat(end_ns - start_ns, first)
