"""Merged spans, whatever the spans: as merging one by one says, nothing lost, nothing overlaps."""

from __future__ import annotations

import math
from itertools import groupby
from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gviz.stats import merged_spans
from gviz.stats.merged_spans import merge_gaps, merge_spans

#: A lane: (pause, length, whether it is to stay alone) in turn.
LANE = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.booleans()), max_size=15)
BUCKET = st.sampled_from([0.0, 1.0, 4.0, 10.5])
Rows = list[tuple[int, float, float, bool]]


def laid_out(lanes: list[list[tuple[int, int, bool]]]) -> Rows:
    rows: Rows = []
    for lane, steps in enumerate(lanes):
        clock = 0.0
        for pause, length, alone in steps:
            rows.append((lane, clock + pause, clock + pause + length, alone))
            clock += pause + length
    return rows


def one_by_one(rows: Rows, bucket: float) -> list[tuple[int, float, float, int]]:
    def group(numbered: tuple[int, tuple[int, float, float, bool]]) -> tuple[float, ...]:
        n, (lane, start, end, alone) = numbered
        if alone or end - start >= bucket:
            return (lane, n, -1)
        return (lane, -1, math.floor(start / bucket))

    found = []
    for _, members in groupby(enumerate(rows), group):
        of = [row for _, row in members]
        found.append((of[0][0], of[0][1], max(row[2] for row in of), len(of)))
    return found


@given(st.lists(LANE, max_size=3), BUCKET, st.integers(0, 100), st.sampled_from([1, 2, 5, 1 << 14]))
def test_spans_are_merged_as_one_by_one(
    lanes: list[list[tuple[int, int, bool]]], bucket: float, seed: int, at_once: int
) -> None:
    rows = laid_out(lanes)
    order = np.random.default_rng(seed).permutation(len(rows))
    given_rows = [rows[i] for i in order]
    lane = np.array([r[0] for r in given_rows], np.int64)
    start, end = (np.array([r[n] for r in given_rows], np.float64) for n in (1, 2))
    alone = np.array([r[3] for r in given_rows], bool)
    with mock.patch.object(merged_spans, "_ROWS_AT_ONCE", at_once):
        found = merge_spans(lane, start, end, bucket, alone)
    got = zip(
        lane[found.slowest].tolist(),
        found.start_ns.tolist(),
        found.end_ns.tolist(),
        found.count.tolist(),
        strict=True,
    )
    assert list(got) == one_by_one(rows, bucket)
    for i, first, last in zip(found.slowest, found.start_ns, found.end_ns, strict=True):
        inside = (lane == lane[i]) & (start >= first) & (end <= last)
        assert end[i] - start[i] == (end - start)[inside].max()
    same = np.diff(lane[found.slowest]) == 0
    assert (found.start_ns[1:] >= found.end_ns[:-1])[same].all()


@given(LANE, BUCKET)
def test_merged_gaps_sum_to_the_same_and_stay_apart(
    steps: list[tuple[int, int, bool]], bucket: float
) -> None:
    rows = laid_out([[(pause + 1, length, alone) for pause, length, alone in steps]])
    start, end = (np.array([r[n] for r in rows], np.float64) for n in (1, 2))
    found_start, found_end = merge_gaps(start, end, bucket)
    assert (found_end - found_start).sum() == (end - start).sum()
    assert (found_start[1:] >= found_end[:-1]).all()
    assert len(found_start) <= len(start)
