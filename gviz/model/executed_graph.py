"""A graph as it is executed: its nodes and those of all bodies nested in it, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gviz.cuda import NodeType
from gviz.recording import rows
from gviz.stats import IntArray

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Kinds that run nothing: they order, allocate or signal.
NOT_WORKING = frozenset(
    {
        NodeType.EMPTY,
        NodeType.WAIT_EVENT,
        NodeType.EVENT_RECORD,
        NodeType.EXT_SEMAS_SIGNAL,
        NodeType.EXT_SEMAS_WAIT,
        NodeType.MEM_ALLOC,
        NodeType.MEM_FREE,
    }
)
#: Stands for a value that is not known.
UNKNOWN = -1


class NodeRow(NamedTuple):
    """What the analysis asks of a node: columns of :class:`gviz.recording.rows.recorded.Node`."""

    node_id: int
    exec_node_id: int | None
    type: int
    name: str
    function_id: int | None
    device_id: int | None
    grid_x: int | None
    grid_y: int | None
    grid_z: int | None
    block_x: int | None
    block_y: int | None
    block_z: int | None
    shared_mem_bytes: int | None
    max_blocks_per_multiprocessor: int | None
    occupancy_fraction: float | None
    priority: int | None
    copy_kind: int | None
    bytes: int | None
    source_address: int | None
    destination_address: int | None
    memset_value: int | None
    memset_element_bytes: int | None
    capture_stream_id: int | None
    nvtx_path_id: int | None
    not_timed_reason: str | None
    conditional_type: str | None

    @property
    def block_count(self) -> int | None:
        """Blocks of the grid; None for what is no kernel."""
        if self.grid_x is None or self.grid_y is None or self.grid_z is None:
            return None
        return self.grid_x * self.grid_y * self.grid_z


@dataclass(frozen=True, slots=True)
class Level:
    """The graph itself, or one body: a stretch of the nodes.

    Attributes
    ----------
    graph_id
        Of the recording.
    first, count
        Where its nodes stand.
    holder
        Index of the node it is the body of; -1: the outermost level, or it is not known.
    repeats
        Whether it may run any number of times in a launch: the body of a conditional node.
    edges_known
        False for graphs that were instantiated before gviz attached.
    """

    graph_id: int
    first: int
    count: int
    holder: int
    repeats: bool
    edges_known: bool

    @property
    def nodes(self) -> slice:
        """Where its nodes stand."""
        return slice(self.first, self.first + self.count)


@dataclass(frozen=True, slots=True)
class ExecutedGraph:
    """All nodes that a launch can run, by index; a body's nodes follow their own level's.

    Attributes
    ----------
    graph
        The outermost graph.
    levels
        The outermost first; a body after the level that holds it.
    nodes
        One row an index.
    level
        int64, one a node: index of its level.
    tail, head, edge_type
        int64, one an edge, within levels: indices of dependency and dependent, and the
        CUgraphDependencyType.
    """

    graph: rows.Graph
    levels: tuple[Level, ...]
    nodes: tuple[NodeRow, ...]
    level: IntArray
    tail: IntArray
    head: IntArray
    edge_type: IntArray

    @property
    def edges_known(self) -> bool:
        """Whether the edges of every level are known."""
        return all(level.edges_known for level in self.levels)

    @property
    def types(self) -> IntArray:
        """CUgraphNodeType of each node (int64)."""
        return np.array([n.type for n in self.nodes], np.int64)

    def index_of(self, exec_node_ids: IntArray) -> IntArray:
        """Return the nodes' indices by their ids in the executable; -1 where there is none."""
        ids = np.array(
            [UNKNOWN if n.exec_node_id is None else n.exec_node_id for n in self.nodes], np.int64
        )
        # A body of which more is known than of another comes first: so does its node.
        order = np.argsort(ids, kind="stable")
        if not len(order):
            return np.full(len(exec_node_ids), UNKNOWN, np.int64)
        at = order[np.minimum(np.searchsorted(ids[order], exec_node_ids), len(order) - 1)]
        return np.where((ids[at] == exec_node_ids) & (exec_node_ids >= 0), at, UNKNOWN)

    def edges_of(self, level: Level) -> tuple[IntArray, IntArray, IntArray]:
        """Return tail, head (counted from the level's first node) and type of its edges."""
        inside = (self.tail >= level.first) & (self.tail < level.first + level.count)
        return self.tail[inside] - level.first, self.head[inside] - level.first, self.edge_type[
            inside
        ]  # fmt: skip


def bodies_by_parent(graphs: Iterable[rows.Graph]) -> dict[int, list[rows.Graph]]:
    """Return the bodies directly below each graph, by its graph_id."""
    found: dict[int, list[rows.Graph]] = {}
    for graph in graphs:
        if graph.parent_graph_id is not None:
            found.setdefault(graph.parent_graph_id, []).append(graph)
    return found


def read_executed_graph(
    recording: Recording, graph: rows.Graph, bodies: Mapping[int, Sequence[rows.Graph]]
) -> ExecutedGraph:
    """Return a top-level graph with everything nested in it.

    Parameters
    ----------
    bodies
        Of the run, from :func:`bodies_by_parent`.
    """
    nodes: list[NodeRow] = []
    levels: list[Level] = []
    edges: list[tuple[IntArray, IntArray, IntArray]] = []
    waiting = [(graph, UNKNOWN)]
    for row, holder in waiting:  # which grows meanwhile
        first = len(nodes)
        nodes += _fetch_nodes(recording, row.graph_id)
        ids = np.array([n.node_id for n in nodes[first:]], np.int64)
        found = _fetch_edges(recording, row, ids)
        edges += [] if found is None else [(found[0] + first, found[1] + first, found[2])]
        levels.append(
            Level(
                graph_id=row.graph_id,
                first=first,
                count=len(ids),
                holder=holder,
                repeats=row is not graph
                and (holder < 0 or nodes[holder].type == NodeType.CONDITIONAL),
                edges_known=found is not None,
            )
        )
        place = {node_id: first + i for i, node_id in enumerate(ids.tolist())}
        for body in bodies.get(row.graph_id, ()):
            # Nodes known from their records only may be of any conditional node.
            holder_of_body = place.get(-1 if body.parent_node_id is None else body.parent_node_id)
            waiting.append((body, UNKNOWN if holder_of_body is None else holder_of_body))
    none = np.zeros(0, np.int64)
    tail, head, kind = (np.concatenate([none, *(e[i] for e in edges)]) for i in range(3))
    counts = [level.count for level in levels]
    return ExecutedGraph(
        graph=graph,
        levels=tuple(levels),
        nodes=tuple(nodes),
        level=np.repeat(np.arange(len(levels)), counts),
        tail=tail,
        head=head,
        edge_type=kind,
    )


def _fetch_nodes(recording: Recording, graph_id: int) -> list[NodeRow]:
    found = recording.fetch_columns(rows.Node, NodeRow._fields, {"graph_id": graph_id}, "node_id")
    return list(map(NodeRow._make, found))


def _fetch_edges(
    recording: Recording, graph: rows.Graph, ids: IntArray
) -> tuple[IntArray, IntArray, IntArray] | None:
    """Return the edges by places in ``ids`` (ascending); None where CUDA did not tell them."""
    if graph.topology_id is None or graph.edges_inferred:
        # A single node has no edges to know.
        none = np.zeros(0, np.int64)
        return (none, none, none) if len(ids) == 1 else None
    edges = recording.fetch_edges(graph.topology_id)
    if not len(ids):
        return edges.from_node[:0], edges.to_node[:0], edges.type[:0]
    tail, head = np.searchsorted(ids, edges.from_node), np.searchsorted(ids, edges.to_node)
    last = len(ids) - 1
    known = (ids[np.minimum(tail, last)] == edges.from_node) & (
        ids[np.minimum(head, last)] == edges.to_node
    )
    return tail[known], head[known], edges.type[known]
