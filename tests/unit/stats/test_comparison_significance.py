"""Significance of changed durations: exact where it can be, and few false discoveries."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from gviz.stats import significance
from gviz.stats.significance import (
    FALSE_DISCOVERIES,
    adjusted,
    change_probability,
    least_change_ns,
    shift_interval,
)

NONE = np.zeros(1)


def column(*values: float) -> np.ndarray:
    return np.array(values, float).reshape(-1, 1)


def launches(
    source: np.random.Generator, count: int, scale: np.ndarray, slow: float = 0.005
) -> np.ndarray:
    """Durations in steps of 32 ns with noise, outliers, and launches that are slow as a whole."""
    common = np.exp(source.normal(0, slow, (count, 1)))
    spread = np.exp(source.normal(0, 0.02, (count, len(scale))))
    outliers = 1 + 0.5 * (source.random((count, len(scale))) < 0.03)
    return np.round(scale * common * spread * outliers / 32) * 32


def by_all_choices(before: np.ndarray, after: np.ndarray) -> float:
    """Return the two-sided p value by trying every split of the values into the two sides."""
    values = np.concatenate([before, after])
    pairs = (values[:, None] > values) + 0.5 * (values[:, None] == values)

    def larger(chosen: tuple[int, ...]) -> float:
        rest = [i for i in range(len(values)) if i not in chosen]
        return float(pairs[np.ix_(chosen, rest)].sum())

    sums = np.array([larger(c) for c in combinations(range(len(values)), len(after))])
    found = larger(tuple(range(len(before), len(values))))
    return min(1.0, 2 * min((sums >= found).mean(), (sums <= found).mean()))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([1, 2, 3, 4], [5, 6, 7, 8]),
        ([1, 2, 3, 4], [1, 2, 3, 4]),
        ([32, 32, 64, 64, 96], [32, 64, 64, 96, 96]),
        ([5, 5, 5], [5, 5, 5, 5]),
        ([10, 20, 30], [1, 2, 3, 4, 5]),
    ],
)
def test_few_launches_are_counted_exactly(before: list[float], after: list[float]) -> None:
    one, two = np.array(before, float), np.array(after, float)
    found = change_probability(column(*before), column(*after), NONE)
    assert found[0] == pytest.approx(by_all_choices(one, two))


def test_normal_distribution_agrees_with_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    source = np.random.default_rng(3)
    before = np.round(source.normal(100, 4, (8, 400)))
    after = np.round(source.normal(103, 4, (8, 400)))
    counted = change_probability(before, after, np.zeros(400))
    monkeypatch.setattr(significance, "_COUNTED_WAYS", 0)
    normal = change_probability(before, after, np.zeros(400))
    # Where it matters it is too large rather than too small.
    tail = counted < 0.01
    assert tail.any()
    assert (normal[tail] > 0.95 * counted[tail]).all()
    assert np.abs(normal - counted).max() < 0.04


def test_missing_durations_do_not_count() -> None:
    before, after = column(1, 2, np.nan, 3, 4), column(5, np.nan, 6, 7, 8)
    expected = change_probability(column(1, 2, 3, 4), column(5, 6, 7, 8), NONE)
    assert change_probability(before, after, NONE) == pytest.approx(expected)


def test_too_few_launches_are_not_tested() -> None:
    found = change_probability(column(1, 2), column(5, 6, 7, 8), NONE)
    assert np.isnan(found).all()


def test_change_must_exceed_the_least_one() -> None:
    before, after = column(*range(100, 120)), column(*range(130, 150))
    assert change_probability(before, after, np.array([20.0]))[0] < 0.05
    assert change_probability(before, after, np.array([40.0]))[0] > 0.5


def test_direction_does_not_matter() -> None:
    source = np.random.default_rng(0)
    before, after = source.normal(10, 1, (12, 5)), source.normal(11, 1, (12, 5))
    one = change_probability(before, after, np.zeros(5))
    assert one == pytest.approx(change_probability(after, before, np.zeros(5)))


def test_least_change_is_a_step_of_the_clock_or_one_percent() -> None:
    assert least_change_ns(np.array([1_000.0, 10_000.0])).tolist() == [32.0, 100.0]


def test_adjustment_is_that_of_benjamini_and_hochberg() -> None:
    # The example of their article, table 1: rejected at 0.05 are the first four.
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
         0.4262, 0.5719, 0.6528, 0.7590, 1.0000]  # fmt: skip
    found = adjusted(np.array([*p, np.nan]))
    assert (found[:15] <= 0.05).tolist() == [True] * 4 + [False] * 11
    assert np.isnan(found[15])
    assert found[3] == pytest.approx(0.0095 * 15 / 4)


@pytest.mark.parametrize("count", [7, 12, 20])
def test_false_discoveries_stay_below_the_stated_rate(count: int) -> None:
    source = np.random.default_rng(count)
    false = []
    for _ in range(20):
        scale = source.choice([1_500.0, 4_000.0, 20_000.0], 1_000)
        slower = source.random(len(scale)) < 0.1
        before = launches(source, count, scale)
        after = launches(source, count, scale) * np.where(slower, 1.1, 1)
        # No least change: the hardest case.
        called = adjusted(change_probability(before, after, np.zeros(1_000))) <= FALSE_DISCOVERIES
        false.append((called & ~slower).sum() / max(1, called.sum()))
        assert (called & slower).sum() > 0.5 * slower.sum()
    assert np.mean(false) <= FALSE_DISCOVERIES


def test_nothing_changed_and_nothing_is_called_changed() -> None:
    source = np.random.default_rng(9)
    any_called = 0
    for _ in range(20):
        scale = source.choice([1_500.0, 4_000.0, 20_000.0], 1_000)
        before, after = launches(source, 20, scale), launches(source, 20, scale)
        least = least_change_ns(np.median(before, axis=0))
        any_called += bool((adjusted(change_probability(before, after, least)) <= 0.05).any())
    assert any_called <= 1


def test_interval_holds_the_shift_about_as_often_as_it_says() -> None:
    source = np.random.default_rng(5)
    held = 0
    for _ in range(300):
        before, after = source.normal(100, 5, 15), source.normal(107, 5, 15)
        low, high = shift_interval(before, after)
        held += low <= 7 <= high
    assert 0.91 <= held / 300 <= 0.99


def test_interval_of_two_durations_is_all_there_is() -> None:
    assert shift_interval(np.array([3.0]), np.array([5.0])) == (2.0, 2.0)
