"""The lanes of one launch: as few as run at once, a chain of the graph in one if it can."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gviz.dag import pack_lanes
from gviz.model.owners import Owner
from gviz.stats import IntArray


def launch_lanes(
    owners: Mapping[tuple[int, int], Owner],
    chain: IntArray,
    graph_id: IntArray,
    node_id: IntArray,
    start_ns: IntArray,
    end_ns: IntArray,
) -> IntArray:
    """Return the lane of each span of a launch, from 0 (int64).

    Parameters
    ----------
    owners
        As of :func:`gviz.model.owners.span_owners`.
    chain
        The chain of each node of the outermost level.
    graph_id, node_id, start_ns, end_ns
        The spans, in any order.
    """
    order = np.argsort(start_ns, kind="stable")
    nowhere = Owner(-1, True, "", 0)
    keys = zip(graph_id[order].tolist(), node_id[order].tolist(), strict=True)
    found = [owners.get(key, nowhere) for key in keys]
    node = np.array([owner.node for owner in found], np.int64)
    nested = np.array([owner.nested for owner in found], bool)
    # From the first start: floating point numbers are exact there.
    zero = start_ns[order[:1]].sum()
    begin = (start_ns[order] - zero).astype(np.float64)
    end = (end_ns[order] - zero).astype(np.float64)
    lane = np.zeros(len(order), np.int64)
    lane[order] = pack_lanes(begin, end, np.append(chain, -1)[node], nested)
    return lane
