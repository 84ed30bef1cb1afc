"""Graphs as a trace knows them: their nodes from records, their edges from stream order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from gviz.cuda import EdgeType, NodeType, short_name
from gviz.formats.traces.inferred_edges import infer_edges
from gviz.formats.traces.launches import FoldedTrace
from gviz.formats.traces.operations import optional
from gviz.formats.traces.trace import Trace
from gviz.recording import rows
from gviz.runs import (
    Activities,
    KernelFunctions,
    NodeKeys,
    Rows,
    RunBuilder,
    blank_rows,
    operation_name,
    recorded_nodes,
    unpack_rows,
)
from gviz.spool import OWN_IDS
from gviz.stats import UNKNOWN, IntArray

#: Finds, by threads and moments, the ids of the innermost paths that were open; -1: none was.
PathOf = Callable[[IntArray, IntArray], IntArray]

INFERRED_NOTE = (
    "The trace has no dependencies. The edges of its graphs are inferred: each joins two nodes "
    "that ran one right after the other on a stream in every launch. Dependencies between streams "
    "are missing, and analyses that need real ones are left out; import the driver's DOT dump of "
    "the graph together with the trace to have them."
)
WHOLE_NOTE = (
    "The trace records launches as a whole only: graphs have no nodes. Profile with nsys profile "
    "--cuda-graph-trace=node to have them."
)
NO_DEVICE_NOTE = (
    "The trace does not name the GPU that it is of: launch costs are those of another, and how "
    "full it was is not computed."
)
NUMBERED_NOTE = (
    "The trace has no graph node ids: launches that ran the same kernels in the same order are "
    "taken as of one graph, and nodes are numbered in that order. Profile with PyTorch 2.12 or "
    "newer, or Nsight Systems with --cuda-graph-trace=node, to have CUDA's own ids."
)


@dataclass(slots=True)
class TraceGraph:
    """One executable, as its records have it."""

    exec_id: int  # above OWN_IDS one that gviz numbers
    name: str
    #: By id (columns of rows.Node); it is that in the executable.
    columns: Rows = field(default_factory=lambda: blank_rows(rows.Node, 0))
    symbols: dict[int, str] = field(default_factory=dict)  # kernel names, by node
    edges: IntArray = field(default_factory=lambda: np.zeros((0, 5), np.int64))
    #: CUDA's id of the graph that it was made of; None: not recorded.
    cuda_graph_id: int | None = None
    #: Whether the ids of its nodes are the trace's; else gviz numbered them.
    ids_reported: bool = True
    graph_id: int = 0
    graph_exec_id: int = 0
    #: By exec_node_id, graph_id and node_id of the node's row where these are others.
    joined: dict[int, tuple[int, int]] = field(default_factory=dict)
    _nodes: dict[int, rows.Node] | None = None

    @property
    def nodes(self) -> dict[int, rows.Node]:
        """Return the nodes one by one, by id: for joining with a dump, of which each is text."""
        if self._nodes is None:
            self._nodes = {node.node_id: node for node in unpack_rows(rows.Node, self.columns)}
        return self._nodes

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
        if not len(self.columns):
            return None
        symbols = [self.symbols.get(node, "") for node in self.columns["node_id"].tolist()]
        return builder.topology(self.columns["type"].tolist(), symbols, self.edges)

    def keys(self) -> NodeKeys:
        """Return the keys of its nodes."""
        if self.joined:
            table = np.array([(i, *key) for i, key in self.joined.items()], np.int64)
            return NodeKeys.of(self.graph_id, *table.T)
        ids = self.columns["node_id"]
        return NodeKeys.of(self.graph_id, ids, np.full_like(ids, self.graph_id), ids)


@dataclass(frozen=True, slots=True)
class GraphRows:
    """The graphs of a trace, by executable."""

    levels: dict[int, TraceGraph]

    def find(self, exec_id: int, node_id: int) -> Rows | None:
        """Return the row of an executable's node, which may be changed; None: there is none."""
        level = self.levels.get(exec_id)
        if level is None:
            return None
        ids = level.columns["node_id"]
        at = int(np.searchsorted(ids, node_id))
        return level.columns[at] if at < len(ids) and ids[at] == node_id else None


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
            levels[exec_id] = TraceGraph(exec_id, _name(exec_id))
    for exec_id in folded.numbered:
        levels[exec_id].ids_reported = False
    for exec_id, level in levels.items():
        facts = trace.execs.get(exec_id)
        if facts is not None and facts.graph_id is not None:
            level.cuda_graph_id = facts.graph_id
            level.name = f"graph {facts.graph_id} (executable {exec_id})"
    return GraphRows(levels)


def add_creations(graphs: GraphRows, trace: Trace, path_of: PathOf) -> None:
    """Add to nodes when, where and in which ranges they were made, as far as recorded."""
    if not trace.created:
        return
    time, thread = np.array(list(trace.created.values()), np.int64).T
    time = time + trace.base_ns
    paths = path_of(thread, time)
    for (exec_id, node_id), time_ns, thread_id, path in zip(
        trace.created, time.tolist(), thread.tolist(), paths.tolist(), strict=True
    ):
        node = graphs.find(exec_id, node_id)
        if node is not None:
            node["created_ns"], node["created_thread_id"] = time_ns, thread_id
            node["nvtx_path_id"] = path


def add_annotations(graphs: GraphRows, trace: Trace, paths: Mapping[int, int]) -> None:
    """Give nodes the paths of programs' annotations; ``paths``: ids, by number of a name."""
    for (exec_id, node_id), name in trace.annotations.items():
        node = graphs.find(exec_id, node_id)
        if node is not None:
            node["nvtx_path_id"] = paths[name]


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
    nodes = work[sample]
    is_kernel = nodes["type"] == NodeType.KERNEL
    symbols = {
        node: trace.names[name] for node, name in nodes[["node_id", "name"]][is_kernel].tolist()
    }
    graph = TraceGraph(exec_id, _name(exec_id), _node_columns(nodes, symbols, kernels), symbols)
    once = folded.span_iteration[mine] == 0
    pairs = infer_edges(
        folded.span_launch[mine][once],
        *(work[key][once] for key in ("node_id", "start_ns", "end_ns", "stream_id")),
    )
    graph.edges = np.zeros((len(pairs), 5), np.int64)
    graph.edges[:, :2] = pairs
    graph.edges[:, 2] = EdgeType.INFERRED
    return graph


def _node_columns(
    records: Activities, symbols: Mapping[int, str], kernels: KernelFunctions
) -> Rows:
    """Return nodes as one record of each reports them, as columns of rows.Node."""
    names: list[str] = []
    functions: list[int] = []
    for node_id, kind, registers, direction in records[
        ["node_id", "type", "registers", "copy_kind"]
    ].tolist():
        symbol = symbols.get(node_id)
        if symbol is None:
            names.append(operation_name(kind, optional(direction)))
            functions.append(UNKNOWN)
        else:
            names.append(short_name(symbol))
            functions.append(kernels.number(symbol, optional(registers)))
    why = "imported from a trace, which has no Python lines of graph nodes"
    return recorded_nodes(records, names, functions, why)
