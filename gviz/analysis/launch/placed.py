"""A launch whose nodes start as soon as their dependencies allow: durations are known, starts not.

Event copies time each node with the way to the next one (docs/limits.md, "Without CUPTI"); when it
started in a plain launch they do not know. Placed so, the launch is as long as its longest path:
of a chain that is what a plain launch takes. Of branches it is the least, as nothing says what of
them waited for a queue or for room on the GPU.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gviz.analysis.launch.unrolled import Unrolled
from gviz.dag import earliest_starts
from gviz.model import LaunchSpans
from gviz.stats import IntArray, order_of_rows


def place_spans(unrolled: Unrolled, vertex: IntArray, spans: LaunchSpans) -> LaunchSpans:
    """Return spans of the same durations, each from the end of the last that it depends on.

    Parameters
    ----------
    unrolled
        Executions of the launch.
    vertex
        int64, one a span: its execution.
    spans
        Starts do not count. A programmatic dependency holds as a full one: how early it lets its
        dependent start is not known either.
    """
    length = np.asarray(spans.end_ns - spans.start_ns, np.float64)
    duration = np.zeros(len(unrolled), np.float64)
    duration[vertex] = length
    order = np.argsort(unrolled.row[unrolled.head], kind="stable")
    tail, head = unrolled.tail[order], unrolled.head[order]
    start = earliest_starts(len(unrolled), tail, head, duration[tail])[vertex]
    end = start + length
    order = order_of_rows((start, end, spans.node))
    return replace(
        spans,
        node=spans.node[order],
        iteration=spans.iteration[order],
        start_ns=start[order],
        end_ns=end[order],
        queue=spans.queue[order],
    )
