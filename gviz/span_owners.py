"""Which node of a graph level a span belongs to, also from inside child graphs and bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gviz.recording import rows

if TYPE_CHECKING:
    from gviz.recording.reader import Recording


class SpanNode(Protocol):
    """What is asked of a node of the level."""

    @property
    def node_id(self) -> int:
        """Its id in the level."""

    @property
    def exec_node_id(self) -> int | None:
        """Its id in spans."""

    @property
    def type(self) -> int:
        """CUgraphNodeType."""

    @property
    def name(self) -> str:
        """As shown."""


class Owner(NamedTuple):
    """The node that a span belongs to.

    Attributes
    ----------
    node
        Index of the node of the level.
    nested
        The span ran in a child graph or body inside that node.
    name, type
        Of the node that ran.
    """

    node: int
    nested: bool
    name: str
    type: int


class _Row(NamedTuple):
    """A :class:`SpanNode` of columns."""

    node_id: int
    exec_node_id: int | None
    type: int
    name: str


def span_owners(
    recording: Recording, graph: rows.Graph, nodes: Sequence[SpanNode]
) -> dict[int, Owner]:
    """Return the owners of spans by the node id that spans carry (exec_node_id)."""
    found = {
        n.exec_node_id: Owner(i, False, n.name, n.type)
        for i, n in enumerate(nodes)
        if n.exec_node_id is not None
    }
    bodies: dict[tuple[int, int], list[int]] = {}
    for body in recording.fetch_graphs(graph.run_id):
        if body.parent_graph_id is not None and body.parent_node_id is not None:
            key = (body.parent_graph_id, body.parent_node_id)
            bodies.setdefault(key, []).append(body.graph_id)
    if not bodies:
        return found
    open_levels = [(graph.graph_id, n.node_id, i) for i, n in enumerate(nodes)]
    while open_levels:
        holder, node_id, index = open_levels.pop()
        for body_id in bodies.get((holder, node_id), ()):
            for n in read_span_nodes(recording, body_id):
                open_levels.append((body_id, n.node_id, index))
                if n.exec_node_id is not None:
                    found.setdefault(n.exec_node_id, Owner(index, True, n.name, n.type))
    return found


def read_span_nodes(recording: Recording, graph_id: int) -> Sequence[SpanNode]:
    """Return the nodes of a graph level, with no more than spans are told apart by."""
    key = {"graph_id": graph_id}
    columns = recording.fetch_columns(rows.Node, _Row._fields, key, "node_id")
    return list(map(_Row._make, columns))
