"""The edges of a graph level by node index instead of node id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gviz.stats import IntArray

if TYPE_CHECKING:
    from gviz.recording import Recording, rows


@dataclass(frozen=True, slots=True)
class EdgeIndices:
    """Edges as int64 arrays of one length.

    Attributes
    ----------
    source, target
        Node indices of the dependency and of the dependent.
    type
        CUgraphDependencyType.
    """

    source: IntArray
    target: IntArray
    type: IntArray


def edge_indices(recording: Recording, graph: rows.Graph, node_id: IntArray) -> EdgeIndices:
    """Return the edges between nodes given by ascending id; none where edges are not known."""
    if graph.topology_id is None or not len(node_id):
        empty = np.zeros(0, np.int64)
        return EdgeIndices(empty, empty, empty)
    edges = recording.fetch_edges(graph.topology_id)
    source = np.searchsorted(node_id, edges.from_node)
    target = np.searchsorted(node_id, edges.to_node)
    last = len(node_id) - 1
    known = (node_id[np.minimum(source, last)] == edges.from_node) & (
        node_id[np.minimum(target, last)] == edges.to_node
    )
    return EdgeIndices(source[known], target[known], edges.type[known])
