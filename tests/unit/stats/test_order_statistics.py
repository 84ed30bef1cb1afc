"""Intervals of medians by ranks."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from gviz.stats import LEAST_VALUES, median_ranks, rank_interval, rank_intervals
from gviz.stats.bootstrap import Interval


def _coverage(count: int, low: int, high: int) -> float:
    return sum(comb(count, below) for below in range(low + 1, high + 1)) / 2**count


@pytest.mark.parametrize("count", [*range(LEAST_VALUES, 300), 1_000, 1_001, 1_500])
def test_median_lies_between_the_ranks_with_95_percent_and_not_between_closer_ones(
    count: int,
) -> None:
    low, high = median_ranks(count) or (0, 0)
    assert _coverage(count, low, high) >= 0.95
    assert _coverage(count, low + 1, high) < 0.95 or count > 1_000
    assert _coverage(count, low, high - 1) < 0.95 or count > 1_000


@pytest.mark.parametrize(
    ("count", "ranks"),
    # Conover (1999), table A3 and 3.2: sample quantiles that hold the median.
    [(5, None), (6, (0, 5)), (8, (1, 7)), (24, (7, 17)), (100, (40, 60))],
)
def test_ranks_of_a_count(count: int, ranks: tuple[int, int] | None) -> None:
    assert median_ranks(count) == ranks


def test_interval_holds_the_median_in_at_least_95_of_100_experiments() -> None:
    source = np.random.default_rng(7)
    values = source.exponential(1.0, (15, 4_000))
    low, high = rank_intervals(values)
    held = np.mean((low <= np.log(2)) & (np.log(2) <= high))
    assert 0.95 <= held < 0.985


def test_columns_with_missing_values_have_the_interval_of_those_that_are_there() -> None:
    columns = np.array([[9.0, 1.0, 5.0]] * 3 + [[1.0, np.nan, 5.0]] * 5)
    low, high = rank_intervals(columns)
    assert low.tolist()[::2] == [1.0, 5.0]
    assert high.tolist()[::2] == [9.0, 5.0]
    assert np.isnan([low[1], high[1]]).all()


def test_few_values_have_no_interval() -> None:
    assert rank_interval([1.0, 2.0, 3.0, 4.0, 5.0]) == Interval(None, None)
    assert rank_interval([]) == Interval(None, None)
    assert rank_interval([6.0, 5.0, 4.0, 3.0, 2.0, 1.0]) == Interval(1.0, 6.0)
