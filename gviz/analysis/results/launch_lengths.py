"""The time of a graph's launches on the GPU, of those that recording disturbed least."""

from __future__ import annotations

from gviz.analysis.subject import GraphSubject
from gviz.dataclass import dataclass
from gviz.model import launch_times
from gviz.stats import Evidence, NotComputed, figure


@dataclass(frozen=True, slots=True)
class LaunchLength:
    """The time of a launch on the GPU, of launches in the least disturbing state there is."""

    median_ns: float = figure("measured", "median over these launches")
    low_ns: float = figure("derived", "their 5th percentile, interpolated")
    high_ns: float = figure("derived", "their 95th percentile")
    method: str = figure("stated", "how they were measured")
    is_between_events: bool = figure(
        "stated", "between the events around the launch; else first node's start to last node's end"
    )
    evidence: Evidence = figure("stated", "what it rests on")


def launch_length(subject: GraphSubject) -> LaunchLength | NotComputed:
    """Return how long a graph's launches take."""
    found = launch_times(subject.recording, subject.row.graph_id)
    if found.evidence is None or found.median_ns is None:
        return NotComputed("no launch was timed")
    return LaunchLength(
        median_ns=found.median_ns,
        low_ns=found.median_ns if found.low_ns is None else found.low_ns,
        high_ns=found.median_ns if found.high_ns is None else found.high_ns,
        method=found.method,
        is_between_events=found.is_between_events,
        evidence=found.evidence,
    )
