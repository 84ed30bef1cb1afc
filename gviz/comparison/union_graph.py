"""Two versions of a graph level as one graph: what both have, what one has alone, in one order.

Nodes of the level after come first, in their order, then the nodes before without a partner. Every
edge of either side is there once. The level after is in order by itself; the level before may
disagree with it: where a node was moved behind one it used to be in front of, the edges of both
together form a cycle. Then the level after is right, and an edge before that leads from a later
node to an earlier one is kept and marked (``runs_back``): for a layout it counts from its
dependent to its dependency.
"""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from gviz.comparison.changes import EdgeChanges
from gviz.comparison.pairing import ComparedGraph
from gviz.dataclass import dataclass
from gviz.stats import IntArray

#: Whose a node or an edge is.
BOTH, BEFORE, AFTER = 0, 1, 2


@dataclass(frozen=True, slots=True)
class UnionGraph:
    """Both versions of a level as one graph.

    Attributes
    ----------
    before, after
        int64, one a node: its index in the level before and in the level after; -1: none.
    source, target
        int64, one an edge: indices of its dependency and dependent among the nodes here.
    edge_type
        int64 CUgraphDependencyType; of edges that both have that of the level after.
    edge_origin
        uint8, one an edge: BOTH, BEFORE or AFTER.
    runs_back
        bool, one an edge: against the order of the level after; of edges before only.
    """

    before: IntArray
    after: IntArray
    source: IntArray
    target: IntArray
    edge_type: IntArray
    edge_origin: npt.NDArray[np.uint8]
    runs_back: npt.NDArray[np.bool_]

    @classmethod
    def alone(
        cls, count: int, source: IntArray, target: IntArray, edge_type: IntArray, whose: int
    ) -> UnionGraph:
        """Return a level that one side only has; ``whose`` is BEFORE or AFTER."""
        own, none = np.arange(count), np.full(count, -1, np.int64)
        return cls(
            before=own if whose == BEFORE else none,
            after=own if whose == AFTER else none,
            source=source,
            target=target,
            edge_type=edge_type,
            edge_origin=np.full(len(source), whose, np.uint8),
            runs_back=np.zeros(len(source), bool),
        )

    def __len__(self) -> int:
        return len(self.before)

    @property
    def origin(self) -> npt.NDArray[np.uint8]:
        """Return the graphs that each node is of: BOTH, BEFORE or AFTER."""
        lone = np.where(self.after < 0, BEFORE, np.where(self.before < 0, AFTER, BOTH))
        return lone.astype(np.uint8)

    def forward(self) -> tuple[IntArray, IntArray]:
        """Return sources and targets with the edges that run back turned: they form no cycle."""
        return (
            np.where(self.runs_back, self.target, self.source),
            np.where(self.runs_back, self.source, self.target),
        )


def join_graphs(
    first: ComparedGraph, second: ComparedGraph, partner: IntArray, edges: EdgeChanges
) -> UnionGraph:
    """Return two versions of a level as one graph.

    Parameters
    ----------
    first, second
        The level before and after; neither has a cycle.
    partner
        int64, one a node before: its partner after, -1: none.
    edges
        What became of the edges (:func:`gviz.comparison.changes.edge_changes.compare_edges`).
    """
    gone = np.flatnonzero(partner < 0)
    before = np.full(len(second) + len(gone), -1, np.int64)
    matched = np.flatnonzero(partner >= 0)
    before[partner[matched]] = matched
    before[len(second) :] = gone
    after = np.concatenate((np.arange(len(second)), np.full(len(gone), -1, np.int64)))
    number = partner.copy()
    number[gone] = len(second) + np.arange(len(gone))
    kept = np.zeros(len(second.source), bool)
    kept[edges.kept[:, 1]] = True
    source = np.concatenate((second.source, number[first.source[edges.removed]]))
    target = np.concatenate((second.target, number[first.target[edges.removed]]))
    origin = np.concatenate(
        (np.where(kept, BOTH, AFTER), np.full(len(edges.removed), BEFORE))
    ).astype(np.uint8)
    place = _order(len(before), source, target, origin == BEFORE)
    return UnionGraph(
        before=before,
        after=after,
        source=source,
        target=target,
        edge_type=np.concatenate((second.edge_type, first.edge_type[edges.removed])),
        edge_origin=origin,
        runs_back=place[source] > place[target],
    )


def _order(
    count: int, source: IntArray, target: IntArray, yields: npt.NDArray[np.bool_]
) -> IntArray:
    """Return places of nodes along which every edge runs forward, but for some that yield.

    Nodes are taken as soon as nothing holds them. Where only edges that yield hold what is left,
    the node goes first that fewest of them hold: these then run back.
    """
    binding = np.bincount(target[~yields], minlength=count).tolist()
    yielding = np.bincount(target[yields], minlength=count).tolist()
    following: list[list[tuple[int, bool]]] = [[] for _ in range(count)]
    for a, b, soft in zip(source.tolist(), target.tolist(), yields.tolist(), strict=True):
        following[a].append((b, soft))
    # By how many edges that yield still hold a node; entries of an older count are passed over.
    ready = [(yielding[node], node) for node in range(count) if not binding[node]]
    heapq.heapify(ready)
    place = np.full(count, -1, np.int64)
    taken = 0
    while ready:
        soft_count, node = heapq.heappop(ready)
        if place[node] >= 0 or soft_count != yielding[node]:
            continue
        place[node] = taken
        taken += 1
        for other, soft in following[node]:
            if soft:
                yielding[other] -= 1
            else:
                binding[other] -= 1
            if not binding[other] and place[other] < 0:
                heapq.heappush(ready, (yielding[other], other))
    return place
