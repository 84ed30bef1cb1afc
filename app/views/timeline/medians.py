"""The graph side of the timeline as the median over many launches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gviz.app.views.timeline.idle_time import idle_time
from gviz.app.views.timeline.timeline_side import lane_arrays, timed_launches
from gviz.app.views.wire import Arrays, Strings
from gviz.model import GraphLevel, GraphTree, read_spans_in_parts
from gviz.recording import rows
from gviz.stats import MedianLaunch, join_medians, median_launch

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
    tree = level.tree
    launches = timed_launches(recording, tree)
    if not launches:
        return None, {}
    found = _median_of_all(recording, tree, launches)
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


def _median_of_all(
    recording: Recording, tree: GraphTree, launches: Sequence[rows.Launch]
) -> MedianLaunch:
    """Return the median launch of what belongs to a tree, some of its nodes at a time."""
    parts = 1 + sum(x.span_count for x in launches) // _SPANS_AT_ONCE
    return join_medians(
        [
            median_launch(spans.node, spans.iteration, spans.start_ns, spans.duration_ns)
            for spans in read_spans_in_parts(recording, tree, parts)
        ]
    )
