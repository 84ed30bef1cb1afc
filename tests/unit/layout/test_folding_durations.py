"""Durations of folded nodes: numbers worked out by hand, and what is not timed."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.layout.folds.durations import compare_repeats, durations_across, position_of, sum_items
from gviz.layout.folds.fold import Fold, FoldTree
from gviz.layout.folds.folded_graph import fold_graph
from gviz.layout.folds.repeats import find_repeats

NAN = float("nan")
#: A first node, then four blocks of two.
DURATION_NS = np.array([5.0, 10, 1, 20, NAN, NAN, NAN, 14, 2])


@pytest.fixture
def tree() -> FoldTree:
    at = np.arange(9)
    return find_repeats(at[:-1], at[1:], at, [9, *[1, 2] * 4])


@pytest.fixture
def fold(tree: FoldTree) -> Fold:
    return tree.folds[0]


def test_compare_repeats_is_over_blocks_that_have_a_time(fold: Fold) -> None:
    found = compare_repeats(fold.blocks, DURATION_NS)
    np.testing.assert_array_equal(found.total_ns, [11, 20, NAN, 16])
    assert found.timed_count.tolist() == [2, 1, 0, 2]
    assert (found.least_ns, found.median_ns, found.most_ns) == (11, 16, 20)
    assert found.spread_ns == 4, "the median of 5, 4 and 0"
    assert found.slowest == 1


def test_compare_repeats_nothing_timed_has_no_slowest(fold: Fold) -> None:
    found = compare_repeats(fold.blocks, np.full(9, NAN))
    assert found.slowest is None
    numbers = [found.least_ns, found.median_ns, found.most_ns, found.spread_ns]
    assert np.isnan([*numbers, *found.total_ns]).all()


def test_durations_across_are_those_of_one_position(fold: Fold) -> None:
    np.testing.assert_array_equal(durations_across(fold, 0, DURATION_NS), [10, 20, NAN, 14])
    np.testing.assert_array_equal(durations_across(fold, 1, DURATION_NS), [1, NAN, NAN, 2])
    for position in (-1, 2):
        with pytest.raises(ValueError, match="no position"):
            durations_across(fold, position, DURATION_NS)


def test_position_of_is_block_and_position(fold: Fold) -> None:
    assert [position_of(fold, n) for n in (0, 1, 2, 8)] == [None, (0, 0), (0, 1), (3, 1)]


def test_durations_of_a_block_are_refused(fold: Fold) -> None:
    with pytest.raises(ValueError, match="is a block; only a repeat has blocks"):
        durations_across(fold.children[0], 0, DURATION_NS)


def test_sum_items_not_timed_is_nan_and_not_zero(tree: FoldTree, fold: Fold) -> None:
    closed = sum_items(fold_graph(tree), DURATION_NS)
    assert closed.total_ns.tolist() == [5, 47]
    assert closed.timed_count.tolist() == [1, 5]
    opened = sum_items(fold_graph(tree, [fold.id]), DURATION_NS)
    np.testing.assert_array_equal(opened.total_ns, [5, 11, 20, NAN, 16])
