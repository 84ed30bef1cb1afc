"""A run as the Runs and Run pages show it, fetched once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gviz.app.files import ChangedError, Library, OpenRecording, sentence_of
from gviz.app.views.graph_data import ShownLaunch, launches_with_times, typical_launch
from gviz.dataclass import dataclass
from gviz.model import (
    Bodies,
    FailedCapture,
    FaultSummary,
    GpuCondition,
    GraphLife,
    LaunchTimes,
    failed_captures,
    graph_life,
    graph_titles,
    is_failed,
    launch_times,
    node_times,
    read_gpu_conditions,
    summarize_faults,
)
from gviz.recording import Recording, rows


@dataclass(frozen=True, slots=True)
class GraphLine:
    """One top-level graph in a list.

    Attributes
    ----------
    title
        Its name, and what tells it from graphs of the same name.
    node_count
        Nodes of every level.
    launch_count, recorded_count
        Launches seen, and those with node times.
    typical
        The launch with node times whose GPU time is nearest to their median; None: none has.
    node_time
        Sum of node times in one launch, over launches with spans.
    capture_ns, instantiate_ns, upload_ns
        Host time of the life-cycle calls (measured); the first executable's.
    """

    graph: rows.Graph
    title: str
    node_count: int
    edge_count: int | None
    exec_count: int
    launch_count: int
    recorded_count: int
    times: LaunchTimes
    typical: ShownLaunch | None
    node_time: LaunchTimes
    capture_ns: int | None
    instantiate_ns: int | None
    upload_ns: int | None
    life: GraphLife


@dataclass(frozen=True, slots=True)
class RunView:
    """One run with its graphs, devices, notes and measurements.

    Attributes
    ----------
    file, name, place
        Key of its file in addresses, the file's name to show, and where it is, in words.
    versioned_key
        The file as it was when this was read.
    stream_count
        Stream operations recorded outside graphs.
    """

    file: str
    name: str
    place: str
    versioned_key: str
    run: rows.Run
    devices: Sequence[rows.Device]
    gpu_conditions: Sequence[GpuCondition]
    libraries: Sequence[rows.LibraryVersion]
    notes: Sequence[rows.Note]
    measurements: Sequence[rows.Measurement]
    graphs: Sequence[GraphLine]
    capture_failures: Sequence[FailedCapture]
    instantiate_failures: Sequence[rows.InstantiateFailure]
    stream_count: int
    faults: Sequence[FaultSummary] = ()

    @property
    def main_graph(self) -> GraphLine | None:
        """The graph that took most of the GPU's time, else the largest; None without graphs."""

        def weight(line: GraphLine) -> tuple[bool, float, int]:
            taken = (line.times.median_ns or 0.0) * line.launch_count
            return line.typical is not None, taken, line.node_count

        return max(self.graphs, key=weight, default=None)

    @property
    def only_graph(self) -> GraphLine | None:
        """The run's one graph; None where it has another number of them, or something failed."""
        failed = self.capture_failures or self.instantiate_failures
        return self.graphs[0] if len(self.graphs) == 1 and not failed else None

    @property
    def largest_node_time_ns(self) -> float:
        """Node time in a launch of the graph that has the most (derived); 0: no graph has times."""
        return max((line.node_time.median_ns or 0.0 for line in self.graphs), default=0.0)

    @property
    def warnings(self) -> Sequence[rows.Note]:
        """Notes that are warnings."""
        return [n for n in self.notes if n.kind == "warning"]


@dataclass(frozen=True, slots=True)
class FileRuns:
    """Runs of one file, and what is wrong with it.

    Attributes
    ----------
    runs
        Its runs; empty when there is a problem.
    waiting
        Why nothing can be shown yet; "" when it can.
    problem
        Why it cannot be read any more; "" when it can.
    """

    key: str
    name: str
    is_live: bool
    runs: Sequence[RunView] = ()
    waiting: str = ""
    problem: str = ""


def run_files(library: Library) -> list[FileRuns]:
    """Return every open file with its runs, in the order the files were given."""
    return [_file_runs(opened) for opened in library.files()]


def find_only_graph(library: Library) -> tuple[str, int] | None:
    """Return file and id of the graph that is the only one of all open files; None: there is none.

    A graph that could not be made counts too: of it the Runs page tells.
    """
    opened, *others = library.files()
    found = [] if others else run_files(library)[0].runs
    only = found[0].only_graph if len(found) == 1 else None
    return None if only is None else (opened.key, only.graph.graph_id)


def _file_runs(opened: OpenRecording) -> FileRuns:
    about = FileRuns(opened.key, opened.name, opened.is_live)
    if opened.waiting:
        return replace(about, waiting=opened.waiting)
    try:
        return replace(about, runs=file_views(opened))
    except ChangedError:
        raise
    except Exception as error:  # a file that went bad must not hide the others
        return replace(about, problem=sentence_of(error).strip())


def file_views(opened: OpenRecording) -> list[RunView]:
    """Return the runs of one file."""
    return opened.derive(("runs",), lambda: build_run_views(opened))


def build_run_views(opened: OpenRecording) -> list[RunView]:
    """Fetch the runs of one file."""
    recording = opened.recording
    return [
        RunView(
            file=opened.key,
            name=opened.name,
            place=opened.place,
            versioned_key=opened.versioned_key,
            run=run,
            devices=recording.fetch_devices(run.run_id),
            gpu_conditions=read_gpu_conditions(recording, run.run_id),
            libraries=recording.fetch_libraries(run.run_id),
            notes=recording.fetch_notes(run.run_id),
            measurements=recording.fetch_measurements(run.run_id),
            graphs=_graph_lines(recording, run.run_id),
            capture_failures=failed_captures(recording, run.run_id),
            instantiate_failures=recording.fetch_instantiate_failures(run.run_id),
            stream_count=recording.count_rows(rows.StreamOperation, {"run_id": run.run_id}),
            faults=summarize_faults(recording, run.run_id),
        )
        for run in recording.fetch_runs()
    ]


def _graph_lines(recording: Recording, run_id: int) -> list[GraphLine]:
    graphs = recording.fetch_graphs(run_id)
    top = [g for g in graphs if g.parent_graph_id is None and not is_failed(g)]
    updates = recording.fetch_graph_updates(run_id)
    bodies, titles = Bodies(graphs), graph_titles(recording, graphs)
    return [
        _graph_line(
            recording,
            g,
            titles[g.graph_id],
            [g, *bodies.nested(g.graph_id)],
            graph_life(recording, g, updates),
        )
        for g in top
    ]


def _graph_line(
    recording: Recording,
    graph: rows.Graph,
    title: str,
    levels: Sequence[rows.Graph],
    life: GraphLife,
) -> GraphLine:
    launches, recorded = recording.count_launches(graph.graph_id)
    execs = recording.fetch_graph_execs(graph.graph_id)
    first = execs[0] if execs else None
    topology = graph.topology_id
    return GraphLine(
        graph=graph,
        title=title,
        node_count=sum(recording.count_rows(rows.Node, {"graph_id": x.graph_id}) for x in levels),
        edge_count=None if topology is None else recording.fetch_topology(topology).edge_count,
        exec_count=len(execs),
        launch_count=max(launches, sum(e.launch_count for e in execs)),
        recorded_count=recorded,
        times=launch_times(recording, graph.graph_id),
        typical=typical_launch(launches_with_times(recording, graph.graph_id)[0]),
        node_time=node_times(recording, graph.graph_id, graph.graph_id),
        capture_ns=_between(graph.capture_start_ns, graph.capture_end_ns),
        instantiate_ns=_between(first.instantiate_start_ns, first.instantiate_end_ns)
        if first
        else None,
        upload_ns=_between(first.upload_start_ns, first.upload_end_ns) if first else None,
        life=life,
    )


def _between(start: int | None, end: int | None) -> int | None:
    return None if start is None or end is None else end - start
