"""One level of a graph as the views need it: nodes, edges, times, and who owns a span."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gviz.app.graph_view import nvtx_texts
from gviz.cycle import describe_cycle
from gviz.errors import CycleError
from gviz.layout.lanes import cover_chains
from gviz.layout.ranks import rank_rows
from gviz.recording import rows

if TYPE_CHECKING:
    from gviz.recording.reader import Recording

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class LevelNode(NamedTuple):
    """What the views show of a node: columns of :class:`gviz.recording.rows.Node`."""

    node_id: int
    exec_node_id: int | None
    type: int
    name: str
    not_timed_reason: str | None
    device_id: int | None
    nvtx_path_id: int | None
    occupancy_fraction: float | None
    grid_x: int | None
    grid_y: int | None
    grid_z: int | None
    block_x: int | None
    block_y: int | None
    block_z: int | None
    bytes: int | None

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Grid, block and size: equal for nodes of equal work."""
        return self[-7:]


@dataclass(frozen=True, slots=True)
class Owners:
    """Who owns each span: the index of a node of the level (-1: none), and what ran.

    Attributes
    ----------
    index
        int64, one a span.
    nested
        bool, one a span: it ran in a child graph or body inside that node.
    names, types
        Name and CUgraphNodeType of the node that ran, one a span.
    """

    index: IntArray
    nested: npt.NDArray[np.bool_]
    names: list[str]
    types: list[int]


@dataclass(frozen=True, slots=True)
class GraphLevel:
    """A graph (or body) with the times of its nodes.

    Attributes
    ----------
    graph, outermost
        The level, and the graph that is launched; the same unless the level is a body.
    nodes
        In the order of node ids; arrays below follow it.
    edge_from, edge_to, edge_type
        int64 node indices and CUgraphDependencyType.
    row, chain
        int64, one a node: longest path from a root, and the chain of a greedy cover.
    median_ns, p95_ns
        float64, of one span; NaN where there is no time.
    body_ns
        float64: time of the nodes nested in a node, mean of a launch (derived); NaN elsewhere.
    share
        float64, 0..1: time of a node, or of what is nested in it, over the GPU time of the
        launches, both summed over launches (derived). Overlapping nodes count in full.
    launch_count
        Launches with node times behind those.
    types
        Node types of the level and of what is nested in it.
    nvtx, devices
        Texts of NVTX paths and names of devices, by their ids.
    """

    graph: rows.Graph
    outermost: rows.Graph
    nodes: list[LevelNode]
    edge_from: IntArray
    edge_to: IntArray
    edge_type: IntArray
    row: IntArray
    chain: IntArray
    median_ns: FloatArray
    p95_ns: FloatArray
    body_ns: FloatArray
    share: FloatArray
    launch_count: int
    types: frozenset[int]
    nvtx: Mapping[int, str]
    devices: Mapping[int, str]
    _inner: dict[int, tuple[int, bool, str, int]]

    def owners(self, exec_node_ids: IntArray) -> Owners:
        """Return who owns the spans of these executable node ids."""
        none = (-1, False, "", 255)
        found = [self._inner.get(i, none) for i in exec_node_ids.tolist()]
        return Owners(
            index=np.array([f[0] for f in found], np.int64),
            nested=np.array([f[1] for f in found], bool),
            names=[f[2] for f in found],
            types=[f[3] for f in found],
        )


def read_level(recording: Recording, graph_id: int) -> GraphLevel:
    """Return one level of a graph; CycleError if its edges form one."""
    graph = recording.fetch_graph(graph_id)
    outermost = graph
    while outermost.parent_graph_id is not None:
        outermost = recording.fetch_graph(outermost.parent_graph_id)
    nodes = _fetch_nodes(recording, graph_id)
    edge_from, edge_to, edge_type = _edges(recording, graph, nodes)
    row = _rows(graph, nodes, edge_from, edge_to)
    inner = _inner_nodes(recording, graph, nodes)
    times = _read_times(recording, outermost, nodes, inner)
    return GraphLevel(
        graph=graph,
        outermost=outermost,
        nodes=nodes,
        edge_from=edge_from,
        edge_to=edge_to,
        edge_type=edge_type,
        row=row,
        chain=cover_chains(row, edge_from, edge_to),
        median_ns=times.median_ns,
        p95_ns=times.p95_ns,
        body_ns=times.body_ns,
        share=times.share,
        launch_count=times.launch_count,
        types=frozenset(n.type for n in nodes) | {entry[3] for entry in inner.values()},
        nvtx=nvtx_texts(recording.fetch_nvtx_paths(graph.run_id)),
        devices={
            d.device_id: f"{d.device_id}: {d.name}" for d in recording.fetch_devices(graph.run_id)
        },
        _inner=inner,
    )


def _rows(
    graph: rows.Graph, nodes: list[LevelNode], edge_from: IntArray, edge_to: IntArray
) -> IntArray:
    try:
        return rank_rows(len(nodes), edge_from, edge_to)
    except CycleError as error:
        names = [f"{nodes[i].name} (node {nodes[i].node_id})" for i in error.nodes]
        raise CycleError(
            error.nodes,
            f"{graph.name} has a cycle of dependencies: {describe_cycle(names)}. No CUDA graph can "
            "hold one: the recording is damaged, record it again. The table lists its nodes.",
        ) from error


def _fetch_nodes(recording: Recording, graph_id: int) -> list[LevelNode]:
    found = recording.fetch_columns(rows.Node, LevelNode._fields, {"graph_id": graph_id}, "node_id")
    return list(map(LevelNode._make, found))


def _edges(
    recording: Recording, graph: rows.Graph, nodes: list[LevelNode]
) -> tuple[IntArray, IntArray, IntArray]:
    if graph.topology_id is None or not nodes:
        empty = np.zeros(0, np.int64)
        return empty, empty, empty
    edges = recording.fetch_edges(graph.topology_id)
    ids = np.array([n.node_id for n in nodes], np.int64)
    source, target = np.searchsorted(ids, edges.from_node), np.searchsorted(ids, edges.to_node)
    last = len(ids) - 1
    known = (ids[np.minimum(source, last)] == edges.from_node) & (
        ids[np.minimum(target, last)] == edges.to_node
    )
    return source[known], target[known], edges.type[known]


@dataclass(frozen=True, slots=True)
class _Times:
    """The arrays of times of a :class:`GraphLevel`."""

    median_ns: FloatArray
    p95_ns: FloatArray
    body_ns: FloatArray
    share: FloatArray
    launch_count: int


def _read_times(
    recording: Recording,
    outermost: rows.Graph,
    nodes: list[LevelNode],
    inner: dict[int, tuple[int, bool, str, int]],
) -> _Times:
    columns = ("node_id", "median_ns", "p95_ns", "total_ns")
    key = {"graph_id": outermost.graph_id}
    found = recording.fetch_columns(rows.NodeStatistics, columns, key, "node_id")
    median, p95, own, nested = (np.full(len(nodes), np.nan) for _ in range(4))
    for exec_node_id, middle, high, total in found:
        index, is_nested, _, _ = inner.get(exec_node_id, (-1, False, "", 0))
        if index < 0:
            continue
        if is_nested:
            nested[index] = np.nan_to_num(nested[index]) + total
        else:
            median[index], p95[index], own[index] = middle, high, total
    count = recording.count_launches(outermost.graph_id)[1]
    gpu_ns = recording.fetch_weighted_durations(outermost.graph_id, "graph", "gpu").total_ns
    share = np.where(np.isnan(own), nested, own) / (gpu_ns or np.nan)
    return _Times(median, p95, nested / (count or np.nan), share, count)


def _inner_nodes(
    recording: Recording, graph: rows.Graph, nodes: list[LevelNode]
) -> dict[int, tuple[int, bool, str, int]]:
    """Map executable node ids to (index in the level, nested, name, type)."""
    found = {
        n.exec_node_id: (i, False, n.name, n.type)
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
            for n in _fetch_nodes(recording, body_id):
                open_levels.append((body_id, n.node_id, index))
                if n.exec_node_id is not None:
                    found.setdefault(n.exec_node_id, (index, True, n.name, n.type))
    return found
