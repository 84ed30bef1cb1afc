"""Dependencies that recorded times contradict: a node started before one it waits for had ended.

Such times are not those of these nodes, or the clock was not one: nothing that rests on the order
of nodes can be computed from them.
"""

from __future__ import annotations

import numpy as np

from gviz.dag.ranks import reachable_rows
from gviz.dataclass import dataclass
from gviz.stats import BoolArray, IntArray

#: Clock readings of different hardware queues differ by less than this: between dependent nodes
#: on an H100 up to 160 ns were seen in 1.4 million pairs of graphs of up to 2,500 nodes, and up to
#: 2.3 µs in 8 of 150,000 pairs of a chain of 50,000.
TOLERANCE_NS = 5_000
#: Pairs of a launch and an edge that are compared at once: three arrays of 2 MiB stay in the
#: processor's cache, which is twice as fast as eight times that.
_PAIRS_AT_ONCE = 1 << 18
#: Stands for a node before which nothing with a time ran.
_NEVER = np.iinfo(np.int64).min // 2


@dataclass(frozen=True, slots=True)
class Contradictions:
    """Dependencies that launches contradict, by launch and by edge (derived).

    Attributes
    ----------
    count, worst_ns
        int64, one a launch: contradicted dependencies, and by how much the worst of them is; 0
        where there is none.
    edge_count, edge_worst_ns
        int64, one an edge: launches that contradict it, and by how much the worst does.
    """

    count: IntArray
    worst_ns: IntArray
    edge_count: IntArray
    edge_worst_ns: IntArray

    @property
    def total(self) -> int:
        """Contradicted dependencies of all launches together."""
        return int(self.count.sum())

    @property
    def worst(self) -> int:
        """By how much the worst of all is, in nanoseconds; 0 where there is none."""
        return int(self.worst_ns.max(initial=0))


def contradictions(
    start_ns: IntArray,
    end_ns: IntArray,
    edges: IntArray,
    *,
    timed: BoolArray | None = None,
    programmatic: BoolArray | None = None,
    tolerance_ns: int = TOLERANCE_NS,
) -> Contradictions:
    """Return the dependencies that times contradict by more than the tolerance.

    A node without a time in any launch hands on what it waits for: two nodes with one between them
    are compared as if they depended on each other. One that lacks its time in this launch alone is
    compared with nothing.

    Parameters
    ----------
    start_ns, end_ns
        int64, shape (launches, nodes).
    edges
        int64, shape (n, 2): node indices of the dependency and the dependent.
    timed
        bool, shape (launches, nodes): which nodes have a time in which launch; None: all.
    programmatic
        bool, one an edge: the dependent may start as soon as the dependency has started. None: no
        edge is.
    tolerance_ns
        By how much clock readings may differ.
    """
    launches, edge_count = len(start_ns), len(edges)
    count, worst = (np.zeros(launches, np.int64) for _ in range(2))
    of_edge, edge_worst = (np.zeros(edge_count, np.int64) for _ in range(2))
    if programmatic is None:
        programmatic = np.zeros(edge_count, bool)
    untimed = None if timed is None or timed.all() else _Untimed.of(timed, edges)
    step = max(1, _PAIRS_AT_ONCE // max(edge_count, start_ns.shape[1], 1))
    for at in range(0, launches, step) if edge_count else ():
        part = slice(at, at + step)
        start, end = start_ns[part], end_ns[part]
        if timed is not None and untimed is not None:
            start = np.where(timed[part], start, _NEVER)
            end = np.where(timed[part], end, _NEVER)
            start, end = untimed.reached(start, end, edges, programmatic)
        tail, head = edges.T
        early = np.where(programmatic, start[:, tail], end[:, tail]) - start[:, head]
        is_early = early > tolerance_ns
        if timed is not None:
            is_early &= timed[part][:, head]
        early *= is_early
        count[part], worst[part] = is_early.sum(axis=1), early.max(axis=1)
        of_edge += is_early.sum(axis=0)
        np.maximum(edge_worst, early.max(axis=0), out=edge_worst)
    return Contradictions(count, worst, of_edge, edge_worst)


def time_table(
    row: IntArray, node: IntArray, start_ns: IntArray, end_ns: IntArray, shape: tuple[int, int]
) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the times of executions as start, end and whether there is one, by launch and node.

    A node that ran several times in a launch has no time there: which of its executions another
    node waited for is not known.

    Parameters
    ----------
    row, node
        int64: launch (by its place) and node (by its index) of each execution.
    start_ns, end_ns
        int64, likewise.
    shape
        Number of launches and of nodes.
    """
    start, end = (np.zeros(shape, np.int64) for _ in range(2))
    start[row, node], end[row, node] = start_ns, end_ns
    ran = np.bincount(row * shape[1] + node, minlength=shape[0] * shape[1])
    return start, end, ran.reshape(shape) == 1


@dataclass(frozen=True, slots=True)
class _Untimed:
    """The edges into nodes without a time in any launch, in rounds: each after those into its tail.

    Attributes
    ----------
    rounds
        int64 indices of edges, those of one dependent together.
    nodes
        int64: the nodes.
    """

    rounds: list[IntArray]
    nodes: IntArray

    @classmethod
    def of(cls, timed: BoolArray, edges: IntArray) -> _Untimed:
        lacks: BoolArray = np.logical_not(timed.any(axis=0))
        into = np.flatnonzero(lacks[edges[:, 1]])
        row = reachable_rows(len(lacks), *edges[into[lacks[edges[into, 0]]]].T)
        # What a cycle holds back has no row: it hands nothing on.
        into = into[row[edges[into, 1]] >= 0]
        into = into[np.lexsort((edges[into, 1], row[edges[into, 1]]))]
        cuts = np.flatnonzero(np.diff(row[edges[into, 1]])) + 1
        return cls(np.split(into, cuts) if len(into) else [], np.flatnonzero(lacks))

    def reached(
        self, start: IntArray, end: IntArray, edges: IntArray, programmatic: BoolArray
    ) -> tuple[IntArray, IntArray]:
        """Return times in which these nodes start and end when all they wait for had ended."""
        start, end = start.copy(), end.copy()
        start[:, self.nodes] = end[:, self.nodes] = _NEVER
        for chosen in self.rounds:
            tail, head = edges[chosen].T
            passed = np.where(programmatic[chosen], start[:, tail], end[:, tail])
            heads, first = np.unique(head, return_index=True)
            start[:, heads] = end[:, heads] = np.maximum.reduceat(passed, first, axis=1)
        return start, end
