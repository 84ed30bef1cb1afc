"""Folds of NVTX ranges: occurrences, ranges around the same nodes, and cycles."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.errors import RecordingError
from gviz.layout.folds.fold import FoldTree
from gviz.layout.folds.folded_graph import fold_graph
from gviz.layout.folds.ranges import RangePaths, find_ranges


def find(paths: list[str], edges: list[tuple[int, int]] | None = None) -> FoldTree:
    """Return the ranges of a graph whose paths are written as a/b/c."""
    source, target = np.array(edges or [], np.int64).reshape(-1, 2).T
    texts = [path.split("/") if path else [] for path in paths]
    return find_ranges(source, target, np.arange(len(paths)), RangePaths.from_texts(texts))


def titles(tree: FoldTree) -> list[tuple[str, list[int]]]:
    return [(fold.title, fold.nodes.tolist()) for fold in tree.walk()]


def test_find_ranges_equal_texts_apart_are_occurrences_of_their_own() -> None:
    tree = find(["layer", "layer", "", "layer", "layer", "norm", "layer", "layer"])
    assert titles(tree) == [("layer", [0, 1]), ("layer", [3, 4]), ("layer", [6, 7])]
    assert len({fold.id for fold in tree.folds}) == 3


def test_find_ranges_inside_ranges_are_children() -> None:
    tree = find(["m/a", "m/a", "m/b", "m", "m/b", "m/b"])
    assert titles(tree) == [("m", [0, 1, 2, 3, 4, 5]), ("a", [0, 1]), ("b", [4, 5])]
    assert len(tree.folds) == 1


def test_find_ranges_around_the_same_nodes_are_one_fold() -> None:
    tree = find(["step/model/a", "step/model/a", "step/model/b"])
    assert titles(tree) == [("step / model", [0, 1, 2]), ("a", [0, 1])]


def test_find_ranges_equal_text_in_another_range_is_another_range() -> None:
    assert titles(find(["x/a", "y/a", "y/a"])) == [("y / a", [1, 2])]


def test_find_ranges_that_need_each_other_one_is_split_and_reported() -> None:
    # a0 -> b0 and b1 -> a1, created in the order a0 a1 b0 b1: each is convex, both are not.
    tree = find(["a", "a", "b", "b"], [(0, 2), (3, 1)])
    assert titles(tree) == [("b", [2, 3])]
    (broken,) = tree.broken
    assert broken.path == ("a",)
    assert [piece.tolist() for piece in broken.pieces] == [[0], [1]]
    assert tree.order.tolist() == [0, 2, 3, 1]
    assert len(fold_graph(tree)) == 3


def test_find_ranges_left_and_entered_again_by_a_path_are_split_there() -> None:
    # The path a0 a1 c a2 a3 leaves the range; c was created last.
    tree = find(["a", "a", "a", "a", ""], [(0, 1), (1, 4), (4, 2), (2, 3)])
    assert titles(tree) == [("a", [0, 1]), ("a", [2, 3])]
    assert tree.broken[0].path == ("a",)


def test_find_ranges_table_is_as_from_texts() -> None:
    paths = RangePaths.from_texts([["a", "b"], [], ["a"], ["b"], ["a", "b"]])
    assert paths.path.tolist() == [1, -1, 0, 2, 1]
    assert paths.parent.tolist() == [-1, 0, -1]
    assert paths.text == ("a", "b", "b")
    assert paths.texts_of(1) == ("a", "b")


def test_find_ranges_without_ranges_has_no_folds() -> None:
    tree = find(["", "", ""], [(0, 1)])
    assert tree.folds == ()
    assert len(fold_graph(tree)) == 3


def test_find_ranges_wrong_input_is_refused() -> None:
    paths = RangePaths.from_texts([["a"]])
    with pytest.raises(ValueError, match="1 paths for 2 nodes"):
        find_ranges([], [], [0, 1], paths)
    with pytest.raises(RecordingError, match="in a cycle"):
        find(["a", "a"], [(0, 1), (1, 0)])
