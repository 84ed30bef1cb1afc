"""Durations of whole launches: one column of durations, to be compared as a node's are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gviz.analysis import GraphSubject, structural_length_of
from gviz.comparison.changes import NodeDurations
from gviz.model import (
    Keep,
    LaunchTimes,
    build_anew,
    call_times,
    comparable_times,
    launch_times,
)
from gviz.recording import rows

if TYPE_CHECKING:
    from gviz.recording import Measure, Recording


def launch_lengths(recording: Recording, graph_id: int) -> NodeDurations:
    """Return how long the launches of a top-level graph took on the GPU.

    As the graph's own page has it (:func:`gviz.model.launch_times`), which is their method.
    """
    return lengths_of(recording, graph_id, launch_times(recording, graph_id))


def compared_lengths(*graphs: tuple[Recording, int]) -> list[NodeDurations]:
    """Return how long launches of graphs took that are held against each other.

    All in the same way where that can be (:func:`gviz.model.comparable_times`).
    """
    return [
        lengths_of(*graph, times)
        for graph, times in zip(graphs, comparable_times(graphs), strict=True)
    ]


def lengths_of(recording: Recording, graph_id: int, times: LaunchTimes) -> NodeDurations:
    """Return the launches one by one that a graph's time was taken from."""
    launches = _one_by_one(recording, graph_id, "event" if times.is_between_events else "gpu")
    return _column(launches, times.median_ns, times.method)


def host_times(recording: Recording, graph_id: int, keep: Keep = build_anew) -> NodeDurations:
    """Return how long the launch calls of a top-level graph took on the host.

    The call alone, of launches without node times, the first left out; what calls wait for a full
    queue is the GPU's time (:func:`gviz.model.call_times`).
    """
    found = call_times(recording, graph_id, keep)
    return _column(found.alone_ns, found.median_ns, found.way)


def first_to_last(subject: GraphSubject) -> NodeDurations:
    """Return the time from the first node's start to the last node's end (derived)."""
    lengths = [launch.spans.length_ns for launch in subject.timed_launches]
    return _of_timed(subject, lengths, subject.held.length_ns)


def critical_paths(subject: GraphSubject) -> NodeDurations:
    """Return the length of the structural critical path of each launch with node times (derived).

    Without those of copies that timed a part of the nodes.

    Raises
    ------
    RecordingError
        If the edges form a cycle.
    """
    whole = len(subject.spans) if subject.is_timed_by_copy else 0
    spans = [launch.spans for launch in subject.timed_launches if len(launch.spans) >= whole]
    held = map(subject.hold, spans)
    lengths = [structural_length_of(launch) for launch in held]
    return _of_timed(subject, lengths, structural_length_of(subject.held))


def _of_timed(subject: GraphSubject, lengths: list[float], typical: float) -> NodeDurations:
    way = rows.BY_COPY if subject.is_timed_by_copy else "cupti"
    return _column(np.array(lengths), typical if lengths else None, way)


def _one_by_one(recording: Recording, graph_id: int, measure: Measure) -> npt.NDArray[np.int64]:
    """Return a duration of each launch that was disturbed least and has a row."""
    found = recording.fetch_launch_durations(graph_id, "graph", measure, undisturbed=True)
    return found if len(found) else recording.fetch_launch_durations(graph_id, "graph", measure)


def _column(
    launches: npt.NDArray[np.int64] | npt.NDArray[np.float64], typical: float | None, method: str
) -> NodeDurations:
    column = launches.astype(np.float64).reshape(-1, 1)
    median = np.nan if typical is None else typical
    return NodeDurations(column, np.array([median]), frozenset({method}))
