"""Ranks that are slow beyond what ranks vary by: planted ones found, others left alone."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.fleet.answers.stragglers import find_slow


def fleet(ranks: int, seed: int) -> np.ndarray:
    found: np.ndarray = np.random.default_rng(seed).normal(1e6, 3e3, ranks)
    return found


@pytest.mark.parametrize("ranks", [8, 64, 4096])
def test_a_slow_rank_is_found_and_no_other(ranks: int) -> None:
    own = fleet(ranks, 1)
    own[5] += 40_000
    assert np.flatnonzero(find_slow(own, own - np.median(own))).tolist() == [5]


@pytest.mark.parametrize("ranks", [8, 64, 1024])
def test_in_fleets_without_one_hardly_any_is_called_slow(ranks: int) -> None:
    alarms = 0
    for seed in range(100):
        own = fleet(ranks, seed)
        alarms += bool(find_slow(own, own - np.median(own)).any())
    assert alarms <= 3


def test_what_is_of_no_use_is_not_reported() -> None:
    own = np.full(64, 1e6)
    own[3] += 9_000  # many deviations, and 0.9%
    assert not find_slow(own, own - 1e6).any()
    own[3] += 2_000
    assert np.flatnonzero(find_slow(own, own - 1e6)).tolist() == [3]


def test_of_two_ranks_one_that_takes_clearly_longer_is_slow() -> None:
    own = np.array([1e6, 1.029e6])
    assert not find_slow(own, own - own.min()).any()
    own[1] = 1.031e6
    assert find_slow(own, own - own.min()).tolist() == [False, True]


def test_one_rank_is_compared_with_nobody() -> None:
    assert not find_slow(np.array([1e6]), np.array([0.0])).any()
