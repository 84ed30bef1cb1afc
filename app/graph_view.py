"""Everything the graph page needs of one graph, fetched once and then shared by requests."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gviz.app.library import Library
from gviz.launch_time import Inflation, LaunchTimes, inflation, launch_times
from gviz.recording import rows
from gviz.recording.reader import Recording


@dataclass(frozen=True, slots=True)
class TimedLaunch:
    """A launch with node times: of the graph, or the same work by stream calls.

    Attributes
    ----------
    gpu_ns
        First node's start to last node's end; None: unknown.
    """

    launch_id: int
    ordinal: int
    gpu_ns: int | None


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
    nodes
        By node_id.
    statistics
        By node_id of this level; nodes without a span are absent.
    launch_count
        Launches of the root, with node times or without.
    recorded_launches, stream_launches
        Launches of the root that have node times, in time order, and its eager counterparts.
    bodies
        Graphs held by a node, by node_id, in order of branch.
    nvtx
        NVTX path as text, by nvtx_path_id.
    edge_count
        None: edges unknown.
    nested_total_ns
        By node_id of a child-graph or conditional node: time of the nodes nested in it,
        summed over all recorded launches (derived).
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
    nodes: Mapping[int, rows.Node]
    functions: Mapping[int, rows.KernelFunction]
    statistics: Mapping[int, rows.NodeStatistics]
    launch_count: int
    recorded_launches: Sequence[TimedLaunch]
    stream_launches: Sequence[TimedLaunch]
    bodies: Mapping[int, Sequence[rows.Graph]]
    nvtx: Mapping[int, str]
    edge_count: int | None
    launch_times: LaunchTimes
    nested_total_ns: Mapping[int, int]
    timed_count: int
    recorded_gpu_ns: float
    inflation: Inflation | None
    in_branch: bool = False

    @property
    def node_time_ns(self) -> float | None:
        """Sum of node times in one launch, nested ones included, mean over launches (derived)."""
        count = self.timed_count
        total = sum(s.total_ns for s in self.statistics.values())
        total += sum(self.nested_total_ns.values())
        return total / count if count and total else None

    def share_of_launch(self, node_id: int) -> float | None:
        """Return a node's time over the launch's GPU time, both summed over launches (0..1).

        Derived. Nodes that overlap count in full, so shares may sum to more than 1.
        """
        found = self.statistics.get(node_id)
        time = found.total_ns if found is not None else self.nested_total_ns.get(node_id)
        return time / self.recorded_gpu_ns if time is not None and self.recorded_gpu_ns else None


def graph_view(library: Library, file: str, graph_id: int) -> GraphView:
    """Return the view of a graph; RecordingError if the file or graph is not open."""
    opened = library.file(file)
    return opened.derive(("graph", graph_id), lambda: build_graph_view(opened.recording, graph_id))


def graph_identity(run: rows.Run, graph: rows.Graph) -> str:
    """Return what tells a graph from others of its recording while that is written.

    Numbers of graphs are those of the file: a process that joins late may move them.
    """
    return f"{run.process_id}/{graph.cuda_graph_id}/{graph.origin}/{graph.parent_node_id}"


def build_graph_view(recording: Recording, graph_id: int) -> GraphView:
    """Fetch one graph level and what was measured about it."""
    graph = recording.fetch_graph(graph_id)
    run = next(r for r in recording.fetch_runs() if r.run_id == graph.run_id)
    graphs = {g.graph_id: g for g in recording.fetch_graphs(graph.run_id)}
    ancestors = _ancestors(graph, graphs)
    root = ancestors[0] if ancestors else graph
    nodes = {n.node_id: n for n in recording.fetch_nodes(graph_id)}
    measured = {s.node_id: s for s in recording.fetch_statistics(root.graph_id)}
    bodies = _bodies(graph_id, graphs)
    recorded, eager = launches_with_times(recording, root.graph_id)
    timed = recording.fetch_weighted_durations(root.graph_id, "graph", "gpu")
    topology = graph.topology_id
    return GraphView(
        graph=graph,
        run=run,
        root=root,
        ancestors=ancestors,
        nodes=nodes,
        functions=recording.fetch_functions(graph.run_id),
        statistics={
            n.node_id: measured[n.exec_node_id]
            for n in nodes.values()
            if n.exec_node_id is not None and n.exec_node_id in measured
        },
        launch_count=recording.count_launches(root.graph_id)[0],
        recorded_launches=recorded,
        stream_launches=eager,
        bodies=bodies,
        nvtx=nvtx_texts(recording.fetch_nvtx_paths(graph.run_id)),
        edge_count=None if topology is None else recording.fetch_topology(topology).edge_count,
        launch_times=launch_times(recording, root.graph_id),
        nested_total_ns=_nested_totals(recording, bodies, graphs, measured),
        timed_count=timed.count,
        recorded_gpu_ns=timed.total_ns,
        inflation=inflation(recording, root.graph_id),
        in_branch=any(level.branch is not None for level in (*ancestors, graph)),
    )


def typical_launch(launches: Sequence[TimedLaunch]) -> TimedLaunch | None:
    """Return the launch whose GPU time is nearest to the median; None without launches."""
    if not launches:
        return None
    lengths = [x.gpu_ns or 0 for x in launches]
    return launches[lengths.index(statistics.median_low(lengths))]


def launches_with_times(
    recording: Recording, graph_id: int
) -> tuple[list[TimedLaunch], list[TimedLaunch]]:
    """Return the graph's launches with node times, and those of the stream side."""
    names = ("side", "span_count", "launch_id", "ordinal", "gpu_start_ns", "gpu_end_ns")
    key = {"graph_id": graph_id, "node_level": 1}
    sides: dict[str, list[TimedLaunch]] = {"graph": [], "stream": []}
    for side, spans, launch_id, ordinal, start, end in recording.fetch_columns(
        rows.Launch, names, key, "ordinal"
    ):
        if spans:
            length = None if start is None or end is None else end - start
            sides[side].append(TimedLaunch(launch_id, ordinal, length))
    return sides["graph"], sides["stream"]


def nvtx_texts(paths: Mapping[int, rows.NvtxPath]) -> dict[int, str]:
    """Return each NVTX path as text, outermost range first."""
    found: dict[int, str] = {}
    for key in paths:
        parts: list[str] = []
        step: int | None = key
        while step is not None and step in paths and len(parts) <= len(paths):
            path = paths[step]
            parts.append(f"{path.domain}: {path.text}" if path.domain else path.text)
            step = path.parent_id
        found[key] = " › ".join(reversed(parts))
    return found


def _bodies(graph_id: int, graphs: Mapping[int, rows.Graph]) -> dict[int, list[rows.Graph]]:
    found: dict[int, list[rows.Graph]] = {}
    for other in sorted(graphs.values(), key=lambda g: (g.branch or 0, g.graph_id)):
        if other.parent_graph_id == graph_id and other.parent_node_id is not None:
            found.setdefault(other.parent_node_id, []).append(other)
    return found


def _nested_totals(
    recording: Recording,
    bodies: Mapping[int, Sequence[rows.Graph]],
    graphs: Mapping[int, rows.Graph],
    measured: Mapping[int, rows.NodeStatistics],
) -> dict[int, int]:
    found: dict[int, int] = {}
    for holder, held in bodies.items():
        open_graphs = [g.graph_id for g in held]
        seen: set[int] = set()
        times = []
        while open_graphs:
            level = open_graphs.pop()
            if level in seen:
                continue
            seen.add(level)
            open_graphs += [g.graph_id for g in graphs.values() if g.parent_graph_id == level]
            times += [
                measured[n.exec_node_id].total_ns
                for n in recording.fetch_nodes(level)
                if n.exec_node_id is not None and n.exec_node_id in measured
            ]
        if times:
            found[holder] = sum(times)
    return found


def _ancestors(graph: rows.Graph, graphs: Mapping[int, rows.Graph]) -> list[rows.Graph]:
    found: list[rows.Graph] = []
    step = graph
    while step.parent_graph_id is not None and step.parent_graph_id in graphs:
        step = graphs[step.parent_graph_id]
        if step in found:
            break
        found.append(step)
    return found[::-1]
