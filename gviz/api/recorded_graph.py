"""One graph of a recording, read on first use."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.model import (
    GraphTree,
    KernelArgument,
    LaunchTimes,
    TreeLevel,
    all_columns,
    arguments_of,
    launch_times,
    read_declared,
    read_level_columns,
    read_level_edges,
    read_node,
    read_spans,
    read_tree,
)
from gviz.recording import EdgeArrays, LaunchArrays, Recording, rows
from gviz.stats import IntArray


@dataclass(frozen=True, slots=True)
class GraphSpans:
    """Spans as int64 arrays of one length, by launch, node and iteration.

    Attributes
    ----------
    launch_id
        Of the recording.
    graph_id, node_id
        The level that the node is in, and its id there.
    iteration
        Which of the node's executions in the launch, from 0.
    start_ns, duration_ns
        Starts count from the launch's first span's start.
    stream_id
        The hardware-side stream.
    """

    launch_id: IntArray
    graph_id: IntArray
    node_id: IntArray
    iteration: IntArray
    start_ns: IntArray
    duration_ns: IntArray
    stream_id: IntArray

    def __len__(self) -> int:
        return len(self.launch_id)


class RecordedGraph:
    """A graph, or the body of a node.

    Attributes
    ----------
    row
        Its row.
    recording
        The gate to the file.
    """

    def __init__(self, recording: Recording, row: rows.Graph) -> None:
        self.recording = recording
        self.row = row

    @property
    def name(self) -> str:
        """The name shown."""
        return self.row.name

    @cached_property
    def tree(self) -> GraphTree:
        """The graph with all that is nested in it."""
        return read_tree(self.recording, self.row.graph_id, columns=all_columns())

    @cached_property
    def nodes(self) -> list[rows.Node]:
        """Its nodes, in order of creation."""
        names, part = all_columns(), self.tree.nodes[self._level.part]
        values = zip(*map(part.listed, names), strict=True)
        graph_id = self.row.graph_id
        return [rows.Node(graph_id=graph_id, **dict(zip(names, v, strict=True))) for v in values]

    def arguments(self, node_id: int) -> tuple[KernelArgument, ...]:
        """Return what a node gives its kernel: parameters, as far as they are known, and values.

        Empty of nodes that run no kernel, and where no arguments are recorded.

        Raises
        ------
        RecordingError
            If the graph has no such node.
        """
        at = int(self.tree.nodes_in(0, np.array([node_id], np.int64))[0])
        if at < 0:
            raise RecordingError(f"graph {self.row.graph_id} has no node {node_id}: see .nodes")
        function_id = read_node(self.recording, self.tree, at).function_id or 0
        declared = read_declared(self.recording, self.row.run_id).get(function_id, ())
        return arguments_of(declared, self.recording.fetch_arguments(self.row.graph_id, node_id))

    @property
    def node_count(self) -> int:
        """Number of nodes of this level."""
        return len(read_level_columns(self.recording, self.row.graph_id, ("node_id",)))

    @cached_property
    def edges(self) -> EdgeArrays | None:
        """Its dependencies as arrays; None: not known."""
        if self.row.topology_id is None:
            return None
        found = read_level_edges(self.recording, self.tree, self._level)
        ids = self.tree.nodes[self._level.part].integers("node_id")
        ends = ids[found.source], ids[found.target]
        return EdgeArrays(*ends, found.type, found.from_port, found.to_port)

    @cached_property
    def launches(self) -> LaunchArrays:
        """Its launches that are known one by one, as arrays."""
        return self.recording.fetch_launch_arrays(self.row.graph_id)

    @property
    def launch_count(self) -> int:
        """Its launches, recorded one by one or not."""
        return self.recording.count_launches(self.row.graph_id)[0]

    @property
    def launch_times(self) -> LaunchTimes:
        """The median GPU time of its launches, and how it was measured."""
        return launch_times(self.recording, self.row.graph_id)

    @cached_property
    def spans(self) -> GraphSpans:
        """The spans of all its recorded launches, as arrays; also those of nodes in bodies."""
        found = read_spans(self.recording, self.tree)
        found = found.take(np.lexsort((found.iteration, found.node, found.launch_id)))
        graph_ids = np.array([x.graph.graph_id for x in self.tree.levels], np.int64)
        return GraphSpans(
            launch_id=found.launch_id,
            graph_id=graph_ids[self.tree.level[found.node]],
            node_id=self.tree.nodes.integers("node_id")[found.node],
            iteration=found.iteration,
            start_ns=found.start_ns,
            duration_ns=found.duration_ns,
            stream_id=found.stream_id,
        )

    @property
    def _level(self) -> TreeLevel:
        return self.tree.levels[0]
