"""The edges of a tree's levels by node index instead of node id."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats import IntArray

if TYPE_CHECKING:
    from gviz.model.tree.graph_tree import GraphTree, TreeLevel
    from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class EdgeIndices:
    """Edges as int64 arrays of one length, by (source, target).

    Attributes
    ----------
    source, target
        Node indices of the dependency and of the dependent.
    type
        CUgraphDependencyType.
    from_port, to_port
        Of the two nodes.
    """

    source: IntArray
    target: IntArray
    type: IntArray
    from_port: IntArray
    to_port: IntArray

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True)
class TreeEdges(EdgeIndices):
    """Edges of all levels, one level after the other, by the indices of the tree's nodes.

    Attributes
    ----------
    begin
        int64, one a level and one more: where its edges begin.
    are_recorded
        Whether CUDA reported the edges of every level.
    """

    begin: IntArray
    are_recorded: bool

    def of(self, level: TreeLevel) -> EdgeIndices:
        """Return those of a level, by the places of nodes in it."""
        part = slice(int(self.begin[level.at]), int(self.begin[level.at + 1]))
        return EdgeIndices(
            self.source[part] - level.first,
            self.target[part] - level.first,
            self.type[part],
            self.from_port[part],
            self.to_port[part],
        )


def read_tree_edges(
    recording: Recording, tree: GraphTree, *, only_recorded: bool = False
) -> TreeEdges:
    """Return the edges of all levels of a tree.

    Parameters
    ----------
    only_recorded
        Leave out those that are inferred from stream order (imported traces).
    """
    found = [
        read_level_edges(recording, tree, level)
        if level.has_recorded_edges or not only_recorded
        else _none()
        for level in tree.levels
    ]
    first = [level.first for level in tree.levels]
    return TreeEdges(
        source=np.concatenate([e.source + n for e, n in zip(found, first, strict=True)]),
        target=np.concatenate([e.target + n for e, n in zip(found, first, strict=True)]),
        type=np.concatenate([e.type for e in found]),
        from_port=np.concatenate([e.from_port for e in found]),
        to_port=np.concatenate([e.to_port for e in found]),
        begin=np.cumsum([0, *map(len, found)], dtype=np.int64),
        are_recorded=all(level.has_recorded_edges for level in tree.levels),
    )


def read_level_edges(recording: Recording, tree: GraphTree, level: TreeLevel) -> EdgeIndices:
    """Return the edges of one level, by the places of nodes in it; none where none are known."""
    graph, node_id = level.graph, tree.nodes[level.part].integers("node_id")
    if graph.topology_id is None or not len(node_id):
        return _none()
    edges = recording.fetch_edges(graph.topology_id)
    source = np.searchsorted(node_id, edges.from_node)
    target = np.searchsorted(node_id, edges.to_node)
    last = len(node_id) - 1
    known = (node_id[np.minimum(source, last)] == edges.from_node) & (
        node_id[np.minimum(target, last)] == edges.to_node
    )
    columns = (source, target, edges.type, edges.from_port, edges.to_port)
    return EdgeIndices(*(column[known] for column in columns))


def _none() -> EdgeIndices:
    return EdgeIndices(*(np.zeros(0, np.int64) for _ in fields(EdgeIndices)))
