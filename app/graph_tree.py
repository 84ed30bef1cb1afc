"""A graph level with all that is nested in it: every node under one number, with its times."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gviz.body_times import BodyTimes, LaunchSpans, Nesting, Turns, measure_bodies
from gviz.node_type import NodeType
from gviz.nvtx_paths import nvtx_texts
from gviz.recording import rows

if TYPE_CHECKING:
    from gviz.recording.reader import Recording

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class TreeNode(NamedTuple):
    """What the views show of a node: columns of :class:`gviz.recording.rows.Node`."""

    node_id: int
    exec_node_id: int | None
    type: int
    name: str
    not_timed_reason: str | None
    device_id: int | None
    nvtx_path_id: int | None
    occupancy_fraction: float | None
    conditional_type: str | None
    function_id: int | None
    capture_stream_id: int | None
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
    typical_ns
        In a launch: the median of nodes of the level shown, and of the sums of what ran inside
        nodes that hold bodies; of nodes in bodies the mean over all recorded launches.
    share
        0..1: ``total_ns`` over the GPU time of these launches. Overlapping nodes count in full.
    bodies, turns
        What ran inside nodes that hold bodies, and how often each level ran.
    launch_count
        Launches with node times.
    kept_count
        Those of them whose spans are in the recording: ``bodies`` and ``turns`` are over these.
    """

    median_ns: FloatArray
    p95_ns: FloatArray
    total_ns: FloatArray
    typical_ns: FloatArray
    share: FloatArray
    bodies: BodyTimes
    turns: Turns
    launch_count: int
    kept_count: int

    def turns_within(self, level: int, around: int) -> float:
        """Return how often a level runs in a turn of the level around it: 1 or more.

        The ratio of the medians of a launch; NaN: unknown. A branch that is taken less often than
        once a turn runs once where it is taken.
        """
        outer = 1.0 if around == 0 else float(self.turns.median[around])
        return float(np.maximum(1.0, self.turns.median[level] / outer))


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
    nodes: list[TreeNode]
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
    _by_exec: dict[int, int]

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
        first, end = self.levels[level].first, self.levels[level].end
        at = bisect_left(self.nodes, node_id, first, end, key=lambda n: n.node_id)
        found = at < end and self.nodes[at].node_id == node_id
        return int(self.key[at]) if found else None

    def owners(self, exec_node_ids: IntArray) -> IntArray:
        """Return the node that each id of the executable is; -1: none of the tree (int64)."""
        get = self._by_exec.get
        return np.array([get(i, -1) for i in exec_node_ids.tolist()], np.int64)

    def inside(self, node: int) -> range:
        """Return the nodes nested in a node, at any depth: they follow each other."""
        return self._inside.get(node, range(0))

    def levels_inside(self, node: int) -> range:
        """Return the levels nested in a node, at any depth: they follow each other."""
        return self._levels_inside.get(node, range(0))


def read_tree(recording: Recording, graph_id: int) -> GraphTree:
    """Return a graph level with what is nested in it; RecordingError if there is no such graph."""
    graph = recording.fetch_graph(graph_id)
    outermost = graph
    while outermost.parent_graph_id is not None:
        outermost = recording.fetch_graph(outermost.parent_graph_id)
    builder = _Builder(recording, graph)
    builder.descend(0)
    nodes, levels = builder.nodes, builder.levels
    level = np.repeat(np.arange(len(levels)), [x.end - x.first for x in levels]).astype(np.int64)
    holder = np.array([x.holder for x in levels], np.int64)[level]
    by_exec: dict[int, int] = {}
    for i, node in enumerate(nodes):
        if node.exec_node_id is not None:
            by_exec.setdefault(node.exec_node_id, i)
    nesting = Nesting(
        level=level,
        holder=np.array([x.holder for x in levels], np.int64),
        is_once=np.array([n.type == NodeType.GRAPH for n in nodes], bool),
        is_launched=graph.parent_graph_id is None,
    )
    return GraphTree(
        outermost=outermost,
        levels=tuple(levels),
        nodes=nodes,
        key=_keys([n.node_id for n in nodes[: levels[0].end]], len(nodes)),
        level=level,
        holder=holder,
        top=_tops(holder),
        times=_read_times(recording, outermost, nesting, by_exec),
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


def _keys(shown: list[int], count: int) -> IntArray:
    following = max(shown, default=-1) + 1 + np.arange(count - len(shown), dtype=np.int64)
    return np.concatenate((np.array(shown, np.int64), following))


def _tops(holder: IntArray) -> IntArray:
    top = np.arange(len(holder), dtype=np.int64)
    while (inner := holder[top] >= 0).any():
        top[inner] = holder[top[inner]]
    return top


class _Builder:
    """Collects the levels in the driver's order (:mod:`gviz.spool.nesting`). Single use."""

    def __init__(self, recording: Recording, graph: rows.Graph) -> None:
        self._recording = recording
        self._held: dict[tuple[int, int], list[rows.Graph]] = {}
        for other in recording.fetch_graphs(graph.run_id):
            if other.parent_graph_id is not None and other.parent_node_id is not None:
                place = other.parent_graph_id, other.parent_node_id
                self._held.setdefault(place, []).append(other)
        self.nodes: list[TreeNode] = []
        self.levels: list[TreeLevel] = []
        self.bodies: dict[int, list[int]] = {}
        self.inside: dict[int, range] = {}
        self.levels_inside: dict[int, range] = {}
        self._add(graph, -1, 0)

    def descend(self, at: int) -> None:
        """Add what the nodes of a level hold: all of a node's bodies, then what is in them."""
        level = self.levels[at]
        if not self._held:
            return
        for node in range(level.first, level.end):
            place = level.graph.graph_id, self.nodes[node].node_id
            if place not in self._held:
                continue
            begin = len(self.nodes), len(self.levels)
            for body in sorted(self._held[place], key=lambda g: (g.branch or 0, g.graph_id)):
                self._add(body, node, level.depth + 1)
            for body_at in self.bodies[node]:
                self.descend(body_at)
            self.inside[node] = range(begin[0], len(self.nodes))
            self.levels_inside[node] = range(begin[1], len(self.levels))

    def _add(self, graph: rows.Graph, holder: int, depth: int) -> None:
        first = len(self.nodes)
        found = self._recording.fetch_columns(
            rows.Node, TreeNode._fields, {"graph_id": graph.graph_id}, "node_id"
        )
        self.nodes += map(TreeNode._make, found)
        label = ""
        if holder >= 0:
            self.bodies.setdefault(holder, []).append(len(self.levels))
            label = _label(self.nodes[holder], graph.branch or 0)
        self.levels.append(TreeLevel(graph, holder, depth, first, len(self.nodes), label))


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
    recording: Recording, outermost: rows.Graph, nesting: Nesting, by_exec: dict[int, int]
) -> TreeTimes:
    count = len(nesting.level)
    columns = ("node_id", "median_ns", "p95_ns", "total_ns")
    key = {"graph_id": outermost.graph_id}
    found = recording.fetch_columns(rows.NodeStatistics, columns, key, "node_id")
    median, p95, total = (np.full(count, np.nan) for _ in range(3))
    for exec_node_id, middle, high, whole in found:
        node = by_exec.get(exec_node_id, -1)
        if node >= 0:
            median[node], p95[node], total[node] = middle, high, whole
    _add_nested(total, nesting.around)
    gpu_ns = recording.fetch_weighted_durations(outermost.graph_id, "graph", "gpu").total_ns
    spans, kept = _read_spans(recording, outermost, nesting, by_exec)
    bodies, turns = measure_bodies(nesting, spans)
    launch_count = recording.count_launches(outermost.graph_id)[1]
    mean = total / (launch_count or np.nan)
    own = np.where(nesting.level > 0, mean, median)
    return TreeTimes(
        median_ns=median,
        p95_ns=p95,
        total_ns=total,
        typical_ns=np.where(np.isnan(bodies.median_ns), own, bodies.median_ns),
        share=total / (gpu_ns or np.nan),
        bodies=bodies,
        turns=turns,
        launch_count=launch_count,
        kept_count=kept,
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


def _read_spans(
    recording: Recording, outermost: rows.Graph, nesting: Nesting, by_exec: dict[int, int]
) -> tuple[LaunchSpans, int]:
    """Return the spans that tell about bodies, and how many launches have any."""
    none = np.zeros(0, np.int64)
    if len(nesting.holder) == 1:
        return LaunchSpans(none, none, none, none), 0
    inner = [i for i, node in by_exec.items() if nesting.level[node] or not nesting.is_launched]
    if not inner:
        return LaunchSpans(none, none, none, none), 0
    launches = recording.fetch_launches(outermost.graph_id)
    kept = sum(1 for x in launches if x.node_level and x.span_count)
    # Nested nodes are numbered after those of the level around: the others need not be read.
    spans = recording.fetch_graph_spans(outermost.graph_id, min(inner))
    node = np.array([by_exec.get(i, -1) for i in spans.node_id.tolist()], np.int64)
    mine = node >= 0
    launch = np.unique(spans.launch_id, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return (
        LaunchSpans(launch[mine], node[mine], spans.start_ns[mine], spans.duration_ns[mine]),
        kept,
    )
