"""Folds of equal blocks that follow each other, found by themselves: the layers of a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.layout.folds.chains import MOST_READ, Chains
from gviz.layout.folds.cover import Stretch, cover_line
from gviz.layout.folds.fold import Fold, FoldTree, build_fold
from gviz.layout.folds.line import Line, follow_chains
from gviz.stats import IntArray


def find_repeats(
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    order: npt.ArrayLike,
    labels: npt.ArrayLike,
    names: Sequence[str] | None = None,
    kinds: npt.ArrayLike | None = None,
) -> FoldTree:
    """Return the folds of equal blocks of nodes that follow each other.

    Blocks are equal where labels and the edges inside are; edges between blocks may differ.
    A fold is at least two blocks, or three single nodes. What repeats inside a block is folded
    inside each. A block that differs ends one fold, and another may begin behind it.

    The order given counts unless fewer items are visible when chains are followed instead:
    two chains that run beside each other are then folded one by one. One order serves the
    whole graph, so repetitions of which some need the one order and some the other are not all
    found; nor are blocks that overlap in both, such as the stages of a pipeline.

    Parameters
    ----------
    source, target
        Node indices of the dependency and the dependent of each edge.
    order
        Every node index once, dependencies first: by row and id, or as created.
    labels
        One integer a node; equal where nodes do equal work.
    names
        One a node, for titles of folds of single nodes, and of chains.
    kinds
        One integer a node, its kind of work, or -1. Where blocks are too long to be read, nodes of
        one kind that follow each other are one item (:class:`gviz.layout.folds.chains.Chains`).

    Raises
    ------
    ValueError
        If the order is no topological order of the nodes, or labels or names are not one a node.
    """
    found = _find(source, target, order, labels, names)
    # Of each repeat one block is read.
    read = len(found.order) - sum(s.period * (s.repeats - 1) for s in found.stretches)
    kind = np.full(len(found.order), -1, np.int64)
    if kinds is not None and read > MOST_READ:
        kind = np.asarray(kinds, np.int64)
    chains = Chains(found.tail, found.head, found.order, kind, names)
    builder = _Builder(found.order, names, chains)
    folds = tuple(builder.build(stretch, 0) for stretch in found.stretches)
    return FoldTree(found.tail, found.head, found.order, chains.around(folds))


def find_repeated_blocks(
    source: npt.ArrayLike, target: npt.ArrayLike, order: npt.ArrayLike, labels: npt.ArrayLike
) -> tuple[IntArray, ...]:
    """Return the blocks of the outermost folds of :func:`find_repeats`, without building folds.

    Returns
    -------
    tuple
        Of each fold an int64 array, shape (repeats, period): one row a block, equal nodes in one
        column.
    """
    found = _find(source, target, order, labels, None)
    return tuple(_blocks_of(stretch, 0, found.order) for stretch in found.stretches)


@dataclass(frozen=True, slots=True)
class _Found:
    """Stretches that repeat, in the order in which they do, and the edges (int64)."""

    tail: IntArray
    head: IntArray
    order: IntArray
    stretches: tuple[Stretch, ...]


def _find(
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    order: npt.ArrayLike,
    labels: npt.ArrayLike,
    names: Sequence[str] | None,
) -> _Found:
    tail = np.asarray(source, np.int64).reshape(-1)
    head = np.asarray(target, np.int64).reshape(-1)
    given = np.asarray(order, np.int64).reshape(-1)
    known = np.asarray(labels, np.int64).reshape(-1)
    for what, values in (("labels", known), ("names", known if names is None else names)):
        if len(values) != len(given):
            raise ValueError(f"{len(values)} {what} for {len(given)} nodes; give one a node")
    # Dense numbers, so that their size does not matter.
    dense = np.unique(known, return_inverse=True)[1].reshape(-1).astype(np.int64)
    best = given
    stretches = cover_line(Line(dense, tail, head, given), 0, len(given))
    if _count_visible(stretches, len(given)) > _least_visible(dense):
        chains = follow_chains(len(given), tail, head, given)
        if not np.array_equal(chains, given):
            others = cover_line(Line(dense, tail, head, chains), 0, len(given))
            if _count_visible(others, len(given)) < _count_visible(stretches, len(given)):
                best, stretches = chains, others
    return _Found(tail, head, best, stretches)


def _count_visible(stretches: tuple[Stretch, ...], node_count: int) -> int:
    """Return how many items are visible while all is folded."""
    return node_count - sum(s.period * s.repeats - 1 for s in stretches)


def _least_visible(labels: IntArray) -> int:
    """Return how many items are visible at least: nodes that no other is equal to, and one fold."""
    counts = np.bincount(labels)
    return int((counts == 1).sum()) + int((counts > 1).any())


def _blocks_of(stretch: Stretch, base: int, order: IntArray) -> IntArray:
    """Return the nodes of a stretch counted from place ``base``, one row a block."""
    start = base + stretch.start
    nodes = order[start : start + stretch.period * stretch.repeats]
    return nodes.reshape(stretch.repeats, stretch.period)


class _Builder:
    """Makes folds of stretches.

    Parameters
    ----------
    order
        Of the nodes.
    names
        One a node; None: none.
    chains
        What stands together inside long blocks.
    """

    def __init__(self, order: IntArray, names: Sequence[str] | None, chains: Chains) -> None:
        self._order, self._names, self._chains = order, names, chains

    def build(self, stretch: Stretch, base: int) -> Fold:
        """Return the fold of a stretch counted from place ``base``."""
        start, period, repeats = base + stretch.start, stretch.period, stretch.repeats
        blocks = _blocks_of(stretch, base, self._order)
        nodes = blocks.reshape(-1)
        if period == 1:
            name = "node" if self._names is None else self._names[int(nodes[0])]
            return build_fold("repeat", f"{repeats} × {name}", nodes, (), blocks)
        children = []
        for k, block in enumerate(blocks):
            first = start + k * period
            inner = [self.build(s, first) for s in stretch.inner]
            folds = self._chains.inside(first, first + period, inner)
            children.append(build_fold("block", f"{k + 1} of {repeats}", block, folds))
        return build_fold("repeat", f"{repeats} × {period} nodes", nodes, tuple(children), blocks)
