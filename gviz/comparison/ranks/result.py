"""The result of ``gviz skew``: classes whose fields are the keys of its JSON."""

from __future__ import annotations

from gviz.dataclass import dataclass
from gviz.stats import Evidence, figure


@dataclass(frozen=True, slots=True)
class Clock:
    """Comparability of the ranks' times."""

    is_one: bool = figure("derived", "whether they are on one clock")
    reason: str = figure("stated", "why, or why not")


@dataclass(frozen=True, slots=True)
class RankRef:
    """One rank: a run of the recording."""

    run_id: int = figure("stated", "the run")
    rank: int | None = figure("measured", "RANK or equivalent; null: not recorded")
    name: str = figure("stated", "the run's name")
    host: str | None = figure("measured", "its machine")
    gpus: str = figure("measured", "its GPUs")


@dataclass(frozen=True, slots=True)
class RankTime:
    """One rank's side of a graph."""

    run_id: int = figure("stated", "the run")
    graph_id: int = figure("stated", "its graph")
    how: str = figure("derived", "why it is taken for that of the first rank: shape, name, work")
    launch_ns: float | None = figure("derived", "median first node's start to last node's end")
    late_ns: float | None = figure(
        "derived", "median start after that of the rank that started first; null: not one clock"
    )
    slowest_count: int = figure("derived", "launches in which it took longest")
    last_count: int | None = figure(
        "derived", "launches in which it started last; null: not one clock"
    )
    evidence: Evidence = figure(
        "stated", "what its times rest on: launches with node times on every rank"
    )


@dataclass(frozen=True, slots=True)
class NodeSkew:
    """A node over the ranks; node_ids are those of ranks in order, null where it is not there."""

    name: str = figure("stated", "the node's name")
    context: str = figure("measured", "NVTX ranges it was created in, outermost first; empty: none")
    body: str = figure("stated", "the body it is in and those around it; empty: the graph itself")
    graph_ids: tuple[int | None, ...] = figure("stated", "that graph or body of each rank")
    node_ids: tuple[int | None, ...] = figure("stated", "the node in each rank's graph or body")
    execution_count: int = figure(
        "measured", "executions compared: one a launch; of a node in a body one an iteration"
    )
    low_ns: float = figure("derived", "median duration on the fastest rank")
    median_ns: float = figure("derived", "median of the ranks' median durations")
    high_ns: float = figure("derived", "median duration on the slowest rank")
    slowest: int = figure("derived", "index of the slowest rank")
    slowest_fraction: float = figure(
        "derived", "share of the executions in which that rank was the slowest, 0..1"
    )
    rate: float | None = figure(
        "derived",
        "of the nodes with a rate up to this one, about this share is not slower there than on the "
        "other ranks (p values adjusted for their number and for the choice of the slowest; of "
        "several iterations in a launch the mean is tested); null: not tested",
    )
    significant: bool = figure("derived", "whether that is more than noise: rate at most 0.05")
    start_spread_ns: float = figure(
        "derived", "latest less earliest of the ranks' median starts after their launch's start"
    )


@dataclass(frozen=True, slots=True)
class CollectiveSkew:
    """A kernel of a collective: who arrives early waits in it for who arrives late."""

    name: str = figure("stated", "the node's name")
    context: str = figure("measured", "NVTX ranges it was created in, outermost first; empty: none")
    body: str = figure("stated", "the body it is in and those around it; empty: the graph itself")
    graph_ids: tuple[int | None, ...] = figure("stated", "that graph or body of each rank")
    node_ids: tuple[int | None, ...] = figure("stated", "the node in each rank's graph or body")
    execution_count: int = figure(
        "measured", "executions compared: one a launch; of a node in a body one an iteration"
    )
    arrival_ns: float | None = figure(
        "derived", "median of last less first start over the ranks; null: not one clock"
    )
    waited_ns: tuple[float | None, ...] = figure(
        "estimated",
        "of each rank: median of its duration less that of the rank which took least in the same "
        "execution; the rank that arrives last waits least",
    )
    last: int = figure("estimated", "index of the rank that most often took least: it came last")
    last_fraction: float = figure("estimated", "share of the executions in which it did, 0..1")


@dataclass(frozen=True, slots=True)
class BodySkew:
    """A body (of a child graph or conditional node) of the first rank, and how far it is compared.

    Its nodes are compared iteration by iteration in launches in which all ranks that have it ran it
    equally often.
    """

    body: str = figure("stated", "its name after those of the bodies around it")
    graph_ids: tuple[int | None, ...] = figure("stated", "the body of each rank; null: none such")
    turns: tuple[float | None, ...] = figure(
        "derived",
        "of each rank: iterations in a launch, median of the launches in which it ran; null: "
        "nothing in it ran, or is timed",
    )
    launch_count: int = figure("measured", "launches in which nodes of it are compared")
    left_out_count: int = figure(
        "measured", "launches in which nodes of it ran different numbers of times on the ranks"
    )
    reason: str | None = figure("stated", "why not all of it is compared; null: all is")


@dataclass(frozen=True, slots=True)
class LoneNode:
    """A node that is on one of two ranks only."""

    name: str = figure("stated", "the node's name")
    context: str = figure("measured", "NVTX ranges it was created in, outermost first; empty: none")
    body: str = figure("stated", "the body it is in and those around it; empty: the graph itself")
    graph_id: int = figure("stated", "the graph or body that it is in")
    node_id: int = figure("stated", "the node there")


@dataclass(frozen=True, slots=True)
class OtherNode:
    """A node of a rank, and the one with another name in its place on the first rank."""

    node: LoneNode = figure("stated", "the rank's")
    first: LoneNode = figure("stated", "the first rank's")


@dataclass(frozen=True, slots=True)
class RankDifference:
    """Differences of a rank's graph from that of the first rank of the graph."""

    rank: int = figure("stated", "index of the rank")
    more_count: int = figure("derived", "nodes that it has and the first lacks")
    less_count: int = figure("derived", "nodes that it lacks and the first has")
    other_count: int = figure("derived", "nodes with another name in the place of the first's")
    more: tuple[LoneNode, ...] = figure("derived", "of those that it has, the first five")
    less: tuple[LoneNode, ...] = figure("derived", "of those that it lacks, the first five")
    other: tuple[OtherNode, ...] = figure("derived", "of those with another name, the first five")


@dataclass(frozen=True, slots=True)
class GraphSkew:
    """One graph over the ranks that have it."""

    name: str = figure("stated", "its name on the first of them")
    ranks: tuple[RankTime, ...] = figure("derived", "each rank's side")
    launch_count: int = figure("measured", "launches with node times on every rank, by ordinal")
    start_spread_ns: float | None = figure(
        "derived", "median of last less first start over the ranks; null: not one clock"
    )
    rate: float | None = figure(
        "derived", "as of nodes: whether the slowest rank's launches take longer than the others'"
    )
    significant: bool = figure("derived", "rate at most 0.05")
    nodes: tuple[NodeSkew, ...] = figure(
        "derived", "its nodes and those in bodies, by high_ns less median_ns, the most first"
    )
    collectives: tuple[CollectiveSkew, ...] = figure("derived", "kernels of collectives, likewise")
    bodies: tuple[BodySkew, ...] = figure("derived", "bodies in it, each after what is around it")
    differences: tuple[RankDifference, ...] = figure(
        "derived", "ranks whose graph has other nodes than the first's"
    )
    evidence: Evidence = figure(
        "stated", "what comparing the ranks rests on, nodes and collectives too: the worst of each"
    )


@dataclass(frozen=True, slots=True)
class Skew:
    """Ranks of a job beside each other."""

    skew_version: int = figure("stated", "version of these keys")
    ranks: tuple[RankRef, ...] = figure("stated", "the runs with launches, by rank")
    clock: Clock = figure("derived", "whether their times can be compared")
    remarks: tuple[str, ...] = figure("derived", "what speaks against their being one job")
    graphs: tuple[GraphSkew, ...] = figure("derived", "graphs that two ranks or more have")
