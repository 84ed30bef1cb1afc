"""Nodes inside nodes: how the driver numbers them, and what their levels are called.

References
----------
The numbering is measured (H100, driver 580, CUPTI 13.0), not documented: tests/contract and
tests/unit/spool/streams/test_nesting.py hold the graphs it was read from.
"""

from __future__ import annotations

from collections.abc import Sequence

from gviz.cuda import ConditionalType, NodeType
from gviz.spool.records import ConditionalRecord, GraphWalk


class Numbering:
    """The ids of an executable's nodes, as its activity records carry them.

    Top-level nodes keep their ids, and the holes that destroyed nodes left stay. Then, for
    each node that holds bodies, in order of node id: the nodes of all its bodies get the next
    numbers, in order of branch, and then those nested in the first of them, in the second...

    Parameters
    ----------
    walks
        The levels of one executable, the top one first.

    Attributes
    ----------
    exec_ids
        By (CUDA graph id, node id) of the template. Nodes that are numbered after a body
        whose nodes are not known are absent.
    unknown
        (CUDA graph id, node id) of the nodes whose bodies are not, or not all, known.
    """

    def __init__(self, walks: Sequence[GraphWalk]) -> None:
        top, *nested = walks
        self.exec_ids = {(top.graph_id, n.node_id): n.node_id for n in top.nodes}
        self.unknown: list[tuple[int, int]] = []
        self._following = max((n.node_id for n in top.nodes), default=-1) + 1
        self._bodies: dict[tuple[int, int], list[GraphWalk]] = {}
        for walk in sorted(nested, key=lambda w: w.branch):
            parent = walk.parent_graph_id, walk.parent_node_id
            self._bodies.setdefault(parent, []).append(walk)
        self._descend(top)

    def _descend(self, level: GraphWalk) -> None:
        for node in sorted(level.nodes):
            if node.type not in (NodeType.GRAPH, NodeType.CONDITIONAL):
                continue
            parent = level.graph_id, node.node_id
            bodies = self._bodies.get(parent, [])
            if len(bodies) < _body_count(level.conditionals.get(node.node_id)):
                self.unknown.append(parent)
            for body in bodies:
                self._number(body)
            for body in bodies:
                self._descend(body)

    def _number(self, body: GraphWalk) -> None:
        if self.unknown:
            return
        for node in sorted(body.nodes):
            self.exec_ids[body.graph_id, node.node_id] = self._following
            self._following += 1


def _body_count(conditional: ConditionalRecord | None) -> int:
    """Return how many bodies a node has; at least one where nothing is known about it."""
    return conditional.size if conditional is not None else 1


def body_name(node_id: int, branch: int, conditional: ConditionalRecord | None) -> str:
    """Return the shown name of a body: ``then of node 4``, ``case 2 of node 4``..."""
    part = "body"
    if conditional is not None and conditional.type == ConditionalType.IF:
        part = "else" if branch else "then"
    elif conditional is not None and conditional.type == ConditionalType.SWITCH:
        part = f"case {branch}"
    return f"{part} of node {node_id}"
