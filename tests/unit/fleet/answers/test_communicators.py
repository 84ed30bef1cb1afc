"""Communicators found from ends: planted ones, whatever clocks say, and none where there is one."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.fleet.answers.communicators import split_ranks


def ends(
    groups: list[int], seed: int = 1, launches: int = 24, apart_ns: float = 20_000
) -> np.ndarray:
    """Return ends of ranks, each in one of some groups, with clocks of their own."""
    random = np.random.default_rng(seed)
    launch = 1e9 * np.arange(launches)[:, None]
    group = random.normal(0, apart_ns, (launches, max(groups) + 1))[:, groups]
    clock = random.normal(0, 1e6, len(groups)) + launch * random.normal(0, 2e-5, len(groups))
    found: np.ndarray = launch + group + clock + random.normal(0, 150, group.shape)
    return found


@pytest.mark.parametrize(
    "groups", [[0] * 4 + [1] * 4, [0, 1] * 8, [0, 0, 1, 1, 2, 2, 3, 3], [0] * 30 + [1] * 2]
)
def test_planted_communicators_are_found(groups: list[int]) -> None:
    assert split_ranks(ends(groups), 6_000, []).tolist() == groups


def test_one_communicator_is_one() -> None:
    assert set(split_ranks(ends([0] * 64), 6_000, []).tolist()) == {0}


def test_ranks_that_leave_at_any_time_are_not_split() -> None:
    assert set(split_ranks(ends(list(range(8))), 6_000, []).tolist()) == {0}


def test_a_known_way_is_taken_only_where_it_is_right() -> None:
    known: list[np.ndarray] = []
    pairs, halves = [0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    for seed, groups in enumerate([pairs, pairs, halves, [0] * 8, pairs]):
        assert split_ranks(ends(groups, seed), 6_000, known).tolist() == groups
    assert len(known) == 3


def test_a_rank_that_missed_launches_is_split_like_the_others() -> None:
    groups = [0] * 4 + [1] * 4
    found = ends(groups)
    found[::2, 5] = np.nan
    assert split_ranks(found, 6_000, []).tolist() == groups
