"""One level of a graph as the views need it: the nodes and edges of a part of a tree, and times."""

from __future__ import annotations

from dataclasses import field, fields
from typing import TYPE_CHECKING

import numpy as np

from gviz.cuda import EdgeType
from gviz.dag import (
    CriticalPath,
    cover_chains,
    describe_cycle,
    pack_lanes,
    rank_rows,
    structural_path,
)
from gviz.dataclass import dataclass
from gviz.errors import CycleError
from gviz.model.tree.contradicted import contradicted_medians
from gviz.model.tree.graph_tree import GraphTree, TimedTree, read_timed_tree
from gviz.model.tree.keep import Keep, build_anew
from gviz.model.tree.nested_times import NestedTimes, read_nested_times
from gviz.model.tree.tree_edges import read_level_edges
from gviz.model.tree.tree_nodes import TreeNodes
from gviz.recording import rows
from gviz.stats import FloatArray, IntArray

if TYPE_CHECKING:
    from gviz.model.tree.spans import TreeSpans
    from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class GraphLevel:
    """A level of a tree (the graph shown, or a body).

    Attributes
    ----------
    tree, at
        The tree, and which of its levels this is.
    key
        int64: the nodes' numbers on the page, in the order of their ids; arrays below follow it.
    edge_from, edge_to, edge_type
        int64 node indices and CUgraphDependencyType.
    row, chain
        int64, one a node: longest path from a root, and the chain of a greedy cover.
    """

    tree: GraphTree
    at: int
    key: IntArray
    edge_from: IntArray
    edge_to: IntArray
    edge_type: IntArray
    row: IntArray
    chain: IntArray

    @property
    def graph(self) -> rows.Graph:
        """The graph or body."""
        return self.tree.levels[self.at].graph

    @property
    def nodes(self) -> TreeNodes:
        """Its nodes, in the order of their ids."""
        return self.tree.nodes[self.part]

    @property
    def first(self) -> int:
        """The index in the tree of its first node."""
        return self.tree.levels[self.at].first

    @property
    def parents(self) -> list[int]:
        """Return the nodes that have bodies."""
        return [n - self.first for n in self.tree.parents_in(self.at)]

    @property
    def part(self) -> slice:
        """Return the place of its nodes in arrays of the tree."""
        return self.tree.levels[self.at].part

    def lanes(self, node: IntArray, start_ns: FloatArray, end_ns: FloatArray) -> IntArray:
        """Return the lane of each span of a launch: as few as run at once, a chain in one if it
        can (int64).

        Parameters
        ----------
        node
            The nodes of the tree that ran, in order of start.
        start_ns, end_ns
            float64, of the spans.
        """
        chain = np.append(self.chain, -1)[self.tree.top[node]]
        return pack_lanes(start_ns, end_ns, chain, self.tree.level[node] > 0)

    def lanes_of(self, spans: TreeSpans) -> IntArray:
        """Return the lane of each span of one launch, whatever order they are in (int64)."""
        order = np.lexsort((spans.node, spans.start_ns))
        start, end = (times[order].astype(np.float64) for times in (spans.start_ns, spans.end_ns))
        lane = np.zeros(len(spans), np.int64)
        lane[order] = self.lanes(spans.node[order], start, end)
        return lane


@dataclass(frozen=True, slots=True)
class TimedLevel(GraphLevel):
    """A level with the times of its nodes.

    Attributes
    ----------
    nested
        The times inside nodes of the tree.
    median_ns, p95_ns
        float64, NaN where there is no time: of one execution; of a node with bodies, of what ran
        inside it in a launch, summed, over the launches in which anything did.
    body_ns
        float64: ``median_ns`` of nodes with bodies; NaN elsewhere.
    start_ns
        float64: see :class:`gviz.model.tree.tree_times.TreeTimes`.
    weight_ns
        float64: what a node counts on the structural critical path: its median; of a node with
        bodies the time in which anything inside ran, in one iteration of this level.
    share
        float64, 0..1: see :class:`gviz.model.tree.tree_times.TreeTimes`.
    """

    tree: TimedTree
    nested: NestedTimes
    median_ns: FloatArray
    p95_ns: FloatArray
    body_ns: FloatArray
    start_ns: FloatArray
    weight_ns: FloatArray
    share: FloatArray
    _found: list[tuple[CriticalPath | None, str | None]] = field(
        default_factory=list, compare=False, repr=False
    )

    def critical_path(self) -> CriticalPath | None:
        """Return the structural critical path, found once; None where nothing was timed.

        Nodes count with their median durations, those with bodies with the time in which anything
        inside ran. Of a body this is the path of one iteration. Without edges that CUDA reported
        there is none, nor where their times contradict them.
        """
        return self._find_once()[0]

    @property
    def why_contradicted(self) -> str | None:
        """Return the reason why dependencies and times cannot both be right; None: they can."""
        return self._find_once()[1]

    def _find_once(self) -> tuple[CriticalPath | None, str | None]:
        if not self._found:
            self._found.append(self._find())
        return self._found[0]

    def _find(self) -> tuple[CriticalPath | None, str | None]:
        weight, count = self.weight_ns, len(self.key)
        if self.graph.topology_id is None or self.graph.edges_inferred:
            return None, None
        if not np.isfinite(weight).any():
            return None, None
        edges = np.stack((self.edge_from, self.edge_to), axis=1)
        programmatic = self.edge_type == EdgeType.PROGRAMMATIC
        if not self.tree.times.is_by_copy:
            found = contradicted_medians(self.start_ns, self.median_ns, edges, programmatic)
            if found.is_large.any():
                return None, found.describe()
        path = structural_path(
            count, self.edge_from, self.edge_to, self.edge_type, weight, self.row
        )
        return path, None


def read_level(
    recording: Recording, tree: GraphTree, at: int = 0, keep: Keep = build_anew
) -> GraphLevel:
    """Return one level of a tree; CycleError if its edges form one. ``keep`` remembers it."""
    return keep(("level", tree.graph.graph_id, at), lambda: _read(recording, tree, at))


def _read(recording: Recording, tree: GraphTree, at: int) -> GraphLevel:
    level = tree.levels[at]
    edges = read_level_edges(recording, tree, level)
    row = _rows(level.graph, tree.nodes[level.part], edges.source, edges.target)
    return GraphLevel(
        tree=tree,
        at=at,
        key=tree.key[level.part],
        edge_from=edges.source,
        edge_to=edges.target,
        edge_type=edges.type,
        row=row,
        chain=cover_chains(row, edges.source, edges.target),
    )


def read_timed_level(
    recording: Recording, tree: TimedTree, at: int = 0, keep: Keep = build_anew
) -> TimedLevel:
    """Return one level of a tree with its times; CycleError if its edges form a cycle.

    ``keep`` remembers it, and what was read for it.
    """

    def read() -> TimedLevel:
        level = read_level(recording, tree, at, keep)
        nested = read_nested_times(recording, tree, keep)
        times, part = tree.times, level.part
        median, p95, body = times.median_ns[part], times.p95_ns[part], nested.bodies.median_ns[part]
        has_bodies = ~np.isnan(body)
        return TimedLevel(
            **{f.name: getattr(level, f.name) for f in fields(level) if f.name != "tree"},
            tree=tree,
            nested=nested,
            median_ns=np.where(has_bodies, body, median),
            p95_ns=np.where(has_bodies, nested.bodies.p95_ns[part], p95),
            body_ns=body,
            start_ns=times.start_ns[part],
            weight_ns=np.where(has_bodies, nested.bodies.running_ns[part], median),
            share=times.share[part],
        )

    return keep(("timed level", tree.graph.graph_id, at), read)


def read_graph_level(recording: Recording, graph_id: int) -> TimedLevel:
    """Return a graph as a level of its own; RecordingError if there is none or it has a cycle."""
    return read_timed_level(recording, read_timed_tree(recording, graph_id))


def _rows(graph: rows.Graph, nodes: TreeNodes, edge_from: IntArray, edge_to: IntArray) -> IntArray:
    try:
        return rank_rows(len(nodes), edge_from, edge_to)
    except CycleError as error:
        names = [f"{nodes[i].name} (node {nodes[i].node_id})" for i in error.nodes]
        raise CycleError(
            error.nodes,
            f"{graph.name} has a cycle of dependencies: {describe_cycle(names)}. No CUDA graph can "
            "hold one: the recording is damaged, record it again. The table lists its nodes.",
        ) from error
