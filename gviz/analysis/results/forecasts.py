"""Forecasts: the time that graphs of eager iterations would take, from launch costs.

Eager iterations that were captured later have both sides: their forecast stands beside what the
graph took, which shows how far forecasts of this program can be trusted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gviz.analysis.launch_costs import Forecast, LaunchCosts, forecast_iteration
from gviz.analysis.results.eager_iterations import (
    EagerIterations,
    Operations,
    RangeNames,
    captured_iterations,
    free_iterations,
    read_operations,
)
from gviz.analysis.run_subject import RunSubject
from gviz.analysis.sound_times import span_ns
from gviz.dataclass import dataclass
from gviz.model import launch_times, timed_by_copy
from gviz.stats import CuptiState, Evidence, IntArray, NotComputed, figure


@dataclass(frozen=True, slots=True)
class EagerForecast:
    """Eager iterations of equal operations, and what a graph of one would take."""

    range: str | None = figure(
        "stated", "innermost NVTX range around every iteration, such as a batch size; null: none"
    )
    graph_id: int | None = figure(
        "stated", "the graph that was captured of this work; null: none was"
    )
    pass_count: int = figure("measured", "iterations, the first, which is left out, included")
    operation_count: int = figure("measured", "operations of an iteration")
    block_count: int = figure(
        "measured", "thread blocks of an iteration's kernels; they grow with the batch"
    )
    stream_ns: float = figure(
        "measured", "first operation's start to last one's end on the GPU, median over passes"
    )
    busy_ns: float = figure("derived", "of it, time in which anything ran, median")
    stream_host_ns: float | None = figure(
        "measured", "first call's entry to last one's return, median; null: not known"
    )
    collective_count: int = figure(
        "measured", "operations of an iteration that wait for other processes"
    )
    collective_wait_ns: float = figure(
        "estimated",
        "of stream_ns, what collectives took longer than the shortest equal one of the run, median",
    )
    graph_ns: float = figure(
        "estimated",
        "the same as a graph: busy time, and every gap closed to gap_ns, median; with collectives "
        "at least, as collective_wait_ns is left out",
    )
    gap_ns: float = figure("estimated", "what lies between a graph's nodes by the launch costs")
    graph_host_ns: float | None = figure(
        "estimated", "launch call of such a graph, at least; null: the launch costs lack it"
    )
    gain: float = figure(
        "estimated", "stream_ns over graph_ns: how many times as fast; with collectives at most"
    )
    measured_graph_ns: float | None = figure(
        "measured",
        "first node's start to last node's end of the graph, median launch with node times, or "
        "between events where copies took these; null: none was captured",
    )
    error_fraction: float | None = figure(
        "derived", "graph_ns over measured_graph_ns, less 1: below 0 the forecast is too low"
    )
    evidence: Evidence = figure("stated", "what graph_ns rests on")


@dataclass(frozen=True, slots=True)
class RunForecast:
    """Forecast for graphs of a run's eager iterations."""

    passes: tuple[EagerForecast, ...] = figure(
        "estimated", "by graph, then in time order; of one range several sizes one after the other"
    )
    operation_count: int = figure("measured", "operations outside graphs that were recorded")
    left_over_count: int = figure(
        "derived",
        "of these, operations that are no graph's work and in no iteration that has a kernel",
    )


def run_forecast(run: RunSubject) -> RunForecast | NotComputed:
    """Return what graphs of the eager iterations would take."""
    if run.costs is None:
        return NotComputed("there are no launch costs; 'gviz bench' measures them on this GPU")
    operations = read_operations(run)
    if not len(operations):
        return NotComputed("no operation outside graphs was recorded")
    found: list[tuple[int | None, EagerIterations]] = []
    for graph_id in run.graphs:
        repeated = captured_iterations(operations, run.recording.fetch_launches(graph_id, "stream"))
        if repeated is not None:
            found.append((graph_id, repeated))
    free = free_iterations(operations)
    found += [(None, repeated) for repeated in free]
    if not found:
        return NotComputed(
            f"no kernels among {len(operations):,} operations outside graphs repeat in the same "
            "order: there is no iteration to capture"
        )
    if run.costs.line("relaunch", "device") is None:
        return NotComputed(f"{run.costs.describe()} lack the device time of graphs")
    ranges = RangeNames(run)
    waited = _waited_ns(operations)
    made = [_forecast(run, run.costs, operations, waited, ranges, g, p) for g, p in found]
    in_iterations = sum(len(p) for x in free for p in x.iterations)
    matched = int((operations.launch >= 0).sum())
    return RunForecast(
        passes=tuple(made),
        operation_count=len(operations),
        left_over_count=len(operations) - matched - in_iterations,
    )


def _forecast(
    run: RunSubject,
    costs: LaunchCosts,
    operations: Operations,
    waited_ns: IntArray,
    ranges: RangeNames,
    graph_id: int | None,
    repeated: EagerIterations,
) -> EagerForecast:
    settled = repeated.settled
    each = [f for p in settled if (f := _forecast_one(operations, waited_ns, p, costs)) is not None]
    names = {ranges.of(operations, p) for p in settled}
    measured = None if graph_id is None else _measured_ns(run, graph_id)
    graph_ns = _median(each, lambda f: f.graph_ns)
    stream_ns = _median(each, lambda f: f.stream_ns)
    host = [f.stream_host_ns for f in each if f.stream_host_ns is not None]
    return EagerForecast(
        range=names.pop() if len(names) == 1 else None,
        graph_id=graph_id,
        pass_count=len(repeated.iterations),
        operation_count=len(settled[0]),
        block_count=int(operations.blocks[settled[0]].sum()),
        collective_count=int(operations.is_collective[settled[0]].sum()),
        collective_wait_ns=float(np.median([waited_ns[p].sum() for p in settled])),
        stream_ns=stream_ns,
        busy_ns=_median(each, lambda f: f.busy_ns),
        stream_host_ns=float(np.median(host)) if host else None,
        graph_ns=graph_ns,
        gap_ns=each[0].gap_ns,
        graph_host_ns=each[0].graph_host_ns,
        gain=stream_ns / graph_ns if graph_ns else 1.0,
        measured_graph_ns=measured,
        error_fraction=graph_ns / measured - 1 if measured else None,
        evidence=Evidence(
            "estimated",
            len(settled),
            state=CuptiState.RECORDED,
            is_cold=len(repeated.iterations) == 1,
            is_at_most=True,
        ),
    )


def _median(each: list[Forecast], value: Callable[[Forecast], float]) -> float:
    return float(np.median([value(f) for f in each]))


def _waited_ns(operations: Operations) -> IntArray:
    """Return how long operations waited for other processes (int64), at most; 0 for most.

    A collective ends when the last rank has come and the data has gone round: what it takes longer
    than the shortest equal one of the run is waiting, as far as equal ones move as many bytes.
    """
    waited = np.zeros(len(operations), np.int64)
    which = np.flatnonzero(operations.is_collective)
    if len(which):
        _, equal = np.unique(operations.token[which], return_inverse=True)
        shortest = np.full(int(equal.max()) + 1, np.iinfo(np.int64).max)
        np.minimum.at(shortest, equal, operations.duration_ns[which])
        waited[which] = operations.duration_ns[which] - shortest[equal]
    return waited


def _forecast_one(
    operations: Operations, waited_ns: IntArray, chosen: IntArray, costs: LaunchCosts
) -> Forecast | None:
    chosen = chosen[np.argsort(operations.start_ns[chosen], kind="stable")]
    called, returned = operations.called_ns[chosen], operations.returned_ns[chosen]
    known = bool(called.min() >= 0 and returned.min() >= 0)
    return forecast_iteration(
        operations.start_ns[chosen],
        operations.duration_ns[chosen],
        costs,
        host_ns=(int(called.min()), int(returned.max())) if known else None,
        waited_ns=waited_ns[chosen],
    )


def _measured_ns(run: RunSubject, graph_id: int) -> float | None:
    """Return the median length of a graph's launches with node times; None: there are none.

    Where copies ran in their place, that of plain launches.
    """
    if timed_by_copy(run.recording, graph_id):
        return launch_times(run.recording, graph_id).median_ns
    launches = run.recording.fetch_launches_with_spans(graph_id)
    lengths = [span_ns(x.gpu_start_ns, x.gpu_end_ns) for x in launches]
    known = [ns for ns in lengths if ns is not None]
    return float(np.median(known)) if known else None
