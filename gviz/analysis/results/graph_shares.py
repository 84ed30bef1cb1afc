"""The share of a run that lies in graphs, and by Amdahl's law what that leaves to gain.

References
----------
Amdahl (1967), Validity of the single processor approach to achieving large scale computing
capabilities: if a share p of the time is made to take none, the whole is 1 / (1 - p) as fast.
"""

from __future__ import annotations

from collections.abc import Iterator

from gviz.analysis.run_subject import RunSubject
from gviz.dataclass import dataclass
from gviz.model import launch_times, least_disturbed, read_total_ns
from gviz.recording import Measure
from gviz.stats import Evidence, NotComputed, distinct_values, figure, worst_of
from gviz.text import duration


@dataclass(frozen=True, slots=True)
class GraphShare:
    """The share of a run that lies in graphs."""

    run_ns: int = figure("measured", "from the start of the recording to its end")
    graph_gpu_ns: float = figure(
        "estimated",
        "time of all launches on the GPU: as many as were seen times the mean of those measured, "
        "between events without node times where there are any",
    )
    graph_host_ns: float = figure(
        "estimated",
        "host time of all launch calls, with what they wait for a full queue; those that were not "
        "timed taken as the others",
    )
    gpu_fraction: float = figure(
        "estimated", "graph_gpu_ns over run_ns: the share of the run in which launches ran, 0 to 1"
    )
    host_fraction: float = figure("estimated", "graph_host_ns over run_ns")
    recorded_fraction: float | None = figure(
        "derived",
        "of the node time recorded in windows, the part in graphs; null where none was recorded. "
        "Windows are open while a program warms up: this is no share of the run",
    )
    most_speedup: float | None = figure(
        "estimated",
        "how many times as fast the run could be if its launches took no time at all (Amdahl); "
        "null where launches fill the run",
    )
    evidence: Evidence = figure("stated", "what graph_gpu_ns rests on")


def graph_share(run: RunSubject) -> GraphShare | NotComputed:
    """Return how much of a run lies in graphs."""
    whole = run.duration_ns
    if not whole:
        why = "when the run ended is not known: the process did not close its recording"
        if run.run.ended_ns is not None:
            why = "the run ends no later than it begins: the clock stepped back"
        return NotComputed(why)
    if not run.graphs:
        return NotComputed("the run has no graph")
    gpu = sum(gpu_total_ns(run, g) for g in run.graphs)
    host = sum(_total_ns(run, g, "host") for g in run.graphs)
    if gpu > whole * _most_at_once(run):
        return NotComputed(
            f"launches would fill {duration(gpu)} of a run of {duration(whole)}: those that were "
            "timed took longer than the others"
        )
    share = gpu / whole
    return GraphShare(
        run_ns=whole,
        graph_gpu_ns=gpu,
        graph_host_ns=host,
        gpu_fraction=share,
        host_fraction=host / whole,
        recorded_fraction=_recorded(run),
        most_speedup=1 / (1 - share) if share < 1 else None,
        evidence=worst_of([Evidence("estimated", 1), *_evidence(run)]),
    )


def _evidence(run: RunSubject) -> Iterator[Evidence]:
    """Yield what the time of each graph's launches rests on."""
    for graph_id in run.graphs:
        found = launch_times(run.recording, graph_id).evidence
        if found is not None:
            yield found


def _most_at_once(run: RunSubject) -> int:
    """Return how many launches can run at once: as many as there are streams."""
    return 1 if run.launches is None else max(1, len(distinct_values(run.launches.stream_id)))


def gpu_total_ns(run: RunSubject, graph_id: int) -> float:
    """Return how long a graph's launches took together, from those that were measured."""
    events = least_disturbed(run.recording, graph_id, "graph", "event").durations
    if events.count:
        return events.total_ns / events.count * run.recording.count_launches(graph_id)[0]
    return _total_ns(run, graph_id, "gpu") or _total_ns(run, graph_id, "host")


def _total_ns(run: RunSubject, graph_id: int, measure: Measure) -> float:
    found = run.recording.fetch_weighted_durations(graph_id, "graph", measure)
    if not found.count:
        return 0.0
    return found.total_ns / found.count * run.recording.count_launches(graph_id)[0]


def _recorded(run: RunSubject) -> float | None:
    outside = sum(run.stream_operations.integers("duration_ns").tolist())
    inside = sum(read_total_ns(run.recording, g) for g in run.graphs)
    return inside / (inside + outside) if inside + outside else None
