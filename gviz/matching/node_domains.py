"""Work that each node of a graph can have done, by what its dependencies allow.

Work of a lane starts in order, so what a dependency allows a node is, in each lane, all places
from one on; what its dependents allow it is all places up to one. Two sweeps over the graph, down
and up, give both bounds for all nodes together: a node keeps the places of its token in which
every neighbour has a place that goes with it. That is arc consistency, but for different nodes
doing different work, of which only the plain case is used: who has one place left has it alone.

References
----------
A. K. Mackworth, Consistency in networks of relations (1977).
"""

from __future__ import annotations

import numpy as np

from gviz.dag import rank_rows
from gviz.dataclass import dataclass
from gviz.matching.recorded_work import PlaceArray, Timetable
from gviz.stats import BoolArray, IntArray, distinct_values

#: Token of a node that gets no time: allocations, events, and what was not recorded.
NO_WORK = -1
#: Sweeps down and up until bounds stand; each but the first is caused by places that were taken.
_MOST_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class GraphWork:
    """Work of a graph's nodes and their dependencies.

    Attributes
    ----------
    token
        int64, one a node: equal for equal kind, kernel, launch shape and size; NO_WORK: none that
        gets a time.
    edges
        int64, shape (n, 2): indices of the dependency and the dependent.
    programmatic
        bool, one an edge: the dependent may start as soon as the dependency has started.
    """

    token: IntArray
    edges: IntArray
    programmatic: BoolArray

    def __len__(self) -> int:
        return len(self.token)


@dataclass(frozen=True, slots=True)
class Order:
    """A graph's nodes in an order of its dependencies, with their neighbours.

    Attributes
    ----------
    nodes
        Each after those that it depends on.
    before, after
        By node: neighbours along edges, as (node, whether the edge is programmatic).
    """

    nodes: list[int]
    before: list[list[tuple[int, bool]]]
    after: list[list[tuple[int, bool]]]

    @classmethod
    def of(cls, graph: GraphWork) -> Order:
        """Return the order of a graph.

        Raises
        ------
        CycleError
            If its edges form a cycle.
        """
        row = rank_rows(len(graph), graph.edges[:, 0], graph.edges[:, 1])
        before: list[list[tuple[int, bool]]] = [[] for _ in range(len(graph))]
        after: list[list[tuple[int, bool]]] = [[] for _ in range(len(graph))]
        for (tail, head), early in zip(
            graph.edges.tolist(), graph.programmatic.tolist(), strict=True
        ):
            before[head].append((tail, early))
            after[tail].append((head, early))
        return cls(np.argsort(row, kind="stable").tolist(), before, after)


class WorkClass:
    """Work of one token that no node has for certain yet, with the nodes that may have done it.

    Attributes
    ----------
    nodes
        int64: nodes of the token that are not settled.
    work, keys
        int64: the work, and its lane and place as one number, ascending.
    lanes, base
        int64: lanes that any of it is in, and the number of each one's place 0.
    is_short
        Whether there is less work than nodes, so that some nodes have none.
    """

    def __init__(self, nodes: IntArray, work: IntArray, table: Timetable) -> None:
        self._step = int(table.lane_size.max(initial=0)) + 1
        keys = table.lane[work] * self._step + table.place[work]
        order = np.argsort(keys)
        self.nodes = nodes
        self.work, self.keys = work[order], keys[order]
        self.is_short = len(work) < len(nodes)
        self._find_lanes()

    def take(self, nodes: IntArray, work: IntArray) -> None:
        """Take out nodes and work that belong together."""
        self.nodes = self.nodes[~np.isin(self.nodes, nodes)]
        left = ~np.isin(self.work, work)
        self.work, self.keys = self.work[left], self.keys[left]
        self._find_lanes()

    def ranges(self, low: PlaceArray, high: PlaceArray) -> tuple[IntArray, IntArray]:
        """Return the work between bounds (..., lanes), as first index and past the last, by lane.

        Where there is none the second is not above the first.
        """
        first = np.searchsorted(self.keys, self.base + low[..., self.lanes])
        stop = np.searchsorted(self.keys, self.base + high[..., self.lanes], side="right")
        return first, stop

    def _find_lanes(self) -> None:
        self.lanes = distinct_values(self.keys // self._step)
        self.base = self.lanes * self._step


class Domains:
    """The work that each node can have done; single use.

    Parameters
    ----------
    graph
        Of which the nodes are.
    order
        Its order.
    work_token
        int64: of the recorded work.
    table
        Of that.

    Attributes
    ----------
    low, high
        int32, shape (nodes, lanes): first and last place that a node can have in each lane.
    settled
        int64, one a node: the work that it did without doubt; -1: not known, or none.
    impossible
        Nodes for which no work is left though there is enough of their token.
    classes
        By token: work that is not settled.
    """

    def __init__(
        self, graph: GraphWork, order: Order, work_token: IntArray, table: Timetable
    ) -> None:
        self._order = order
        self._table = table
        self._token: list[int] = graph.token.tolist()
        self._work_token: list[int] = work_token.tolist()
        nodes, lanes = len(graph), len(table.lane_size)
        self.low = np.zeros((nodes, lanes), np.int32)
        self.high = np.tile(table.lane_size.astype(np.int32) - 1, (nodes, 1))
        self.settled = np.full(nodes, -1, np.int64)
        self.impossible: set[int] = set()
        work_of, nodes_of = _grouped(work_token), _grouped(graph.token)
        self.classes = {
            token: WorkClass(nodes_of[token], work, table)
            for token, work in work_of.items()
            if token in nodes_of and token != NO_WORK
        }
        #: Whether the start of a node counts for any of its neighbours, in either direction.
        self._is_early = np.zeros((2, nodes), bool)
        for side in (0, 1):
            self._is_early[side][graph.edges[graph.programmatic, side]] = True

    def narrow(self) -> None:
        """Narrow the bounds until they stand, and settle nodes that have one place left."""
        for _ in range(_MOST_ROUNDS):
            changed = self._sweep(down=True) | self._sweep(down=False)
            settled = [self._settle(found) for found in self.classes.values()]
            is_open = any(len(found.nodes) for found in self.classes.values())
            if not is_open or not (changed or any(settled)):
                break

    def has_work(self, node: int) -> bool:
        """Return whether there is work of a node's token."""
        return self._token[node] in self.classes

    def is_short(self, node: int) -> bool:
        """Return whether there is less work of a node's token than nodes."""
        found = self.classes.get(self._token[node])
        return found is not None and found.is_short

    def token(self, node: int) -> int:
        """Return the token of a node."""
        return self._token[node]

    def token_of(self, work: int) -> int:
        """Return the token of a piece of work."""
        return self._work_token[work]

    def allows(self, node: int, work: int) -> bool:
        """Return whether a node can have done a piece of work of its token."""
        lane, place = self._table.lane.item(work), self._table.place.item(work)
        return self.low.item(node, lane) <= place <= self.high.item(node, lane)

    def last_work(self, node: int) -> IntArray | None:
        """Return the last work in each lane that a node can have done; None: none."""
        return self._ends(node, down=False)

    def candidates(self, node: int) -> IntArray:
        """Return the work that a node can have done and that nobody has for certain (int64)."""
        found = self.classes.get(self._token[node])
        if found is None or node in self.impossible:
            return np.zeros(0, np.int64)
        first, stop = found.ranges(self.low[node], self.high[node])
        parts = [found.work[a:b] for a, b in zip(first.tolist(), stop.tolist(), strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def _sweep(self, *, down: bool) -> bool:
        """Hand bounds on along the edges; return whether any became narrower."""
        order, table = self._order, self._table
        nodes = order.nodes if down else order.nodes[::-1]
        neighbours = order.before if down else order.after
        bound, extreme = (self.low, np.maximum) if down else (self.high, np.minimum)
        of_end, of_start = (
            (table.after, table.after_start) if down else (table.before, table.before_start)
        )
        was = bound.copy()
        allows, early_allows = bound.copy(), bound.copy()
        settled: list[int] = self.settled.tolist()
        is_early: list[bool] = self._is_early[0 if down else 1].tolist()
        for node in nodes:
            own = bound[node]
            for other, early in neighbours[node]:
                extreme(own, (early_allows if early else allows)[other], out=own)
            work = settled[node]
            if work >= 0:
                allows[node], early_allows[node] = of_end[work], of_start[work]
                continue
            ends = self._ends(node, down=down)
            allows[node] = own if ends is None else self._least(of_end, ends, node, down=down)
            early_allows[node] = own
            if is_early[node] and ends is not None:
                early_allows[node] = self._least(of_start, ends, node, down=down)
        return not np.array_equal(was, bound)

    def _ends(self, node: int, *, down: bool) -> IntArray | None:
        """Return the first, or last, work in each lane that a node can have done; None: none."""
        found = self.classes.get(self._token[node])
        if found is None or node in self.impossible:
            return None
        first, stop = found.ranges(self.low[node], self.high[node])
        fits = first < stop
        if not fits.any():
            if not found.is_short:
                self.impossible.add(node)
            return None
        chosen: IntArray = found.work[(first if down else stop - 1)[fits]]
        return chosen

    def _least(self, rows: PlaceArray, ends: IntArray, node: int, *, down: bool) -> PlaceArray:
        """Return the least that a node asks of its neighbours, of the work at its ends."""
        least: PlaceArray = rows[ends[0]]
        if len(ends) > 1:
            least = rows[ends].min(axis=0) if down else rows[ends].max(axis=0)
        if self.classes[self._token[node]].is_short:
            # It may be one that has no work: then it hands on what it waits for.
            least = (
                np.minimum(least, self.low[node]) if down else np.maximum(least, self.high[node])
            )
        return least

    def _settle(self, found: WorkClass) -> bool:
        """Settle the nodes of a token that have one place left; return whether there was one."""
        nodes = found.nodes[[n not in self.impossible for n in found.nodes.tolist()]]
        if not len(nodes) or not len(found.work):
            return False
        first, stop = found.ranges(self.low[nodes], self.high[nodes])
        size = np.maximum(stop - first, 0)
        has_one = size.sum(axis=1) == 1
        # How many nodes can have done each.
        steps = np.zeros(len(found.work) + 1, np.int64)
        some = size > 0
        np.add.at(steps, first[some], 1)
        np.add.at(steps, stop[some], -1)
        wanted = np.cumsum(steps)[:-1]
        lane = np.argmax(size[has_one], axis=1)
        at = first[has_one][np.arange(len(lane)), lane]
        chosen = nodes[has_one]
        if found.is_short:
            alone = wanted[at] == 1
            chosen, at = chosen[alone], at[alone]
        _, kept = np.unique(at, return_index=True)
        doubled = np.ones(len(at), bool)
        doubled[kept] = False
        # Two that both have but this one left cannot both be right.
        self.impossible.update(chosen[doubled].tolist())
        chosen, work = chosen[kept], found.work[at[kept]]
        if len(found.nodes) == len(found.work) and not len(self.impossible):
            extra = self._settle_wanted(found, wanted, nodes, first, stop, set(work.tolist()))
            chosen = np.concatenate((chosen, extra[0]))
            work = np.concatenate((work, extra[1]))
            chosen, once = np.unique(chosen, return_index=True)
            work = work[once]
        self.settled[chosen] = work
        found.take(chosen, work)
        return len(chosen) > 0

    def _settle_wanted(
        self,
        found: WorkClass,
        wanted: IntArray,
        nodes: IntArray,
        first: IntArray,
        stop: IntArray,
        taken: set[int],
    ) -> tuple[IntArray, IntArray]:
        """Return nodes that alone can have done a piece of work, and that work."""
        alone = [i for i in np.flatnonzero(wanted == 1).tolist() if found.work[i] not in taken]
        owners = [int(nodes[((first <= i) & (i < stop)).any(axis=1)][0]) for i in alone]
        return np.array(owners, np.int64), found.work[np.array(alone, np.int64)]


def _grouped(tokens: IntArray) -> dict[int, IntArray]:
    """Return the indices of each token."""
    order = np.argsort(tokens, kind="stable")
    names, first = np.unique(tokens[order], return_index=True)
    parts = np.split(order, first[1:]) if len(order) else []
    return dict(zip(names.tolist(), parts, strict=True))
