"""A graph's nodes laid out in a topological order, and its edges by place in that order."""

from __future__ import annotations

import heapq

import numpy as np

from gviz.dag import dependents_of
from gviz.layout.folds.fold import invert
from gviz.stats import IntArray


class Line:
    """Labels and edges by place in a topological order.

    Parameters
    ----------
    labels
        int64, one a node; equal where nodes do equal work.
    source, target
        int64 node indices of each edge.
    order
        Every node index once, dependencies first.

    Attributes
    ----------
    labels
        int64, one a place.
    live
        int64, one a cut (cut x is before place x, so one more than places): how many nodes
        before the cut have dependents behind it.

    Raises
    ------
    ValueError
        If the order is no topological order of the nodes.
    """

    def __init__(
        self, labels: IntArray, source: IntArray, target: IntArray, order: IntArray
    ) -> None:
        place = invert(order)
        tail, head = place[source], place[target]
        check_onward(tail, head, source, target)
        by_head = np.lexsort((tail, head))
        self.labels: IntArray = labels[order]
        self._tail, self._head = tail[by_head], head[by_head]
        self._first = np.searchsorted(self._head, np.arange(len(order) + 1))
        last_use = np.arange(len(order))
        np.maximum.at(last_use, tail, head)
        steps = np.zeros(len(order) + 2, np.int64)
        np.add.at(steps, np.arange(len(order)) + 1, 1)
        np.add.at(steps, last_use + 1, -1)
        self.live: IntArray = np.cumsum(steps)[:-1]

    def edge_classes(self, start: int, period: int, repeats: int) -> IntArray:
        """Return a number for each of neighbouring blocks: equal where edges inside are equal.

        Parameters
        ----------
        start, period, repeats
            Block k is the places from ``start + k * period`` on, ``period`` of them.
        """
        edges = slice(self._first[start], self._first[start + period * repeats])
        tail, head = self._tail[edges] - start, self._head[edges] - start
        block = head // period
        inside = tail >= block * period
        block = block[inside]
        key = (tail[inside] - block * period) * period + head[inside] - block * period
        # Edges are sorted by dependent, so those of a block are in one order in every block.
        bounds = np.searchsorted(block, np.arange(repeats + 1)).tolist()
        raw, size = key.tobytes(), key.itemsize
        known: dict[bytes, int] = {}
        found = [
            known.setdefault(raw[bounds[k] * size : bounds[k + 1] * size], len(known))
            for k in range(repeats)
        ]
        return np.array(found, np.int64)


def check_onward(tail: IntArray, head: IntArray, source: IntArray, target: IntArray) -> None:
    """Raise ValueError where an edge leads back; ``tail`` and ``head`` are places."""
    back = np.flatnonzero(tail >= head)
    if len(back):
        edge = back[0]
        raise ValueError(
            f"the order has node {target[edge]} before node {source[edge]}, on which it "
            "depends; give a topological order"
        )


def follow_chains(node_count: int, source: IntArray, target: IntArray, order: IntArray) -> IntArray:
    """Return a topological order that leaves a chain only where it has to (int64).

    After a node come the dependents that are ready by then, and a root only when nothing
    else is left: chains that run beside each other stand one after the other, and a branch
    inside a layer stays inside it.

    Parameters
    ----------
    node_count
        Number of nodes.
    source, target
        Node indices of each edge.
    order
        A topological order; of several nodes that could come next, the first in it does.
    """
    place = invert(order).tolist()
    waiting = np.bincount(target, minlength=node_count).tolist()
    dependents = dependents_of(node_count, source, target)
    roots = [(place[n], n) for n in range(node_count) if not waiting[n]]
    heapq.heapify(roots)
    found: list[int] = []
    ready: list[int] = []
    while ready or roots:
        node = ready.pop() if ready else heapq.heappop(roots)[1]
        found.append(node)
        freed = []
        for dependent in dependents[node]:
            waiting[dependent] -= 1
            if not waiting[dependent]:
                freed.append(dependent)
        ready.extend(sorted(freed, key=place.__getitem__, reverse=True))
    return np.array(found, np.int64)
