"""Chains of work of one kind inside blocks that are too long to be read."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gviz.layout.folds.chains import MOST_READ
from gviz.layout.folds.fold import Fold, FoldTree
from gviz.layout.folds.repeats import find_repeats

#: A block: its kernels with their kinds of work, and how often each comes in a row.
BLOCK = [
    ("GEMM f32 nn", 0, 1), ("GEMM f32 nt", 0, 1), ("add f32", 1, 1), ("reduce f32", 1, 1),
    ("FMHA", -1, 1), ("copy", 1, 1), ("fill", 1, 4), ("sort", -1, 1),
]  # fmt: skip
NAMES = [name for name, _, count in BLOCK for _ in range(count)]
KINDS = [kind for _, kind, count in BLOCK for _ in range(count)]


def chained(times: int, blocks: int, without: tuple[int, ...] = ()) -> FoldTree:
    """Return the folds of a chain of blocks, each ``times`` BLOCK and a node of its own kind.

    ``without``: places after which the chain has a second way, beside the next node.
    """
    names = [*NAMES * times, "end"] * blocks
    # A block is no repeat of BLOCK: its nodes differ from time to time.
    period = len(NAMES) * times + 1
    labels = [0 if names[at] == "fill" else 1 + at % period for at in range(len(names))]
    edges = [*pairwise(range(len(names))), *((at, at + 2) for at in without)]
    source, target = np.array(edges, np.int64).T
    kinds = [*KINDS * times, -1] * blocks
    return find_repeats(source, target, np.arange(len(names)), labels, names, kinds)


def inside(fold: Fold) -> list[tuple[str, str]]:
    return [(one.kind, one.title) for one in fold.children]


def test_work_of_one_kind_in_a_row_is_one_item_of_a_long_block() -> None:
    (fold,) = chained(6, 3).folds
    once = [
        ("chain", "2 × GEMM f32"), ("chain", "add f32, reduce f32"), ("chain", "copy, fill"),
    ]  # fmt: skip
    assert inside(fold.children[0]) == once * 6
    (fills,) = fold.children[0].children[2].children
    assert (fills.kind, fills.title) == ("repeat", "4 × fill")


def test_blocks_that_can_be_read_have_no_chains() -> None:
    assert len(NAMES) * 5 + 1 <= MOST_READ
    (fold,) = chained(5, 3).folds
    assert inside(fold.children[0]) == [("repeat", "4 × fill")] * 5


def test_a_chain_ends_where_another_way_leaves_it() -> None:
    # Of each block alike, or they would be no repeat.
    period = len(NAMES) * 6 + 1
    (fold,) = chained(6, 3, tuple(period * k for k in range(3))).folds
    assert inside(fold.children[0])[0] == ("chain", "add f32, reduce f32")


def test_long_stretches_without_repeats_of_blocks_have_chains_too() -> None:
    tree = chained(8, 1)
    assert [fold.title for fold in tree.folds[:3]] == [
        "2 × GEMM f32", "add f32, reduce f32", "copy, fill"
    ]  # fmt: skip
    assert len(tree.folds) == 8 * 3
