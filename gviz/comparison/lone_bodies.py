"""Bodies that only one of two graphs has: nothing corresponds to what is in them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from gviz.analysis import NodeRef
from gviz.comparison.diff_result import LoneBody

if TYPE_CHECKING:
    from gviz.model import GraphTree, TreeLevel


def lone_bodies(tree: GraphTree, compared: Collection[int]) -> tuple[LoneBody, ...]:
    """Return the bodies nested in a graph that are not compared, at any depth, outermost first.

    Parameters
    ----------
    tree
        The graph.
    compared
        The graph_ids of levels that have a counterpart.
    """
    lone = [level for level in tree.levels[1:] if level.graph.graph_id not in compared]
    return tuple(
        LoneBody(
            graph_id=level.graph.graph_id,
            holder=_parent(tree, level),
            branch=level.graph.branch,
            nodes=_refs(tree, level),
        )
        for level in sorted(lone, key=lambda level: level.depth)  # stable
    )


def _parent(tree: GraphTree, level: TreeLevel) -> NodeRef | None:
    # A body that is known from records only may be of any conditional node; of another the row of
    # its node may be missing.
    if level.parent < 0:
        return None
    node = tree.nodes[level.parent]
    return NodeRef(tree.level_of(level.parent).graph.graph_id, node.node_id, node.name)


def _refs(tree: GraphTree, level: TreeLevel) -> tuple[NodeRef, ...]:
    nodes = tree.nodes[level.part]
    named = zip(nodes.integers("node_id").tolist(), nodes.listed("name"), strict=True)
    return tuple(NodeRef(level.graph.graph_id, node_id, name) for node_id, name in named)
