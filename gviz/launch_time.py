"""How long a graph's launches take as a whole, from the measurement that disturbs least."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gviz.recording.reader import IntArray, Recording


@dataclass(frozen=True, slots=True)
class LaunchTimes:
    """The GPU time of a graph's launches.

    Attributes
    ----------
    median_ns
        Median over launches; None: not measured.
    count
        Launches the median was taken over.
    method
        How it was measured, as a sentence fragment.
    """

    median_ns: float | None
    count: int
    method: str


def event_durations(recording: Recording, graph_id: int, side: str) -> tuple[IntArray, bool]:
    """Return the times between events (int64, ns), and whether no node times disturbed them.

    Recording node times makes launches slower, and the first launch uploads the graph: launches
    without either count, where there are any.
    """
    outside = recording.fetch_launch_durations(graph_id, side, "event", undisturbed=True)
    if len(outside):
        return outside, True
    return recording.fetch_launch_durations(graph_id, side, "event"), False


def launch_times(recording: Recording, graph_id: int) -> LaunchTimes:
    """Return the median GPU time of a graph's launches: between events, else first to last node."""
    events, undisturbed = event_durations(recording, graph_id, "graph")
    if len(events):
        taken = "no node times taken" if undisturbed else "while node times were taken"
        method = f"measured: two CUDA events around the launch, {taken}"
        return LaunchTimes(float(statistics.median(events.tolist())), len(events), method)
    spans = recording.fetch_launch_durations(graph_id, "graph", "gpu")
    if len(spans):
        method = "derived: first node's start to last node's end, by CUPTI"
        return LaunchTimes(float(statistics.median(spans.tolist())), len(spans), method)
    return LaunchTimes(None, 0, "not measured")
