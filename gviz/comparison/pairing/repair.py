"""Mend a matching of two graphs' nodes by their edges.

An alignment of two lines knows nothing of edges beyond neighbours. Here the matching is
improved step by step towards the most alike pairs and the most edges kept: a node takes a
partner beside its neighbours' partners, and whoever had it takes the one left, or none.
Such exchanges are tried in chains, the better part of each is kept: two branches that were
taken for each other change places node by node, and only the last exchange pays.

References
----------
B. Kernighan and S. Lin, An efficient heuristic procedure for partitioning graphs (1970): a
sequence of exchanges is made in full, and kept up to where the sum of its gains is greatest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gviz.comparison.pairing.compared_graph import ComparedGraph
from gviz.comparison.pairing.likeness import CONTEXT, EQUAL, Likeness
from gviz.dag import dependents_of
from gviz.stats import IntArray

#: What an edge between pairs is worth that both graphs have, and what a pair is worth by itself.
LINK, PAIRED = 3.0, 2.0
#: Pairs of another kind need more than one edge to speak for them.
_OTHER_KIND = -6.0
#: What a pair of equal work is worth.
_EQUAL = PAIRED + EQUAL
#: A chain of exchanges ends so far below its best sum, or so many exchanges after it.
_DEEPEST, _PATIENCE = -12.0, 16
#: Exchanges of a node that are compared before a chain goes on.
_TRIED = 4
#: Partners of neighbours looked at from one neighbour; a join may have hundreds.
_LOOKED_AT = 24
#: Gains are sums of a few floats: less than this is none.
_LEAST_GAIN = 1e-3
#: Exchanges tried in all, for each node.
_BUDGET = 30


class _Exchange(NamedTuple):
    """Node ``taker`` takes ``taken`` from ``giver`` (-1: nobody), who gets ``given`` (-1: none)."""

    taker: int
    taken: int
    giver: int
    given: int


class Repair:
    """A matching that can be improved.

    Parameters
    ----------
    first, second
        The graphs.
    likeness
        How alike their nodes are.
    partner
        int64, one a node of the first graph: its partner in the second, -1: none.
    """

    def __init__(
        self,
        first: ComparedGraph,
        second: ComparedGraph,
        likeness: Likeness,
        partner: IntArray,
    ) -> None:
        self._like = likeness
        graphs = (first, second)
        self._after = [dependents_of(len(g), g.source, g.target) for g in graphs]
        self._before = [dependents_of(len(g), g.target, g.source) for g in graphs]
        self._others_before = [set(found) for found in self._before[1]]
        # The last is for no partner.
        self._others_after = [*(set(found) for found in self._after[1]), set()]
        self._work = [work.tolist() for work in likeness.work]
        self._context = [context.tolist() for context in likeness.context]
        self._worths: dict[tuple[int, int], float] = {}
        self._partner: list[int] = partner.tolist()
        self._owner = [-1] * len(second)
        for node, other in enumerate(self._partner):
            if other >= 0:
                self._owner[other] = node
        self._left = _BUDGET * len(first)

    def run(self) -> IntArray:
        """Improve the matching until no chain of exchanges does; return the partners."""
        queue = deque(node for node in range(len(self._partner)) if not self._is_settled(node))
        waiting = set(queue)
        while queue and self._left > 0:
            node = queue.popleft()
            waiting.discard(node)
            for moved in self._improve(node):
                for near in (moved, *self._before[0][moved], *self._after[0][moved]):
                    if near not in waiting and not self._is_settled(near):
                        waiting.add(near)
                        queue.append(near)
        return np.array(self._partner, np.int64)

    def total(self) -> float:
        """Return what the matching is worth: likeness of its pairs and edges kept."""
        found = 0.0
        for node, other in enumerate(self._partner):
            if other >= 0:
                found += self._worth(node, other)
                after = self._others_after[other]
                found += LINK * sum(self._partner[a] in after for a in self._after[0][node])
        return found

    # -- values ------------------------------------------------------------------------

    def _worth(self, node: int, other: int) -> float:
        key = self._work[0][node], self._work[1][other]
        found = self._worths.get(key)
        if found is None:
            found = PAIRED + max(self._like.of_works(node, other), _OTHER_KIND)
            self._worths[key] = found
        context = self._context[0][node] == self._context[1][other]
        return found + CONTEXT if context else found

    def _links(self, node: int, other: int) -> int:
        """Return how many edges of a node both graphs have, if ``other`` is its partner."""
        partner = self._partner
        before, after = self._others_before[other], self._others_after[other]
        # -1, for none, is in no set.
        found = 0
        for near in self._before[0][node]:
            if partner[near] in before:
                found += 1
        for near in self._after[0][node]:
            if partner[near] in after:
                found += 1
        return found

    def _value(self, node: int) -> float:
        """Return what a node adds to the total."""
        other = self._partner[node]
        return self._worth(node, other) + LINK * self._links(node, other) if other >= 0 else 0.0

    def _value_of_two(self, one: int, two: int) -> float:
        found = self._value(one) + self._value(two)
        for a, b in ((one, two), (two, one)):
            if b in self._after[0][a] and self._partner[b] in self._others_after[self._partner[a]]:
                found -= LINK  # counted from both ends
        return found

    def _is_settled(self, node: int) -> bool:
        """Return whether no exchange could help a node: all its edges are kept, its work equal."""
        other = self._partner[node]
        if other < 0 or self._worth(node, other) < _EQUAL:
            return False
        edges = len(self._before[0][node]) + len(self._after[0][node])
        edges_there = len(self._before[1][other]) + len(self._after[1][other])
        return edges == edges_there == self._links(node, other)

    # -- exchanges ---------------------------------------------------------------------

    def _improve(self, node: int) -> list[int]:
        """Make the chain of exchanges from a node that gains, if there is one; return who moved."""
        for first in self._exchanges(node):
            found = self._chain(first)
            if found:
                return found
        return []

    def _exchanges(self, node: int) -> list[_Exchange]:
        """Return what a node could do, the most promising first."""
        old = self._partner[node]
        near: dict[int, int] = {}
        for ways, others in ((self._before[0], self._after[1]), (self._after[0], self._before[1])):
            for neighbour in ways[node]:
                at = self._partner[neighbour]
                if at >= 0:
                    for other in others[at][:_LOOKED_AT]:
                        near[other] = near.get(other, 0) + 1
        near.pop(old, None)
        ranked = sorted(near, key=lambda other: -LINK * near[other] - self._worth(node, other))
        found = []
        for other in ranked:
            giver = self._owner[other]
            found.append(_Exchange(node, other, giver, old if giver >= 0 else -1))
            if giver >= 0 and old >= 0:
                found.append(_Exchange(node, other, giver, -1))
        return found

    def _chain(self, first: _Exchange) -> list[int]:
        """Follow an exchange with those that it requires; undo what does not pay in the end."""
        made: list[tuple[_Exchange, int]] = []
        moved: set[int] = set()
        total = best = 0.0
        kept = 0
        step: _Exchange | None = first
        while step is not None and self._left > 0:
            gain, old = self._make(step)
            made.append((step, old))
            moved |= {step.taker, step.giver}
            total += gain
            if total > best + _LEAST_GAIN:
                best, kept = total, len(made)
            if total < best + _DEEPEST or len(made) - kept >= _PATIENCE:
                break
            step = self._next(step, moved)
        for step, old in reversed(made[kept:]):
            self._unmake(step, old)
        return [n for step, _ in made[:kept] for n in (step.taker, step.giver) if n >= 0]

    def _next(self, last: _Exchange, moved: set[int]) -> _Exchange | None:
        """Return the exchange beside the last one that gains most, of nodes that did not move."""
        best: tuple[float, _Exchange] | None = None
        for node in self._beside(last):
            if node in moved or self._is_settled(node):
                continue
            for step in self._exchanges(node)[:_TRIED]:
                if step.giver in moved:
                    continue
                gain, old = self._make(step)
                self._unmake(step, old)
                if best is None or gain > best[0]:
                    best = gain, step
        return None if best is None else best[1]

    def _beside(self, step: _Exchange) -> Iterable[int]:
        nodes = [n for n in (step.taker, step.giver) if n >= 0]
        near = [m for n in nodes for way in (self._after, self._before) for m in way[0][n]]
        return list(dict.fromkeys(near))[:_LOOKED_AT]

    def _make(self, step: _Exchange) -> tuple[float, int]:
        """Make an exchange; return what it gains and the taker's former partner."""
        self._left -= 1
        taker, taken, giver, given = step
        old = self._partner[taker]
        before = self._value(taker) if giver < 0 else self._value_of_two(taker, giver)
        if old >= 0:
            self._owner[old] = -1
        if giver >= 0:
            self._partner[giver] = given
            if given >= 0:
                self._owner[given] = giver
        self._partner[taker], self._owner[taken] = taken, taker
        after = self._value(taker) if giver < 0 else self._value_of_two(taker, giver)
        return after - before, old

    def _unmake(self, step: _Exchange, old: int) -> None:
        taker, taken, giver, given = step
        if given >= 0:
            self._owner[given] = -1
        self._partner[taker], self._owner[taken] = old, giver
        if giver >= 0:
            self._partner[giver] = taken
        if old >= 0:
            self._owner[old] = taker
