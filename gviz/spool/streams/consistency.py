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


def cut_launches(
    exec_of: IntArray, window_of: IntArray, launch_id: IntArray, node_id: IntArray
) -> IntArray:
    """Return the launches that the end of a window of CUPTI cut short (int64, ascending).

    Node times arrive node by node, so of the work in flight when CUPTI is switched off a part
    may have arrived: a launch has less than it is made of, and no sum of it means anything.
    Only the last launch of an executable in a window can be one, and it lacks nodes that all its
    launches before had.

    Parameters
    ----------
    exec_of
        The executable of every launch id (index), or -1 where nodes may rightly be missing:
        some were disabled, or the graph has conditional nodes.
    window_of
        The number of the window that every launch was made in, or before; ascending.
    launch_id, node_id
        Spans of all launches, int64 arrays of one length, ordered by launch.
    """
    owner = exec_of[launch_id]
    # One sort, not a pass over all spans an executable: there may be thousands.
    order = np.argsort(owner, kind="stable")
    execs, first = np.unique(owner[order], return_index=True)
    found = [
        launch
        for graph_exec, mine in zip(execs.tolist(), np.split(order, first[1:]), strict=False)
        if graph_exec >= 0
        for launch in _lacking_nodes(window_of, launch_id[mine], node_id[mine])
    ]
    return np.array(sorted(found), np.int64)


def _lacking_nodes(window_of: IntArray, launch_id: IntArray, node_id: IntArray) -> list[int]:
    """Return the launches of one executable that end a window and lack what all before have."""
    launches, row = _numbered(launch_id)
    # One number a launch and node, of 32 bits each, which sorts faster than pairs do.
    pairs = row << 32 | node_id
    if not is_ascending((pairs,)):
        pairs.sort()
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]
    sizes = np.bincount(pairs >> 32)
    if (sizes[1:] >= sizes[:-1]).all():
        return []  # none has fewer nodes than one before it
    ends_window = np.diff(window_of[launches], append=-1) != 0
    nodes, place = group_rows(pairs & 0xFFFFFFFF)
    times_seen, whole, found = np.zeros(len(nodes), np.int64), 0, []
    for at, mine in enumerate(np.split(place, np.cumsum(sizes)[:-1])):
        always = times_seen == whole
        lacks = np.count_nonzero(always) > np.count_nonzero(always[mine])
        # What has nodes that none had before is of another slice, not cut.
        if whole and ends_window[at] and lacks and (times_seen[mine] > 0).all():
            found.append(int(launches[at]))
        else:
            times_seen[mine] += 1
            whole += 1
    return found
