"""Graphs as a trace knows them: their nodes from records, their edges from stream order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from itertools import chain

import numpy as np

from gviz.cuda import EdgeType, NodeType, short_name
from gviz.dataclass import dataclass
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
    integers,
    operation_name,
    recorded_nodes,
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
    symbols: list[str] = field(default_factory=list)  # kernel names, one a node; "": no kernel
    edges: IntArray = field(default_factory=lambda: np.zeros((0, 5), np.int64))
    #: CUDA's id of the graph that it was made of; None: not recorded.
    cuda_graph_id: int | None = None
    #: Whether the ids of its nodes are the trace's; else gviz numbered them.
    ids_reported: bool = True
    graph_id: int = 0
    graph_exec_id: int = 0
    #: Keys of its nodes where it was written as a dump's; None: they are its own.
    joined: NodeKeys | None = None

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
        return builder.topology(self.columns["type"].tolist(), self.symbols, self.edges)

    def keys(self) -> NodeKeys:
        """Return the keys of its nodes."""
        if self.joined is not None:
            return self.joined
        ids = self.columns["node_id"]
        return NodeKeys.of(self.graph_id, ids, np.full_like(ids, self.graph_id), ids)


@dataclass(frozen=True, slots=True)
class GraphRows:
    """The graphs of a trace, by executable."""

    levels: dict[int, TraceGraph]

    def fill(self, nodes: Collection[tuple[int, int]], **columns: IntArray) -> None:
        """Fill in columns of nodes, given by executable and id; those of no graph are left out."""
        exec_id, node_id = integers(chain.from_iterable(nodes)).reshape(-1, 2).T
        order = np.argsort(exec_id, kind="stable")
        ids, first = np.unique(exec_id[order], return_index=True)
        for one, mine in zip(ids.tolist(), np.split(order, first[1:]), strict=False):
            level = self.levels.get(one)
            if level is None or not len(level.columns):
                continue
            known = level.columns["node_id"]
            at = np.minimum(np.searchsorted(known, node_id[mine]), len(known) - 1)
            is_node = known[at] == node_id[mine]
            for name, column in columns.items():
                level.columns[name][at[is_node]] = column[mine[is_node]]


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
    graphs.fill(
        trace.created,
        created_ns=time,
        created_thread_id=thread,
        nvtx_path_id=path_of(thread, time),
    )


def add_annotations(graphs: GraphRows, trace: Trace, paths: Mapping[int, int]) -> None:
    """Give nodes the paths of programs' annotations; ``paths``: ids, by number of a name."""
    graphs.fill(
        trace.annotations,
        nvtx_path_id=integers(paths[name] for name in trace.annotations.values()),
    )


def _name(exec_id: int) -> str:
    if exec_id > OWN_IDS:
        return f"graph {exec_id - OWN_IDS} (numbered by gviz)"
    return f"graph {exec_id}"


def _graph(
    exec_id: int, trace: Trace, folded: FoldedTrace, mine: IntArray, kernels: KernelFunctions
) -> TraceGraph:
    """Build a graph from the executions of its nodes (indices into ``folded.span``)."""
    work = folded.work.take(folded.span[mine])
    _, sample = np.unique(work["node_id"], return_index=True)
    nodes = work.take(sample)
    is_kernel = nodes["type"] == NodeType.KERNEL
    symbols = [
        trace.names[name] if kernel else ""
        for name, kernel in zip(nodes["name"].tolist(), is_kernel.tolist(), strict=True)
    ]
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


def _node_columns(records: Activities, symbols: Sequence[str], kernels: KernelFunctions) -> Rows:
    """Return nodes as one record of each reports them, as columns of rows.Node."""
    names: list[str] = []
    functions: list[int] = []
    fields = records[["type", "registers", "copy_kind"]].tolist()
    for symbol, (kind, registers, direction) in zip(symbols, fields, strict=True):
        if kind == NodeType.KERNEL:
            names.append(short_name(symbol))
            functions.append(kernels.number(symbol, optional(registers)))
        else:
            names.append(operation_name(kind, optional(direction)))
            functions.append(UNKNOWN)
    why = "imported from a trace, which has no Python lines of graph nodes"
    return recorded_nodes(records, names, functions, why)
