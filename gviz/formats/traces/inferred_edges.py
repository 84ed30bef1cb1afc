"""Dependencies that the order of work on streams suggests, where a trace has none."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.stats import IntArray


def infer_edges(
    launch: IntArray, node: IntArray, start_ns: IntArray, end_ns: IntArray, stream: IntArray
) -> IntArray:
    """Return edges between nodes that ran one right after the other on a stream.

    An edge stands for what was seen in every launch of one of its nodes: both were on the same
    stream, next to each other, and the first ended before the second started. Real edges across
    streams are missing, and work that only happened to share a stream is joined.

    Parameters
    ----------
    launch, node, start_ns, end_ns, stream
        One entry an execution; of a node that ran several times in a launch the first.

    Returns
    -------
    numpy.ndarray
        int64, shape (n, 2): node ids, sorted. Without cycles.
    """
    if not len(node):
        return np.zeros((0, 2), np.int64)
    order = np.lexsort((start_ns, stream, launch))
    launch, stream = launch[order], stream[order]
    start_ns, end_ns = start_ns[order], end_ns[order]
    ids, node = np.unique(node[order], return_inverse=True)
    follows = (launch[1:] == launch[:-1]) & (stream[1:] == stream[:-1])
    follows &= (start_ns[1:] >= end_ns[:-1]) & (node[1:] != node[:-1])
    at = np.flatnonzero(follows)
    pairs, seen = np.unique(np.stack([node[at], node[at + 1]], axis=1), axis=0, return_counts=True)
    count = np.bincount(node, minlength=len(ids))
    tail, head = pairs[:, 0], pairs[:, 1]
    usual = _usual_start(launch, node, start_ns, count)
    # In an order of all nodes there are no cycles, whatever launches differ in.
    keep = (seen == np.minimum(count[tail], count[head])) & (usual[tail] < usual[head])
    found: IntArray = ids[pairs[keep]]
    return found


def _usual_start(
    launch: IntArray, node: IntArray, start_ns: IntArray, count: IntArray
) -> npt.NDArray[np.float64]:
    """Return each node's mean start after the first of its launch."""
    launches, at = np.unique(launch, return_inverse=True)
    origin = np.full(len(launches), np.iinfo(np.int64).max)
    np.minimum.at(origin, at, start_ns)
    after = (start_ns - origin[at]).astype(np.float64)
    return np.bincount(node, weights=after, minlength=len(count)) / count
