"""Nodes in series as one: a DAG without its stretches that no edge enters or leaves.

A node whose only dependent depends on nothing else is in series with it. Whoever is independent of
one node of a series is independent of all of them, so that questions about independence can be
looked up for the series, of which there are far fewer.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats import IntArray


@dataclass(frozen=True, slots=True)
class SeriesGraph:
    """The DAG of series.

    Attributes
    ----------
    of
        int64, one a node: the series it is in, numbered by their first node's row.
    position
        int64, one a node: its place in its series, from 0.
    count
        How many series there are.
    tail, head
        int64, one an edge between series.
    edge
        int64, one an edge between series: which of the DAG's edges it is.
    row
        int64, one a series: every edge leads to a greater one.
    """

    of: IntArray
    position: IntArray
    count: int
    tail: IntArray
    head: IntArray
    edge: IntArray
    row: IntArray

    def members(self) -> list[IntArray]:
        """Return the nodes of each series, in order."""
        order = np.lexsort((self.position, self.of))
        cuts = np.searchsorted(self.of[order], np.arange(self.count + 1)).tolist()
        return [order[a:b] for a, b in pairwise(cuts)]


def series_graph(row: IntArray, tail: IntArray, head: IntArray) -> SeriesGraph:
    """Return the DAG of series of a DAG.

    Parameters
    ----------
    row
        int64, one a node: every edge leads to a greater one (:func:`rank_rows`).
    tail, head
        int64 node indices, one an edge; no edge twice.
    """
    count = len(row)
    leaves, enters = np.bincount(tail, minlength=count), np.bincount(head, minlength=count)
    inner = (leaves[tail] == 1) & (enters[head] == 1)
    before = np.full(count, -1, np.int64)
    before[head[inner]] = tail[inner]
    first, position = _first_and_place(before)
    found = np.argsort(row, kind="stable")
    found = found[before[found] < 0]
    number = np.empty(count, np.int64)
    number[found] = np.arange(len(found))
    series = number[first]
    edge = np.flatnonzero(~inner)
    return SeriesGraph(
        of=series,
        position=position,
        count=len(found),
        tail=series[tail[edge]],
        head=series[head[edge]],
        edge=edge,
        row=row[found],
    )


def _first_and_place(before: IntArray) -> tuple[IntArray, IntArray]:
    """Return the first node of each node's series and its place in it, by doubling steps back.

    ``before`` has the node before each in its series; -1: it is the first.
    """
    first = np.where(before < 0, np.arange(len(before)), before)
    place = (before >= 0).astype(np.int64)
    while (before[first] >= 0).any():
        place += place[first]
        first = first[first]
    return first, place
