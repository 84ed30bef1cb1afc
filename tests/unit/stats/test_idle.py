"""The union of intervals and its gaps, on cases small enough to be read."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.stats.idle import Intervals, gaps, union

Pairs = list[tuple[int, int]]


def intervals(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(pairs, np.int64).reshape(len(pairs), 2)
    return table[:, 0], table[:, 1]


def pairs(found: Intervals) -> Pairs:
    return list(zip(found.start_ns.tolist(), found.end_ns.tolist(), strict=True))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], []),
        ([(5, 5)], []),
        ([(0, 10)], [(0, 10)]),
        ([(0, 10), (10, 20)], [(0, 20)]),
        ([(0, 10), (11, 20)], [(0, 10), (11, 20)]),
        ([(0, 100), (10, 20), (30, 40), (90, 110)], [(0, 110)]),
        ([(30, 40), (0, 10)], [(0, 10), (30, 40)]),
    ],
)
def test_union(given: Pairs, expected: Pairs) -> None:
    assert pairs(union(*intervals(given))) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], [(0, 100)]),
        ([(0, 100)], []),
        ([(10, 20), (30, 90)], [(0, 10), (20, 30), (90, 100)]),
        ([(-20, 5), (95, 120)], [(5, 95)]),
        ([(-20, -10), (120, 130)], [(0, 100)]),
    ],
)
def test_gaps_from_0_to_100(given: Pairs, expected: Pairs) -> None:
    assert pairs(gaps(union(*intervals(given)), 0, 100)) == expected


def test_times_of_a_clock_are_exact() -> None:
    # Beyond 2^53, where float64 would round to even nanoseconds.
    clock = 1_790_000_000_000_000_001
    busy = union(*intervals([(clock, clock + 1), (clock + 4, clock + 6)]))
    found = gaps(busy, clock, clock + 7)
    assert [(a - clock, b - clock) for a, b in pairs(found)] == [(1, 4), (6, 7)]
    assert found.total_ns == 4
