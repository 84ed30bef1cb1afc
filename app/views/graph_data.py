"""Everything the graph page needs of one graph, fetched once and then shared by requests."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gviz.app.components import Launches
from gviz.app.files import Library, OpenRecording
from gviz.app.views.family_colours import FamilyColours, read_family_colours
from gviz.app.views.model_parts import ModelParts, read_model_parts
from gviz.app.views.row_table import RowTable
from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.model import (
    Inflation,
    LaunchTimes,
    NestedTimes,
    TimedTree,
    graph_titles,
    inflation,
    launch_times,
    node_times,
    read_nested_times,
    read_node,
    read_node_statistics,
    read_timed_tree,
)
from gviz.recording import Recording, rows


@dataclass(frozen=True, slots=True)
class ShownLaunch:
    """A launch with node times: of the graph, or the same work by stream calls.

    Attributes
    ----------
    gpu_ns
        First node's start to last node's end; None: unknown.
    span_count
        Spans of it in the recording; of an eager iteration its operations.
    """

    launch_id: int
    ordinal: int
    gpu_ns: int | None
    span_count: int


@dataclass(frozen=True, slots=True)
class GraphView:
    """One level of a graph with what was measured about it.

    Attributes
    ----------
    graph, run
        The level shown and its run.
    root
        The top-level graph: launches and statistics belong to it.
    ancestors
        From the root to this level's parent; empty at the top.
    tree, at
        This level with all that is nested in it, and which level of it this is.
    nodes
        By node_id; each is read when it is requested.
    launch_count
        Launches of the root, with node times or without.
    recorded_launches, stream_launches
        Launches of the root that have node times, in time order, and its eager counterparts.
    nvtx
        NVTX path as text, by nvtx_path_id.
    edge_count
        None: edges unknown.
    timed_count, recorded_gpu_ns
        Launches whose nodes were timed, also those that have no spans (long runs), and the
        time from first node's start to last node's end, summed over them.
    inflation
        What taking node times cost these launches; None: none were taken.
    in_branch
        The level stands, at any depth, in a body of a conditional node: it may not run.
    """

    graph: rows.Graph
    run: rows.Run
    root: rows.Graph
    ancestors: Sequence[rows.Graph]
    tree: TimedTree
    at: int
    nodes: RowTable[rows.Node]
    functions: Mapping[int, rows.KernelFunction]
    _read_statistics: Callable[[int], rows.NodeStatistics | None]
    _read_nested: Callable[[], NestedTimes]
    _read_families: Callable[[], FamilyColours]
    _read_parts: Callable[[], ModelParts]
    _read_node_time: Callable[[int], LaunchTimes]
    _titles: Callable[[], Mapping[int, str]]
    _read_stack: Callable[[int], Sequence[rows.Location]]
    launch_count: int
    recorded_launches: Sequence[ShownLaunch]
    stream_launches: Sequence[ShownLaunch]
    nvtx: Mapping[int, str]
    edge_count: int | None
    launch_times: LaunchTimes
    timed_count: int
    recorded_gpu_ns: float
    inflation: Inflation | None
    in_branch: bool = False

    @property
    def nested(self) -> NestedTimes:
        """The times inside nodes of the tree: read when they are requested."""
        return self._read_nested()

    def stack(self, stack_id: int) -> Sequence[rows.Location]:
        """Return the Python frames of a stack, innermost first: read when they are requested."""
        return self._read_stack(stack_id)

    @property
    def titles(self) -> Mapping[int, str]:
        """The titles of the run's graphs, by graph_id."""
        return self._titles()

    @property
    def title(self) -> str:
        """Its name, and what tells it from graphs of the same name."""
        return self.titles.get(self.graph.graph_id, self.graph.name)

    @property
    def families(self) -> FamilyColours:
        """The families of the tree's nodes: read when they are requested."""
        return self._read_families()

    @property
    def parts(self) -> ModelParts:
        """The parts of the model that the tree's nodes are in: read when they are requested."""
        return self._read_parts()

    @property
    def node_time(self) -> LaunchTimes:
        """Sum of node times in one launch, nested ones included: read when it is requested."""
        return self._read_node_time(self.graph.graph_id)

    @property
    def is_timed(self) -> bool:
        """Return whether any node, nested ones included, has a time."""
        return bool(np.isfinite(self.tree.times.total_ns).any())

    def statistics_of(self, node: rows.Node) -> rows.NodeStatistics | None:
        """Return the statistics of a node; None: it has no span."""
        return self._read_statistics(self.index_of(node.node_id))

    def index_of(self, node_id: int) -> int:
        """Return the node of the tree that a node of this level is; KeyError if it has none."""
        index = int(self.tree.nodes_in(self.at, np.array([node_id], np.int64))[0])
        if index < 0:
            raise KeyError(f"graph {self.graph.graph_id} has no node {node_id}")
        return index

    def key_of(self, node_id: int) -> int:
        """Return the number on the page of a node of this level."""
        return int(self.tree.key[self.index_of(node_id)])

    def share_of_launch(self, key: int) -> float | None:
        """Return a node's time over the launch's GPU time, both summed over launches (0..1).

        Derived; ``key`` is its number on the page. Nodes that overlap count in full, so shares may
        sum to more than 1.
        """
        node = self.tree.index_of(key)
        share = np.nan if node is None else float(self.tree.times.share[node])
        return None if np.isnan(share) else share


def graph_view(library: Library, file: str, graph_id: int) -> GraphView:
    """Return the view of a graph; RecordingError if the file or graph is not open."""
    opened = library.file(file)
    recording = opened.recording

    # The same that the payloads are made of: looked up each time, so that it stays as long.
    tree = read_timed_tree(recording, graph_id, opened.keep)
    return opened.derive(("graph", graph_id), lambda: build_graph_view(opened, tree))


def read_titles(opened: OpenRecording, run_id: int) -> Mapping[int, str]:
    """Return the titles of a run's graphs by graph_id, read once for each version of a file."""
    recording = opened.recording
    return opened.derive(
        ("titles", run_id), lambda: graph_titles(recording, recording.fetch_graphs(run_id))
    )


def graph_identity(run: rows.Run, graph: rows.Graph) -> str:
    """Return what identifies a graph among others of its recording while that is written.

    Numbers of graphs are those of the file: a process that joins late may move them.
    """
    return f"{run.process_id}/{graph.cuda_graph_id}/{graph.origin}/{graph.parent_node_id}"


def find_graph(recording: Recording, identity: str) -> int:
    """Return the graph that is identified so.

    Raises
    ------
    RecordingError
        If there is none any more.
    """
    for run in recording.fetch_runs():
        for graph in recording.fetch_graphs(run.run_id):
            if graph_identity(run, graph) == identity:
                return graph.graph_id
    raise RecordingError("the graph of this page is not in the recording any more")


def body_view(library: Library, file: str, view: GraphView, at: int) -> GraphView:
    """Return the view of a level nested in a graph that is shown."""
    if at == view.at:
        return view
    opened = library.file(file)
    recording = opened.recording

    def build() -> GraphView:
        level = view.tree.levels[at]
        return replace(
            view,
            graph=level.graph,
            at=at,
            ancestors=[*view.ancestors, view.graph],
            nodes=_node_rows(opened, view.tree, at),
            edge_count=_edge_count(recording, level.graph),
            in_branch=view.in_branch or _is_conditional(view.tree, at),
        )

    return opened.derive(("body view", view.graph.graph_id, at), build)


def build_graph_view(opened: OpenRecording, tree: TimedTree) -> GraphView:
    """Fetch what was measured about a graph level."""
    recording = opened.recording
    graph = tree.graph
    run = next(r for r in recording.fetch_runs() if r.run_id == graph.run_id)
    ancestors = _ancestors(graph, {g.graph_id: g for g in recording.fetch_graphs(graph.run_id)})
    root = ancestors[0] if ancestors else graph
    recorded, eager = launches_with_times(recording, root.graph_id)
    timed = recording.fetch_weighted_durations(root.graph_id, "graph", "gpu")
    return GraphView(
        graph=graph,
        run=run,
        root=root,
        ancestors=ancestors,
        tree=tree,
        at=0,
        nodes=_node_rows(opened, tree, 0),
        functions=recording.fetch_functions(graph.run_id),
        # No reference to what the view is kept in.
        _read_statistics=lambda node: read_node_statistics(opened.recording, tree, node),
        _read_nested=lambda: read_nested_times(opened.recording, tree, opened.keep),
        _titles=lambda: read_titles(opened, graph.run_id),
        _read_families=lambda: read_family_colours(opened.recording, tree, opened.keep),
        _read_parts=lambda: read_model_parts(opened.recording, tree, opened.keep),
        _read_node_time=lambda level_id: opened.derive(
            ("node time", level_id), lambda: node_times(opened.recording, level_id, root.graph_id)
        ),
        _read_stack=lambda stack_id: opened.recording.fetch_stack(stack_id),
        launch_count=recording.count_launches(root.graph_id)[0],
        recorded_launches=recorded,
        stream_launches=eager,
        nvtx=tree.nvtx,
        edge_count=_edge_count(recording, graph),
        launch_times=launch_times(recording, root.graph_id),
        timed_count=timed.count,
        recorded_gpu_ns=timed.total_ns,
        inflation=inflation(recording, root.graph_id),
        in_branch=any(level.branch is not None for level in (*ancestors, graph)),
    )


def _node_rows(opened: OpenRecording, tree: TimedTree, at: int) -> RowTable[rows.Node]:
    level = tree.levels[at]
    ids = tree.nodes[level.part].integers("node_id")

    def read(node_id: int) -> rows.Node:
        node = level.first + int(np.searchsorted(ids, node_id))
        return read_node(opened.recording, tree, node)

    return RowTable(ids, read)


def _edge_count(recording: Recording, graph: rows.Graph) -> int | None:
    topology = graph.topology_id
    return None if topology is None else recording.fetch_topology(topology).edge_count


def _is_conditional(tree: TimedTree, at: int) -> bool:
    """Return whether a level is, at any depth, in a body of a conditional node."""
    while tree.levels[at].parent >= 0:
        if tree.levels[at].repeats:
            return True
        at = int(tree.level[tree.levels[at].parent])
    return tree.levels[at].repeats


def typical_launch(launches: Sequence[ShownLaunch]) -> ShownLaunch | None:
    """Return the launch whose GPU time is nearest to the median; None without launches."""
    if not launches:
        return None
    lengths = [x.gpu_ns or 0 for x in launches]
    return launches[lengths.index(statistics.median_low(lengths))]


def first_launch(view: GraphView) -> int | Launches | None:
    """Return the launch that is shown first; None where none has node times.

    That is one of typical length; the median of all where each times a slice of the nodes.
    """
    launch = typical_launch(view.recorded_launches)
    if launch is None:
        return None
    return "median" if view.tree.times.is_sliced else launch.launch_id


def launches_with_times(
    recording: Recording, graph_id: int
) -> tuple[list[ShownLaunch], list[ShownLaunch]]:
    """Return the graph's launches with node times, and those of the stream side."""
    names = ("side", "span_count", "launch_id", "ordinal", "gpu_start_ns", "gpu_end_ns")
    key = {"graph_id": graph_id, "node_level": 1}
    sides: dict[str, list[ShownLaunch]] = {"graph": [], "stream": []}
    for side, spans, launch_id, ordinal, start, end in recording.fetch_columns(
        rows.Launch, names, key, "ordinal"
    ):
        if spans and side in sides:
            length = None if start is None or end is None else end - start
            sides[side].append(ShownLaunch(launch_id, ordinal, length, spans))
    return sides["graph"], sides["stream"]


def _ancestors(graph: rows.Graph, graphs: Mapping[int, rows.Graph]) -> list[rows.Graph]:
    found: list[rows.Graph] = []
    step = graph
    while step.parent_graph_id is not None and step.parent_graph_id in graphs:
        step = graphs[step.parent_graph_id]
        if step in found:
            break
        found.append(step)
    return found[::-1]
