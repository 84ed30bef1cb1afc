"""One node of a tree with everything that is recorded of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gviz.stats import IntArray

if TYPE_CHECKING:
    from gviz.model.tree.graph_tree import GraphTree
    from gviz.recording import Recording, rows


def read_node(recording: Recording, tree: GraphTree, node: int) -> rows.Node:
    """Return the row of a node."""
    graph_id = tree.level_of(node).graph.graph_id
    return recording.fetch_node(graph_id, tree.nodes[node].node_id)


def read_node_statistics(
    recording: Recording, tree: GraphTree, node: int
) -> rows.NodeStatistics | None:
    """Return a node's times over the recorded launches; None: it has none."""
    return recording.fetch_statistics_of(_key(tree, node))


def read_node_durations(recording: Recording, tree: GraphTree, node: int) -> IntArray:
    """Return a node's durations over the recorded launches, in order of launch (int64, ns)."""
    return recording.fetch_node_durations(tree.outermost.graph_id, _key(tree, node))


def _key(tree: GraphTree, node: int) -> tuple[int, int]:
    return tree.level_of(node).graph.graph_id, tree.nodes[node].node_id
