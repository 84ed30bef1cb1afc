"""The node of a graph level that a span belongs to, also from inside child graphs and bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gviz.recording import rows

if TYPE_CHECKING:
    from gviz.recording import Recording


class SpanNode(Protocol):
    """What is asked of a node of the level."""

    @property
    def node_id(self) -> int:
        """Its id in the level."""

    @property
    def exec_node_id(self) -> int | None:
        """Its id in the executable; None: it never gets a span."""

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


class LevelNodes:
    """The nodes of a run's graph levels and what these hold; each level is read once.

    Parameters
    ----------
    recording, run_id
        Where from.
    """

    def __init__(self, recording: Recording, run_id: int) -> None:
        self._recording = recording
        self._nodes: dict[int, Sequence[SpanNode]] = {}
        self._bodies: dict[int, dict[int, list[int]]] = {}
        for body in recording.fetch_graphs(run_id):
            if body.parent_graph_id is not None and body.parent_node_id is not None:
                held = self._bodies.setdefault(body.parent_graph_id, {})
                held.setdefault(body.parent_node_id, []).append(body.graph_id)

    def of(self, graph_id: int) -> Sequence[SpanNode]:
        """Return the nodes of a level, with no more than spans are told apart by."""
        if graph_id not in self._nodes:
            key = {"graph_id": graph_id}
            columns = self._recording.fetch_columns(rows.Node, _Row._fields, key, "node_id")
            self._nodes[graph_id] = list(map(_Row._make, columns))
        return self._nodes[graph_id]

    def bodies(self, graph_id: int) -> Mapping[int, Sequence[int]]:
        """Return the graph_ids of the bodies in a level, by the node that holds them."""
        return self._bodies.get(graph_id, {})


def span_owners(levels: LevelNodes, graph_id: int) -> dict[tuple[int, int], Owner]:
    """Return the owners of spans in a level, by (graph_id, node_id) of the node that ran."""
    nodes = levels.of(graph_id)
    found = {
        (graph_id, n.node_id): Owner(i, False, n.name, n.type)
        for i, n in enumerate(nodes)
        if n.exec_node_id is not None
    }
    held = levels.bodies(graph_id)
    if not held:
        return found
    waiting = [(body, i) for i, n in enumerate(nodes) for body in held.get(n.node_id, ())]
    while waiting:
        body_id, index = waiting.pop()
        nested = levels.bodies(body_id)
        for n in levels.of(body_id):
            waiting += [(body, index) for body in nested.get(n.node_id, ())]
            if n.exec_node_id is not None:
                found[body_id, n.node_id] = Owner(index, True, n.name, n.type)
    return found
