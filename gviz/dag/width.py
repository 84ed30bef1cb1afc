"""The width of a DAG: how many of its nodes could run at once if nothing but edges held them.

By Dilworth's theorem the largest antichain is as large as the smallest number of chains that cover
all nodes. A chain may skip nodes, so the cover is a matching in the transitive closure; here it
is a flow through the DAG itself, in which paths pass through nodes any number of times, and the
closure is never built.

References
----------
Dilworth (1950), A decomposition theorem for partially ordered sets. Fulkerson (1956), Note on
Dilworth's decomposition theorem for partially ordered sets (the matching). Ford and Fulkerson
(1962), Flows in Networks, II.9 (the flow and its minimum cut).
"""

from __future__ import annotations

import numpy as np

from gviz.dag.chains import SeriesCover
from gviz.dag.ranks import neighbours_of
from gviz.dataclass import dataclass
from gviz.stats import BoolArray, IntArray

#: Edges looked at before the search stops and gives bounds: some seconds of Python.
MOST_STEPS = 8_000_000
#: Edges looked at for the way between two neighbours of a greedy chain.
_NEARBY = 100


@dataclass(frozen=True, slots=True)
class Width:
    """The largest antichain, or bounds for it.

    Attributes
    ----------
    least, most
        The width lies between them; equal when it is known.
    antichain
        int64: ``least`` nodes of which none depends on another.
    lane_count
        Chains of the greedy cover of all nodes that the search began with.
    """

    least: int
    most: int
    antichain: IntArray
    lane_count: int

    @property
    def is_exact(self) -> bool:
        """Return whether the width is known."""
        return self.least == self.most


def graph_width(cover: SeriesCover, counted: BoolArray, *, most_steps: int = MOST_STEPS) -> Width:
    """Return the width of a DAG.

    Parameters
    ----------
    cover
        Of the DAG (:func:`gviz.dag.chains.cover_series`), with which the search begins.
    counted
        bool, one a node: those that count; the others only carry dependencies.
    most_steps
        Edges looked at before bounds are returned.
    """
    series = cover.series
    # Of each series one node at most can be in an antichain: its first that counts.
    first = np.full(series.count, -1, np.int64)
    chosen = np.flatnonzero(counted)
    order = chosen[np.argsort(-series.position[chosen], kind="stable")]
    first[series.of[order]] = order
    flow = _Flow(cover, first >= 0, most_steps)
    level = _largest_level(series.row, first >= 0)
    if flow.chain_count > len(level):
        flow.run()
    if flow.is_done:
        found = flow.antichain()
        return Width(len(found), len(found), first[found], cover.chain_count)
    return Width(len(level), flow.chain_count, first[level], cover.chain_count)


def _largest_level(row: IntArray, counted: BoolArray) -> IntArray:
    """Return the nodes of the fullest row: of one row none depends on another."""
    if not counted.any():
        return np.zeros(0, np.int64)
    fullest = np.bincount(row[counted]).argmax()
    return np.flatnonzero(counted & (row == fullest))


class _Flow:
    """A maximum flow: a counted node's exit sends one unit on to another's entry.

    ``own`` of an exit: whether it sends a unit of its own; ``taken`` of an entry: whether a
    unit ends there. Units may pass through nodes between. What is not sent is a chain's end.
    """

    def __init__(self, cover: SeriesCover, counted: BoolArray, most_steps: int) -> None:
        series, count = cover.series, cover.series.count
        self.is_done = False
        self._steps = most_steps
        self._counted: list[bool] = counted.tolist()
        self._own, self._taken = [False] * count, [False] * count
        self._passing = [0] * count
        edges = np.arange(len(series.tail))
        self._out_first, self._out = neighbours_of(count, series.tail, edges)
        self._in_first, self._in = neighbours_of(count, series.head, edges)
        self._head = series.head.tolist()
        self._tail = series.tail.tolist()
        self._flow = [0] * len(self._head)
        self._exit_seen, self._entry_seen = bytearray(count), bytearray(count)
        self._row = series.row.tolist()
        self._take_chains(cover)

    def _leaving(self, node: int) -> list[int]:
        """Return the edges that leave a node."""
        return self._out[self._out_first[node] : self._out_first[node + 1]]

    def _entering(self, node: int) -> list[int]:
        """Return the edges that enter a node."""
        return self._in[self._in_first[node] : self._in_first[node + 1]]

    def _take_chains(self, cover: SeriesCover) -> None:
        """Begin with a greedy cover: of neighbours in a chain the first sends to the second."""
        chain = cover.chain
        order = np.lexsort((cover.series.row, chain))
        counted = order[np.array(self._counted, bool)[order]]
        follows = chain[counted][1:] == chain[counted][:-1]
        pairs = zip(counted[:-1][follows].tolist(), counted[1:][follows].tolist(), strict=True)
        for a, b in pairs:
            path = self._path_back(a, b)
            if path is None:
                continue
            self._own[a] = self._taken[b] = True
            for edge in path:
                self._flow[edge] += 1
            for edge in path[:-1]:
                self._passing[self._tail[edge]] += 1

    def _path_back(self, source: int, target: int) -> list[int] | None:
        """Return the edges of a path, the last one first; None: not found nearby."""
        for edge in self._entering(target):
            if self._tail[edge] == source:
                return [edge]
        via: dict[int, int] = {}
        stack, budget = [target], _NEARBY
        while stack and budget > 0:
            node = stack.pop()
            for edge in self._entering(node):
                before = self._tail[edge]
                budget -= 1
                if before == source:
                    path = [edge]
                    while node != target:
                        path.append(via[node])
                        node = self._head[via[node]]
                    return path[::-1]
                if self._row[before] > self._row[source] and before not in via:
                    via[before] = edge
                    stack.append(before)
        return None

    @property
    def chain_count(self) -> int:
        """Chains that the flow so far covers all counted nodes with."""
        return self._counted.count(True) - self._own.count(True)

    def run(self) -> None:
        """Send as much as can be sent, unless that takes too many steps."""
        found = True
        while found and self._steps > 0:
            self._exit_seen, self._entry_seen = (bytearray(len(self._own)) for _ in range(2))
            found = False
            for node, counted in enumerate(self._counted):
                if counted and not self._own[node] and not self._exit_seen[node]:
                    found |= self._send(node)
        self.is_done = not found

    def _send(self, start: int) -> bool:
        """Send one unit from an exit along a path that can take it; False: there is none."""
        self._exit_seen[start] = 1
        # Node, whether its exit, the edge by which it was reached (see _next), and from where.
        visits: list[tuple[int, bool, int, int]] = []
        stack = [(start, True, 0, -1)]
        while stack:
            node, is_exit, by, parent = stack.pop()
            here = len(visits)
            visits.append((node, is_exit, by, parent))
            if not is_exit and self._counted[node] and not self._taken[node]:
                self._apply(visits, start)
                return True
            found = self._next_of_exit(node) if is_exit else self._next_of_entry(node)
            stack += [(target, not is_exit, by, here) for target, by in found]
        return False

    def _next_of_exit(self, node: int) -> list[tuple[int, int]]:
        """Return the unseen entries that can be reached, each with edge + 1, or 0 for its own."""
        found, seen = [], self._entry_seen
        self._steps -= self._out_first[node + 1] - self._out_first[node] + 1
        if self._passing[node] and not seen[node]:
            seen[node] = 1
            found.append((node, 0))
        for edge in self._leaving(node):
            target = self._head[edge]
            if not seen[target]:
                seen[target] = 1
                found.append((target, edge + 1))
        return found

    def _next_of_entry(self, node: int) -> list[tuple[int, int]]:
        """Return the unseen exits that can be reached, each with -edge - 1, or 0 for its own."""
        found, seen = [], self._exit_seen
        self._steps -= self._in_first[node + 1] - self._in_first[node] + 1
        if not seen[node]:
            seen[node] = 1
            found.append((node, 0))
        for edge in self._entering(node):
            source = self._tail[edge]
            if self._flow[edge] and not seen[source]:
                seen[source] = 1
                found.append((source, -edge - 1))
        return found

    def _apply(self, visits: list[tuple[int, bool, int, int]], start: int) -> None:
        """Change the flow along the path to the last visit."""
        self._own[start] = True
        self._taken[visits[-1][0]] = True
        at = len(visits) - 1
        while visits[at][3] >= 0:
            node, is_exit, by, parent = visits[at]
            if by > 0:
                self._flow[by - 1] += 1
            elif by < 0:
                self._flow[-by - 1] -= 1
            else:
                self._passing[node] += 1 if is_exit else -1
            at = parent

    def antichain(self) -> IntArray:
        """Return the counted nodes that the minimum cut leaves, once the flow is greatest."""
        sides = zip(self._counted, self._exit_seen, self._entry_seen, strict=True)
        left = [i for i, (counted, out, into) in enumerate(sides) if counted and out and not into]
        return np.array(left, np.int64)
