"""Durations of a graph's launches as a whole, from the measurement that disturbs least."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gviz.dataclass import dataclass
from gviz.recording import WeightedDurations, rows
from gviz.stats import CuptiState, Evidence, How

if TYPE_CHECKING:
    from gviz.recording import Measure, Recording

#: Collectors that work without CUPTI in the process, or have it there only while nodes are timed.
_WITHOUT_CUPTI = frozenset({"events", "topology", "cupti-windows"})
#: Of fewer launches a median says little: then those whose nodes were timed say it.
LEAST_OF_MEDIAN = 3
#: The ends of the spread that is shown of launches.
_LOW, _HIGH = 0.05, 0.95
_TAKEN = {
    CuptiState.PLAIN: "no CUPTI in the process",
    CuptiState.ATTACHED: "CUPTI attached, no node times taken",
    CuptiState.RECORDED: "while node times were recorded",
}


@dataclass(frozen=True, slots=True)
class LaunchTimes:
    """The GPU time of a graph's launches, of those that were disturbed least.

    Attributes
    ----------
    median_ns
        Median over launches; None: not measured.
    low_ns, high_ns
        5th and 95th percentile, interpolated; None: not measured.
    count
        Launches the median was taken over.
    method
        How it was measured, as a sentence fragment.
    evidence
        What it rests on; None: not measured.
    """

    median_ns: float | None
    low_ns: float | None
    high_ns: float | None
    count: int
    method: str
    evidence: Evidence | None

    @property
    def is_between_events(self) -> bool:
        """True where events around the launch took it, not the records of its nodes."""
        return self.evidence is not None and self.evidence.how == "measured"


_NOT_MEASURED = LaunchTimes(None, None, None, 0, "not measured", None)


@dataclass(frozen=True, slots=True)
class MeasuredLaunches:
    """Durations of the launches of a side that were disturbed least, and the state they were in."""

    durations: WeightedDurations
    state: CuptiState

    @property
    def taken(self) -> str:
        """Return the state in words."""
        return taken_in(self.state)


def taken_in(state: CuptiState) -> str:
    """Return a state of CUPTI in words, as that in which something was timed."""
    return _TAKEN[state]


def state_of(run: rows.Run, *, node_times: bool) -> CuptiState:
    """Return the state that launches of a run were timed in.

    Parameters
    ----------
    node_times
        Whether they are launches whose node times were taken.
    """
    if node_times:
        return CuptiState.RECORDED
    without = run.collector is not None and {*run.collector.split("+")} <= _WITHOUT_CUPTI
    return CuptiState.PLAIN if without else CuptiState.ATTACHED


def least_disturbed(
    recording: Recording, graph_id: int, side: str, measure: Measure
) -> MeasuredLaunches:
    """Return a duration of the launches of a side that were disturbed least.

    Recording node times makes launches slower, and the first launch uploads the graph: launches
    without either count, where there are any. Of a graph whose other launches were instrumented
    copies the first is left: none of these has a time of its own.
    """
    others = recording.fetch_weighted_durations(graph_id, side, measure, undisturbed=True)
    if not others.count:
        others = recording.fetch_weighted_durations(graph_id, side, measure)
        if side == "stream" or not timed_by_copy(recording, graph_id):
            return MeasuredLaunches(others, CuptiState.RECORDED)
    runs = {run.run_id: run for run in recording.fetch_runs()}
    run = runs[recording.fetch_graph(graph_id).run_id]
    return MeasuredLaunches(others, state_of(run, node_times=False))


def launch_times(recording: Recording, graph_id: int, side: str = "graph") -> LaunchTimes:
    """Return the GPU time of a graph's launches: between events, else first to last node.

    Of fewer than :data:`LEAST_OF_MEDIAN` launches between events those with node times are taken,
    where these are as many.

    Parameters
    ----------
    side
        ``stream``: of the eager iterations of its work, the first left out where there are others.
    """
    if side == "stream":
        return _eager_times(recording, graph_id)
    events, nodes = _both_ways(recording, graph_id)
    is_few = events.count < LEAST_OF_MEDIAN <= nodes.count
    return nodes if is_few or not events.count else events


def comparable_times(graphs: Sequence[tuple[Recording, int]]) -> list[LaunchTimes]:
    """Return the GPU times of launches of graphs that are held against each other.

    Where one has fewer than :data:`LEAST_OF_MEDIAN` launches between events, all are taken from
    first to last node, if each has so many with node times: what was measured in two ways, or too
    rarely, cannot be compared. Otherwise each graph's is what disturbed it least, however few.
    """
    both = [_both_ways(recording, graph_id) for recording, graph_id in graphs]
    is_few = any(events.count < LEAST_OF_MEDIAN for events, _ in both)
    if is_few and all(nodes.count >= LEAST_OF_MEDIAN for _, nodes in both):
        return [nodes for _, nodes in both]
    return [events if events.count else nodes for events, nodes in both]


def _both_ways(recording: Recording, graph_id: int) -> tuple[LaunchTimes, LaunchTimes]:
    """Return the times of launches between events, and from their first to their last node.

    Neither is known of instrumented copies in a launch's place.
    """
    count, timed = recording.count_launches(graph_id)
    found = least_disturbed(recording, graph_id, "graph", "event")
    is_cold = count == 1 or (found.durations.count == 1 and count == timed + 1)
    method = f"measured: two CUDA events around the launch, {found.taken}"
    events = _times(found, "measured", method, is_cold=is_cold)
    nodes = least_disturbed(recording, graph_id, "graph", "gpu")
    return events, _times(nodes, "derived", is_cold=is_cold)


def timed_by_copy(recording: Recording, graph_id: int) -> bool:
    """Return whether instrumented copies took all node times of a graph that is launched."""
    key = {"graph_id": graph_id, "node_level": 1}
    ways = recording.fetch_columns(rows.Launch, ("side", "node_method"), key, "ordinal")
    return {way for side, way in ways if side == "graph"} == {rows.BY_COPY}


def node_times(recording: Recording, graph_id: int, root_id: int) -> LaunchTimes:
    """Return the time of a graph's nodes in a launch, nested ones included, summed.

    Parameters
    ----------
    graph_id
        The level whose nodes count, with all bodies in it.
    root_id
        The graph that is launched.
    """
    if timed_by_copy(recording, root_id):
        import numpy as np

        # A copy may time a part of the nodes in each launch.
        whole_ns, count = recording.sum_mean_node_times(graph_id)
        durations = WeightedDurations(np.array([whole_ns]), np.array([count]))
        recorded = MeasuredLaunches(durations, CuptiState.RECORDED)
        method = "derived: sum of the means of node times, by event copies"
        return _times(recorded, "derived", method, is_cold=False)
    sums = recording.fetch_node_time_sums(graph_id, root_id)
    durations = WeightedDurations(sums.astype(float), (sums >= 0).astype(int))
    recorded = MeasuredLaunches(durations, CuptiState.RECORDED)
    is_cold = recording.count_launches(root_id)[0] == 1
    return _times(recorded, "derived", "derived: sum of node times in a launch", is_cold=is_cold)


def _eager_times(recording: Recording, graph_id: int) -> LaunchTimes:
    found = recording.fetch_launch_arrays(graph_id, "stream")
    known = found.gpu_duration_ns >= 0
    warm = known & (found.ordinal > 0)
    chosen = found.gpu_duration_ns[warm if warm.any() else known]
    durations = WeightedDurations(chosen.astype(float), (chosen >= 0).astype(int))
    # Work outside graphs has times where windows were open alone.
    recorded = MeasuredLaunches(durations, CuptiState.RECORDED)
    return _times(recorded, "derived", is_cold=not warm.any(), is_at_most=True)


def _times(
    found: MeasuredLaunches,
    how: How,
    method: str = "derived: first node's start to last node's end, by CUPTI",
    *,
    is_cold: bool,
    is_at_most: bool = False,
) -> LaunchTimes:
    durations = found.durations
    count = durations.count
    if not count:
        return _NOT_MEASURED
    return LaunchTimes(
        median_ns=durations.median_ns(),
        low_ns=durations.quantile_ns(_LOW),
        high_ns=durations.quantile_ns(_HIGH),
        count=count,
        method=method,
        evidence=Evidence(how, count, state=found.state, is_cold=is_cold, is_at_most=is_at_most),
    )
