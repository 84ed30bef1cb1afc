"""Layout along time: a node stands where it started in a launch and is as long as it took.

Lanes as :mod:`gviz.dag.lanes` covers the graph with chains, packed so that nodes that ran at
the same time never share one. A node that ran several times, in a loop, has a bar per iteration.
What was not timed stands without a length where its dependencies ended.
"""

from __future__ import annotations

import numpy as np

from gviz.dag import earliest_times, pack_lanes
from gviz.dataclass import dataclass
from gviz.stats import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Bars:
    """Executions of nodes in time: arrays of one length, by node and then by start.

    Attributes
    ----------
    node
        int64: the node.
    start_ns, end_ns
        float64.
    """

    node: IntArray
    start_ns: FloatArray
    end_ns: FloatArray


@dataclass(frozen=True, slots=True)
class TimePlacement:
    """Places of nodes on the axis of time.

    Attributes
    ----------
    start_ns, end_ns
        float64, one a node: its first start and last end.
    bars
        At least one a node.
    lane
        int64, one a bar, from 0.
    """

    start_ns: FloatArray
    end_ns: FloatArray
    bars: Bars
    lane: IntArray

    @property
    def first_bar(self) -> IntArray:
        """Return each node's first bar (int64)."""
        return np.searchsorted(self.bars.node, np.arange(len(self.start_ns)))

    @property
    def lane_count(self) -> int:
        """Return how many lanes there are; one at least."""
        return int(self.lane.max(initial=0)) + 1


def place_time(
    start_ns: FloatArray,
    end_ns: FloatArray,
    row: IntArray,
    chain: IntArray,
    source: IntArray,
    target: IntArray,
    *,
    iterations: Bars | None = None,
    floor_ns: float = 0.0,
) -> TimePlacement:
    """Place nodes along time.

    Parameters
    ----------
    start_ns, end_ns
        One a node, NaN where it has no time.
    row, chain
        One a node: :func:`gviz.dag.ranks.rank_rows` and the chain of a cover.
    source, target
        The edges, by node index.
    iterations
        Of nodes that ran several times; others have one bar from their start to their end.
    floor_ns
        Where nodes without a time stand that wait for nothing: the start of what is around.
    """
    start, end = earliest_times(start_ns, end_ns, row, source, target, floor_ns)
    bars = _bars(start, end, iterations)
    order = np.lexsort((row[bars.node], bars.start_ns))
    lane = np.zeros(len(bars.node), np.int64)
    lane[order] = pack_lanes(
        bars.start_ns[order],
        bars.end_ns[order],
        chain[bars.node[order]],
        np.zeros(len(order), bool),
    )
    return TimePlacement(start, end, bars, lane)


def _bars(start: FloatArray, end: FloatArray, iterations: Bars | None) -> Bars:
    node = np.arange(len(start))
    if iterations is None or not len(iterations.node):
        return Bars(node, start, end)
    once = np.setdiff1d(node, iterations.node)
    nodes = np.concatenate((once, iterations.node))
    starts = np.concatenate((start[once], iterations.start_ns))
    ends = np.concatenate((end[once], iterations.end_ns))
    order = np.lexsort((starts, nodes))
    return Bars(nodes[order], starts[order], ends[order])
