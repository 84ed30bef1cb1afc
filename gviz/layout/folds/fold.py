"""A fold, which stands for several nodes, and the tree of all folds of a graph.

Every fold is a contiguous stretch of one topological order, the tree's. So no path leaves a
fold and comes back, and whichever folds are closed at a time, the graph of what is visible
has no cycle: its edges lead onward in that order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import field
from typing import Literal

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats import IntArray

FoldKind = Literal["repeat", "block", "range", "chain"]

#: Hexadecimal digits of a fold's id: a chance collision among a million folds is below 1e-7.
ID_DIGITS = 16


#: Beside ids of open folds: of each outermost repeat the first block is open, the others are one
#: fold.
FIRST_BLOCKS = "first"


@dataclass(frozen=True, slots=True)
class Fold:
    """Nodes that can stand as one item.

    Attributes
    ----------
    id
        Derived from the kind and the nodes' indices alone: the same for the same graph.
    kind
        repeat: equal blocks one after the other; block: one of them; range: one occurrence
        of an NVTX range; chain: work of one kind one after the other in a
        long block.
    title
        What to call it.
    nodes
        int64 node indices, in the tree's order.
    blocks
        int64 node indices, shape (repeats, period): one row a block, equal nodes in one
        column. Shape (0, 0) where the kind is not repeat.
    children
        Folds inside, in the tree's order: the blocks of a repeat of more than one node,
        the repeats and chains inside a block, the ranges inside a range.
    """

    id: str
    kind: FoldKind
    title: str
    nodes: IntArray = field(compare=False, repr=False)
    blocks: IntArray = field(compare=False, repr=False)
    children: tuple[Fold, ...] = field(default=(), repr=False)

    @property
    def repeats(self) -> int:
        """Return the number of equal blocks of a repeat; 0 for other kinds."""
        return len(self.blocks)

    @property
    def period(self) -> int:
        """Return the number of nodes of a block of a repeat; 0 for other kinds."""
        return int(self.blocks.shape[1])

    def split(self) -> tuple[Fold, Fold]:
        """Return the first block of a repeat of blocks, and a repeat of the others."""
        first, *others = self.children
        title = f"{self.repeats - 1} × {self.period} nodes"
        rest, nodes = self.blocks[1:], self.nodes[self.period :]
        return first, build_fold(self.kind, title, nodes, tuple(others), rest)

    @property
    def inside(self) -> tuple[Fold, ...]:
        """Return the folds that opening it shows: one block alone is no step of its own."""
        if len(self.children) == 1 and len(self.children[0].nodes) == len(self.nodes):
            return self.children[0].children
        return self.children

    @property
    def can_split(self) -> bool:
        """Return whether it is a repeat of blocks of several nodes."""
        return self.kind == "repeat" and len(self.children) > 1

    def walk(self) -> Iterator[Fold]:
        """Yield this fold and all inside, a fold before its children."""
        waiting = [self]
        while waiting:
            fold = waiting.pop()
            yield fold
            waiting.extend(reversed(fold.children))


@dataclass(frozen=True, slots=True)
class OpenFold:
    """A fold that is open.

    Attributes
    ----------
    closed_by
        The id that closes it.
    fold
        What is open.
    whole
        The repeat of which it is the first block, the only one that is open; None: it is no such.
    """

    closed_by: str
    fold: Fold
    whole: Fold | None = None


@dataclass(frozen=True, slots=True)
class BrokenRange:
    """An occurrence of an NVTX range that could not be one fold: the graph would be cyclic.

    Attributes
    ----------
    path
        Its texts, from the outermost range.
    pieces
        Node indices of its pieces, in order; those of one node are no folds.
    """

    path: tuple[str, ...]
    pieces: tuple[IntArray, ...] = field(compare=False)


@dataclass(frozen=True, slots=True)
class FoldTree:
    """The folds of one graph level.

    Attributes
    ----------
    source, target
        int64 node indices of each edge.
    order
        Every node index once; topological, and every fold is contiguous in it.
    folds
        The outermost folds, in this order. Together they need not hold every node.
    broken
        Ranges that are several folds, or none.
    """

    source: IntArray = field(compare=False, repr=False)
    target: IntArray = field(compare=False, repr=False)
    order: IntArray = field(compare=False, repr=False)
    folds: tuple[Fold, ...]
    broken: tuple[BrokenRange, ...] = ()

    @property
    def node_count(self) -> int:
        """Number of nodes of the graph."""
        return len(self.order)

    def walk(self) -> Iterator[Fold]:
        """Yield every fold, a fold before its children."""
        for fold in self.folds:
            yield from fold.walk()

    def opened(self, unfolded: Collection[str]) -> Iterator[OpenFold]:
        """Yield what is open; outer before inner."""
        for one in self._visible(unfolded):
            if isinstance(one, OpenFold):
                yield one

    def closed(self, unfolded: Collection[str]) -> list[Fold]:
        """Return the outermost folds that are not open, in the tree's order."""
        return [one for one in self._visible(unfolded) if isinstance(one, Fold)]

    def _visible(self, unfolded: Collection[str]) -> Iterator[OpenFold | Fold]:
        """Yield what is open, and the outermost folds that are not."""
        # One box alone would show nothing.
        is_alone = len(self.folds) == 1 and len(self.folds[0].nodes) == self.node_count
        first_blocks = is_alone or FIRST_BLOCKS in unfolded
        waiting = [(fold, True) for fold in reversed(self.folds)]
        while waiting:
            fold, is_outermost = waiting.pop()
            if fold.id in unfolded:
                yield OpenFold(fold.id, fold)
                inner = fold.inside
            elif is_outermost and first_blocks and fold.can_split:
                first, rest = fold.split()
                yield OpenFold(FIRST_BLOCKS, first, fold)
                inner = (*first.children, rest)
            else:
                yield fold
                continue
            waiting.extend((one, False) for one in reversed(inner))

    def every(self) -> Iterator[Fold]:
        """Yield every fold that can stand as an item, repeats without their first block too."""
        yield from self.walk()
        for fold in self.folds:
            if fold.can_split:
                yield fold.split()[1]

    def find(self, fold_id: str) -> Fold | None:
        """Return the fold of an id; None where the graph has none."""
        return next((fold for fold in self.walk() if fold.id == fold_id), None)

    def around(self, node: int) -> tuple[Fold, ...]:
        """Return the folds that hold a node, outermost first: unfold them to see it."""
        place = invert(self.order)
        at = place[node]
        found: list[Fold] = []
        level = self.folds
        while inner := next((f for f in level if 0 <= at - place[f.nodes[0]] < len(f.nodes)), None):
            found.append(inner)
            level = inner.children
        return tuple(found)


def build_fold(
    kind: FoldKind,
    title: str,
    nodes: IntArray,
    children: tuple[Fold, ...] = (),
    blocks: IntArray | None = None,
) -> Fold:
    """Return a fold with its id."""
    digest = hashlib.sha256(kind.encode())
    digest.update(np.sort(nodes).astype("<i8").tobytes())
    if blocks is None:
        blocks = np.zeros((0, 0), np.int64)
    return Fold(digest.hexdigest()[:ID_DIGITS], kind, title, nodes, blocks, children)


def invert(order: IntArray) -> IntArray:
    """Return the place of each node in an order (int64).

    Raises
    ------
    ValueError
        If the order does not name every node once.
    """
    place = np.full(len(order), -1, np.int64)
    if len(order) and not (order.min() >= 0 and order.max() < len(order)):
        raise ValueError(f"the order names nodes outside 0..{len(order) - 1}")
    place[order] = np.arange(len(order))
    if (place < 0).any():
        raise ValueError(f"the order leaves out node {int(np.argmin(place))}; name each once")
    return place
