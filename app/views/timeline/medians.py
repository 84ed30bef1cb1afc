"""The graph side of the timeline as the median over many launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gviz.app.views.timeline.idle_time import idle_time
from gviz.app.views.timeline.timeline_side import lane_arrays, timed_launches
from gviz.app.views.wire import Arrays, Strings
from gviz.dag import earliest_times
from gviz.model import GraphLevel, read_spans_in_parts
from gviz.recording import rows
from gviz.stats import IntArray, MedianLaunch, join_medians, median_launch

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Spans of which medians are taken at a time: some 40 MB.
_SPANS_AT_ONCE = 1 << 18


def median_side(
    recording: Recording,
    level: GraphLevel,
    strings: Strings,
    slots: npt.NDArray[np.uint8] | None = None,
) -> tuple[dict[str, Any] | None, Arrays]:
    """Return header and arrays of the median launch, from its first node's start."""
    launches = timed_launches(recording, level.tree)
    if not launches:
        return None, {}
    found = read_median_launch(recording, level, launches)
    start, duration = found.start_ns, found.duration_ns
    lanes, arrays = lane_arrays(level, found.node_id, start, duration, strings, slots)
    arrays |= {
        "graph_iteration": found.iteration.astype(np.uint32),
        "graph_count": found.count.astype(np.uint32),
    }
    header = {
        "mode": "median",
        "launch_count": len(launches),
        "zero": "first node",
        "call_ns": None,
        "queued_ns": 0,
        "lanes": lanes,
        "count": len(start),
        "total_ns": float((start + duration).max(initial=0.0)),
        "event_duration_ns": None,
    }
    is_by_copy = any(launch.is_by_copy for launch in launches)
    idle, gaps = idle_time("graph", start, start + duration, is_by_copy=is_by_copy)
    return header | idle, arrays | gaps


def read_median_launch(
    recording: Recording, level: GraphLevel, launches: Sequence[rows.Launch]
) -> MedianLaunch:
    """Return the median launch of what belongs to a level's tree, some of its nodes at a time.

    Where each launch is a copy that times a slice of the nodes, slices follow one another as
    edges have it (derived): :func:`_one_after_another`.
    """
    tree = level.tree
    parts = 1 + sum(x.span_count for x in launches) // _SPANS_AT_ONCE
    first = np.full(len(tree), np.iinfo(np.int64).max)
    found = []
    for spans in read_spans_in_parts(recording, tree, parts):
        np.minimum.at(first, spans.node, spans.launch_id)
        found.append(median_launch(spans.node, spans.iteration, spans.start_ns, spans.duration_ns))
    whole = join_medians(found)
    is_sliced = launches[0].is_by_copy and whole.count.max(initial=0) < len(launches)
    return _one_after_another(level, whole, first[whole.node_id]) if is_sliced else whole


def _one_after_another(level: GraphLevel, found: MedianLaunch, slice_id: IntArray) -> MedianLaunch:
    """Return a median launch whose slices start once what their nodes wait for has ended.

    The events of a slice make its nodes last longer than in launches that time another slice,
    where what runs behind them therefore starts earlier.

    Parameters
    ----------
    slice_id
        The first launch that each node was timed in, which those of a slice have in common.
    """
    top = level.tree.top[found.node_id]
    start, end = found.start_ns.copy(), np.full(len(level.nodes), np.nan)
    names, first = np.unique(slice_id, return_index=True)  # the nodes are in order of start
    for name in names[np.argsort(first)].tolist():
        own = np.flatnonzero((slice_id == name) & (top >= 0))
        until, _ = earliest_times(end, end, level.row, level.edge_from, level.edge_to)
        start[own] += (until[top[own]] - start[own]).max(initial=0.0)
        np.fmax.at(end, top[own], start[own] + found.duration_ns[own])
    return join_medians([replace(found, start_ns=start)])
