"""Simulation of a launch: recorded work, in order of time, done by nodes that are ready."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence

from gviz.matching.exchanges import Places, WorkOrder
from gviz.matching.node_domains import Domains
from gviz.stats import IntArray

#: Nodes that are ready, of which those that must begin first are looked at.
_LOOKED_AT = 32


class Simulation:
    """Gives recorded work to nodes.

    Parameters
    ----------
    nodes
        Those that have no work yet, each after those that it depends on.
    work_of
        Work of the others.
    domains
        What nodes can have done.
    neighbours, places
        What the dependencies ask.
    usual_start
        int64, one a piece of work: where it stands in time.
    follow_lanes
        Whether a node that goes on where one that it depends on ran comes first, as CUDA places
        nodes; else the node that must begin first.

    Attributes
    ----------
    found
        Work by node.
    """

    def __init__(
        self,
        nodes: Sequence[int],
        work_of: Mapping[int, int],
        domains: Domains,
        neighbours: WorkOrder,
        places: Places,
        usual_start: IntArray,
        *,
        follow_lanes: bool,
    ) -> None:
        self.found: dict[int, int] = {}
        self._known = work_of
        self._node_at = {places.place_of(work): node for node, work in work_of.items()}
        self._domains = domains
        self._neighbours = neighbours
        self._places = places
        self._follow_lanes = follow_lanes
        self._rank = {node: i for i, node in enumerate(nodes)}
        self._limit: dict[int, int] = {}
        for node in nodes:
            last = domains.last_work(node)
            self._limit[node] = -1 if last is None else int(usual_start[last].max())
        self._waiting = {
            node: sum(
                other in self._rank and not domains.is_short(other)
                for other, _ in neighbours.before[node]
            )
            for node in nodes
        }
        self._ready: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for node in nodes:
            if not self._waiting[node]:
                self._make_ready(node)

    def run(self, work: int) -> None:
        """Give a piece of work to the node that is likeliest to have done it, if one is ready."""
        ready = self._ready[self._domains.token_of(work)]
        looked_at = [heapq.heappop(ready) for _ in range(min(_LOOKED_AT, len(ready)))]
        fitting = [entry for entry in looked_at if self._fits(entry[-1], work)]
        chosen = min(fitting, key=lambda entry: self._preference(entry, work), default=None)
        for entry in looked_at:
            if entry is not chosen:
                heapq.heappush(ready, entry)
        if chosen is None:
            return
        node = chosen[-1]
        self.found[node] = work
        self._node_at[self._places.place_of(work)] = node
        if self._domains.is_short(node):
            return
        for other, _ in self._neighbours.after[node]:
            if other in self._waiting:
                self._waiting[other] -= 1
                if not self._waiting[other]:
                    self._make_ready(other)

    def _make_ready(self, node: int) -> None:
        entry = (self._limit[node], self._rank[node], node)
        heapq.heappush(self._ready[self._domains.token(node)], entry)

    def _work_of(self, node: int) -> int | None:
        return self.found.get(node, self._known.get(node))

    def _fits(self, node: int, work: int) -> bool:
        """Return whether a node's work comes after all it depends on, before what waits for it."""
        if not self._domains.allows(node, work):
            return False
        allow = self._places.allow
        for other, early in self._neighbours.before[node]:
            had = self._work_of(other)
            if had is not None and not allow(had, work, early):
                return False
        for other, early in self._neighbours.after[node]:
            had = self._work_of(other)
            if had is not None and not allow(work, had, early):
                return False
        return True

    def _preference(self, entry: tuple[int, int, int], work: int) -> tuple[int, int, int]:
        """Return what makes a node likelier than others: the least comes first."""
        limit, rank, node = entry
        lane, place = self._places.place_of(work)
        before = {other for other, _ in self._neighbours.before[node]}
        lanes = {
            self._places.place_of(had)[0]
            for other in before
            if (had := self._work_of(other)) is not None
        }
        distance = 2
        if self._node_at.get((lane, place - 1)) in before:
            distance = 0
        elif lane in lanes:
            distance = 1
        return (distance, limit, rank) if self._follow_lanes else (limit, distance, rank)
