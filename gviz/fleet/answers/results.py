"""Results of a report on a data set; every field says how it came about."""

from __future__ import annotations

from gviz.dataclass import dataclass
from gviz.stats import figure


@dataclass(frozen=True, slots=True)
class FleetRank:
    """A rank of a data set."""

    recording_id: int = figure("stated", "its recording")
    run_id: int = figure("stated", "the run in it")
    rank: int | None = figure("measured", "of a distributed job; null: not recorded")
    host: str | None = figure("measured", "its machine")
    gpus: str = figure("measured", "its GPUs")
    url: str = figure("stated", "its recording, as it was given")

    @property
    def name(self) -> str:
        """Return its number; without one its recording and run."""
        return f"run {self.recording_id}.{self.run_id}" if self.rank is None else f"{self.rank}"


@dataclass(frozen=True, slots=True)
class SlowerNode:
    """A node that takes longer on a slow rank."""

    name: str = figure("stated", "its name")
    layer: str = figure("stated", "its layer of the model; empty: none")
    median_ns: float = figure("derived", "median duration on that rank")
    usual_ns: float = figure("derived", "median of the ranks' medians")


@dataclass(frozen=True, slots=True)
class SlowRank:
    """A rank whose own work takes longer than on the others, beyond what they vary by."""

    rank: FleetRank = figure("stated", "which")
    graph: str = figure("stated", "the graph")
    own_ns: float = figure("derived", "what its nodes take in a launch, collectives left out")
    excess_ns: float = figure("derived", "by how much that is more than on the middle rank")
    excess_fraction: float = figure("derived", "that, as a share of the middle rank's")
    deviations: float | None = figure("derived", "that, in deviations of all ranks")
    layer: str = figure("stated", "the layer in which most of it is; empty: in none")
    layer_fraction: float = figure("derived", "share of the excess that is in that layer")
    is_even: bool = figure(
        "estimated",
        "most of its layers take longer by about the same share: such as a GPU that is clocked "
        "lower than others",
    )
    nodes: tuple[SlowerNode, ...] = figure("derived", "its nodes that take longer, most first")
    since_launch: int | None = figure(
        "estimated",
        "launch from which it is slow, by its number; null: from the first that has node times, or "
        "not known",
    )
    since_ns: int | None = figure("measured", "when that was called, on its machine's clock")


@dataclass(frozen=True, slots=True)
class AwaitedRank:
    """A rank that others wait for in collectives."""

    rank: FleetRank = figure("stated", "which")
    graph: str = figure("stated", "the graph")
    last_fraction: float = figure(
        "estimated", "share of the executions in which it came last, of the collective with most"
    )
    wait_ns: float = figure(
        "estimated", "what the others waited for it in a launch, summed over collectives: the mean"
    )


@dataclass(frozen=True, slots=True)
class SlowLink:
    """A communicator whose collectives take longer than those of others when nobody is awaited."""

    graph: str = figure("stated", "the graph")
    rank_count: int = figure("estimated", "ranks in it")
    first_rank: int | None = figure("estimated", "the first of them; null: not recorded")
    last_rank: int | None = figure("estimated", "the last of them")
    hosts: tuple[str, ...] = figure("estimated", "their machines")
    transfer_ns: float = figure(
        "estimated", "what its collectives take in a launch when nobody is awaited"
    )
    excess_ns: float = figure(
        "estimated", "by how much that is more than in the middle one of as many ranks"
    )
    excess_fraction: float = figure("estimated", "that, as a share of the middle one's")


@dataclass(frozen=True, slots=True)
class DivergentRank:
    """A rank that launches other graphs than most, or in another order."""

    rank: FleetRank = figure("stated", "which")
    differs: str = figure("derived", "graphs, or order")
    missing: tuple[str, ...] = figure("derived", "graphs that most ranks launch and it does not")
    added: tuple[str, ...] = figure("derived", "graphs that it launches and most do not")


@dataclass(frozen=True, slots=True)
class GpuOutlier:
    """A rank whose GPU is hotter, or clocked lower, than others of its kind."""

    rank: FleetRank = figure("stated", "which")
    sm_clock_mhz: float | None = figure("measured", "its clock while busy, the median")
    usual_mhz: float | None = figure("derived", "that of the middle rank")
    temperature_celsius: float | None = figure("measured", "its highest temperature")
    usual_celsius: float | None = figure("derived", "that of the middle rank")
    slowed_by: str = figure("measured", "why its clock was lowered; empty: no reason was seen")
    is_lower: bool = figure("derived", "its clock is lower than ranks vary by, and by 1%")
    is_hotter: bool = figure("derived", "it is hotter than ranks vary by, and by 5 °C")


@dataclass(frozen=True, slots=True)
class LayerChange:
    """A layer whose work changed with the last build, beyond what ranks vary by."""

    graph: str = figure("stated", "the graph")
    layer: str = figure("stated", "the layer; empty: nodes in none")
    build: int = figure("stated", "the last build")
    before_build: int = figure("stated", "the one before that has the graph")
    rank_count: int = figure("measured", "ranks of the last build")
    before_rank_count: int = figure("measured", "ranks of the one before")
    time_ns: float = figure("derived", "what its nodes take in a launch, on the middle rank")
    before_ns: float = figure("derived", "the same before")
    change_fraction: float = figure("derived", "the difference, as a share of that before")


@dataclass(frozen=True, slots=True)
class VersionChange:
    """Something that ranks of the last build run on, and those of the build before do not."""

    name: str = figure("stated", "column of table ranks")
    before: tuple[str, ...] = figure("measured", "values of the build before")
    after: tuple[str, ...] = figure("measured", "values of the last build")


@dataclass(frozen=True, slots=True)
class HostClock:
    """The clock of a machine beside that of the first one."""

    host: str = figure("stated", "the machine")
    offset_ns: float | None = figure("estimated", "how far it is ahead; null: too few collectives")
    drift_ppm: float | None = figure("estimated", "how much faster it runs, parts per million")
    residual_ns: float | None = figure(
        "estimated", "error of times put on the first clock: 95% of ends are nearer to the others'"
    )


@dataclass(frozen=True, slots=True)
class FleetReport:
    """A data set reported on."""

    report_version: int = figure("stated", "version of these keys")
    rank_count: int = figure("measured", "runs in it")
    host_count: int = figure("measured", "their machines")
    build_count: int = figure("stated", "builds that made it")
    failure_count: int = figure("stated", "recordings that were given and are not in it")
    graph_count: int = figure("derived", "structures of graphs")
    compared_count: int = figure("derived", "runs that are compared in a graph")
    slow: tuple[SlowRank, ...] = figure("derived", "slow ranks, the slowest first")
    awaited: tuple[AwaitedRank, ...] = figure("derived", "awaited ranks, the costliest first")
    slow_links: tuple[SlowLink, ...] = figure("estimated", "slow communicators, the slowest first")
    divergent: tuple[DivergentRank, ...] = figure("derived", "those that launch something else")
    gpu_outliers: tuple[GpuOutlier, ...] = figure(
        "derived", "GPUs that are hotter or clocked lower, the lowest clock first"
    )
    clocked_count: int = figure("measured", "runs whose GPU's clock was sampled")
    layer_changes: tuple[LayerChange, ...] = figure(
        "derived", "layers that changed with the last build, those that became slower first"
    )
    version_changes: tuple[VersionChange, ...] = figure(
        "derived", "what the last build's ranks run on, and those before did not"
    )
    clocks: tuple[HostClock, ...] = figure("derived", "clocks of machines; empty: one machine")
