"""Times at which nodes without one can have run, from the times of those around them.

CUPTI has no record for alloc, free, empty and event nodes. Such a node runs after the last node
that it waits for has ended, and before the first that waits for it starts. Both bounds are derived;
where a thing must stand somewhere, it stands at the earlier.
"""

from __future__ import annotations

import numpy as np

from gviz.stats import FloatArray, IntArray


def earliest_times(
    start_ns: FloatArray,
    end_ns: FloatArray,
    row: IntArray,
    source: IntArray,
    target: IntArray,
    floor_ns: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Return start and end of all nodes, those without a time where their dependencies had ended.

    Parameters
    ----------
    start_ns, end_ns
        float64, one a node; NaN: no time. The launch starts at 0.
    row
        int64: :func:`gviz.dag.ranks.rank_rows`.
    source, target
        int64 node indices: the edges.
    floor_ns
        Where nodes without a time stand that wait for nothing: in a body, the start around it.
    """
    start, end = start_ns.copy(), end_ns.copy()
    missing = np.isnan(start)
    if not missing.any():
        return start, end
    order = np.argsort(row[target], kind="stable")
    start[missing] = end[missing] = floor_ns
    starts, ends, lacks = start.tolist(), end.tolist(), missing.tolist()
    for a, b in zip(source[order].tolist(), target[order].tolist(), strict=True):
        if lacks[b] and ends[a] > ends[b]:
            starts[b] = ends[b] = ends[a]
    return np.array(starts), np.array(ends)


def latest_times(
    start_ns: FloatArray, row: IntArray, source: IntArray, target: IntArray
) -> FloatArray:
    """Return when each node started, or of one without a time when the first that waits started.

    float64; NaN where nothing with a time waits for it. Parameters as of :func:`earliest_times`.
    """
    order = np.argsort(-row[source], kind="stable")
    latest = np.where(np.isnan(start_ns), np.inf, start_ns).tolist()
    lacks = np.isnan(start_ns).tolist()
    for a, b in zip(source[order].tolist(), target[order].tolist(), strict=True):
        if lacks[a] and latest[b] < latest[a]:
            latest[a] = latest[b]
    found = np.array(latest, np.float64)
    return np.where(np.isinf(found), np.nan, found)
