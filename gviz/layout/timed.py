"""Layout along time: a node stands where it started in a launch and is as long as it took.

Lanes as :mod:`gviz.layout.lanes` covers the graph with chains, packed so that nodes that ran at
the same time never share one. What was not timed stands without a length where its dependencies
ended.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gviz.layout.interval_lanes import pack_lanes
from gviz.untimed import earliest_times

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TimePlacement:
    """Where each node stands on the axis of time.

    Attributes
    ----------
    start_ns, end_ns
        float64, one a node.
    lane
        int64, one a node, from 0.
    """

    start_ns: FloatArray
    end_ns: FloatArray
    lane: IntArray


def place_time(
    start_ns: FloatArray,
    end_ns: FloatArray,
    row: IntArray,
    chain: IntArray,
    source: IntArray,
    target: IntArray,
) -> TimePlacement:
    """Place nodes along time.

    Parameters
    ----------
    start_ns, end_ns
        One a node, NaN where it has no time.
    row, chain
        One a node: :func:`gviz.layout.ranks.rank_rows` and the chain of a cover.
    source, target
        The edges, by node index.
    """
    start, end = earliest_times(start_ns, end_ns, row, source, target)
    order = np.lexsort((row, start))
    lane = np.zeros(len(start), np.int64)
    lane[order] = pack_lanes(start[order], end[order], chain[order], np.zeros(len(start), bool))
    return TimePlacement(start, end, lane)
