"""Folds of nodes that were created inside the same NVTX range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gviz.dag import rank_rows
from gviz.dataclass import dataclass
from gviz.layout.folds.arrangement import Arrangement, Group, Piece, arrange
from gviz.layout.folds.fold import BrokenRange, Fold, FoldTree, build_fold
from gviz.stats import IntArray, distinct_values

#: Between the texts of ranges that hold the same nodes and so are one fold.
SEPARATOR = " / "


@dataclass(frozen=True, slots=True)
class RangePaths:
    """The NVTX ranges that nodes are in.

    Attributes
    ----------
    path
        int64, one a node: index of its path in the table; -1 outside all ranges.
    parent
        int64, one a path of the table: the enclosing path, -1 at the outermost range.
    text
        One a path: the text of its innermost range.
    """

    path: IntArray
    parent: IntArray
    text: tuple[str, ...]

    @classmethod
    def from_texts(cls, paths: Iterable[Sequence[str]]) -> RangePaths:
        """Build from one path a node: texts from the outermost range on, empty outside all."""
        known: dict[tuple[int, str], int] = {}
        path = []
        for texts in paths:
            at = -1
            for text in texts:
                at = known.setdefault((at, text), len(known))
            path.append(at)
        return cls(
            np.array(path, np.int64),
            np.array([parent for parent, _ in known], np.int64),
            tuple(text for _, text in known),
        )

    def line_of(self, path: int) -> tuple[int, ...]:
        """Return a path and those around it, from the outermost."""
        found: list[int] = []
        while path >= 0:
            found.append(path)
            path = int(self.parent[path])
        return tuple(reversed(found))

    def texts_of(self, path: int) -> tuple[str, ...]:
        """Return the texts of a path, from the outermost range."""
        return tuple(self.text[p] for p in self.line_of(path))


def find_ranges(
    source: npt.ArrayLike, target: npt.ArrayLike, order: npt.ArrayLike, paths: RangePaths
) -> FoldTree:
    """Return a fold for each occurrence of an NVTX range that holds at least two nodes.

    Nodes of one path are one occurrence while no node of another path, or outside, stands
    between them in the order given; ranges of equal text entered back to back look like one.
    Ranges around the same nodes are one fold with all their texts. An occurrence that would
    make the folded graph cyclic is split there, and reported in ``broken``.

    Parameters
    ----------
    source, target
        Node indices of the dependency and the dependent of each edge.
    order
        Every node index once. Best is the order of creation, in which ranges are contiguous;
        it need not be topological, but only then is anything split.
    paths
        The ranges of each node.

    Raises
    ------
    ValueError
        If paths are not one a node, or the order does not name every node once.
    RecordingError
        If the edges form a cycle.
    """
    tail = np.asarray(source, np.int64).reshape(-1)
    head = np.asarray(target, np.int64).reshape(-1)
    given = np.asarray(order, np.int64).reshape(-1)
    if len(paths.path) != len(given):
        raise ValueError(f"{len(paths.path)} paths for {len(given)} nodes; give one a node")
    rank_rows(len(given), tail, head)  # refuses cycles
    occurrences = _Occurrences(paths, given)
    arranged = arrange(tail, head, given, occurrences.groups)
    builder = _Builder(arranged, [paths.text[p] for p in occurrences.path])
    folds = builder.build(arranged.pieces)
    broken = tuple(
        BrokenRange(paths.texts_of(occurrences.path[number]), tuple(pieces))
        for number, pieces in sorted(builder.nodes_of.items())
        if len(pieces) > 1
    )
    return FoldTree(tail, head, arranged.order, folds, broken)


class _Occurrences:
    """Occurrences of ranges, numbered as they begin in an order.

    Attributes
    ----------
    groups
        The outermost, with those inside.
    path
        Index of the path of each.
    """

    def __init__(self, paths: RangePaths, order: IntArray) -> None:
        self.path: list[int] = []
        self._nodes = order.tolist()
        self._lines = {p: paths.line_of(p) for p in distinct_values(paths.path).tolist()}
        self._of = paths.path[order]
        self.groups = self._build(0, len(order), 0)

    def _build(self, start: int, end: int, depth: int) -> tuple[Group, ...]:
        """Return the occurrences at a depth among contiguous places."""
        at = [self._at(place, depth) for place in range(start, end)]
        bounds = [0, *(i for i in range(1, len(at)) if at[i] != at[i - 1]), len(at)]
        groups: list[Group] = []
        for low, high in pairwise(bounds):
            if low == high or at[low] < 0:
                continue
            number = len(self.path)
            self.path.append(at[low])
            inner = self._build(start + low, start + high, depth + 1)
            groups.append(Group(number, tuple(self._nodes[start + low : start + high]), inner))
        return tuple(groups)

    def _at(self, place: int, depth: int) -> int:
        """Return the path at a depth around a place, -1 where there is none so deep."""
        line = self._lines[int(self._of[place])]
        return line[depth] if depth < len(line) else -1


class _Builder:
    """Folds of the pieces of occurrences.

    Attributes
    ----------
    nodes_of
        The nodes of each piece of an occurrence, by its number.
    """

    def __init__(self, arranged: Arrangement, texts: Sequence[str]) -> None:
        self.nodes_of: dict[int, list[IntArray]] = {}
        self._order = arranged.order
        self._texts = texts

    def build(self, pieces: Sequence[Piece]) -> tuple[Fold, ...]:
        """Return the folds of pieces of at least two nodes."""
        folds: list[Fold] = []
        for piece in pieces:
            nodes = self._order[piece.start : piece.end]
            self.nodes_of.setdefault(piece.number, []).append(nodes)
            children = self.build(piece.inner)
            title = self._texts[piece.number]
            # Unfolding a fold that shows nothing but one other fold would show nothing new.
            if len(children) == 1 and len(children[0].nodes) == len(nodes):
                title += SEPARATOR + children[0].title
                children = children[0].children
            if len(nodes) > 1:
                folds.append(build_fold("range", title, nodes, children))
        return tuple(folds)
