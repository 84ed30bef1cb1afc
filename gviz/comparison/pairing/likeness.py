"""Likeness of the nodes of two graphs: kind, kernel name, launch shape, size, neighbours."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from gviz.comparison.pairing.alignment import Floats
from gviz.comparison.pairing.compared_graph import ComparedGraph
from gviz.matching import Work
from gviz.stats import IntArray

Pair = tuple[IntArray, IntArray]

#: Scores: of a name that is the same to the letter, and of what else two nodes share.
NAME, SHAPE, NEIGHBOURS, CONTEXT = 6.0, 1.0, 1.0, 0.25
#: What a pair has to make up for: of nodes that share nothing, one alone between pairs is
#: cheaper than two gaps, and many in a row are dearer.
FOREIGN = -2.5
#: The score of equal work, what is around it aside.
EQUAL = FOREIGN + NAME + 2 * SHAPE
#: Parts of a name's score: shown alike, but other template arguments; all words shared.
_SHOWN_ALIKE, _SAME_WORDS = 0.9, 0.8
#: Nodes of different kinds do not stand for each other in an alignment.
OTHER_KIND = -1e6
#: Columns that words of names are counted in.
_WORD_COLUMNS = 512
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
#: Scores kept at once, for works that come again.
_KEPT_SCORES = 16_000_000


class Likeness:
    """Scores of pairs of nodes of two graphs: the more alike, the higher.

    Attributes
    ----------
    work
        int64, a graph each, one a node: equal where kind, name, launch shape and size are.
    around
        Likewise, equal where the works right before a node are; and those right after it.
    context
        Likewise, equal where NVTX ranges are; of nodes without any, equal to none of the other
        graph.
    """

    def __init__(self, first: ComparedGraph, second: ComparedGraph) -> None:
        graphs = (first, second)
        self._type = first.type, second.type
        self._names = _Names(graphs)
        self._grid = _dense(first.grid, second.grid)
        self._block = _dense(first.block, second.block)
        self._bytes = first.bytes, second.bytes
        self.work = _dense(
            *(
                np.column_stack([Work(g.type, n, g.grid, g.block, g.bytes).tokens(), n])
                for g, n in zip(graphs, self._names.code, strict=True)
            )
        )
        # What is worth as much as equal work of the node itself: equal work around it.
        self.around = [
            _dense(*(_sum_over(g, w, way) for g, w in zip(graphs, self.work, strict=True)))
            for way in ("before", "after")
        ]
        self.context = _contexts(first.context, second.context)
        self._rows: dict[int, Floats] = {}

    def along(self, first: IntArray, second: IntArray) -> LineScores:
        """Return the scores of nodes by place in two lines (int64 node indices in order)."""
        return LineScores(self, first, second)

    def of_works(self, node: int, other: int) -> float:
        """Return the score of one pair for what the nodes do alone."""
        return float(self.work_row(node)[other])

    def work_row(self, node: int) -> Floats:
        """Return those scores for what the nodes do alone, float64; not to be written to."""
        work = int(self.work[0][node])
        found = self._rows.get(work)
        if found is None:
            found = FOREIGN + NAME * self._names.row(node)
            found += (self._grid[1] == self._grid[0][node]) * SHAPE
            found += (self._block[1] == self._block[0][node]) * SHAPE
            found[self._type[1] != self._type[0][node]] = OTHER_KIND
            if (len(self._rows) + 1) * len(found) > _KEPT_SCORES:
                self._rows.clear()
            self._rows[work] = found
        return found


class LineScores:
    """Scores of nodes by place in two lines, for an alignment (:class:`alignment.Scores`).

    What is around a node counts, too.
    """

    def __init__(self, like: Likeness, first: IntArray, second: IntArray) -> None:
        self._like = like
        self._second = second
        self._work, self._node = like.work[0][first].tolist(), first.tolist()
        self._rows: dict[int, Floats] = {}
        weighted = [*((codes, NEIGHBOURS) for codes in like.around), (like.context, CONTEXT)]
        self._marks = [(c[0][first].tolist(), c[1][second], weight) for c, weight in weighted]
        self.most: Floats = np.zeros(len(first))
        for work in dict.fromkeys(self._work):
            same = like.work[0][first] == work
            self.most[same] = like.work_row(int(first[np.argmax(same)])).max(initial=OTHER_KIND)
        for codes, weight in weighted:
            self.most += np.isin(codes[0][first], codes[1]) * weight

    def between(self, place: int, start: int, stop: int) -> Floats:
        """Return the scores of a place of the first line with places of the second."""
        work = self._work[place]
        row = self._rows.get(work)
        if row is None:
            if (len(self._rows) + 1) * len(self._second) > _KEPT_SCORES:
                self._rows.clear()
            row = self._rows[work] = self._like.work_row(self._node[place])[self._second]
        found = row[start:stop].copy()
        for mine, others, weight in self._marks:
            found += (others[start:stop] == mine[place]) * weight
        return found


class _Names:
    """Scores of names, 0..1: by the words that they share, rare words counting more.

    Attributes
    ----------
    code
        int64, a graph each, one a node: equal where names are.
    """

    def __init__(self, graphs: tuple[ComparedGraph, ComparedGraph]) -> None:
        codes: dict[str, int] = {}
        titles: dict[int, str] = {}
        for graph in graphs:
            for name, title in zip(graph.name, graph.title, strict=True):
                titles.setdefault(codes.setdefault(name, len(codes)), title)
        self.code = tuple(
            np.array([codes[name] for name in graph.name], np.int64) for graph in graphs
        )
        shown = [titles[i] for i in range(len(titles))]
        alike: dict[str, int] = {}
        self._title = np.array([alike.setdefault(t, len(alike)) for t in shown], np.int64)
        words = np.zeros((len(shown), _WORD_COLUMNS), np.float32)
        for i, title in enumerate(shown):
            for word in _WORD.findall(title):
                words[i, zlib.crc32(word.lower().encode()) % _WORD_COLUMNS] = 1
        self._words = words * np.sqrt(np.log1p(len(shown) / np.maximum(words.sum(0), 1)))
        self._weight = (self._words**2).sum(1)

    def row(self, node: int) -> Floats:
        """Return the scores of a node's name with that of each node of the second graph."""
        mine = int(self.code[0][node])
        shared = self._words @ self._words[mine]
        either = self._weight + self._weight[mine] - shared
        score = _SAME_WORDS * np.divide(shared, either, out=np.zeros_like(shared), where=either > 0)
        score[self._title == self._title[mine]] = _SHOWN_ALIKE
        score[mine] = 1
        found: Floats = score[self.code[1]].astype(np.float64)
        return found


def _dense(first: IntArray, second: IntArray) -> Pair:
    """Return equal numbers, from 0, for equal rows of two arrays."""
    both = np.concatenate([first, second])
    axis = 0 if both.ndim > 1 else None
    codes = np.unique(both, axis=axis, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return codes[: len(first)], codes[len(first) :]


def _sum_over(graph: ComparedGraph, work: IntArray, way: str) -> IntArray:
    """Return numbers equal where the works of the nodes right before, or after, are the same."""
    near, far = (graph.target, graph.source) if way == "before" else (graph.source, graph.target)
    # A sum does not depend on the order; a multiplicative hash makes chance sums unlikely.
    mixed = (work.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    found = np.zeros(len(graph), np.uint64)
    np.add.at(found, near, mixed[far])
    return found.view(np.int64)


def _contexts(first: Sequence[str], second: Sequence[str]) -> Pair:
    """Return numbers equal where contexts are; those of nodes without one equal none."""
    codes: dict[str, int] = {}
    return (
        np.array([codes.setdefault(c, len(codes)) if c else -1 for c in first], np.int64),
        np.array([codes.setdefault(c, len(codes)) if c else -2 for c in second], np.int64),
    )
