"""The structural critical path of a graph, and the slack of every node.

The longest path through the DAG weighted with durations: what a launch would take if nothing but
the dependencies held a node back (no queue, no launch gap, enough multiprocessors). It is a lower
bound, not what happened in a launch.

References
----------
Kelley and Walker (1959), Critical-path planning and scheduling: earliest and latest times by one
pass forward and one back; slack (total float) is their difference.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.cuda import EdgeType
from gviz.dag.ranks import rank_rows
from gviz.dataclass import dataclass
from gviz.stats import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The longest path and how far every node is from being on one.

    Attributes
    ----------
    length_ns
        Sum of the durations on the path, where a programmatic edge adds nothing of its source.
    start_ns
        float64, one a node: earliest start, from 0.
    slack_ns
        float64, one a node: how much later it could finish without making the path longer. 0 on
        every longest path.
    nodes
        int64: the nodes of one longest path, in order. Of equal ones, that of the lowest indices.
    """

    length_ns: float
    start_ns: FloatArray
    slack_ns: FloatArray
    nodes: IntArray


def structural_path(
    node_count: int,
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    edge_type: npt.ArrayLike,
    duration_ns: npt.ArrayLike,
    row: IntArray | None = None,
) -> CriticalPath:
    """Return the structural critical path.

    Parameters
    ----------
    node_count
        Number of nodes.
    source, target
        Indices of the dependency and the dependent of each edge.
    edge_type
        CUgraphDependencyType of each edge. A programmatic edge lets the dependent start once its
        dependency has started: when in between is not known, so the bound takes the earliest.
    duration_ns
        One a node; NaN (not timed) counts as 0.
    row
        :func:`gviz.dag.ranks.rank_rows` of the edges, where they are known.

    Raises
    ------
    RecordingError
        If the edges form a cycle.
    """
    return longest_path(*_constraints(node_count, source, target, edge_type, duration_ns, row))


def structural_length_ns(
    node_count: int,
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    edge_type: npt.ArrayLike,
    duration_ns: npt.ArrayLike,
    row: IntArray | None = None,
) -> float:
    """Return the length of :func:`structural_path` alone, for half the work."""
    row, tail, head, lag, weight = _constraints(
        node_count, source, target, edge_type, duration_ns, row
    )
    order = np.argsort(row[head], kind="stable")
    start = earliest_starts(node_count, tail[order], head[order], lag[order])
    return float((start + weight).max(initial=0.0))


def _constraints(
    node_count: int,
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    edge_type: npt.ArrayLike,
    duration_ns: npt.ArrayLike,
    row: IntArray | None,
) -> tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray]:
    """Return the arguments of :func:`longest_path`."""
    tail = np.asarray(source, np.int64).reshape(-1)
    head = np.asarray(target, np.int64).reshape(-1)
    weight = np.nan_to_num(np.asarray(duration_ns, np.float64).reshape(-1))
    programmatic = np.asarray(edge_type).reshape(-1) == EdgeType.PROGRAMMATIC
    lag = np.where(programmatic, 0.0, weight[tail])
    return rank_rows(node_count, tail, head) if row is None else row, tail, head, lag, weight


def longest_path(
    row: IntArray, tail: IntArray, head: IntArray, lag_ns: FloatArray, weight_ns: FloatArray
) -> CriticalPath:
    """Return the longest path through constraints between starts.

    Parameters
    ----------
    row
        int64, one a node: every constraint leads to a greater one.
    tail, head
        int64 node indices, one a constraint.
    lag_ns
        One a constraint: from the tail's start to the earliest start of the head.
    weight_ns
        One a node: from its start to where the path may end.
    """
    start, before = _forward(row, tail, head, lag_ns)
    length = float((start + weight_ns).max(initial=0.0))
    backward = np.argsort(-row[tail], kind="stable")
    latest = _latest(length - weight_ns, tail[backward], head[backward], lag_ns[backward])
    return CriticalPath(
        length_ns=length,
        start_ns=start,
        slack_ns=np.maximum(latest - start, 0.0),
        nodes=_walk_back(start + weight_ns, before),
    )


def earliest_starts(
    node_count: int, tail: IntArray, head: IntArray, lag_ns: FloatArray
) -> FloatArray:
    """Return each node's earliest start.

    Constraints are those of :func:`longest_path`, by ascending row of the head.
    """
    start = [0.0] * node_count
    # Lists: a loop over arrays takes five times as long.
    for a, b, gap in zip(tail.tolist(), head.tolist(), lag_ns.tolist(), strict=True):
        ready = start[a] + gap
        if ready > start[b]:
            start[b] = ready
    return np.array(start, np.float64)


def _forward(
    row: IntArray, tail: IntArray, head: IntArray, lag_ns: FloatArray
) -> tuple[FloatArray, list[int]]:
    """Return each node's earliest start and the dependency that sets it (-1: none)."""
    start, before = [0.0] * len(row), [-1] * len(row)
    order = np.argsort(row[head], kind="stable")
    columns = (tail[order], head[order], lag_ns[order])
    for a, b, gap in zip(*(column.tolist() for column in columns), strict=True):
        ready = start[a] + gap
        if ready > start[b]:
            start[b], before[b] = ready, a
        elif before[b] < 0:
            before[b] = a
    return np.array(start, np.float64), before


def _latest(free: FloatArray, tail: IntArray, head: IntArray, lag_ns: FloatArray) -> FloatArray:
    """Return each node's latest start; ``free``: where no dependent holds it."""
    latest: list[float] = free.tolist()
    for a, b, gap in zip(tail.tolist(), head.tolist(), lag_ns.tolist(), strict=True):
        bound = latest[b] - gap
        if bound < latest[a]:
            latest[a] = bound
    return np.array(latest, np.float64)


def _walk_back(finish: FloatArray, before: list[int]) -> IntArray:
    if not len(finish):
        return np.zeros(0, np.int64)
    path = [int(np.argmax(finish))]
    while before[path[-1]] >= 0:
        path.append(before[path[-1]])
    return np.array(path[::-1], np.int64)
