"""Nodes of a graph matched with recorded work, by what they do and by what must have ended before.

Method
------
1. Node and work go together if they have the same token (kind, kernel, launch shape, bytes), and
   if every dependency holds in every launch: a node starts when all that it depends on has ended,
   on one stream exactly, between streams within what clock readings differ by
   (:mod:`gviz.matching.recorded_work`).
2. What each node can have done is narrowed by its neighbours (:mod:`gviz.matching.node_domains`).
   Nodes with one choice are settled: in most graphs nearly all.
3. The others are simulated in order of time: work is given to a node whose dependencies have
   ended, first to one that goes on where its dependency ran. Where that gets stuck it is repaired
   by moving nodes that are in the way (:mod:`gviz.matching.exchanges`).
4. A node that can be given other work, others moving with it and no dependency contradicted, is
   exchangeable: times are known of it and those that it can be exchanged with together only.

The order is first taken as exactly as clocks are as a rule. Where no assignment fits, it is taken
within the tolerance of contradictions; where none fits even so, some are contradicted.

Launches whose work is numbered alike are matched together, else each by itself.

References
----------
Finding an assignment is subgraph isomorphism with times as constraints; see C. Solnon,
AllDifferent-based filtering for subgraph isomorphism (2010). Exchangeable nodes are orbits where
times say nothing; colour refinement is that of B. Weisfeiler and A. Lehman (1968).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from gviz.dag import TOLERANCE_NS, Contradictions, contradictions
from gviz.dataclass import dataclass
from gviz.matching.exchanges import (
    Assignment,
    ExchangeSearch,
    Places,
    WorkOrder,
    structure_colours,
)
from gviz.matching.node_domains import Domains, GraphWork, Order
from gviz.matching.recorded_work import RecordedWork, Timetable
from gviz.matching.simulation import Simulation
from gviz.stats import IntArray

#: Clock readings of two streams differ by less than this but for one pair in 10^5 (H100, see
#: :data:`gviz.dag.TOLERANCE_NS`); a kernel and the gap after it are as long.
SKEW_NS = 2_000
#: No work, no class.
NOT_MATCHED = -1
#: Moves tried in one search for an exchange, and in all of one match, beside four and two a node.
_MOVES_OF_A_SEARCH = 2_000
_MOVES_OF_A_MATCH = 20_000


@dataclass(frozen=True, slots=True)
class NodeMatch:
    """A graph's nodes with their work.

    Attributes
    ----------
    work
        int64, shape (launches, nodes): column of the recorded work; NOT_MATCHED: none.
    match_class
        int64, one a node: equal for nodes that can be exchanged with each other; NOT_MATCHED: the
        node's work is certain, or it has none.
    contradicted
        Dependencies that the times contradict, by launch and by edge.
    undecided_count
        Nodes among the exchangeable of which that was not decided: the search was given up.
    """

    work: IntArray
    match_class: IntArray
    contradicted: Contradictions
    undecided_count: int = 0

    @property
    def exchangeable_count(self) -> int:
        """Number of nodes that can be exchanged."""
        return int((self.match_class != NOT_MATCHED).sum())


def match_nodes(graph: GraphWork, recorded: RecordedWork) -> NodeMatch:
    """Match the nodes of a graph with the work of its launches.

    Raises
    ------
    CycleError
        If the graph's edges form a cycle.
    """
    order = Order.of(graph)
    launches = len(recorded.start_ns)
    parts = [recorded] if recorded.is_aligned else [recorded.one_launch(i) for i in range(launches)]
    fits = [_fit(graph, order, part) for part in parts]
    work = np.concatenate([np.zeros((0, len(graph)), np.int64), *(f.work[None, :] for f in fits)])
    if recorded.is_aligned:
        work = np.repeat(work, launches, axis=0)
    groups = _Groups(len(graph))
    for fit in fits:
        for group in fit.groups:
            groups.join(group)
    undecided = set().union(*(fit.undecided for fit in fits))
    return NodeMatch(work, groups.numbers(), contradicted(graph, recorded, work), len(undecided))


def contradicted(graph: GraphWork, recorded: RecordedWork, work: IntArray) -> Contradictions:
    """Return the dependencies of a graph that times contradict.

    Parameters
    ----------
    work
        As of :class:`NodeMatch`.
    """
    launch, node = np.nonzero(work != NOT_MATCHED)
    column = work[launch, node]
    start, end = np.zeros(work.shape, np.int64), np.zeros(work.shape, np.int64)
    timed = np.zeros(work.shape, bool)
    start[launch, node] = recorded.start_ns[launch, column]
    end[launch, node] = recorded.end_ns[launch, column]
    timed[launch, node] = recorded.timed[launch, column]
    return contradictions(start, end, graph.edges, timed=timed, programmatic=graph.programmatic)


@dataclass(frozen=True, slots=True)
class _Fit:
    """One assignment: work by node, sets of exchangeable nodes, and those that are undecided."""

    work: IntArray
    groups: list[list[int]]
    undecided: set[int]


class _Groups:
    """Sets of nodes, joined where they meet."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))
        self._marked: set[int] = set()

    def __contains__(self, node: int) -> bool:
        return node in self._marked

    def root(self, node: int) -> int:
        """Return the node that stands for the set of one."""
        while self._parent[node] != node:
            self._parent[node] = self._parent[self._parent[node]]
            node = self._parent[node]
        return node

    def join(self, nodes: list[int]) -> None:
        """Put nodes in one set."""
        self._marked.update(nodes)
        for node in nodes[1:]:
            self._parent[self.root(node)] = self.root(nodes[0])

    def sets(self) -> list[list[int]]:
        """Return the sets, by their first node."""
        found: dict[int, list[int]] = defaultdict(list)
        for node in sorted(self._marked):
            found[self.root(node)].append(node)
        return list(found.values())

    def numbers(self) -> IntArray:
        """Return the number of each node's set, from 0 by first node; NOT_MATCHED: in no set."""
        found = np.full(len(self._parent), NOT_MATCHED, np.int64)
        for number, nodes in enumerate(self.sets()):
            found[nodes] = number
        return found


def _fit(graph: GraphWork, order: Order, recorded: RecordedWork) -> _Fit:
    """Return the best assignment of one or several launches together."""
    best: _Matcher | None = None
    for tolerance in (SKEW_NS, TOLERANCE_NS):
        matcher = _Matcher(graph, order, recorded, tolerance)
        matcher.assign()
        if best is None or matcher.left_count <= best.left_count:
            best = matcher
        if not matcher.left_count:
            break
    assert best is not None
    best.give_what_is_left()
    return best.exchanges()


class _Matcher:
    """Finds one assignment within a tolerance, and what can be exchanged in it. Single use."""

    def __init__(
        self, graph: GraphWork, order: Order, recorded: RecordedWork, tolerance_ns: int
    ) -> None:
        self._graph, self._order = graph, order
        self._usual = recorded.usual_starts()
        table = Timetable.of(recorded, tolerance_ns)
        self._table = table
        self._places = Places(table)
        self._domains = Domains(graph, order, recorded.token, table)
        self._domains.narrow()
        settled: list[int] = self._domains.settled.tolist()
        self._has_work = [self._domains.has_work(node) for node in range(len(graph))]
        self._neighbours = WorkOrder(order, self._has_work)
        self._assignment = Assignment()
        self._settled = {node for node, work in enumerate(settled) if work != NOT_MATCHED}
        for node in self._settled:
            self._assignment.put(node, settled[node])
        self._open = [
            node for node in order.nodes if self._has_work[node] and node not in self._settled
        ]
        self._colour: list[int] = []

    @property
    def left_count(self) -> int:
        """Number of nodes without work though there is some of their token left."""
        return sum(min(len(nodes), len(works)) for nodes, works in self._left().values())

    def assign(self) -> None:
        """Give open nodes work, in order of time; repair where that gets stuck."""
        if not self._open:
            return
        found = self._simulate(follow_lanes=True)
        if len(found) < self.left_count:
            found = max(found, self._simulate(follow_lanes=False), key=len)
        self._assignment.move(found)
        if self.left_count:
            self._repair()

    def give_what_is_left(self) -> None:
        """Give nodes that nothing fits what is left of their token, in order."""
        for nodes, works in self._left().values():
            works.sort(key=self._usual.__getitem__)
            for node, work in zip(nodes, works, strict=False):
                self._assignment.put(node, work)

    def exchanges(self) -> _Fit:
        """Return the assignment with the nodes that can be exchanged."""
        work = np.full(len(self._graph), NOT_MATCHED, np.int64)
        for node, found in self._assignment.work_of.items():
            work[node] = found
        if not self._open:
            return _Fit(work, [], set())
        # Of a token with less work than nodes any node may be the one that has none.
        self._neighbours = WorkOrder(self._order, self._sure_work())
        self._neighbours.leave_out(list(self._contradicted_pairs()))
        groups, undecided = _Groups(len(self._graph)), set()
        search = self._search()
        search.fixed |= self._settled
        self._mark_short(groups)
        for node in self._open:
            if node in groups or node not in self._assignment.work_of:
                continue
            undecided |= self._try_all(search, groups, node)
        self._join_equal(search, groups)
        return _Fit(work, groups.sets(), undecided)

    # -- assignment -------------------------------------------------------------------------

    def _left(self) -> dict[int, tuple[list[int], list[int]]]:
        """Return, by token, nodes without work and work without a node."""
        found = {}
        for token, of_token in self._domains.classes.items():
            nodes = [n for n in of_token.nodes.tolist() if n not in self._assignment.work_of]
            works = [w for w in of_token.work.tolist() if w not in self._assignment.node_of]
            if nodes and works:
                found[token] = (nodes, works)
        return found

    def _simulate(self, *, follow_lanes: bool) -> dict[int, int]:
        """Return work for open nodes: each piece in order of time to a node that is ready."""
        simulation = Simulation(
            self._open,
            self._assignment.work_of,
            self._domains,
            self._neighbours,
            self._places,
            self._usual,
            follow_lanes=follow_lanes,
        )
        works = [w for c in self._domains.classes.values() for w in c.work.tolist()]
        works.sort(key=self._usual.__getitem__)
        for work in works:
            simulation.run(work)
        return simulation.found

    def _search(self) -> ExchangeSearch:
        if not self._colour:
            self._colour = structure_colours(self._graph, self._order)
        return ExchangeSearch(
            self._assignment,
            self._domains,
            self._neighbours,
            self._places,
            self._usual,
            self._colour,
            _MOVES_OF_A_MATCH + 2 * len(self._open),
        )

    def _repair(self) -> None:
        """Move nodes that are in the way of those without work."""
        search = self._search()
        search.fixed |= self._settled
        for nodes, _ in list(self._left().values()):
            for node in nodes:
                for work in search.options(node):
                    moved = search.find(node, work, _MOVES_OF_A_SEARCH)
                    if moved is not None:
                        self._assignment.move(moved)
                        break

    # -- exchanges --------------------------------------------------------------------------

    def _sure_work(self) -> list[bool]:
        """Return, for each node, whether it has work without doubt, whichever that is."""
        domains = self._domains
        return [
            node in self._settled or (self._has_work[node] and not domains.is_short(node))
            for node in range(len(self._graph))
        ]

    def _contradicted_pairs(self) -> Iterator[tuple[int, int]]:
        works = self._assignment.work_of
        for node, work in works.items():
            for other, early in list(self._neighbours.before[node]):
                had = works.get(other)
                if had is not None and not self._places.allow(had, work, early):
                    yield other, node

    def _mark_short(self, groups: _Groups) -> None:
        """Mark nodes of which some have no work, and which of them is not known."""
        for of_token in self._domains.classes.values():
            if of_token.is_short and len(of_token.work):
                groups.join(of_token.nodes.tolist())

    def _try_all(self, search: ExchangeSearch, groups: _Groups, node: int) -> set[int]:
        """Mark a node if it can be exchanged; return it if that was not decided."""
        most = _MOVES_OF_A_SEARCH + 4 * len(self._open)
        is_decided = True
        search.begin()
        works = search.options(node)
        is_decided &= search.is_complete
        for work in works:
            if search.steps <= 0:
                is_decided = False
                break
            moved = search.find(node, work, most)
            if moved is not None:
                self._mark(groups, moved)
                return set()
            is_decided &= search.is_complete
        if is_decided:
            search.fixed.add(node)
            return set()
        groups.join([node])
        return {node}

    def _mark(self, groups: _Groups, moved: dict[int, int]) -> None:
        for node, work in moved.items():
            owner = self._assignment.node_of.get(work)
            groups.join([node] if owner is None else [node, owner])

    def _join_equal(self, search: ExchangeSearch, groups: _Groups) -> None:
        """Join sets whose nodes stand in equal places of the graph, where they can be exchanged."""
        equal: dict[int, list[int]] = defaultdict(list)
        for nodes in groups.sets():
            if nodes[0] in self._assignment.work_of:
                equal[self._colour[nodes[0]]].append(nodes[0])
        for first, *others in equal.values():
            for other in others:
                if groups.root(first) == groups.root(other):
                    continue
                work = self._assignment.work_of[other]
                moved = search.find(first, work, _MOVES_OF_A_SEARCH + 4 * len(self._open))
                if moved is not None:
                    self._mark(groups, moved)
