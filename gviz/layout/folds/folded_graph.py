"""The graph that is visible while some folds are closed and some are open."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from gviz.dataclass import dataclass
from gviz.layout.folds.fold import Fold, FoldTree
from gviz.stats import IntArray


@dataclass(frozen=True, slots=True)
class FoldedDag:
    """Visible items and the edges between them. Acyclic: every edge leads to a later item.

    Attributes
    ----------
    folds
        One an item, in the tree's order: the closed fold that the item is; None for a node.
    node
        int64, one an item: the node that it is; -1 for a fold.
    item_of
        int64, one a node of the graph: the item that it is or that holds it.
    source, target
        int64 item indices, one for all edges between the same two items, by (source, target).
    edge_count
        int64: how many edges of the graph each of them stands for.
    """

    folds: tuple[Fold | None, ...]
    node: IntArray
    item_of: IntArray
    source: IntArray
    target: IntArray
    edge_count: IntArray

    def __len__(self) -> int:
        return len(self.node)

    def groups_of(self, source: IntArray, target: IntArray) -> IntArray:
        """Return which joined edge each edge between these nodes belongs to; -1: inside an item."""
        start, end = self.item_of[source], self.item_of[target]
        width = len(self) + 1
        at = np.searchsorted(self.source * width + self.target, start * width + end)
        return np.where(start != end, at, -1)

    def nodes_of(self, item: int) -> IntArray:
        """Return the node indices that an item stands for."""
        fold = self.folds[item]
        return self.node[item : item + 1] if fold is None else fold.nodes


def fold_graph(tree: FoldTree, unfolded: Collection[str] = ()) -> FoldedDag:
    """Return what is visible while the given folds are open and all others closed.

    Parameters
    ----------
    tree
        The folds of the graph.
    unfolded
        Ids of open folds, and :data:`gviz.layout.folds.fold.FIRST_BLOCKS`. One inside a closed
        fold counts as soon as that is opened; ids that the tree does not have are ignored, so the
        order in which folds were opened is nothing.
    """
    count = tree.node_count
    owner = np.full(count, -1, np.int64)
    closed = tree.closed(frozenset(unfolded))
    for number, fold in enumerate(closed):
        owner[fold.nodes] = number
    in_order = owner[tree.order]
    is_first = np.ones(count, bool)
    is_first[1:] = (in_order[1:] != in_order[:-1]) | (in_order[1:] < 0)
    item_of = np.zeros(count, np.int64)
    item_of[tree.order] = np.cumsum(is_first) - 1
    first = in_order[is_first]
    node = np.where(first < 0, tree.order[is_first], -1)
    source, target, edge_count = _join_edges(item_of[tree.source], item_of[tree.target])
    return FoldedDag(
        folds=tuple(closed[k] if k >= 0 else None for k in first.tolist()),
        node=node,
        item_of=item_of,
        source=source,
        target=target,
        edge_count=edge_count,
    )


def unfold_to(tree: FoldTree, node: int, unfolded: Collection[str] = ()) -> frozenset[str]:
    """Return the ids of open folds with those added that must be open to see a node."""
    return frozenset(unfolded) | {fold.id for fold in tree.around(node)}


def _join_edges(source: IntArray, target: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return edges between different items without doubles, and how many each stands for."""
    is_between = source != target
    width = int(target.max(initial=0)) + 1
    pairs = source[is_between] * width + target[is_between]
    joined, counts = np.unique(pairs, return_counts=True)
    return joined // width, joined % width, counts.astype(np.int64)
