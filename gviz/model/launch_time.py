"""Durations of a graph's launches as a whole, from the measurement that disturbs least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gviz.text import multiple

if TYPE_CHECKING:
    from gviz.recording import Recording, WeightedDurations, rows


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


def event_durations(
    recording: Recording, graph_id: int, side: str
) -> tuple[WeightedDurations, bool]:
    """Return the times between events (ns), and whether no node times disturbed them.

    Recording node times makes launches slower, and the first launch uploads the graph: launches
    without either count, where there are any.
    """
    outside = recording.fetch_weighted_durations(graph_id, side, "event", undisturbed=True)
    if outside.count:
        return outside, True
    return recording.fetch_weighted_durations(graph_id, side, "event"), False


def launch_times(recording: Recording, graph_id: int) -> LaunchTimes:
    """Return the median GPU time of a graph's launches: between events, else first to last node."""
    events, undisturbed = event_durations(recording, graph_id, "graph")
    if events.count:
        taken = "no node times taken" if undisturbed else "while node times were taken"
        method = f"measured: two CUDA events around the launch, {taken}"
        return LaunchTimes(events.median_ns(), events.count, method)
    spans = recording.fetch_weighted_durations(graph_id, "graph", "gpu")
    if spans.count:
        method = "derived: first node's start to last node's end, by CUPTI"
        return LaunchTimes(spans.median_ns(), spans.count, method)
    return LaunchTimes(None, 0, "not measured")


@dataclass(frozen=True, slots=True)
class Inflation:
    """The lengthening of launches while node times were taken.

    Attributes
    ----------
    gpu_ratio, host_ratio
        Median with node times over median without, of the executable with most launches of
        both kinds; None: one of them was not measured.
    reason
        Why not; empty when both were.
    """

    gpu_ratio: float | None
    host_ratio: float | None
    reason: str

    def to_text(self) -> str:
        """Return a line for people."""
        if self.gpu_ratio is None:
            return f"what node level costs this graph was not measured: {self.reason}"
        host = "" if self.host_ratio is None else f", host call {multiple(self.host_ratio)}"
        return f"measured with node level on: {multiple(self.gpu_ratio)} of the plain launch{host}"


def inflation(recording: Recording, graph_id: int) -> Inflation | None:
    """Return what node level cost a graph's launches; None: no node times were taken."""
    costs: dict[int, dict[int, rows.LaunchCost]] = {}
    for cost in recording.fetch_launch_costs(graph_id):
        costs.setdefault(cost.graph_exec_id, {})[cost.node_level] = cost
    recorded = [sides for sides in costs.values() if 1 in sides]
    if not recorded:
        return None
    best = max(recorded, key=lambda s: min((s[i].count if i in s else 0) for i in (0, 1)))
    plain, slow = best.get(0), best[1]
    if plain is None or plain.gpu_median_ns is None or slow.gpu_median_ns is None:
        missing = plain if plain is None or plain.gpu_median_ns is None else slow
        why = missing.method if missing else "no launch without node level"
        return Inflation(None, None, why.removeprefix("not measured: "))
    host = None
    if plain.host_median_ns and slow.host_median_ns is not None:
        host = slow.host_median_ns / plain.host_median_ns
    gpu = slow.gpu_median_ns / plain.gpu_median_ns if plain.gpu_median_ns else None
    return Inflation(gpu, host, "")
