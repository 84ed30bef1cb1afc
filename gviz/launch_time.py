"""How long a graph's launches take as a whole, from the measurement that disturbs least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gviz.recording.reader import Recording


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


def launch_times(recording: Recording, graph_id: int) -> LaunchTimes:
    """Return the median GPU time of a graph's launches.

    Recording node times makes launches slower, and the first launch uploads the graph. So the
    first of these that there is counts: events around later launches outside windows, events
    around any launch, first to last node.
    """
    outside = recording.fetch_launch_durations(graph_id, "graph", "event", undisturbed=True)
    if len(outside):
        method = "measured: two CUDA events around the launch, no node times taken"
        return LaunchTimes(float(np.median(outside)), len(outside), method)
    events = recording.fetch_launch_durations(graph_id, "graph", "event")
    if len(events):
        method = "measured: two CUDA events around the launch, while node times were taken"
        return LaunchTimes(float(np.median(events)), len(events), method)
    spans = recording.fetch_launch_durations(graph_id, "graph", "gpu")
    if len(spans):
        method = "derived: first node's start to last node's end, by CUPTI"
        return LaunchTimes(float(np.median(spans)), len(spans), method)
    return LaunchTimes(None, 0, "not measured")
