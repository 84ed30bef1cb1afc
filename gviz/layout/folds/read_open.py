"""Folds that are open at first where a graph is too large to be read node by node."""

from __future__ import annotations

from collections.abc import Sequence

from gviz.layout.folds.chains import LEAST_LONG, MOST_READ
from gviz.layout.folds.fold import FIRST_BLOCKS, Fold, FoldTree

#: Of fewer items the picture would say less than the nodes, nameless as they are.
_LEAST_READ = 3


def open_to_read(tree: FoldTree) -> tuple[str, ...] | None:
    """Return the folds to open for as many items as can be read; None: no choice can be read.

    Of repeats the first blocks are open. Where few items stand, folds are opened that leave at
    most :data:`gviz.layout.folds.chains.MOST_READ`: of those with equally many nodes all or none.
    """
    has_blocks = any(fold.can_split for fold in tree.folds)
    opened = [FIRST_BLOCKS] if has_blocks and _count(tree, [FIRST_BLOCKS]) <= MOST_READ else []
    while _count(tree, opened) < LEAST_LONG:
        more = _next(tree, opened)
        if not more:
            break
        opened += more
    return tuple(opened) if _LEAST_READ <= _count(tree, opened) <= MOST_READ else None


def _next(tree: FoldTree, opened: Sequence[str]) -> list[str]:
    """Return folds to open: the largest of one size that leave what can be read."""
    by_size: dict[int, list[Fold]] = {}
    for fold in tree.closed(opened):
        by_size.setdefault(len(fold.nodes), []).append(fold)
    for size in sorted(by_size, reverse=True):
        more = [fold.id for fold in by_size[size]]
        if _count(tree, [*opened, *more]) <= MOST_READ:
            return more
    return []


def _count(tree: FoldTree, opened: Sequence[str]) -> int:
    """Return how many items stand while some folds are open: the other folds, and free nodes."""
    return tree.node_count - sum(len(fold.nodes) - 1 for fold in tree.closed(opened))
