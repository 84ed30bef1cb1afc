"""Rows of a graph: the longest path from a root to each node, and cuts between rows."""

from __future__ import annotations

import numpy as np

from gviz.dag.cycle import describe_cycle, find_cycle
from gviz.errors import CycleError
from gviz.stats import IntArray

#: How far a cut may move from equal heights, as a share of a column, to tear fewer edges.
CUT_REACH = 0.3


def rank_rows(node_count: int, source: IntArray, target: IntArray) -> IntArray:
    """Return each node's row: the length in edges of the longest path that ends in it.

    Parameters
    ----------
    node_count
        Number of nodes.
    source, target
        int64 indices of the dependency and the dependent of each edge.

    Raises
    ------
    CycleError
        If the edges form a cycle.
    """
    row = reachable_rows(node_count, source, target)
    if (row < 0).any():
        cycle = find_cycle(node_count, zip(source.tolist(), target.tolist(), strict=True))
        cycle_text = describe_cycle([str(index) for index in cycle])
        raise CycleError(
            cycle,
            f"nodes depend on each other in a cycle, by index {cycle_text}; no CUDA graph "
            "can have one: the recording is damaged, record it again",
        )
    return row


def reachable_rows(node_count: int, source: IntArray, target: IntArray) -> IntArray:
    """Return each node's row as :func:`rank_rows` does; -1 of those that a cycle holds back."""
    waiting = np.bincount(target, minlength=node_count).tolist()
    first, dependents = neighbours_of(node_count, source, target)
    row = [0] * node_count
    ready = [n for n in range(node_count) if not waiting[n]]
    # `ready` grows while it is walked: a queue without the cost of popping its head.
    for node in ready:
        below = row[node] + 1
        for dependent in dependents[first[node] : first[node + 1]]:
            if row[dependent] < below:
                row[dependent] = below
            waiting[dependent] -= 1
            if not waiting[dependent]:
                ready.append(dependent)
    found = np.array(row, np.int64)
    if len(ready) != node_count:
        found[np.array(waiting) > 0] = -1
    return found


def neighbours_of(
    node_count: int, source: IntArray, target: IntArray
) -> tuple[list[int], list[int]]:
    """Return the dependents of all nodes, node by node, in the order of the edges.

    Those of node n are ``dependents[first[n] : first[n + 1]]`` of what is returned, ``first`` and
    ``dependents``: made in a third of the time that a list for each node takes.
    """
    first = np.append(0, np.cumsum(np.bincount(source, minlength=node_count)))
    return first.tolist(), target[np.argsort(source, kind="stable")].tolist()


def dependents_of(node_count: int, source: IntArray, target: IntArray) -> list[list[int]]:
    """Return the dependents of each node, in the order of the edges."""
    found: list[list[int]] = [[] for _ in range(node_count)]
    for a, b in zip(source.tolist(), target.tolist(), strict=True):
        found[a].append(b)
    return found


def count_crossing_edges(row_count: int, top: IntArray, bottom: IntArray) -> IntArray:
    """Return for each row r how many edges lead from above r to r or below (int64)."""
    steps = np.zeros(row_count + 1, np.int64)
    np.add.at(steps, top + 1, 1)
    np.add.at(steps, bottom + 1, -1)
    return np.cumsum(steps)[:row_count]


def cut_rows(crossing: IntArray, columns: int) -> IntArray:
    """Return the first row of each column: near equal heights, where few edges are cut.

    Parameters
    ----------
    crossing
        Edges that lead across the upper side of each row.
    columns
        How many columns, at most the number of rows.

    Returns
    -------
    numpy.ndarray
        Strictly increasing int64, starting with 0.
    """
    rows = len(crossing)
    reach = max(0, int(CUT_REACH * rows / columns))
    starts = [0]
    for column in range(1, columns):
        aim = round(column * rows / columns)
        low, high = max(starts[-1] + 1, aim - reach), min(rows - 1, aim + reach)
        if low > high:
            continue
        candidates = np.arange(low, high + 1)
        cost = crossing[low : high + 1] + np.abs(candidates - aim) / (reach + 1)
        starts.append(int(candidates[int(np.argmin(cost))]))
    return np.array(starts, np.int64)
