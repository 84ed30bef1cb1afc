"""Intervals of means of few values."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.stats import student_interval
from gviz.stats.bootstrap import mean_interval
from gviz.stats.student import student_quantile


@pytest.mark.parametrize(
    ("degrees", "expected"),
    # Abramowitz and Stegun (1964), table 26.10, column A = 0.95.
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (19, 2.093), (120, 1.980)],
)
def test_quantiles_are_those_of_the_tables(degrees: int, expected: float) -> None:
    assert student_quantile(degrees) == pytest.approx(expected, rel=3e-3)


def test_one_value_has_no_interval() -> None:
    assert student_interval(5.0, 0.0, 1).low is None


@pytest.mark.parametrize("count", [5, 20])
def test_it_holds_the_mean_where_a_bootstrap_interval_is_too_narrow(count: int) -> None:
    rng = np.random.default_rng(7)
    held = [0, 0]
    for _ in range(400):
        values = rng.normal(100.0, 10.0, count)
        student = student_interval(float(values.mean()), float(values.std(ddof=1)), count)
        for at, found in enumerate((student, mean_interval(values))):
            assert found.low is not None
            assert found.high is not None
            held[at] += found.low <= 100.0 <= found.high
    assert held[0] >= 0.93 * 400
    assert held[1] < held[0]
