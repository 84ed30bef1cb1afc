"""The whole analysis of a recording: what ``gviz analyze`` prints and writes as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gviz.analysis.advice import Advice, Ignored, advise_graph, advise_run
from gviz.analysis.results import (
    BreakEven,
    CostSource,
    CriticalPathResult,
    DeviceLaunch,
    Dominance,
    ExpectedCost,
    GraphShare,
    LaunchLength,
    LedgerResult,
    Parallelism,
    PartRanking,
    RunForecast,
    StreamResult,
    break_even,
    cost_source,
    critical_path_result,
    device_launch,
    dominance,
    expected_cost,
    gpu_total_ns,
    graph_share,
    launch_length,
    ledger_result,
    parallelism,
    part_ranking,
    run_forecast,
    stream_result,
)
from gviz.analysis.run_subject import RunSubject
from gviz.analysis.soundness import caveats_of
from gviz.analysis.subject import GraphSubject
from gviz.analysis.values import ValueFinding, data_findings
from gviz.cuda import WHOLE_ONLY
from gviz.dataclass import dataclass
from gviz.errors import RecordingError, no_such_graph
from gviz.stats import NotComputed, figure, to_document
from gviz.system import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from gviz.recording import Recording, rows

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
ANALYSIS_VERSION = 1
#: Of the analysis of a graph, by what takes long in one of 100,000 nodes.
_STEPS = (1,) * 10


@dataclass(frozen=True, slots=True)
class GraphAnalysis:
    """Results about one top-level graph, with the bodies in it."""

    graph_id: int = figure("stated", "the graph")
    name: str = figure("stated", "its name")
    title: str = figure("stated", "that, and what tells it from graphs of the same name")
    node_count: int = figure("measured", "nodes, those of bodies included")
    launch_count: int = figure("measured", "launches seen")
    timed_launch_count: int = figure("measured", "launches with node times that are looked at")
    launch: LaunchLength | NotComputed = figure(
        "measured", "how long a launch takes, of those that recording disturbed least"
    )
    doubts: tuple[str, ...] = figure(
        "stated", "what in its records contradicts itself or is missing, and what follows"
    )
    noise_ns: float | None = figure(
        "derived",
        "half of the 95% interval of the median launch's length, at least 160 ns and a thousandth "
        "of it: gains below cannot be distinguished from chance; null without node times and of "
        "one launch, where gains count from that least on",
    )
    critical_path: CriticalPathResult | NotComputed = figure("derived", "what bounds a launch")
    ledger: LedgerResult | NotComputed = figure("derived", "where the time of launches went")
    dominance: Dominance | NotComputed = figure("derived", "what took most of it")
    part_gains: PartRanking | NotComputed = figure(
        "estimated", "what 10% off each kernel family and layer would bring"
    )
    parallelism: Parallelism | NotComputed = figure("derived", "what could run side by side")
    stream_comparison: StreamResult | NotComputed = figure(
        "derived", "the same work by stream calls"
    )
    break_even: BreakEven | NotComputed = figure(
        "derived", "after how many launches it has paid back what it cost"
    )
    expected_cost: ExpectedCost | NotComputed = figure(
        "estimated", "what its calls should cost by the run's launch_costs"
    )
    findings: Advice = figure("estimated", "what rules found in it")
    data_findings: tuple[ValueFinding, ...] | NotComputed = figure(
        "derived", "what is wrong with its data, or may be, where values were read"
    )
    device_launch: DeviceLaunch | NotComputed = figure(
        "derived", "whether the device could launch it"
    )


@dataclass(frozen=True, slots=True)
class RunAnalysis:
    """Results about one run."""

    run_id: int = figure("stated", "the run")
    name: str = figure("stated", "its name")
    graphs: tuple[GraphAnalysis, ...] = figure(
        "derived", "its top-level graphs, those first whose launches took longest together"
    )
    launch_costs: CostSource | NotComputed = figure(
        "stated", "launch costs of a GPU (gviz bench) that were used"
    )
    left_out_count: int = figure("stated", "graphs that were not requested")
    graph_share: GraphShare | NotComputed = figure("estimated", "how much of it lies in graphs")
    forecast: RunForecast | NotComputed = figure(
        "estimated", "what graphs of its eager iterations would take"
    )
    findings: Advice = figure("estimated", "what rules found in the run as a whole")


@dataclass(frozen=True, slots=True)
class Analysis:
    """Results about a recording."""

    analysis_version: int = figure("stated", "version of these keys")
    path: str = figure("stated", "the file")
    runs: tuple[RunAnalysis, ...] = figure("derived", "one entry a run")


def analyze(
    recording: Recording,
    *,
    graph_id: int | None = None,
    most_graphs: int | None = None,
    ignored: Sequence[Ignored] = (),
    costs_path: Path | None = None,
    known: Sequence[GraphSubject] = (),
    progress: Progress = NO_PROGRESS,
) -> Analysis:
    """Return the whole analysis of a recording.

    Parameters
    ----------
    graph_id
        The one graph to look at; None: all.
    most_graphs
        Of each run, so many graphs, those first whose launches took longest together.
    ignored
        Findings that are not wanted.
    costs_path
        Recording of ``gviz bench`` whose launch costs are to be used; None: what fits each run's
        GPU best among its own, those kept in the user's folder, and the bundled ones.
    known
        Graphs whose subjects there are already: what these have read is not read again.
    progress
        Told which graph is looked at, and the share that is done.

    Raises
    ------
    GvizError
        If ``costs_path`` holds no launch costs.
    RecordingError
        If there is no top-level graph of that id, or the file is damaged.
    """
    runs = [RunSubject(recording, run, costs_path=costs_path) for run in recording.fetch_runs()]
    if graph_id is not None:
        runs = [run for run in runs if graph_id in run.graphs]
        if not runs:
            raise RecordingError(no_such_graph(recording.path, graph_id))
    subjects = {subject.row.graph_id: subject for subject in known}
    found = tuple(
        _analyze_run(run, graph_id, most_graphs, ignored, subjects, part)
        for run, part in progress.each(runs, lambda run: run.run.name)
    )
    return Analysis(ANALYSIS_VERSION, str(recording.path), found)


def _analyze_run(
    run: RunSubject,
    graph_id: int | None,
    most_graphs: int | None,
    ignored: Sequence[Ignored],
    known: Mapping[int, GraphSubject],
    progress: Progress,
) -> RunAnalysis:
    recording = run.recording
    chosen = [g for g in run.graphs.values() if graph_id in (None, g.graph_id)]
    if len(chosen) > 1:
        total = {g.graph_id: gpu_total_ns(run, g.graph_id) for g in chosen}
        chosen.sort(key=lambda g: (-total[g.graph_id], g.graph_id))
    chosen = chosen[:most_graphs]
    devices = recording.fetch_devices(run.run.run_id)

    def subject_of(graph: rows.Graph) -> GraphSubject:
        found = known.get(graph.graph_id)
        return found or GraphSubject(recording, graph, devices, run.keep)

    return RunAnalysis(
        run_id=run.run.run_id,
        name=run.run.name,
        graphs=tuple(
            _analyze_graph(subject_of(g), run, ignored, part)
            for g, part in progress.each(chosen, lambda graph: graph.name)
        ),
        launch_costs=NotComputed("no recording holds any")
        if run.costs is None
        else cost_source(run.costs),
        left_out_count=len(run.graphs) - len(chosen),
        graph_share=graph_share(run),
        forecast=run_forecast(run),
        findings=advise_run(run, ignored),
    )


def _analyze_graph(
    subject: GraphSubject, run: RunSubject, ignored: Sequence[Ignored], progress: Progress
) -> GraphAnalysis:
    row = subject.row
    steps = progress.steps(_STEPS, subject.title)
    count, _ = subject.recording.count_launches(row.graph_id)
    flags = subject.execs[0].flags if subject.execs else None
    return GraphAnalysis(
        graph_id=row.graph_id,
        name=row.name,
        title=subject.title,
        node_count=len(subject.graph),
        launch_count=count,
        timed_launch_count=len(subject.timed_launches),
        launch=steps.run(launch_length, subject),
        doubts=steps.run(caveats_of, subject),
        noise_ns=None if subject.why_no_times else subject.noise_ns,
        critical_path=steps.run(critical_path_result, subject),
        ledger=steps.run(ledger_result, subject),
        dominance=steps.run(dominance, subject),
        part_gains=steps.run(part_ranking, subject),
        parallelism=steps.run(parallelism, subject),
        stream_comparison=steps.run(subject.once, stream_result),
        break_even=subject.once(break_even),
        expected_cost=expected_cost(subject, run.costs),
        findings=steps.run(advise_graph, subject, ignored),
        data_findings=steps.run(data_findings, subject),
        device_launch=NotComputed(WHOLE_ONLY)
        if subject.is_whole_only
        else device_launch(subject.graph, flags),
    )


def analysis_to_json(analysis: Analysis) -> dict[str, Any]:
    """Return an analysis as JSON values, with how each number came about under ``how``."""
    return to_document(analysis)
