"""An order of a graph's nodes in which groups stand together, and where they cannot, their pieces.

Units of one level (a group, or a node of none) are emitted when all that they depend on has
been. Where groups depend on each other in a cycle, a group is split: the nodes of it that
depend on nothing else any more are a piece of their own. Inside each piece likewise.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

import numpy as np

from gviz.dag import dependents_of
from gviz.dataclass import dataclass
from gviz.layout.folds.fold import invert
from gviz.stats import IntArray


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that belong together, and groups inside.

    Attributes
    ----------
    number
        Distinguishes groups.
    nodes
        Node indices.
    inner
        Disjoint groups of some of these nodes.
    """

    number: int
    nodes: tuple[int, ...]
    inner: tuple[Group, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """A group or a part of it as it stands in the order.

    Attributes
    ----------
    number
        The group's.
    start, end
        Half-open stretch of places.
    inner
        Pieces inside, in order.
    """

    number: int
    start: int
    end: int
    inner: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A topological order in which each piece of a group is contiguous.

    Attributes
    ----------
    order
        int64: every node index once, dependencies first.
    pieces
        The outermost, in this order.
    """

    order: IntArray
    pieces: tuple[Piece, ...]


def arrange(
    source: IntArray, target: IntArray, order: IntArray, groups: Sequence[Group]
) -> Arrangement:
    """Return a topological order that keeps groups together.

    It is the order given where that is topological and the groups are contiguous in it.

    Parameters
    ----------
    source, target
        int64 node indices of each edge; acyclic.
    order
        Every node index once; of several units that could come next, the first in it does.
    groups
        Disjoint groups.
    """
    count = len(order)
    graph = _Graph(
        invert(order).tolist(),
        dependents_of(count, target, source),
        dependents_of(count, source, target),
    )
    found: list[int] = []
    pieces = _arrange_level(graph, order.tolist(), groups, found)
    return Arrangement(np.array(found, np.int64), pieces)


@dataclass(frozen=True, slots=True)
class _Graph:
    """Place in the order given, dependencies and dependents, one a node."""

    place: list[int]
    before: list[list[int]]
    after: list[list[int]]


def _arrange_level(
    graph: _Graph, nodes: Sequence[int], groups: Sequence[Group], found: list[int]
) -> tuple[Piece, ...]:
    """Append nodes to the order ``found``; return the pieces of the groups among them."""
    if not groups and len(nodes) == 1:
        found.extend(nodes)
        return ()
    pieces: list[Piece] = []
    for group, members in _Level(graph, nodes, groups).emit():
        if group is None:
            found.extend(members)
            continue
        start = len(found)
        inner = _arrange_level(graph, members, group.inner, found)
        pieces.append(Piece(group.number, start, len(found), inner))
    return tuple(pieces)


class _Level:
    """The units of one level: its groups, and its other nodes one by one. Single use."""

    def __init__(self, graph: _Graph, nodes: Sequence[int], groups: Sequence[Group]) -> None:
        inside = set(nodes)
        members = [[n for n in group.nodes if n in inside] for group in groups]
        grouped = {n for part in members for n in part}
        members += [[n] for n in nodes if n not in grouped]
        self._graph = graph
        self._groups = groups
        self._left = {unit: part for unit, part in enumerate(members) if part}
        self._unit = {n: unit for unit, part in enumerate(members) for n in part}
        # Edges from nodes that are still left: to each unit from others, to each node from any.
        self._waiting = [0] * len(members)
        self._missing = {n: 0 for part in members for n in part}
        for node, unit in self._unit.items():
            before = [self._unit[d] for d in graph.before[node] if d in self._unit]
            self._missing[node] = len(before)
            self._waiting[unit] += sum(other != unit for other in before)
        self._ready: list[tuple[int, int]] = []
        self._free_nodes = [(graph.place[n], n) for n, count in self._missing.items() if not count]
        heapq.heapify(self._free_nodes)

    def emit(self) -> Iterator[tuple[Group | None, list[int]]]:
        """Yield groups, pieces of groups, and nodes of none (no group), dependencies first."""
        for unit in self._left:
            self._push_if_ready(unit)
        while self._left:
            if self._ready:
                unit = heapq.heappop(self._ready)[1]
                part = self._left.pop(unit)
            else:
                unit, part = self._split()
            yield (self._groups[unit] if unit < len(self._groups) else None), part
            self._remove(unit, part)

    def _remove(self, unit: int, part: list[int]) -> None:
        """Note that nodes are emitted, and what is ready by that."""
        for node in part:
            self._unit.pop(node)
        for node in part:
            for dependent in self._graph.after[node]:
                other = self._unit.get(dependent)
                if other is None:
                    continue
                self._missing[dependent] -= 1
                if not self._missing[dependent]:
                    heapq.heappush(self._free_nodes, (self._graph.place[dependent], dependent))
                if other != unit:
                    self._waiting[other] -= 1
                    self._push_if_ready(other)

    def _push_if_ready(self, unit: int) -> None:
        if not self._waiting[unit]:
            first = min(self._graph.place[n] for n in self._left[unit])
            heapq.heappush(self._ready, (first, unit))

    def _split(self) -> tuple[int, list[int]]:
        """Take from a group the nodes that depend on no other unit; of several, the first has it.

        There are such nodes: the graph is acyclic, so some node depends on none that is left.
        """
        while self._free_nodes[0][1] not in self._unit:
            heapq.heappop(self._free_nodes)
        unit = self._unit[self._free_nodes[0][1]]
        part = self._left[unit]
        free = self._free(unit, part)
        self._left[unit] = [n for n in part if n not in free]
        return unit, [n for n in part if n in free]

    def _free(self, unit: int, part: list[int]) -> set[int]:
        """Return the nodes of a unit whose dependencies that are left are all such nodes."""
        left = {n: [d for d in self._graph.before[n] if d in self._unit] for n in part}
        blocked = [n for n, before in left.items() if any(self._unit[d] != unit for d in before)]
        held = set(blocked)
        while blocked:
            for dependent in self._graph.after[blocked.pop()]:
                if self._unit.get(dependent) == unit and dependent not in held:
                    held.add(dependent)
                    blocked.append(dependent)
        return set(part) - held
