"""The result of ``gviz trend``: classes whose fields are the keys of its JSON."""

from __future__ import annotations

from gviz.comparison.diff_result import RunRef
from gviz.dataclass import dataclass
from gviz.stats import Evidence, figure


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A graph in one run."""

    run: int = figure("stated", "index into runs")
    graph_id: int = figure("stated", "the graph there")
    name: str = figure("stated", "its name there")
    topology_hash: str | None = figure(
        "measured", "hash of its shape; null where edges are not known"
    )
    how: str | None = figure(
        "derived",
        "why it is taken for the graph of the point before: shape, name or work; null: the first",
    )
    node_count: int = figure("measured", "its nodes, bodies left out")
    launch_ns: float | None = figure(
        "measured", "median launch on the GPU, from the least disturbed launches; null: not timed"
    )
    launch_count: int = figure("measured", "launches behind that median")
    method: str = figure("stated", "how they were measured")
    evidence: Evidence | None = figure("stated", "what it rests on; null: not timed")
    host_ns: float | None = figure(
        "measured", "median launch call on the host, without waiting for a full queue"
    )
    host_count: int = figure("measured", "calls behind that median")
    change_ns: float | None = figure(
        "derived", "launch_ns less that of the point before; null where one of them is not known"
    )
    rate: float | None = figure(
        "derived",
        "of the points with a rate up to this one, about this share did not change since the point "
        "before (p values adjusted for their number); null: not tested",
    )
    significant: bool = figure("derived", "whether that is more than noise: rate at most 0.05")
    untested: str | None = figure(
        "stated", "why noise could not be judged; null: it was, or the point is the first"
    )
    same_gpu: bool = figure(
        "derived", "whether the point before was measured on GPUs of the same name"
    )


@dataclass(frozen=True, slots=True)
class TrendSeries:
    """One graph through the runs."""

    name: str = figure("stated", "its name in the last run that has it")
    rank: int | None = figure(
        "stated", "rank of the runs that it is followed through; null: its first run has none"
    )
    points: tuple[TrendPoint, ...] = figure("derived", "in order of runs; runs without it left out")


@dataclass(frozen=True, slots=True)
class TrendRun:
    """A run, and where it was made."""

    run: RunRef = figure("stated", "the run")
    gpus: str = figure("measured", "its GPUs by name; empty: not known")
    rank: int | None = figure("measured", "its rank in a distributed job; null: it has none")


@dataclass(frozen=True, slots=True)
class Trend:
    """The graphs of any number of runs."""

    trend_version: int = figure("stated", "version of these keys")
    order: str = figure(
        "stated", "of runs: recorded (by when they were), or given (one does not say when)"
    )
    runs: tuple[TrendRun, ...] = figure("stated", "in this order")
    series: tuple[TrendSeries, ...] = figure(
        "derived", "those first that are in most runs, then those whose launches take longest"
    )
