"""Durations of whole launches: one column of durations, to be compared as a node's are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gviz.analysis import GraphSubject, structural_length_of
from gviz.comparison.changes import NodeDurations
from gviz.model import Keep, build_anew, call_times, launch_times

if TYPE_CHECKING:
    from gviz.recording import Measure, Recording


def launch_lengths(recording: Recording, graph_id: int) -> NodeDurations:
    """Return how long the launches of a top-level graph took on the GPU.

    From the least disturbing measurement there is (:func:`gviz.model.launch_times`), which is
    their method.
    """
    times = launch_times(recording, graph_id, least=1)
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

    Raises
    ------
    RecordingError
        If the edges form a cycle.
    """
    held = [subject.hold(launch.spans) for launch in subject.timed_launches]
    lengths = [structural_length_of(launch) for launch in held]
    return _of_timed(subject, lengths, structural_length_of(subject.held))


def _of_timed(subject: GraphSubject, lengths: list[float], typical: float) -> NodeDurations:
    way = "events" if subject.is_timed_by_copy else "cupti"
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
