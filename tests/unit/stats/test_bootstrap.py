"""Intervals by resampling."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.stats.bootstrap import Interval, median_interval


def test_median_interval_holds_the_median_and_is_not_moved_by_one_wild_value() -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        values = rng.normal(100.0, 10.0, 30)
        values[0] = 1e6
        found = median_interval(values)
        assert found.low is not None
        assert found.high is not None
        assert found.high < 130
        held += found.low <= 100.0 <= found.high
    assert held >= 0.9 * 200


@pytest.mark.parametrize(("values", "expected"), [([3.0], (None, None)), ([2.0] * 9, (2.0, 2.0))])
def test_median_interval_of_few_or_equal_values(
    values: list[float], expected: tuple[float | None, float | None]
) -> None:
    assert median_interval(values) == Interval(*expected)
