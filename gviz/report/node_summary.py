"""The facts of ``gviz node`` about one node: rows of the recording, and who stands beside it.

The field names are the keys of ``gviz node --json``, with bytes in hexadecimal.
"""

from __future__ import annotations

import math

import numpy as np

from gviz.cuda import node_type_name
from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.model import (
    GraphTree,
    KernelParameter,
    arguments_of,
    graph_title,
    own_frame,
    read_declared,
    read_level_edges,
    read_node,
    read_node_durations,
    read_node_statistics,
    read_timed_tree,
    signature_text,
)
from gviz.recording import KernelFunction, Recording, rows
from gviz.stats import IntArray, Interval, distinct_values, rank_interval
from gviz.system import NO_PROGRESS, Progress

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
NODE_VERSION = 1
#: The share of the time in which its graph is read.
_READ = 0.8


@dataclass(frozen=True, slots=True)
class NodeNeighbour:
    """A dependency or a dependent of a node."""

    node_id: int
    name: str


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """A node with all that is recorded of it.

    Attributes
    ----------
    graph_id, graph
        The level that holds it, and the title of that graph.
    kind
        CUDA's name of its type.
    node, function, statistics, parameters, arguments, stack
        Rows of the tables ``node``, ``kernel_function``, ``node_statistics``, ``node_parameter``,
        ``argument`` and ``location``, the innermost frame first; None or empty: there is none.
    median_low_ns, median_high_ns
        The 95% interval of its median, over its executions; None: not all of these are recorded
        one by one, or they are fewer than six.
    share_fraction
        Its time over the GPU time of the launches with node times, or over the time of all nodes
        where event copies took them; None: it has no time.
    is_by_copy
        Whether event copies took it.
    own_depth
        Place in ``stack`` of the innermost frame of the user's own code; None: there is none.
    signature
        The call of its kernel with types, names and values, as far as they are known; None: no
        arguments are recorded.
    declared
        The parameter of each argument: name and type, as far as anything recorded tells them.
    nvtx
        NVTX ranges around it, outermost first; None: none.
    dependencies, dependents
        By node id; None: the graph's edges are not known.
    """

    node_version: int
    graph_id: int
    graph: str
    kind: str
    node: rows.Node
    function: KernelFunction | None
    statistics: rows.NodeStatistics | None
    median_low_ns: float | None
    median_high_ns: float | None
    share_fraction: float | None
    is_by_copy: bool
    own_depth: int | None
    stack: tuple[rows.Location, ...]
    nvtx: str | None
    parameters: tuple[rows.NodeParameter, ...]
    arguments: tuple[rows.Argument, ...]
    signature: str | None
    declared: tuple[KernelParameter, ...]
    dependencies: tuple[NodeNeighbour, ...] | None
    dependents: tuple[NodeNeighbour, ...] | None


def summarize_node(
    recording: Recording, graph_id: int, node_id: int, progress: Progress = NO_PROGRESS
) -> NodeSummary:
    """Return all that is recorded of a node.

    Parameters
    ----------
    graph_id
        The level that holds it: a graph that is launched, or a body.
    progress
        Told what is read.

    Raises
    ------
    RecordingError
        If there is no such graph or node.
    """
    progress.at(0.0, f"graph {graph_id}")
    tree = read_timed_tree(recording, graph_id)
    progress.at(_READ, f"node {node_id}")
    at = int(tree.nodes_in(0, np.array([node_id], np.int64))[0])
    if at < 0:
        raise RecordingError(
            f"{recording.path} has no node {node_id} in graph {graph_id}; 'gviz query "
            f'{recording.path} "SELECT node_id, name FROM v_node"\' lists them'
        )
    node, share = read_node(recording, tree, at), float(tree.times.share[at])
    stack = [] if node.stack_id is None else recording.fetch_stack(node.stack_id)
    functions = recording.fetch_functions(tree.graph.run_id)
    path_id = tree.nodes[at].nvtx_path_id
    before, after = _beside(recording, tree, at)
    given = recording.fetch_arguments(graph_id, node_id)
    declarations = read_declared(recording, tree.graph.run_id).get(node.function_id or 0, ())
    named = arguments_of(declarations, given)
    statistics = read_node_statistics(recording, tree, at)
    interval = _interval(recording, tree, at, statistics)
    return NodeSummary(
        node_version=NODE_VERSION,
        graph_id=graph_id,
        graph=graph_title(recording, tree.graph),
        kind=node_type_name(node.type),
        node=node,
        function=None if node.function_id is None else functions.get(node.function_id),
        statistics=statistics,
        median_low_ns=interval.low,
        median_high_ns=interval.high,
        share_fraction=None if math.isnan(share) else share,
        is_by_copy=tree.times.is_by_copy,
        own_depth=own_frame(stack),
        stack=tuple(stack),
        nvtx=None if path_id is None else tree.nvtx.get(path_id),
        parameters=tuple(recording.fetch_node_parameters(graph_id, node_id)),
        arguments=tuple(given),
        signature=signature_text(node.name, named) if given else None,
        declared=tuple(a.parameter for a in named),
        dependencies=before,
        dependents=after,
    )


def _interval(
    recording: Recording, tree: GraphTree, node: int, statistics: rows.NodeStatistics | None
) -> Interval:
    """Return the interval of a node's median; it has none where executions have no row."""
    if statistics is None or statistics.streamed_count:
        return Interval(None, None)
    durations = read_node_durations(recording, tree, node)
    return rank_interval(durations)


def _beside(
    recording: Recording, tree: GraphTree, node: int
) -> tuple[tuple[NodeNeighbour, ...] | None, tuple[NodeNeighbour, ...] | None]:
    """Return a node's dependencies and dependents; None: the edges are not known."""
    if tree.graph.topology_id is None:
        return None, None
    edges = read_level_edges(recording, tree, tree.levels[0])
    before = edges.source[edges.target == node]
    after = edges.target[edges.source == node]
    return _named(tree, before), _named(tree, after)


def _named(tree: GraphTree, nodes: IntArray) -> tuple[NodeNeighbour, ...]:
    found = (tree.nodes[at] for at in distinct_values(nodes).tolist())
    return tuple(NodeNeighbour(node.node_id, node.name) for node in found)
