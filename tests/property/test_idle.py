"""Busy and idle time, whatever the intervals: against a count of every nanosecond."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gviz.stats.idle import gaps, union

LONGEST = 60
INTERVALS = st.lists(st.tuples(st.integers(0, LONGEST), st.integers(0, 12)), max_size=25)


@given(INTERVALS, st.integers(0, LONGEST), st.integers(0, LONGEST))
def test_busy_and_idle_are_what_counting_nanoseconds_says(
    spans: list[tuple[int, int]], a: int, b: int
) -> None:
    begin, finish = min(a, b), max(a, b)
    start = np.array([s for s, _ in spans], np.int64)
    end = start + np.array([d for _, d in spans], np.int64)
    covered = {t for s, d in spans for t in range(s, s + d)}
    busy = union(start, end)
    assert busy.total_ns == len(covered)
    idle = gaps(busy, begin, finish)
    found = {
        t
        for s, e in zip(idle.start_ns.tolist(), idle.end_ns.tolist(), strict=True)
        for t in range(s, e)
    }
    assert found == set(range(begin, finish)) - covered
    for one in (busy, idle):
        assert (one.end_ns > one.start_ns).all()
        assert (one.start_ns[1:] > one.end_ns[:-1]).all()
