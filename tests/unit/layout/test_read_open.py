"""Folds that are open at first in a graph that is too large to be read node by node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from gviz.layout.folds.chains import MOST_READ
from gviz.layout.folds.fold import FoldTree
from gviz.layout.folds.ranges import RangePaths, find_ranges
from gviz.layout.folds.read_open import open_to_read
from gviz.layout.folds.repeats import find_repeats

Path = tuple[str, ...]


def chain_tree(paths: Sequence[Path]) -> FoldTree:
    """Return the folds of the ranges of a chain."""
    nodes = np.arange(len(paths))
    return find_ranges(nodes[:-1], nodes[1:], nodes, RangePaths.from_texts(paths))


def shown(tree: FoldTree) -> tuple[list[str], int]:
    """Return the titles of the folds that stand at first, and how many nodes stand alone."""
    opened = open_to_read(tree)
    assert opened is not None
    closed = tree.closed(opened)
    return [f.title for f in closed], tree.node_count - sum(len(f.nodes) for f in closed)


def test_ranges_of_few_items_are_opened_where_what_is_inside_can_be_read() -> None:
    paths: list[Path] = [("forward",)] * 100
    paths += [("update", "step")] * 80 + [("update", "zero")] * 80
    assert shown(chain_tree(paths)) == (["forward", "step", "zero"], 0)


def test_enough_items_stay_closed() -> None:
    paths = [(f"layer {n}", part) for n in range(16) for part in ("attention", "mlp") * 5]
    assert shown(chain_tree(paths)) == ([f"layer {n}" for n in range(16)], 0)


def test_folds_of_one_size_are_opened_all_or_none() -> None:
    paths: list[Path] = [(f"part {n}",) for n in range(4) for _ in range(MOST_READ // 3)]
    assert shown(chain_tree(paths)) == ([f"part {n}" for n in range(4)], 0)


@pytest.mark.parametrize("paths", [[("all",)] * 200, [()] * 200], ids=["one range", "no range"])
def test_what_cannot_be_read_in_any_choice_stays_unfolded(paths: list[Path]) -> None:
    assert open_to_read(chain_tree(paths)) is None


def test_work_of_one_kind_stands_together_where_nothing_repeats() -> None:
    count = 3 * MOST_READ
    nodes = np.arange(count)
    kinds = nodes // 6
    tree = find_repeats(nodes[:-1], nodes[1:], nodes, nodes, [f"k{n}" for n in nodes], kinds)
    titles, alone = shown(tree)
    assert (len(titles), alone) == (count // 6, 0)
    assert titles[0] == "k0, k1, k2, k3, k4, k5"
