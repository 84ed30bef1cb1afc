"""The spans of one launch in order of time, and those of the median launch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.stats import IntArray, group_rows, median_launch, order_of_rows

if TYPE_CHECKING:
    from gviz.model.tree.graph_tree import GraphTree
    from gviz.model.tree.spans import TreeSpans

#: int64 ns, or float64 where times are medians.
TimeArray = npt.NDArray[Any]

#: A queue is a stream of a device: both in one number.
_DEVICE_STEP = 1 << 32
#: Stands for a queue that is not recorded.
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class LaunchSpans:
    """Spans of one launch in order of start; arrays of one length.

    Attributes
    ----------
    node, iteration
        int64: index of the node in its :class:`gviz.model.tree.graph_tree.GraphTree`, and which of
        its executions.
    start_ns, end_ns
        From the launch's first span's start.
    queue
        int64: the hardware queue, equal for spans of one stream id and device; -1: not recorded.
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
        """Return whether any span ends before it starts."""
        return bool((self.end_ns < self.start_ns).any())

    @property
    def length_ns(self) -> float:
        """From the first start to the last end; 0 without spans."""
        if not len(self):
            return 0
        length: float = (self.end_ns.max() - self.start_ns.min()).item()
        return length


def launch_spans(tree: GraphTree, spans: TreeSpans, *, has_queues: bool = True) -> LaunchSpans:
    """Return the spans of one launch.

    Parameters
    ----------
    tree
        What was launched, with the column ``device_id``.
    spans
        Of one launch.
    has_queues
        False for node times by events: their stream says nothing of where a node ran.
    """
    queue = np.full(len(spans), _UNKNOWN, np.int64)
    if has_queues:
        device = tree.nodes.integers("device_id", 0)
        queue = device[spans.node] * _DEVICE_STEP + spans.stream_id
    end = spans.end_ns
    order = order_of_rows((spans.start_ns, end, spans.node))
    return LaunchSpans(
        node=spans.node[order],
        iteration=spans.iteration[order],
        start_ns=spans.start_ns[order],
        end_ns=end[order],
        queue=queue[order],
        stray_count=spans.stray_count,
    )


def median_spans(launches: Iterable[LaunchSpans], *, least_share: float = 0.5) -> LaunchSpans:
    """Return the median launch (derived): each node's median start and median duration.

    Executions that fewer than ``least_share`` of the launches have are left out: the last
    iterations of a loop that seldom runs so long are no part of the middle. A node's queue is the
    one that it ran on most often, the least of equals.
    """
    parts = list(launches)
    none = np.zeros(0, np.int64)
    found = median_launch(
        np.concatenate([none, *(part.node for part in parts)]),
        np.concatenate([none, *(part.iteration for part in parts)]),
        np.concatenate([none, *(part.start_ns for part in parts)]),
        np.concatenate([none, *(part.end_ns - part.start_ns for part in parts)]),
    )
    chosen = np.flatnonzero(found.count >= least_share * len(parts))
    begin, stop = found.start_ns[chosen], (found.start_ns + found.duration_ns)[chosen]
    begin, stop = begin - begin.min(initial=np.inf), stop - begin.min(initial=np.inf)
    order = order_of_rows((begin, stop, found.node_id[chosen]))
    chosen = chosen[order]
    return LaunchSpans(
        node=found.node_id[chosen],
        iteration=found.iteration[chosen],
        start_ns=begin[order],
        end_ns=stop[order],
        queue=_usual_queues(parts, int(found.node_id.max(initial=-1)) + 1)[found.node_id[chosen]],
        stray_count=max((p.stray_count for p in parts), default=0),
    )


def _usual_queues(launches: Sequence[LaunchSpans], count: int) -> IntArray:
    """Return the queue that each of ``count`` nodes ran on most often."""
    usual = np.full(count, _UNKNOWN, np.int64)
    for part in launches:
        usual[part.node] = part.queue
    changes = np.zeros(count, bool)
    for part in launches:
        changes[part.node[part.queue != usual[part.node]]] = True
    if not changes.any():
        return usual
    chosen = [changes[part.node] for part in launches]
    node = np.concatenate([p.node[some] for p, some in zip(launches, chosen, strict=True)])
    queue = np.concatenate([p.queue[some] for p, some in zip(launches, chosen, strict=True)])
    names, place = group_rows(queue)
    pairs, times = np.unique(node * len(names) + place, return_counts=True)
    # Written from the rarest to the most frequent: the last one stays.
    order = np.lexsort((-pairs, times))
    usual[pairs[order] // len(names)] = names[pairs[order] % len(names)]
    return usual
