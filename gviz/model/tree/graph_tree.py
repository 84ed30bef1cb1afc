"""A graph level with all that is nested in it: every node under one number, with its times."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gviz.cuda import NodeType
from gviz.model.nvtx_paths import nvtx_texts
from gviz.model.tree.keep import Keep, build_anew
from gviz.model.tree.tree_nodes import TreeNode, TreeNodes, join_tree_nodes, read_tree_nodes
from gviz.recording import rows
from gviz.stats import FloatArray, IntArray

if TYPE_CHECKING:
    from gviz.recording import Columns, Recording


@dataclass(frozen=True, slots=True)
class TreeLevel:
    """One level of a tree: the graph shown, or a body.

    Attributes
    ----------
    holder
        Index of the node that holds it; -1 for the graph shown.
    depth
        How many nodes are around it.
    first, end
        Its nodes: indices into those of the tree.
    label
        What it is to its holder: ``child graph``, ``body 0: then``, ``body 3: case 3``.
    """

    graph: rows.Graph
    holder: int
    depth: int
    first: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class TreeTimes:
    """Times of a tree's nodes; float64, NaN where there is none.

    Attributes
    ----------
    median_ns, p95_ns
        Of one execution, over the recorded launches.
    total_ns
        Over all recorded launches, all turns of loops; of a node that holds bodies, of all that is
        nested in it.
    share
        0..1: ``total_ns`` over the GPU time of these launches. Overlapping nodes count in full.
    launch_count
        Launches with node times.
    """

    median_ns: FloatArray
    p95_ns: FloatArray
    total_ns: FloatArray
    share: FloatArray
    launch_count: int


@dataclass(frozen=True, slots=True)
class ExecNodes:
    """Nodes by their ids in the executable.

    Attributes
    ----------
    ids, node
        int64 arrays of one length: ids, increasing, and the node of each; the first of several.
    """

    ids: IntArray
    node: IntArray

    @classmethod
    def of(cls, exec_node_ids: IntArray) -> ExecNodes:
        """Return them for the ids of nodes, -1 where a node has none."""
        ids, first = np.unique(exec_node_ids, return_index=True)
        return cls(ids[ids >= 0], first[ids >= 0].astype(np.int64))

    def find(self, exec_node_ids: IntArray) -> IntArray:
        """Return the node of each id; -1: there is none (int64)."""
        if not len(self.ids):
            return np.full(len(exec_node_ids), -1, np.int64)
        first, count = int(self.ids[0]), int(self.ids[-1] - self.ids[0]) + 1
        if count <= max(len(exec_node_ids), len(self.ids)):
            # A table of no more than is asked for: a million ids are found in a fifth of the time.
            table = np.full(count + 1, -1, np.int64)
            table[self.ids - first] = self.node
            at = exec_node_ids - first
            found: IntArray = table[np.where((at >= 0) & (at < count), at, count)]
            return found
        at = np.minimum(np.searchsorted(self.ids, exec_node_ids), len(self.ids) - 1)
        return np.where(self.ids[at] == exec_node_ids, self.node[at], -1)


@dataclass(frozen=True, slots=True)
class GraphTree:
    """A graph level and everything nested in it.

    Attributes
    ----------
    outermost
        The graph that is launched; the same as the first level's unless that is a body.
    levels
        The level shown first, a body after the level that its holder stands in.
    nodes
        Of all levels, level by level, by node id inside each.
    key
        int64, one a node, ascending: its number on the page. In the level shown that is the node
        id; nested nodes have the numbers that follow, in the order in which the driver numbers
        them in an executable.
    level, holder
        int64, one a node: its level, and the node around it (-1: none).
    top
        int64, one a node: the node of the level shown that it is or is nested in.
    nvtx, devices
        Texts of NVTX paths and names of devices, by their ids.
    """

    outermost: rows.Graph
    levels: tuple[TreeLevel, ...]
    nodes: TreeNodes
    key: IntArray
    level: IntArray
    holder: IntArray
    top: IntArray
    times: TreeTimes
    nvtx: Mapping[int, str]
    devices: Mapping[int, str]
    _holders: list[int]
    _bodies: dict[int, tuple[int, ...]]
    _inside: dict[int, range]
    _levels_inside: dict[int, range]
    _by_exec: ExecNodes

    @property
    def graph(self) -> rows.Graph:
        """The level shown."""
        return self.levels[0].graph

    def holders_in(self, level: int) -> Sequence[int]:
        """Return the nodes of a level that hold bodies."""
        first, end = self.levels[level].first, self.levels[level].end
        return self._holders[bisect_left(self._holders, first) : bisect_left(self._holders, end)]

    def bodies(self, node: int) -> tuple[int, ...]:
        """Return the levels that a node holds, by branch."""
        return self._bodies.get(node, ())

    def path_of(self, level: int) -> str:
        """Return the names of a level and of those around it, the level shown left out."""
        names: list[str] = []
        while level:
            names.append(self.levels[level].graph.name)
            level = int(self.level[self.levels[level].holder])
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
        first, end = self.levels[level].first, self.levels[level].end
        ids = self.nodes.integers("node_id")[first:end]
        wanted = np.asarray(node_ids, np.int64)
        at = np.searchsorted(ids, wanted)
        known = at < len(ids)
        known[known] = ids[at[known]] == wanted[known]
        return self.key[first + at[known]]

    @property
    def exec_node_ids(self) -> IntArray:
        """The ids of its nodes in the executable, increasing (int64)."""
        return self._by_exec.ids

    def nested_exec_ids(self, *, including_shown: bool = False) -> IntArray:
        """Return those of nodes in bodies, or also of the level shown (int64)."""
        ids, node = self._by_exec.ids, self._by_exec.node
        return ids if including_shown else ids[self.level[node] > 0]

    def owners(self, exec_node_ids: IntArray) -> IntArray:
        """Return the node that each id of the executable is; -1: none of the tree (int64)."""
        return self._by_exec.find(exec_node_ids)

    def inside(self, node: int) -> range:
        """Return the nodes nested in a node, at any depth: they follow each other."""
        return self._inside.get(node, range(0))

    def levels_inside(self, node: int) -> range:
        """Return the levels nested in a node, at any depth: they follow each other."""
        return self._levels_inside.get(node, range(0))


def read_tree(recording: Recording, graph_id: int, keep: Keep = build_anew) -> GraphTree:
    """Return a graph level with what is nested in it; RecordingError if there is no such graph.

    No span is read: what these tell of bodies is in :mod:`gviz.model.tree.inner_times`. ``keep``
    remembers it.
    """
    return keep(("tree", graph_id), lambda: _read(recording, graph_id))


def _read(recording: Recording, graph_id: int) -> GraphTree:
    graph = recording.fetch_graph(graph_id)
    outermost = recording.fetch_outermost(graph)
    builder = _Builder(recording, graph)
    builder.descend(0)
    levels = builder.levels
    nodes = join_tree_nodes(builder.columns)
    level = np.repeat(np.arange(len(levels)), [x.end - x.first for x in levels]).astype(np.int64)
    holder = np.array([x.holder for x in levels], np.int64)[level]
    by_exec = ExecNodes.of(nodes.integers("exec_node_id", -1))
    return GraphTree(
        outermost=outermost,
        levels=tuple(levels),
        nodes=nodes,
        key=_keys(nodes[: levels[0].end].integers("node_id"), len(nodes)),
        level=level,
        holder=holder,
        top=_tops(holder),
        times=_read_times(recording, outermost, holder, by_exec),
        nvtx=nvtx_texts(recording.fetch_nvtx_paths(graph.run_id)),
        devices={
            d.device_id: f"{d.device_id}: {d.name}" for d in recording.fetch_devices(graph.run_id)
        },
        _holders=sorted(builder.bodies),
        _bodies={node: tuple(found) for node, found in builder.bodies.items()},
        _inside=builder.inside,
        _levels_inside=builder.levels_inside,
        _by_exec=by_exec,
    )


def _keys(shown: IntArray, count: int) -> IntArray:
    following = shown.max(initial=-1) + 1 + np.arange(count - len(shown), dtype=np.int64)
    return np.concatenate((shown, following))


def _tops(holder: IntArray) -> IntArray:
    top = np.arange(len(holder), dtype=np.int64)
    while (inner := holder[top] >= 0).any():
        top[inner] = holder[top[inner]]
    return top


class _Builder:
    """Collects the levels in the order of the driver's numbers. Single use."""

    def __init__(self, recording: Recording, graph: rows.Graph) -> None:
        self._recording = recording
        #: The bodies that nodes of a graph hold, by graph and node id.
        self._held: dict[int, dict[int, list[rows.Graph]]] = {}
        for other in recording.fetch_graphs(graph.run_id):
            if other.parent_graph_id is not None and other.parent_node_id is not None:
                held = self._held.setdefault(other.parent_graph_id, {})
                held.setdefault(other.parent_node_id, []).append(other)
        self.columns: list[Columns] = []
        self.levels: list[TreeLevel] = []
        self.bodies: dict[int, list[int]] = {}
        self.inside: dict[int, range] = {}
        self.levels_inside: dict[int, range] = {}
        self._count = 0
        self._add(graph, -1, 0, "")

    def descend(self, at: int) -> None:
        """Add what the nodes of a level hold: all of a node's bodies, then what is in them."""
        level = self.levels[at]
        held = self._held.get(level.graph.graph_id)
        if not held:
            return
        nodes = TreeNodes(self.columns[at])
        for inner, node_id in enumerate(nodes.integers("node_id").tolist()):
            if node_id not in held:
                continue
            node = level.first + inner
            begin = self._count, len(self.levels)
            for body in sorted(held[node_id], key=lambda g: (g.branch or 0, g.graph_id)):
                self._add(body, node, level.depth + 1, _label(nodes[inner], body.branch or 0))
            for body_at in self.bodies[node]:
                self.descend(body_at)
            self.inside[node] = range(begin[0], self._count)
            self.levels_inside[node] = range(begin[1], len(self.levels))

    def _add(self, graph: rows.Graph, holder: int, depth: int, label: str) -> None:
        first = self._count
        found = read_tree_nodes(self._recording, graph.graph_id)
        self.columns.append(found)
        self._count += len(found)
        if holder >= 0:
            self.bodies.setdefault(holder, []).append(len(self.levels))
        self.levels.append(TreeLevel(graph, holder, depth, first, self._count, label))


def _label(holder: TreeNode, branch: int) -> str:
    """Return what a body is to the node that holds it."""
    if holder.type == NodeType.GRAPH:
        return "child graph"
    if holder.conditional_type == "if":
        return f"body {branch}: {'else' if branch else 'then'}"
    if holder.conditional_type == "switch":
        return f"body {branch}: case {branch}"
    return f"body {branch}"


def _read_times(
    recording: Recording, outermost: rows.Graph, holder: IntArray, by_exec: ExecNodes
) -> TreeTimes:
    count = len(holder)
    columns = ("node_id", "median_ns", "p95_ns", "total_ns")
    key = {"graph_id": outermost.graph_id}
    found = recording.fetch_arrays(rows.NodeStatistics, key, columns)
    node = by_exec.find(found.integers("node_id"))
    mine = node >= 0
    median, p95, total = (np.full(count, np.nan) for _ in range(3))
    for of_node, name in ((median, "median_ns"), (p95, "p95_ns"), (total, "total_ns")):
        of_node[node[mine]] = found.numbers(name)[mine]
    _add_nested(total, holder)
    gpu_ns = recording.fetch_weighted_durations(outermost.graph_id, "graph", "gpu").total_ns
    return TreeTimes(
        median_ns=median,
        p95_ns=p95,
        total_ns=total,
        share=total / (gpu_ns or np.nan),
        launch_count=recording.count_launches(outermost.graph_id)[1],
    )


def _add_nested(total: FloatArray, around: IntArray) -> None:
    """Give nodes that hold bodies the sum of what is nested in them."""
    timed = np.flatnonzero(~np.isnan(total))
    node, value = around[timed], total[timed]
    while (inner := node >= 0).any():
        node, value = node[inner], value[inner]
        sums = np.bincount(node, value, minlength=len(total))
        holding = np.bincount(node, minlength=len(total)) > 0
        total[holding] = np.nan_to_num(total[holding]) + sums[holding]
        node = around[node]
