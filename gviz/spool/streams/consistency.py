"""Launches whose times are not possible, or not complete."""

from __future__ import annotations

import numpy as np

from gviz.cuda import EdgeType
from gviz.dag import contradictions, time_table
from gviz.stats import IntArray, group_rows, is_ascending


def impossible_launches(
    edges: IntArray,
    launch_id: IntArray,
    node_id: IntArray,
    start_ns: IntArray,
    duration_ns: IntArray,
) -> IntArray:
    """Return the launches whose times contradict a dependency (int64, ascending).

    Nodes that ran several times in one launch are left out.

    Parameters
    ----------
    edges
        Of the top level of the graph: (from, to, type, ...), int64.
    launch_id, node_id, start_ns, duration_ns
        Its spans, int64 arrays of one length, ordered by launch and node.
    """
    if len(edges) == 0 or len(launch_id) == 0:
        return np.zeros(0, np.int64)
    launches, row = _numbered(launch_id)
    size = int(max(edges[:, :2].max(), node_id.max())) + 1
    start, end, timed = time_table(
        row, node_id, start_ns, start_ns + duration_ns, (len(launches), size)
    )
    found = contradictions(
        start, end, edges[:, :2], timed=timed, programmatic=edges[:, 2] == EdgeType.PROGRAMMATIC
    )
    return launches[found.count > 0]


def _numbered(launch_id: IntArray) -> tuple[IntArray, IntArray]:
    """Return the launches, ascending, and the place of each span's among them."""
    new = np.diff(launch_id, prepend=launch_id[0] - 1)
    if (new < 0).any():
        launches, row = np.unique(launch_id, return_inverse=True)
        return launches, row.astype(np.int64)
    return launch_id[new > 0], np.cumsum(new > 0) - 1


def cut_launches(exec_of: IntArray, launch_id: IntArray, node_id: IntArray) -> IntArray:
    """Return the launches that the end of the recording cut short (int64, ascending).

    Node times arrive node by node, so of the work in flight when CUPTI is switched off a part
    may have arrived: a launch has less than it is made of, and no sum of it means anything.
    Only the last launch of an executable can be one, and it lacks nodes that all its launches
    before had.

    Parameters
    ----------
    exec_of
        The executable of every launch id (index), or -1 where nodes may rightly be missing:
        some were disabled, or the graph has conditional nodes.
    launch_id, node_id
        Spans of all launches, int64 arrays of one length, ordered by launch.
    """
    owner = exec_of[launch_id]
    # One sort, not a pass over all spans an executable: there may be thousands.
    order = np.argsort(owner, kind="stable")
    execs, first = np.unique(owner[order], return_index=True)
    found = [
        int(launch_id[mine[-1]])
        for graph_exec, mine in zip(execs.tolist(), np.split(order, first[1:]), strict=False)
        if graph_exec >= 0 and _last_lacks_nodes(launch_id[mine], node_id[mine])
    ]
    return np.array(sorted(found), np.int64)


def _last_lacks_nodes(launch_id: IntArray, node_id: IntArray) -> bool:
    """Return whether the last launch of one executable lacks a node that all before it have."""
    before = int(np.searchsorted(launch_id, launch_id[-1]))
    if not before:
        return False
    launch = np.cumsum(np.diff(launch_id[:before], prepend=launch_id[0]) != 0)
    # One number a launch and node, of 32 bits each, which sorts faster than pairs do.
    pairs = launch << 32 | node_id[:before]
    if not is_ascending((pairs,)):
        pairs.sort()
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]
    nodes, group = group_rows(pairs & 0xFFFFFFFF)
    always = nodes[np.bincount(group) == launch[-1] + 1]
    return not np.isin(always, node_id[before:]).all()
