"""The facts of ``gviz info`` about a recording: numbers only, no text layout, no GPU.

The field names below are the keys of ``gviz info --json``; docs/info.md lists them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gviz.cuda import NodeType, node_type_name
from gviz.dataclass import dataclass
from gviz.model import (
    FailedCapture,
    FaultSummary,
    GpuCondition,
    GraphLife,
    LaunchTimes,
    PlainLaunches,
    Reinstantiations,
    TrialSummary,
    failed_captures,
    graph_life,
    is_failed,
    launch_times,
    least_disturbed,
    plain_launches,
    read_gpu_conditions,
    reinstantiations,
    summarize_faults,
    summarize_trials,
)
from gviz.recording import SCHEMA_VERSION, Recording, rows
from gviz.stats import CuptiState
from gviz.system import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from gviz.model import Alternation, GraphTree, TreeStatistics

#: How many of a graph's slowest nodes are listed unless more are requested.
SLOWEST_COUNT = 10
#: Columns of nodes, and of their statistics, that are summed up.
_COLUMNS = ("node_id", "exec_node_id", "type", "name", "function_id", "match_class")
#: Shares of summarizing a graph: it is read, then measured.
_SUMMARIZED = (0.6, 0.4)
_STATISTICS = ("count", "median_ns", "p5_ns", "p95_ns", "total_ns")


@dataclass(frozen=True, slots=True)
class SlowNode:
    """A node and its share of the time of all nodes of its graph (measured).

    Times of an exchangeable node may be those of another of its class.
    """

    graph_id: int
    node_id: int
    exec_node_id: int | None
    name: str
    kernel: str | None
    type: str
    count: int
    median_ns: float
    p5_ns: float
    p95_ns: float
    share_fraction: float
    is_exchangeable: bool = False


@dataclass(frozen=True, slots=True)
class LaunchSummary:
    """The launches of a graph on one side, ``graph`` or ``stream``.

    ``gpu_median_ns`` is from the first span's start to the last span's end, over the
    launches with node times (None where copies took these: they are longer),
    ``event_median_ns`` between two events around the launch,
    ``host_median_ns`` from the first call's entry to the last call's return, over ``host_count``;
    these two over the launches that recording disturbed least, those of the states beside them.
    Launch calls that waited for a full queue are left out; ``host_waiting`` says how many.
    ``length`` is the GPU time of these launches, or of warm eager iterations, with its evidence.
    ``alternation``, of the side ``stream``, is both sides timed alternately without node times.
    """

    side: str
    count: int
    with_node_times: int
    gpu_median_ns: float | None
    event_median_ns: float | None
    host_median_ns: float | None
    host_count: int
    host_waiting: str
    event_state: CuptiState | None
    host_state: CuptiState | None
    length: LaunchTimes
    alternation: Alternation | None = None


@dataclass(frozen=True, slots=True)
class ExecSummary:
    """An executable: what its life cost, and how often it was launched."""

    graph_exec_id: int
    instantiate_ns: int | None
    upload_ns: int | None
    launch_count: int


@dataclass(frozen=True, slots=True)
class EventCopies:
    """The launches of a graph whose nodes were timed by copies with events around them.

    ``extra_ns`` is what a node of such a copy takes longer than in plain launches, beyond what was
    calibrated (derived, of the run); it is subtracted.
    """

    launch_count: int
    extra_ns: float | None


@dataclass(frozen=True, slots=True)
class EventUse:
    """The nodes that record a CUDA event, and those that wait for it, as (graph id, node id)."""

    recorded_by: tuple[tuple[int, int], ...]
    waited_for_by: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """A top-level graph; its nodes and edges count those of nested bodies."""

    graph_id: int
    name: str
    title: str
    origin: str
    node_count: int
    edge_count: int | None
    edges_inferred: bool
    body_count: int
    node_kinds: dict[str, int]
    capture_ns: int | None
    execs: tuple[ExecSummary, ...]
    life: GraphLife
    launches: tuple[LaunchSummary, ...]
    launch_costs: tuple[rows.LaunchCost, ...]
    inflation: str | None
    node_time_ns: int | None
    slowest_nodes: tuple[SlowNode, ...]
    exchangeable_count: int = 0
    event_copies: EventCopies | None = None
    plain_launches: tuple[PlainLaunches, ...] = ()
    parameters: tuple[rows.NodeParameter, ...] = ()
    events: tuple[EventUse, ...] = ()
    allocations: tuple[rows.Allocation, ...] = ()
    trials: tuple[TrialSummary, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamSummary:
    """The operations that ran outside graphs while a window was open."""

    count: int
    matched_count: int
    total_ns: int
    kinds: dict[str, int]


@dataclass(frozen=True, slots=True)
class WindowSummary:
    """The intervals in which node times and stream operations were recorded.

    ``total_ns`` leaves out a window that was open when the process ended.
    """

    count: int
    total_ns: int
    reasons: dict[str, int]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run of a recording."""

    run: rows.Run
    duration_ns: int | None
    devices: tuple[rows.Device, ...]
    libraries: dict[str, str]
    graphs: tuple[GraphSummary, ...]
    capture_failures: tuple[FailedCapture, ...]
    instantiate_failures: tuple[rows.InstantiateFailure, ...]
    reinstantiations: Reinstantiations | None
    stream_operations: StreamSummary | None
    windows: WindowSummary
    periods: tuple[rows.Period, ...]
    measurements: tuple[rows.Measurement, ...]
    notes: tuple[rows.Note, ...]
    graph_memory: tuple[rows.GraphMemory, ...] = ()
    faults: tuple[FaultSummary, ...] = ()
    gpu_conditions: tuple[GpuCondition, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordingSummary:
    """A whole recording."""

    path: str
    size_bytes: int
    schema_version: int
    runs: tuple[RunSummary, ...]


def summarize(
    recording: Recording, *, slowest: int = SLOWEST_COUNT, progress: Progress = NO_PROGRESS
) -> RecordingSummary:
    """Return what is in a recording.

    Parameters
    ----------
    recording
        An open recording.
    slowest
        How many of each graph's slowest nodes are listed, by total time.
    progress
        Told which graph is read, and the share that is done.

    Returns
    -------
    RecordingSummary
        Medians are over the recorded launches. What was not measured is None.
    """
    return RecordingSummary(
        path=str(recording.path),
        size_bytes=recording.path.stat().st_size,
        schema_version=SCHEMA_VERSION,
        runs=tuple(
            _summarize_run(recording, run, slowest, part)
            for run, part in progress.each(recording.fetch_runs(), lambda run: run.name)
        ),
    )


def _summarize_run(
    recording: Recording, run: rows.Run, slowest: int, progress: Progress
) -> RunSummary:
    from gviz.model import OF_RUN, keeper, read_tree

    keep = keeper(OF_RUN)
    graphs = recording.fetch_graphs(run.run_id)
    functions = recording.fetch_functions(run.run_id)
    allocations = recording.fetch_allocations(run.run_id)
    top = [g for g in graphs if g.parent_graph_id is None and not is_failed(g)]
    updates = recording.fetch_graph_updates(run.run_id)
    windows = recording.fetch_windows(run.run_id)
    lives = {graph.graph_id: graph_life(recording, graph, updates) for graph in top}
    return RunSummary(
        run=run,
        duration_ns=_difference(run.started_ns, run.ended_ns),
        devices=tuple(recording.fetch_devices(run.run_id)),
        libraries={lib.name: lib.version for lib in recording.fetch_libraries(run.run_id)},
        graphs=tuple(
            _summarize_graph(
                recording,
                part.steps(_SUMMARIZED, graph.name).run(
                    read_tree, recording, graph.graph_id, keep, _COLUMNS
                ),
                lives[graph.graph_id],
                functions,
                allocations,
                windows,
                slowest,
            )
            for graph, part in progress.each(top, lambda graph: graph.name)
        ),
        capture_failures=failed_captures(recording, run.run_id),
        instantiate_failures=tuple(recording.fetch_instantiate_failures(run.run_id)),
        reinstantiations=reinstantiations([e for life in lives.values() for e in life.execs]),
        stream_operations=_summarize_stream(recording, run.run_id),
        windows=_summarize_windows(windows),
        periods=tuple(recording.fetch_periods(run.run_id)),
        measurements=tuple(recording.fetch_measurements(run.run_id)),
        notes=tuple(recording.fetch_notes(run.run_id)),
        # The last sample of each device: it holds the high marks of the whole process.
        graph_memory=tuple(
            {s.device_id: s for s in recording.fetch_graph_memory(run.run_id)}.values()
        ),
        faults=summarize_faults(recording, run.run_id),
        gpu_conditions=read_gpu_conditions(recording, run.run_id),
    )


def _summarize_graph(
    recording: Recording,
    tree: GraphTree,
    life: GraphLife,
    functions: dict[int, rows.KernelFunction],
    allocations: Sequence[rows.Allocation],
    windows: Sequence[rows.Window],
    slowest: int,
) -> GraphSummary:
    from gviz.model import graph_title, inflation, read_statistics

    graph, levels = tree.graph, [level.graph for level in tree.levels]
    statistics = read_statistics(recording, tree, _STATISTICS)
    total_ns = statistics.sum("total_ns")
    cost = inflation(recording, graph.graph_id)
    parameters = tuple(
        parameter
        for level in levels
        for parameter in recording.fetch_graph_parameters(level.graph_id)
    )
    sides = (summarize_launches(recording, graph.graph_id, s) for s in ("graph", "stream"))
    return GraphSummary(
        graph_id=graph.graph_id,
        name=graph.name,
        title=graph_title(recording, graph),
        origin=graph.origin,
        node_count=len(tree),
        edge_count=_count_edges(recording, levels),
        edges_inferred=graph.edges_inferred,
        body_count=len(levels) - 1,
        node_kinds=_count_kinds(tree.types.tolist()),
        capture_ns=_difference(graph.capture_start_ns, graph.capture_end_ns),
        execs=tuple(_summarize_exec(e) for e in recording.fetch_graph_execs(graph.graph_id)),
        life=life,
        launches=tuple(side for side in sides if side is not None),
        launch_costs=tuple(recording.fetch_launch_costs(graph.graph_id)),
        inflation=None if cost is None else cost.to_text(),
        node_time_ns=total_ns if len(statistics.stray) else None,
        slowest_nodes=tuple(
            _slow_node(tree, node, statistics, functions, total_ns)
            for node in statistics.largest("total_ns", slowest)
        ),
        exchangeable_count=tree.nodes.exchangeable_count(),
        event_copies=_event_copies(recording, graph),
        plain_launches=plain_launches(recording, graph, windows),
        parameters=parameters,
        events=_events(tree, parameters),
        allocations=_of_levels(allocations, levels),
        trials=summarize_trials(recording, graph.graph_id),
    )


def _events(tree: GraphTree, parameters: Sequence[rows.NodeParameter]) -> tuple[EventUse, ...]:
    """Return who records and awaits which event, in the order of the nodes that use them first."""
    found = [parameter for parameter in parameters if parameter.name == "event"]
    if not found:
        return ()
    recording = {
        (tree.level_of(node).graph.graph_id, int(tree.nodes.integers("node_id")[node]))
        for node in (tree.types == NodeType.EVENT_RECORD).nonzero()[0].tolist()
    }
    by_event: dict[str, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {}
    for parameter in found:
        node = parameter.graph_id, parameter.node_id
        by_event.setdefault(parameter.value, ([], []))[node not in recording].append(node)
    return tuple(EventUse(tuple(by), tuple(waited)) for by, waited in by_event.values())


def _event_copies(recording: Recording, graph: rows.Graph) -> EventCopies | None:
    key = {"graph_id": graph.graph_id, "node_level": 1}
    ways = recording.fetch_columns(rows.Launch, ("node_method",), key, "ordinal")
    count = sum(method == rows.BY_COPY for (method,) in ways)
    if not count:
        return None
    measured = {m.name: m.value for m in recording.fetch_measurements(graph.run_id)}
    return EventCopies(count, measured.get("event_extra_bias_ns"))


def _of_levels(
    allocations: Sequence[rows.Allocation], levels: Sequence[rows.Graph]
) -> tuple[rows.Allocation, ...]:
    """Return the allocations of levels, level by level."""
    place = {level.graph_id: at for at, level in enumerate(levels)}
    mine = [allocation for allocation in allocations if allocation.graph_id in place]
    return tuple(sorted(mine, key=lambda allocation: place[allocation.graph_id]))


def _count_edges(recording: Recording, levels: list[rows.Graph]) -> int | None:
    """Return the edges of all levels, or None when those of one are unknown."""
    count = 0
    for level in levels:
        if level.topology_id is None:
            return None
        count += recording.fetch_topology(level.topology_id).edge_count
    return count


def _count_kinds(types: Iterable[int]) -> dict[str, int]:
    """Return how many of each kind there are, the most frequent first."""
    return {node_type_name(number): n for number, n in Counter(types).most_common()}


def _summarize_exec(graph_exec: rows.GraphExec) -> ExecSummary:
    return ExecSummary(
        graph_exec_id=graph_exec.graph_exec_id,
        instantiate_ns=_difference(graph_exec.instantiate_start_ns, graph_exec.instantiate_end_ns),
        upload_ns=_difference(graph_exec.upload_start_ns, graph_exec.upload_end_ns),
        launch_count=graph_exec.launch_count,
    )


def summarize_launches(recording: Recording, graph_id: int, side: str) -> LaunchSummary | None:
    """Return the launches of a graph on one side; None: it has none."""
    # Columns, not rows: a recording may hold a million launches.
    count, with_node_times = recording.count_launches(graph_id, side)
    if not count:
        return None
    event, calls = least_disturbed(recording, graph_id, side, "event"), None
    alternation = None
    host = least_disturbed(recording, graph_id, side, "host")
    host_ns, host_count, state = host.durations.median_ns(), host.durations.count, host.state
    if side == "graph":
        from gviz.model import call_times

        calls = call_times(recording, graph_id)
        host_ns, host_count, state = calls.median_ns, len(calls.alone_ns), calls.state
    else:
        from gviz.model import read_alternation

        alternation = read_alternation(recording, recording.fetch_graph(graph_id))
    return LaunchSummary(
        side=side,
        count=count,
        with_node_times=with_node_times,
        gpu_median_ns=recording.fetch_weighted_durations(graph_id, side, "gpu").median_ns(),
        event_median_ns=event.durations.median_ns(),
        host_median_ns=host_ns,
        host_count=host_count,
        host_waiting="" if calls is None else calls.waiting,
        event_state=event.state if event.durations.count else None,
        host_state=state if host_count else None,
        length=launch_times(recording, graph_id, side),
        alternation=alternation,
    )


def _slow_node(
    tree: GraphTree,
    index: int,
    statistics: TreeStatistics,
    functions: dict[int, rows.KernelFunction],
    total_ns: int,
) -> SlowNode:
    node = tree.nodes[index]
    function = functions.get(node.function_id or 0)
    time = {name: statistics.value(name, index) for name in _STATISTICS}
    return SlowNode(
        graph_id=tree.level_of(index).graph.graph_id,
        node_id=node.node_id,
        exec_node_id=node.exec_node_id,
        name=node.name,
        kernel=None if function is None else function.name,
        type=node_type_name(node.type),
        count=time["count"],
        median_ns=time["median_ns"],
        p5_ns=time["p5_ns"],
        p95_ns=time["p95_ns"],
        share_fraction=time["total_ns"] / total_ns if total_ns else 0.0,
        is_exchangeable=node.match_class is not None,
    )


def _summarize_stream(recording: Recording, run_id: int) -> StreamSummary | None:
    import numpy as np

    names = ("start_ns", "duration_ns", "node_id", "type")
    found = recording.fetch_arrays(rows.StreamOperation, {"run_id": run_id}, names)
    if not len(found):
        return None
    in_time = np.argsort(found.integers("start_ns"), kind="stable")
    return StreamSummary(
        count=len(found),
        matched_count=int((~np.isnan(found.numbers("node_id"))).sum()),
        total_ns=sum(found.integers("duration_ns").tolist()),
        kinds=_count_kinds(found.integers("type")[in_time].tolist()),
    )


def _summarize_windows(windows: list[rows.Window]) -> WindowSummary:
    closed = (_difference(window.start_ns, window.end_ns) for window in windows)
    return WindowSummary(
        count=len(windows),
        total_ns=sum(length for length in closed if length is not None),
        reasons=dict(Counter(window.reason for window in windows)),
    )


def _difference(start_ns: int | None, end_ns: int | None) -> int | None:
    return None if start_ns is None or end_ns is None else end_ns - start_ns
