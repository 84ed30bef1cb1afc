"""A cover of a DAG by few chains: each chain's nodes depend on each other, edges may be skipped.

Greedy, linear in nodes and edges but for pointers that are followed. The lanes of layout/lanes.py
are paths, which end at every join; a chain here goes on behind the join, so that a model of a
thousand layers with three branches each is covered by three chains and not by two thousand.
"""

from __future__ import annotations

import numpy as np

from gviz.dag.ranks import neighbours_of
from gviz.dag.series import SeriesGraph, series_graph
from gviz.dataclass import dataclass
from gviz.stats import IntArray


@dataclass(frozen=True, slots=True)
class SeriesCover:
    """The series of a DAG, covered by chains: what width and reachability are computed from.

    Attributes
    ----------
    series
        The DAG of series.
    chain
        int64, one a series: its chain, from 0.
    """

    series: SeriesGraph
    chain: IntArray

    @property
    def chain_count(self) -> int:
        """Return how many chains cover all series."""
        return int(self.chain.max(initial=-1)) + 1


def cover_series(row: IntArray, tail: IntArray, head: IntArray) -> SeriesCover:
    """Return the series of a DAG and the chains that cover them.

    Parameters are those of :func:`gviz.dag.series.series_graph`.
    """
    series = series_graph(row, tail, head)
    return SeriesCover(series, cover_by_chains(series.row, series.tail, series.head))


def cover_by_chains(row: IntArray, tail: IntArray, head: IntArray) -> IntArray:
    """Return the chain of each node (int64, from 0).

    A node continues the longest chain that ends in a dependency; else one that ended in a
    dependency of a node before it; else it starts one.

    Parameters
    ----------
    row
        int64, one a node: every edge leads to a greater one.
    tail, head
        int64 node indices, one an edge.
    """
    cover = _Cover(len(row), head, tail)
    cover.add_all(np.argsort(row, kind="stable").tolist())
    return np.array(cover.chain, np.int64)


class _Cover:
    """Chains so far, and where those that ended at joins can be taken up again."""

    def __init__(self, count: int, node: IntArray, dependency: IntArray) -> None:
        self.chain = [-1] * count
        self._first, self._dependencies = neighbours_of(count, node, dependency)
        self._last: list[int] = []
        self._length: list[int] = []
        #: By node the chains that ended in its dependencies and were not continued.
        self._spare: dict[int, list[tuple[int, int]]] = {}
        #: The nearest node before it that may have spare chains; -1: none.
        self._above = [-1] * count

    def add_all(self, nodes: list[int]) -> None:
        """Give nodes their chains, in an order in which all that one depends on is before it."""
        first, dependencies, chains = self._first, self._dependencies, self.chain
        last, length, above = self._last, self._length, self._above
        for node in nodes:
            at = first[node]
            if first[node + 1] == at + 1:
                only = dependencies[at]
                chain = chains[only]
                if last[chain] == only:
                    # Most nodes: the same as _add, in a quarter of the time.
                    chains[node], last[chain], above[node] = chain, node, only
                    length[chain] += 1
                    continue
            self._add(node, dependencies[at : first[node + 1]])

    def _add(self, node: int, before: list[int]) -> None:
        """Give a node its chain by what it depends on."""
        chains, last = self.chain, self._last
        open_ends = [d for d in before if last[chains[d]] == d]
        if len(open_ends) > 1:
            main = max(open_ends, key=lambda d: self._length[chains[d]])
            self._spare[node] = [(chains[d], d) for d in open_ends if d != main]
        else:
            main = open_ends[0] if open_ends else -1
        if main >= 0:
            chain = chains[main]
            self._above[node] = main
        else:
            chain = next((c for c in map(self._take_spare, before) if c >= 0), -1)
            self._above[node] = before[0] if before else -1
        if chain < 0:
            chain = len(last)
            last.append(node)
            self._length.append(0)
        chains[node] = chain
        last[chain] = node
        self._length[chain] += 1

    def _take_spare(self, node: int) -> int:
        """Return a chain that ended above ``node`` and is still free; -1: there is none."""
        passed: list[int] = []
        found = -1
        while node >= 0 and found < 0:
            spare = self._spare.get(node)
            while spare and found < 0:
                chain, end = spare.pop()
                if self._last[chain] == end:
                    found = chain
            if not spare:
                passed.append(node)
            if found < 0:
                node = self._above[node]
        # Those without spare chains are skipped from now on.
        for seen in passed:
            if seen != node:
                self._above[seen] = node
        return found
