"""A graph with all that is nested in it: every node under one index, in the order of levels."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from gviz.cuda import NodeType
from gviz.dataclass import dataclass
from gviz.model.node_index import NodeIndex
from gviz.model.nvtx_paths import nvtx_texts
from gviz.model.tree.bodies import Bodies, read_bodies
from gviz.model.tree.capture_ranges import capture_ranges
from gviz.model.tree.forward_operations import ForwardOperations, read_forward_operations
from gviz.model.tree.keep import Keep, build_anew
from gviz.model.tree.tree_nodes import (
    NEEDED,
    SHOWN,
    TreeNode,
    TreeNodes,
    distinct,
    join_tree_nodes,
    read_level_columns,
)
from gviz.model.tree.tree_times import TreeTimes, read_tree_times
from gviz.recording import rows
from gviz.stats import UNKNOWN, BoolArray, IntArray

if TYPE_CHECKING:
    from gviz.recording import Columns, Recording


#: What trees of a run have in common, as :func:`gviz.model.tree.keep.keeper` names it.
OF_RUN = frozenset({"bodies", "nvtx", "devices", "launch calls", "titles"})


@dataclass(frozen=True, slots=True)
class TreeLevel:
    """One level of a tree: the graph at its root, or a body.

    Attributes
    ----------
    at
        Its place among the levels.
    parent
        Index of the node whose body it is; -1: the root, or that node is not recorded.
    depth
        How many nodes are around it.
    first, end
        Its nodes: indices into those of the tree.
    label
        What it is to its parent node: ``child graph``, ``body 0: then``, ``body 3: case 3``.
    repeats
        Whether it may run any number of times, or not at all, when its parent node runs: the body
        of a conditional node.
    """

    graph: rows.Graph
    at: int
    parent: int
    depth: int
    first: int
    end: int
    label: str
    repeats: bool

    @property
    def count(self) -> int:
        """Return the number of its nodes."""
        return self.end - self.first

    @property
    def part(self) -> slice:
        """Return the place of its nodes in arrays of the tree."""
        return slice(self.first, self.end)

    @property
    def has_recorded_edges(self) -> bool:
        """Return whether CUDA reported its edges.

        It did not for a graph made before gviz attached, nor did an imported trace. A single node
        has none to report.
        """
        known = self.graph.topology_id is not None and not self.graph.edges_inferred
        return known or self.count == 1


@dataclass(frozen=True, slots=True)
class GraphTree:
    """A graph and everything nested in it.

    The root is any graph of a recording: one that is launched, or a body.

    Attributes
    ----------
    outermost
        The graph that is launched; the same as the root's unless that is a body.
    levels
        The root first; then depth first, as the driver numbers nodes in an executable: the bodies
        of a node by branch, then what is in them, then those of the next node. At the end, bodies
        whose parent node is not recorded, with what is in them.
    nodes
        Of all levels, level by level, by node id inside each.
    key
        int64, one a node, ascending: its number on the page. In the root that is the node id;
        nested nodes have the numbers that follow.
    level, parent
        int64, one a node: its level, and the node around it (-1: none, or not recorded).
    top
        int64, one a node: the node of the root that it is or is nested in; -1 in bodies whose
        parent node is not recorded.
    has_range_of_capture
        bool, one a node: its NVTX range is the one that was open on the capturing thread, for the
        node was made on a thread without ranges.
    has_range_of_forward
        bool, one a node: its NVTX range is that of the operation of the forward pass that it is
        the backward pass of. That lies inside the range open on the capturing thread, or none was.
    operations
        Operations of the forward pass, and autograd's nodes for them.
    nvtx, devices
        Texts of NVTX paths and names of devices, by their ids.
    """

    outermost: rows.Graph
    levels: tuple[TreeLevel, ...]
    nodes: TreeNodes
    key: IntArray
    level: IntArray
    parent: IntArray
    top: IntArray
    has_range_of_capture: BoolArray
    has_range_of_forward: BoolArray
    operations: ForwardOperations
    nvtx: Mapping[int, str]
    devices: Mapping[int, str]
    index: NodeIndex
    _parents: list[int]
    _bodies: dict[int, tuple[int, ...]]
    _inside: dict[int, range]
    _levels_inside: dict[int, range]

    def __len__(self) -> int:
        return len(self.key)

    @property
    def graph(self) -> rows.Graph:
        """The graph at the root."""
        return self.levels[0].graph

    @property
    def types(self) -> IntArray:
        """CUgraphNodeType of each node (int64)."""
        return self.nodes.integers("type")

    def level_of(self, node: int) -> TreeLevel:
        """Return the level that a node stands in."""
        return self.levels[int(self.level[node])]

    def parents_in(self, level: int) -> Sequence[int]:
        """Return the nodes of a level that have bodies."""
        first, end = self.levels[level].first, self.levels[level].end
        return self._parents[bisect_left(self._parents, first) : bisect_left(self._parents, end)]

    def bodies(self, node: int) -> tuple[int, ...]:
        """Return the levels that are bodies of a node, by branch."""
        return self._bodies.get(node, ())

    def around(self, node: int) -> list[int]:
        """Return the nodes that a node is nested in, innermost first."""
        found: list[int] = []
        while (node := int(self.parent[node])) >= 0:
            found.append(node)
        return found

    def path_of(self, level: int) -> str:
        """Return the names of a level and of those around it, the root left out."""
        names: list[str] = []
        while level > 0:
            names.append(self.levels[level].graph.name)
            parent = self.levels[level].parent
            level = int(self.level[parent]) if parent >= 0 else 0
        return " › ".join(reversed(names))

    def index_of(self, key: int) -> int | None:
        """Return the node of a number of the page; None where there is none."""
        at = int(np.searchsorted(self.key, key))
        return at if at < len(self.key) and self.key[at] == key else None

    def key_in(self, level: int, node_id: int) -> int | None:
        """Return the page's number of a node of a level; None where the level has none such."""
        found = self.keys_in(level, (node_id,))
        return int(found[0]) if len(found) else None

    def keys_in(self, level: int, node_ids: Sequence[int]) -> IntArray:
        """Return the page's numbers of nodes of a level, without those that it does not have."""
        found = self.nodes_in(level, np.asarray(node_ids, np.int64))
        return self.key[found[found >= 0]]

    def nodes_in(self, level: int, node_ids: IntArray) -> IntArray:
        """Return the nodes of a level by their ids; -1 where it has none such (int64)."""
        first, part = self.levels[level].first, self.levels[level].part
        ids = self.nodes[part].integers("node_id")
        if not len(ids):
            return np.full(len(node_ids), -1, np.int64)
        at = np.minimum(np.searchsorted(ids, node_ids), len(ids) - 1)
        return np.where(ids[at] == node_ids, first + at, -1)

    def inside(self, node: int) -> range:
        """Return the nodes nested in a node, at any depth: they follow each other."""
        return self._inside.get(node, range(0))

    def levels_inside(self, node: int) -> range:
        """Return the levels nested in a node, at any depth: they follow each other."""
        return self._levels_inside.get(node, range(0))


@dataclass(frozen=True, slots=True)
class TimedTree(GraphTree):
    """A graph and everything nested in it, with the times of its nodes.

    Attributes
    ----------
    times
        Of the nodes, over the recorded launches.
    """

    times: TreeTimes


def read_tree(
    recording: Recording,
    graph_id: int,
    keep: Keep = build_anew,
    columns: Sequence[str] = SHOWN,
) -> GraphTree:
    """Return a graph with what is nested in it; RecordingError if there is no such graph.

    No edge, no time and no span is read (:func:`gviz.model.tree.tree_edges.read_tree_edges`,
    :func:`read_timed_tree`, :mod:`gviz.model.tree.spans`).

    Parameters
    ----------
    keep
        Remembers the tree, and what trees of a run have in common.
    columns
        Of nodes; those in :data:`gviz.model.tree.tree_nodes.NEEDED` are read in any case.
    """
    names = tuple(dict.fromkeys((*columns, *NEEDED)))
    return keep(("tree", graph_id, names), lambda: _read(recording, graph_id, keep, names))


def read_timed_tree(
    recording: Recording,
    graph_id: int,
    keep: Keep = build_anew,
    columns: Sequence[str] = SHOWN,
) -> TimedTree:
    """Return a graph as :func:`read_tree` does, with the times of its nodes."""
    names = tuple(dict.fromkeys((*columns, *NEEDED)))

    def read() -> TimedTree:
        tree = read_tree(recording, graph_id, keep, names)
        graph_ids = [level.graph.graph_id for level in tree.levels]
        times = read_tree_times(recording, tree.outermost, graph_ids, tree.parent, tree.index)
        return TimedTree(**{f.name: getattr(tree, f.name) for f in fields(tree)}, times=times)

    return keep(("timed tree", graph_id, names), read)


def _read(recording: Recording, graph_id: int, keep: Keep, columns: Sequence[str]) -> GraphTree:
    graph = recording.fetch_graph(graph_id)
    run_id = graph.run_id
    outermost = recording.fetch_outermost(graph)
    builder = _Builder(recording, graph, read_bodies(recording, run_id, keep), columns)
    levels = builder.levels
    graph_ids = np.array([x.graph.graph_id for x in levels], np.int64)
    nodes, ranges = _with_ranges(
        recording, outermost, graph_ids, join_tree_nodes(builder.columns), columns
    )
    level = np.repeat(np.arange(len(levels)), [x.count for x in levels]).astype(np.int64)
    parent = np.array([x.parent for x in levels], np.int64)[level]
    index = NodeIndex.of(graph_ids[level], nodes.integers("node_id"))
    return GraphTree(
        outermost=outermost,
        levels=tuple(levels),
        nodes=nodes,
        key=_keys(nodes[levels[0].part].integers("node_id"), len(nodes)),
        level=level,
        parent=parent,
        top=_tops(level, parent),
        has_range_of_capture=ranges.of_capture,
        has_range_of_forward=ranges.of_forward,
        operations=ranges.operations,
        nvtx=keep(("nvtx", run_id), lambda: nvtx_texts(recording.fetch_nvtx_paths(run_id))),
        devices=keep(("devices", run_id), lambda: _device_names(recording, run_id)),
        index=index,
        _parents=sorted(builder.bodies),
        _bodies={node: tuple(found) for node, found in builder.bodies.items()},
        _inside=builder.inside,
        _levels_inside=builder.levels_inside,
    )


@dataclass(frozen=True, slots=True)
class _Ranges:
    """The nodes whose ranges are inferred, and the operations that these are of."""

    of_capture: BoolArray
    of_forward: BoolArray
    operations: ForwardOperations


def _with_ranges(
    recording: Recording,
    outermost: rows.Graph,
    graph_ids: IntArray,
    nodes: TreeNodes,
    columns: Sequence[str],
) -> tuple[TreeNodes, _Ranges]:
    """Return nodes with the ranges of the capturing thread and of operations, and which have those.

    The range that was open says in which phase a node was made, which that of its operation does
    not if the two lie beside each other, such as "backward" and "forward".
    """
    nothing = np.zeros(len(nodes), bool)
    if "nvtx_path_id" not in columns:
        return nodes, _Ranges(nothing, nothing, ForwardOperations.none(len(nodes)))
    own = nodes.integers("nvtx_path_id", UNKNOWN)
    open_then = capture_ranges(recording, outermost, graph_ids, own)
    operations = read_forward_operations(recording, outermost, graph_ids)
    has_forward = (operations.forward >= 0) & (own == UNKNOWN)
    of_forward = np.where(has_forward, own[operations.forward], UNKNOWN)
    if has_forward.any():
        paths = recording.fetch_nvtx_paths(outermost.run_id)
        first, pair = distinct((of_forward, open_then))
        pairs = zip(of_forward[first].tolist(), open_then[first].tolist(), strict=True)
        inside = np.array([_is_inside(paths, *one) for one in pairs], bool)
        of_forward[~inside[pair]] = UNKNOWN
    found = np.where(of_forward != UNKNOWN, of_forward, open_then)
    is_forward = of_forward != UNKNOWN
    of_capture = (open_then != UNKNOWN) & ~is_forward
    changed = nodes.filled("nvtx_path_id", found) if (found != UNKNOWN).any() else nodes
    return changed, _Ranges(of_capture, is_forward, operations)


def _is_inside(paths: Mapping[int, rows.NvtxPath], inner: int, outer: int) -> bool:
    """Return whether a path lies inside another; inside none, every path does."""
    steps: list[int] = []
    step: int | None = inner
    while step is not None and step in paths and step not in steps:
        steps.append(step)
        step = paths[step].parent_id
    return bool(steps) and (outer == UNKNOWN or outer in steps[1:])


def _device_names(recording: Recording, run_id: int) -> dict[int, str]:
    devices = recording.fetch_devices(run_id)
    return {device.device_id: f"{device.device_id}: {device.name}" for device in devices}


def _keys(shown: IntArray, count: int) -> IntArray:
    if count == len(shown):  # also where the next number would be too large
        return shown
    following = shown.max(initial=-1) + 1 + np.arange(count - len(shown), dtype=np.int64)
    return np.concatenate((shown, following))


def _tops(level: IntArray, parent: IntArray) -> IntArray:
    top = np.arange(len(level), dtype=np.int64)
    while (inner := parent[top] >= 0).any():
        top[inner] = parent[top[inner]]
    return np.where(level[top] == 0, top, -1) if len(top) else top


class _Builder:
    """Collects the levels in the order of the driver's numbers. Single use."""

    def __init__(
        self, recording: Recording, graph: rows.Graph, bodies: Bodies, names: Sequence[str]
    ) -> None:
        self._recording = recording
        self._bodies = bodies
        self._names = names
        self.columns: list[Columns] = []
        self.levels: list[TreeLevel] = []
        self.bodies: dict[int, list[int]] = {}
        self.inside: dict[int, range] = {}
        self.levels_inside: dict[int, range] = {}
        self._count = 0
        self._orphans: list[rows.Graph] = []
        self._add(graph, -1, 0, "", repeats=False)
        self._descend(0)
        for body in self._orphans:  # which grows meanwhile
            at = len(self.levels)
            self._add(body, -1, 1, "body of an unknown node", repeats=True)
            self._descend(at)

    def _descend(self, at: int) -> None:
        """Add the bodies of a level's nodes: all of one node, then what is in them."""
        level = self.levels[at]
        of_node = self._bodies.by_node(level.graph.graph_id)
        if not of_node:
            return
        nodes = TreeNodes(self.columns[at])
        ids = nodes.integers("node_id")
        recorded = [node_id for node_id in of_node if node_id is not None]
        found = np.flatnonzero(np.isin(ids, recorded)).tolist()
        for inner in found:
            self._add_bodies(level, level.first + inner, nodes[inner], of_node[int(ids[inner])])
        known = {int(ids[inner]) for inner in found}
        self._orphans += [b for node, of in of_node.items() if node not in known for b in of]

    def _add_bodies(
        self, level: TreeLevel, index: int, node: TreeNode, bodies: Sequence[rows.Graph]
    ) -> None:
        first_node, first_level = self._count, len(self.levels)
        for body in bodies:
            label = _label(node, body.branch or 0)
            repeats = node.type == NodeType.CONDITIONAL
            self._add(body, index, level.depth + 1, label, repeats=repeats)
        for at in self.bodies[index]:
            self._descend(at)
        self.inside[index] = range(first_node, self._count)
        self.levels_inside[index] = range(first_level, len(self.levels))

    def _add(
        self, graph: rows.Graph, parent: int, depth: int, label: str, *, repeats: bool
    ) -> None:
        first, at = self._count, len(self.levels)
        found = read_level_columns(self._recording, graph.graph_id, self._names)
        self.columns.append(found)
        self._count += len(found)
        if parent >= 0:
            self.bodies.setdefault(parent, []).append(at)
        self.levels.append(TreeLevel(graph, at, parent, depth, first, self._count, label, repeats))


def _label(parent: TreeNode, branch: int) -> str:
    """Return what a body is to its parent node."""
    if parent.type == NodeType.GRAPH:
        return "child graph"
    if parent.conditional_type == "if":
        return f"body {branch}: {'else' if branch else 'then'}"
    if parent.conditional_type == "switch":
        return f"body {branch}: case {branch}"
    return f"body {branch}"
