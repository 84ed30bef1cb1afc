"""Names of folds: after layers and ranges, where these are what the folds are."""

from __future__ import annotations

import numpy as np

from gviz.layout.folds.fold import FoldTree
from gviz.layout.folds.fold_names import NumberedLayers, name_folds
from gviz.layout.folds.ranges import RangePaths
from gviz.layout.folds.repeats import find_repeats

PERIOD = 4


def chain(labels: list[int]) -> FoldTree:
    """Return the folds of a chain of nodes with these labels."""
    at = np.arange(len(labels))
    return find_repeats(at[:-1], at[1:], at, labels, [f"kernel {label}" for label in labels])


def layered(numbers: list[int], *, inferred: bool = False) -> NumberedLayers:
    return NumberedLayers("Layer", np.array(numbers), np.full(len(numbers), inferred))


def names_of(
    tree: FoldTree, layers: NumberedLayers | None, ranges: RangePaths | None = None
) -> list[str]:
    found = name_folds(tree, layers, ranges)
    return [found.get(fold.id, "") for fold in tree.every()]


def test_repeat_of_layers_its_blocks_and_the_rest_have_their_names() -> None:
    tree = chain(list(range(PERIOD)) * 3)
    layers = layered([0] * PERIOD + [1] * PERIOD + [2] * PERIOD)
    assert names_of(tree, layers) == ["Layer 0..2", "Layer 0", "Layer 1", "Layer 2", "Layer 1..2"]


def test_backward_layers_are_named_as_they_run() -> None:
    tree = chain(list(range(PERIOD)) * 3)
    layers = layered([2] * PERIOD + [1] * PERIOD + [0] * PERIOD, inferred=True)
    assert names_of(tree, layers)[0] == "Layer 2..0 (inferred)"


def test_block_is_of_the_layer_that_most_of_its_nodes_are_in() -> None:
    tree = chain(list(range(PERIOD)) * 3)
    # Each block ends with the first node of the next layer.
    layers = layered([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3])
    assert names_of(tree, layers)[0] == "Layer 0..2"


def test_blocks_that_are_no_layers_keep_their_titles() -> None:
    tree = chain(list(range(PERIOD)) * 3)
    assert names_of(tree, layered([7] * len(tree.order))) == [""] * 5
    assert names_of(tree, layered([-1] * len(tree.order))) == [""] * 5
    assert names_of(tree, None) == [""] * 5


def test_repeat_that_fills_a_range_is_called_after_it() -> None:
    tree = chain([0, 1, *[2] * 6])
    paths = RangePaths.from_texts([["fill"], ["fill"], *[["update", "step"]] * 6])
    assert names_of(tree, None, paths) == ["step: 6 × kernel 2"]


def test_repeat_that_is_a_small_part_of_a_range_is_not_called_after_it() -> None:
    tree = chain([0, 1, 2, 3, 4, 5, *[6] * 4, 7])
    around = [["forward"]] * 10
    assert names_of(tree, None, RangePaths.from_texts([*around, ["update"]])) == [""]
    # Neither is one in the range around everything.
    whole = chain([6] * 4)
    assert names_of(whole, None, RangePaths.from_texts([["forward"]] * 4)) == [""]


def test_range_inside_another_says_more_than_layers_that_only_the_order_tells() -> None:
    tree = chain([*list(range(PERIOD)) * 3, 9])
    numbers = [0] * PERIOD + [1] * PERIOD + [2] * PERIOD + [-1]
    count = 3 * PERIOD
    inner = RangePaths.from_texts([*[["update", "step"]] * count, ["update"]])
    outer = RangePaths.from_texts([*[["backward"]] * count, ["update"]])
    by_order, told = layered(numbers, inferred=True), layered(numbers)
    assert names_of(tree, by_order, outer)[0] == "Layer 0..2 (inferred)"
    assert names_of(tree, by_order, inner)[0] == "Layer 0..2 (inferred)"
    inner = RangePaths.from_texts([*[["update", "step"]] * count, []])
    assert names_of(tree, by_order, inner)[0] == f"step: 3 × {PERIOD} nodes"
    assert names_of(tree, told, inner)[0] == "Layer 0..2"
