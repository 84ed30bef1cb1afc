"""The spans of one launch on the nodes of its graph, and those of the median launch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gviz.model.executed_graph import UNKNOWN, ExecutedGraph
from gviz.stats import IntArray, median_launch

if TYPE_CHECKING:
    from gviz.recording import SpanArrays

#: int64 ns, or float64 where times are medians.
TimeArray = npt.NDArray[Any]

#: A queue is a stream of a device: both in one number.
_DEVICE_STEP = 1 << 32


@dataclass(frozen=True, slots=True)
class LaunchSpans:
    """Spans of one launch in order of start; arrays of one length.

    Attributes
    ----------
    node, iteration
        int64: index of the node in its :class:`ExecutedGraph`, and which of its executions.
    start_ns, end_ns
        From the launch's first span's start.
    queue
        int64: the hardware queue, equal for spans of one stream id and device; -1: not known.
    stray_count
        Spans of nodes that the graph does not have; left out.
    """

    node: IntArray
    iteration: IntArray
    start_ns: TimeArray
    end_ns: TimeArray
    queue: IntArray
    stray_count: int = 0

    def __len__(self) -> int:
        return len(self.node)

    @property
    def steps_back(self) -> bool:
        """Whether any span ends before it starts."""
        return bool((self.end_ns < self.start_ns).any())

    @property
    def length_ns(self) -> float:
        """From the first start to the last end; 0 without spans."""
        if not len(self):
            return 0
        length: float = (self.end_ns.max() - self.start_ns.min()).item()
        return length


def launch_spans(
    graph: ExecutedGraph, spans: SpanArrays, *, queues_known: bool = True
) -> LaunchSpans:
    """Return the spans of one launch.

    Parameters
    ----------
    graph
        What was launched.
    spans
        Of one launch.
    queues_known
        False for node times by events: their stream says nothing of where a node ran.
    """
    node = graph.index_of(spans.node_id)
    keep = np.flatnonzero(node >= 0)
    start, end = spans.start_ns[keep], spans.start_ns[keep] + spans.duration_ns[keep]
    queue = np.full(len(keep), UNKNOWN, np.int64)
    if queues_known:
        device = np.array([n.device_id or 0 for n in graph.nodes], np.int64)
        queue = device[node[keep]] * _DEVICE_STEP + spans.stream_id[keep]
    order = np.lexsort((node[keep], end, start))
    return LaunchSpans(
        node=node[keep][order],
        iteration=spans.iteration[keep][order],
        start_ns=start[order],
        end_ns=end[order],
        queue=queue[order],
        stray_count=len(node) - len(keep),
    )


def median_spans(launches: Iterable[LaunchSpans], *, least_share: float = 0.5) -> LaunchSpans:
    """Return the median launch (derived): each node's median start and median duration.

    Executions that fewer than ``least_share`` of the launches have are left out: the last turns
    of a loop that seldom runs so long are no part of the middle. A node's queue is the one that
    it ran on most often, the least of equals.
    """
    parts = list(launches)
    columns = ("node", "iteration", "start_ns", "end_ns", "queue")
    node, turn, start, end, queue = (
        np.concatenate([np.zeros(0, np.int64), *(getattr(p, name) for p in parts)])
        for name in columns
    )
    found = median_launch(node, turn, start, end - start)
    keep = np.flatnonzero(found.count >= least_share * len(parts))
    begin, stop = found.start_ns[keep], (found.start_ns + found.duration_ns)[keep]
    begin, stop = begin - begin.min(initial=np.inf), stop - begin.min(initial=np.inf)
    order = np.lexsort((found.node_id[keep], stop, begin))
    keep = keep[order]
    return LaunchSpans(
        node=found.node_id[keep],
        iteration=found.iteration[keep],
        start_ns=begin[order],
        end_ns=stop[order],
        queue=_usual_queue(node, queue, int(node.max(initial=-1)) + 1)[found.node_id[keep]],
        stray_count=max((p.stray_count for p in parts), default=0),
    )


def _usual_queue(node: IntArray, queue: IntArray, count: int) -> IntArray:
    """Return the queue that each node ran on most often."""
    usual = np.full(count, UNKNOWN, np.int64)
    names, place = np.unique(queue, return_inverse=True)
    pairs, times = np.unique(node * max(len(names), 1) + place, return_counts=True)
    # Written from the rarest to the most frequent: the last one stays.
    for at in np.lexsort((-pairs, times)).tolist():
        usual[pairs[at] // len(names)] = names[pairs[at] % len(names)]
    return usual
