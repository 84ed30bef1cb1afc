"""Graphs as a trace knows them: their nodes from records, their edges from stream order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gviz.cuda import EdgeType, NodeType, short_name
from gviz.formats.traces.inferred_edges import infer_edges
from gviz.formats.traces.launches import FoldedTrace
from gviz.formats.traces.trace import Trace
from gviz.recording import rows
from gviz.runs import KernelFunctions, NodeKeys, RunBuilder, operation_name
from gviz.spool import OWN_IDS
from gviz.stats import UNKNOWN, IntArray

#: Finds, by threads and moments, the ids of the innermost paths that were open; -1: none was.
PathOf = Callable[[IntArray, IntArray], IntArray]

INFERRED_NOTE = (
    "The trace tells no dependencies. The edges of its graphs are inferred: each joins two nodes "
    "that ran one right after the other on a stream in every launch. Dependencies between streams "
    "are missing, and analyses that need real ones are left out; import the driver's DOT dump of "
    "the graph together with the trace to have them."
)
WHOLE_NOTE = (
    "The trace tells of launches as a whole only: graphs have no nodes. Profile with nsys profile "
    "--cuda-graph-trace=node to have them."
)
NO_DEVICE_NOTE = (
    "The trace does not name the GPU that it is of: launch costs are those of another, and how "
    "full it was is not computed."
)
NUMBERED_NOTE = (
    "The trace tells no graph node ids: launches that ran the same kernels in the same order are "
    "taken as of one graph, and nodes are numbered in that order. Profile with PyTorch 2.12 or "
    "newer, or Nsight Systems with --cuda-graph-trace=node, to have CUDA's own ids."
)


@dataclass(slots=True)
class TraceGraph:
    """One executable, as its records tell of it."""

    exec_id: int  # above OWN_IDS one that gviz numbers
    name: str
    nodes: dict[int, rows.Node]  # by exec_node_id
    symbols: dict[int, str]  # kernel names, likewise
    edges: IntArray = field(default_factory=lambda: np.zeros((0, 5), np.int64))
    #: CUDA's id of the graph that it was made of; None: not told.
    cuda_graph_id: int | None = None
    #: Whether the ids of its nodes are the trace's; else gviz numbered them.
    ids_reported: bool = True
    graph_id: int = 0
    graph_exec_id: int = 0
    #: By exec_node_id, graph_id and node_id of the node's row where these are others.
    joined: dict[int, tuple[int, int]] = field(default_factory=dict)

    def graph_row(self, run_id: int, topology: rows.Topology | None) -> rows.Graph:
        """Return its row."""
        return rows.Graph(
            graph_id=self.graph_id,
            run_id=run_id,
            name=self.name,
            origin="trace",
            cuda_graph_id=self.cuda_graph_id,
            topology_id=None if topology is None else topology.topology_id,
        )

    def topology(self, builder: RunBuilder) -> rows.Topology | None:
        """Return its topology; None: only launches as a whole are known."""
        if not self.nodes:
            return None
        nodes = sorted(self.nodes)
        types = [self.nodes[node].type for node in nodes]
        symbols = [self.symbols.get(node, "") for node in nodes]
        return builder.topology(types, symbols, self.edges.tolist())

    def keys(self) -> NodeKeys:
        """Return the keys of its nodes."""
        own = {node_id: (self.graph_id, node_id) for node_id in self.nodes}
        return NodeKeys.of(self.graph_id, self.joined or own)

    def node_rows(self) -> Iterator[rows.Node]:
        """Yield the rows of its nodes."""
        for node in self.nodes.values():
            yield replace(node, graph_id=self.graph_id)


@dataclass(frozen=True, slots=True)
class GraphRows:
    """The graphs of a trace, by executable."""

    levels: dict[int, TraceGraph]


def trace_graphs(trace: Trace, folded: FoldedTrace, kernels: KernelFunctions) -> GraphRows:
    """Return the graphs whose launches a trace has."""
    levels = {}
    work, span = folded.work, folded.span
    executable = work["exec_id"][span]
    order = np.argsort(executable, kind="stable")
    ids, first = np.unique(executable[order], return_index=True)
    # Of nothing, split makes one part.
    for exec_id, mine in zip(ids.tolist(), np.split(order, first[1:]), strict=False):
        levels[exec_id] = _graph(exec_id, trace, folded, mine, kernels)
    for exec_id in folded.launches["exec_id"].tolist():  # of which only the whole is known
        if exec_id not in levels:
            levels[exec_id] = TraceGraph(exec_id, _name(exec_id), {}, {})
    for exec_id in folded.numbered:
        levels[exec_id].ids_reported = False
    for exec_id, level in levels.items():
        told = trace.execs.get(exec_id)
        if told is not None and told.graph_id is not None:
            level.cuda_graph_id = told.graph_id
            level.name = f"graph {told.graph_id} (executable {exec_id})"
    return GraphRows(levels)


def add_creations(graphs: GraphRows, trace: Trace, path_of: PathOf) -> None:
    """Say of nodes when, where and in which ranges they were made, as far as the trace tells."""
    if not trace.created:
        return
    time, thread = np.array(list(trace.created.values()), np.int64).T
    time = time + trace.base_ns
    paths = path_of(thread, time)
    for (exec_id, node_id), time_ns, thread_id, path in zip(
        trace.created, time.tolist(), thread.tolist(), paths.tolist(), strict=True
    ):
        level = graphs.levels.get(exec_id)
        if level is not None and node_id in level.nodes:
            level.nodes[node_id] = replace(
                level.nodes[node_id],
                created_ns=time_ns,
                created_thread_id=thread_id,
                nvtx_path_id=None if path == UNKNOWN else path,
            )


def add_annotations(graphs: GraphRows, trace: Trace, paths: Mapping[int, int]) -> None:
    """Give nodes the paths of what programs said of them; ``paths``: ids, by number of a name."""
    for (exec_id, node_id), name in trace.annotations.items():
        level = graphs.levels.get(exec_id)
        if level is not None and node_id in level.nodes:
            level.nodes[node_id] = replace(level.nodes[node_id], nvtx_path_id=paths[name])


def _name(exec_id: int) -> str:
    if exec_id > OWN_IDS:
        return f"graph {exec_id - OWN_IDS} (numbered by gviz)"
    return f"graph {exec_id}"


def _graph(
    exec_id: int, trace: Trace, folded: FoldedTrace, mine: IntArray, kernels: KernelFunctions
) -> TraceGraph:
    """Build a graph from the executions of its nodes (indices into ``folded.span``)."""
    work = folded.work[folded.span[mine]]
    _, sample = np.unique(work["node_id"], return_index=True)
    graph = TraceGraph(exec_id, _name(exec_id), {}, {})
    for record in work[sample]:
        node_id = int(record["node_id"])
        graph.nodes[node_id] = _node(record, trace, kernels)
        if record["type"] == NodeType.KERNEL:
            graph.symbols[node_id] = trace.names[int(record["name"])]
    once = folded.span_iteration[mine] == 0
    pairs = infer_edges(
        folded.span_launch[mine][once],
        *(work[key][once] for key in ("node_id", "start_ns", "end_ns", "stream_id")),
    )
    graph.edges = np.zeros((len(pairs), 5), np.int64)
    graph.edges[:, :2] = pairs
    graph.edges[:, 2] = EdgeType.INFERRED
    return graph


def _node(record: np.void, trace: Trace, kernels: KernelFunctions) -> rows.Node:
    def told(name: str) -> int | None:
        value = int(record[name])
        return None if value == UNKNOWN else value

    kind = int(record["type"])
    is_kernel = kind == NodeType.KERNEL
    grid, block = (
        [None if size == UNKNOWN else size for size in record[name].tolist()]
        for name in ("grid", "block")
    )
    symbol = trace.names[int(record["name"])] if is_kernel else ""
    copy_kind = told("copy_kind")
    return rows.Node(
        graph_id=0,
        node_id=int(record["node_id"]),
        exec_node_id=int(record["node_id"]),
        type=kind,
        name=short_name(symbol) if is_kernel else operation_name(kind, copy_kind),
        function_id=kernels.number(symbol, told("registers")) if is_kernel else None,
        device_id=told("device_id"),
        grid_x=grid[0],
        grid_y=grid[1],
        grid_z=grid[2],
        block_x=block[0],
        block_y=block[1],
        block_z=block[2],
        shared_mem_bytes=told("shared_mem_bytes") if is_kernel else None,
        bytes=None if is_kernel else told("bytes"),
        copy_kind=copy_kind,
        stack_reason="imported from a trace, which tells no Python lines of graph nodes",
    )
