"""NVTX ranges of nodes that a capture got from threads which had none open.

PyTorch's autograd makes the nodes of a backward pass on a thread of its own, while the thread that
captures waits for it inside the program's range. Such nodes have the range that was open on the
capturing thread when they were made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gviz.model.open_ranges import OpenRanges
from gviz.recording import rows
from gviz.stats import UNKNOWN, BoolArray, IntArray

if TYPE_CHECKING:
    from gviz.recording import Columns, Recording

_CREATION = ("created_ns", "created_thread_id")


def capture_ranges(
    recording: Recording, outermost: rows.Graph, graph_ids: IntArray, path_id: IntArray
) -> IntArray:
    """Return the path that was open on the capturing thread for nodes that have none of their own.

    Parameters
    ----------
    outermost
        The graph that was captured.
    graph_ids
        Its levels, in the order of the nodes.
    path_id
        ``nvtx_path_id`` of each node; UNKNOWN: it has none.

    Returns
    -------
    IntArray
        One a node; UNKNOWN where it has a range, was made by the capturing thread itself or
        outside the capture, or where no range was open there.
    """
    found = np.full(len(path_id), UNKNOWN, np.int64)
    thread = outermost.capture_thread_id
    lacking = path_id == UNKNOWN
    if thread is None or not lacking.any():
        return found
    own_thread = {"run_id": outermost.run_id, "thread_id": thread}
    names = ("nvtx_path_id", "start_ns", "end_ns")
    ranges = recording.fetch_arrays(rows.NvtxRange, own_thread, names)
    if not len(ranges):
        return found
    created_ns, created_by = _creation(recording, graph_ids)
    lacking &= (created_ns != UNKNOWN) & (created_by != UNKNOWN) & (created_by != thread)
    lacking &= _during(outermost, created_ns)
    never = np.iinfo(np.int64).max  # of a range that was still open at the end
    threads = np.full(len(ranges), thread, np.int64)
    open_ranges = OpenRanges(threads, ranges.integers("start_ns"), ranges.integers("end_ns", never))
    at = np.flatnonzero(lacking)
    innermost = open_ranges.innermost(np.full(len(at), thread, np.int64), created_ns[at])
    paths = ranges.integers("nvtx_path_id")
    found[at] = np.where(innermost >= 0, paths[innermost], UNKNOWN)
    return found


def _creation(recording: Recording, graph_ids: IntArray) -> tuple[IntArray, IntArray]:
    """Return when and on which thread each node was made; UNKNOWN where that is not recorded."""
    levels: list[Columns] = [
        recording.fetch_arrays(rows.Node, {"graph_id": graph_id}, _CREATION)
        for graph_id in graph_ids.tolist()
    ]
    made = [np.concatenate([x.integers(name, UNKNOWN) for x in levels]) for name in _CREATION]
    return made[0], made[1]


def _during(graph: rows.Graph, time_ns: IntArray) -> BoolArray:
    """Return which moments lie within the graph's capture."""
    start, end = graph.capture_start_ns, graph.capture_end_ns
    if start is None or end is None:
        return np.zeros(len(time_ns), bool)
    inside: BoolArray = (start <= time_ns) & (time_ns <= end)
    return inside
