"""The launch from which a rank is slow: planted ones found, series without one left alone."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.fleet.answers.shifts import find_onset


def series(onset: int, groups: int = 32, seed: int = 1) -> np.ndarray:
    found: np.ndarray = np.random.default_rng(seed).normal(0.0, 0.005, groups)
    found[onset:] += 0.08
    return found


@pytest.mark.parametrize("onset", [5, 16, 27])
def test_the_planted_group_is_found(onset: int) -> None:
    assert find_onset(series(onset)) == onset


def test_a_rank_that_is_slow_from_the_first_has_none() -> None:
    assert find_onset(series(0)) is None


def test_a_rank_that_becomes_faster_has_none() -> None:
    assert find_onset(-series(16)) is None


def test_chance_hardly_ever_makes_one() -> None:
    found = [find_onset(series(32, seed=seed)) for seed in range(300)]
    assert sum(one is not None for one in found) <= 6


@pytest.mark.parametrize("groups", [0, 1, 5])
def test_few_groups_say_nothing(groups: int) -> None:
    assert find_onset(series(2, groups)) is None
