"""Exchanges of work between nodes: other assignments, found from one by moving what must move.

A node is given other work. The node that had it must move then, and so must every neighbour whose
work is now at the wrong time; each of them is tried at all it can have done, until nobody is left
that must move (an exchange is found) or nothing is left to try (there is none). What is moved is
only what the first move forces, so that an exchange of two nodes of thousands takes few steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

import numpy as np

from gviz.dataclass import dataclass
from gviz.matching.node_domains import Domains, GraphWork, Order
from gviz.matching.recorded_work import Timetable
from gviz.stats import IntArray

#: Work that is tried for a node, at most: that nearest in time.
_MOST_TRIED = 64
#: Nodes that must move, of which the one with the least choice is moved first.
_COMPARED = 4


class WorkOrder:
    """Dependencies among nodes with work; nodes without hand on what they wait for.

    Attributes
    ----------
    before, after
        By node: (other node, whether its start counts instead of its end, or that of this node).
    """

    def __init__(self, order: Order, has_work: list[bool]) -> None:
        count = len(has_work)
        self.before: list[list[tuple[int, bool]]] = [[] for _ in range(count)]
        self.after: list[list[tuple[int, bool]]] = [[] for _ in range(count)]
        through: list[dict[int, bool]] = [{} for _ in range(count)]
        for node in order.nodes:
            found: dict[int, bool] = {}
            for other, early in order.before[node]:
                reached = {other: early} if has_work[other] else through[other]
                for source, is_early in reached.items():
                    # An end counts more than a start.
                    found[source] = found.get(source, True) and is_early
            if not has_work[node]:
                through[node] = found
                continue
            self.before[node] = list(found.items())
            for source, is_early in found.items():
                self.after[source].append((node, is_early))

    def leave_out(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Leave out dependencies that the times contradict whatever is exchanged."""
        for tail, head in pairs:
            self.before[head] = [x for x in self.before[head] if x[0] != tail]
            self.after[tail] = [x for x in self.after[tail] if x[0] != head]


class Places:
    """Places of work, and what can have waited for what."""

    def __init__(self, table: Timetable) -> None:
        self._lane: list[int] = table.lane.tolist()
        self._place: list[int] = table.place.tolist()
        self._table = (table.after, table.after_start)
        self._rows: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})

    def allow(self, first: int, second: int, early: bool) -> bool:
        """Return whether the second can have waited for the first, or its start where early."""
        rows = self._rows[early]
        row = rows.get(first)
        if row is None:
            row = rows[first] = self._table[early][first].tolist()
        return row[self._lane[second]] <= self._place[second]

    def place_of(self, work: int) -> tuple[int, int]:
        """Return the lane of a piece of work and its place there."""
        return self._lane[work], self._place[work]


@dataclass(slots=True)
class Assignment:
    """Nodes with their work, and the other way round."""

    work_of: dict[int, int] = field(default_factory=dict)
    node_of: dict[int, int] = field(default_factory=dict)

    def put(self, node: int, work: int) -> None:
        """Give a node its work."""
        self.work_of[node] = work
        self.node_of[work] = node

    def move(self, moved: Mapping[int, int]) -> None:
        """Give several nodes other work."""
        for node in moved:
            old = self.work_of.pop(node, None)
            if old is not None:
                del self.node_of[old]
        for node, work in moved.items():
            self.put(node, work)


class _Step:
    """One node being moved: what it is tried at, and where the trail stood before."""

    __slots__ = ("node", "trail", "works")

    def __init__(self, node: int, works: Iterator[int], trail: int) -> None:
        self.node, self.works, self.trail = node, works, trail


class ExchangeSearch:
    """Finds other assignments from one.

    Parameters
    ----------
    assignment
        Read at each search; nodes in ``fixed`` keep what they have.
    domains
        What nodes can have done.
    neighbours, places
        What the dependencies ask.
    usual_start
        int64, one a piece of work: where it stands in time.
    colour
        By node: equal for nodes in equal places of the graph.
    steps
        Moves that are tried in all searches together, at most.
    """

    def __init__(
        self,
        assignment: Assignment,
        domains: Domains,
        neighbours: WorkOrder,
        places: Places,
        usual_start: IntArray,
        colour: list[int],
        steps: int,
    ) -> None:
        self.fixed: set[int] = set()
        self.steps = steps
        self._assignment = assignment
        self._domains = domains
        self._neighbours = neighbours
        self._places = places
        self._usual = usual_start
        self._starts: list[int] = usual_start.tolist()
        self._colour = colour
        self._tried: dict[int, tuple[list[int], bool]] = {}
        self._new: dict[int, int] = {}
        self._taken: dict[int, int] = {}
        self._pending: dict[int, None] = {}
        self._trail: list[tuple[str, int]] = []
        self.is_complete = True

    def find(self, node: int, work: int, most: int) -> dict[int, int] | None:
        """Return the moves by which a node gets other work; None: there are none.

        ``is_complete`` says afterwards whether all was tried.
        """
        self.begin()
        self._pending[node] = None
        steps = [_Step(node, iter((work,)), 0)]
        while steps:
            step = steps[-1]
            self._undo(step.trail)
            chosen = next(step.works, None)
            if chosen is None:
                steps.pop()
                continue
            most -= 1
            self.steps -= 1
            if most < 0 or self.steps < 0:
                self.is_complete = False
                return None
            if not self._put(step.node, chosen):
                continue
            if not self._pending:
                return dict(self._new)
            steps.append(self._next_step())
        return None

    def begin(self) -> None:
        """Forget the moves of the last search."""
        self._new, self._taken, self._pending, self._trail = {}, {}, {}, []
        self.is_complete = True

    def options(self, node: int) -> list[int]:
        """Return other work that a node can have, the likeliest first."""
        works, is_capped = self._near(node)
        if is_capped:
            self.is_complete = False
        own = self._assignment.work_of.get(node)
        owners, colour = self._assignment.node_of, self._colour
        at = self._starts[own] if own is not None else 0
        found = []
        for work in works:
            if work == own or work in self._taken or not self._goes_with_moved(node, work):
                continue
            owner = owners.get(work)
            if owner is not None and owner in self.fixed:
                continue
            is_left = owner is None or owner in self._new
            is_equal = owner is not None and colour[owner] == colour[node]
            found.append((not is_left, not is_equal, abs(self._starts[work] - at), work))
        found.sort()
        return [entry[-1] for entry in found]

    def _near(self, node: int) -> tuple[list[int], bool]:
        """Return the work that is tried for a node, and whether there was more."""
        known = self._tried.get(node)
        if known is not None:
            return known
        works = self._domains.candidates(node)
        is_capped = len(works) > _MOST_TRIED
        if is_capped:
            own = self._assignment.work_of.get(node)
            at = self._usual[own] if own is not None else 0
            nearest = np.argpartition(np.abs(self._usual[works] - at), _MOST_TRIED)[:_MOST_TRIED]
            works = works[nearest]
        found = self._tried[node] = (works.tolist(), is_capped)
        return found

    def _goes_with_moved(self, node: int, work: int) -> bool:
        """Return whether work of a node is at the right time for neighbours that were moved."""
        new, allow = self._new, self._places.allow
        if not new:
            return True
        return all(
            allow(new[other], work, early)
            for other, early in self._neighbours.before[node]
            if other in new
        ) and all(
            allow(work, new[other], early)
            for other, early in self._neighbours.after[node]
            if other in new
        )

    def _put(self, node: int, work: int) -> bool:
        """Move a node; return whether all that must move then can."""
        owners, works, allow = (
            self._assignment.node_of,
            self._assignment.work_of,
            self._places.allow,
        )
        self._pending.pop(node, None)
        self._new[node] = work
        self._taken[work] = node
        self._trail.append(("moved", node))
        forced = []
        owner = owners.get(work)
        if owner is not None and owner != node:
            forced.append(owner)
        for other, early in self._neighbours.before[node]:
            had = works.get(other)
            if had is not None and other not in self._new and not allow(had, work, early):
                forced.append(other)
        for other, early in self._neighbours.after[node]:
            had = works.get(other)
            if had is not None and other not in self._new and not allow(work, had, early):
                forced.append(other)
        for other in forced:
            if other in self.fixed:
                return False
            if other not in self._new and other not in self._pending:
                self._pending[other] = None
                self._trail.append(("forced", other))
        return True

    def _undo(self, length: int) -> None:
        while len(self._trail) > length:
            kind, node = self._trail.pop()
            if kind == "forced":
                del self._pending[node]
            else:
                del self._taken[self._new.pop(node)]
                self._pending[node] = None

    def _next_step(self) -> _Step:
        """Return the step of a node that must move: of some, the one with the least choice."""
        best: tuple[int, list[int]] | None = None
        for node, _ in zip(self._pending, range(_COMPARED), strict=False):
            works = self.options(node)
            if best is None or len(works) < len(best[1]):
                best = (node, works)
            if len(works) <= 1:
                break
        assert best is not None
        return _Step(best[0], iter(best[1]), len(self._trail))


def structure_colours(graph: GraphWork, order: Order) -> list[int]:
    """Return a number for each node, equal for those in equal places of the graph.

    Colour refinement in the order of dependencies: down, up, and both again, so that a colour
    records all that a node depends on and all that depends on it.
    """
    colour: list[int] = graph.token.tolist()
    for _ in range(2):
        for nodes, sides in ((order.nodes, order.before), (order.nodes[::-1], order.after)):
            for node in nodes:
                near = sorted((colour[other], early) for other, early in sides[node])
                colour[node] = hash((colour[node], tuple(near)))
    return colour
