"""Are a launch's times possible? A node cannot start before one it depends on has ended."""

from __future__ import annotations

import numpy as np

from gviz.stats import IntArray

#: Clock readings of different hardware queues differ by less than this: between dependent nodes
#: on an H100 up to 160 ns were seen in 1.4 million pairs of graphs of up to 2,500 nodes, and up to
#: 2.3 µs in 8 of 150,000 pairs of a chain of 50,000.
TOLERANCE_NS = 5_000


def impossible_launches(
    edges: IntArray,
    launch_id: IntArray,
    node_id: IntArray,
    iteration: IntArray,
    start_ns: IntArray,
    duration_ns: IntArray,
) -> IntArray:
    """Return the launches in which a node starts before a dependency's end (int64, ascending).

    Programmatic dependencies allow that, and are left out; so are nodes that ran several
    times in one launch.

    Parameters
    ----------
    edges
        Of the top level of the graph: (from, to, type, ...), int64.
    launch_id, node_id, iteration, start_ns, duration_ns
        Its spans, int64 arrays of one length, ordered by launch and node.
    """
    full = edges[edges[:, 2] == 0]
    if len(full) == 0 or len(launch_id) == 0:
        return np.zeros(0, np.int64)
    launches, row = _numbered(launch_id)
    size = int(max(full[:, :2].max(), node_id.max())) + 1
    once = np.bincount(row * size + node_id, minlength=len(launches) * size) == 1
    once = once.reshape(len(launches), size)
    start = np.zeros((len(launches), size), np.int64)
    end = np.zeros_like(start)
    first = iteration == 0
    start[row[first], node_id[first]] = start_ns[first]
    end[row[first], node_id[first]] = start_ns[first] + duration_ns[first]
    before, after = full[:, 0], full[:, 1]
    early = end[:, before] - start[:, after] > TOLERANCE_NS
    early &= once[:, before] & once[:, after]
    return launches[early.any(axis=1)]


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
    """Whether the last launch of one executable lacks a node that all before it have."""
    before = int(np.searchsorted(launch_id, launch_id[-1]))
    if not before:
        return False
    launch = np.cumsum(np.diff(launch_id[:before], prepend=launch_id[0]) != 0)
    # One number a launch and node, of 32 bits each, which sorts faster than pairs do.
    pairs = np.sort(launch << 32 | node_id[:before])
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]
    nodes, counts = np.unique(pairs & 0xFFFFFFFF, return_counts=True)
    always = nodes[counts == launch[-1] + 1]
    return not np.isin(always, node_id[before:]).all()
