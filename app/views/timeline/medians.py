"""The graph side of the timeline as the median over many launches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gviz.app.views.timeline.idle_time import idle_time
from gviz.app.views.timeline.timeline_side import lane_arrays, timed_launches
from gviz.app.views.wire import Arrays, Strings
from gviz.model import GraphLevel, GraphTree
from gviz.recording import rows
from gviz.stats import MedianLaunch, join_medians, median_launch

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Spans of which medians are taken at a time: some 40 MB.
_SPANS_AT_ONCE = 1 << 18


def median_side(
    recording: Recording, level: GraphLevel, strings: Strings
) -> tuple[dict[str, Any] | None, Arrays]:
    """Return header and arrays of the median launch, from its first node's start."""
    tree = level.tree
    launches = timed_launches(recording, tree)
    if not launches:
        return None, {}
    found = _median_of_all(recording, tree, launches)
    node = tree.owners(found.node_id)
    keep = np.flatnonzero(node >= 0)
    start, duration = found.start_ns[keep], found.duration_ns[keep]
    lanes, arrays = lane_arrays(level, node[keep], start, duration, strings)
    arrays |= {
        "graph_iteration": found.iteration[keep].astype(np.uint32),
        "graph_count": found.count[keep].astype(np.uint32),
    }
    header = {
        "mode": "median",
        "launch_count": len(launches),
        "zero": "first node",
        "call_ns": None,
        "queued_ns": 0,
        "lanes": lanes,
        "count": len(keep),
        "total_ns": float((start + duration).max(initial=0.0)),
        "event_duration_ns": None,
    }
    idle, gaps = idle_time("graph", start, start + duration)
    return header | idle, arrays | gaps


def _median_of_all(
    recording: Recording, tree: GraphTree, launches: Sequence[rows.Launch]
) -> MedianLaunch:
    """Return the median launch of what belongs to a tree, some of its nodes at a time."""
    parts = 1 + sum(x.span_count for x in launches) // _SPANS_AT_ONCE
    found = []
    for ids in np.array_split(tree.exec_node_ids, parts):
        if len(ids):
            some = range(int(ids[0]), int(ids[-1]) + 1)
            spans = recording.fetch_graph_spans(tree.outermost.graph_id, some)
            found.append(
                median_launch(spans.node_id, spans.iteration, spans.start_ns, spans.duration_ns)
            )
    return join_medians(found)
