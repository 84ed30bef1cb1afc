"""One graph through any number of runs: its launch time, run by run, with what is noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gviz.comparison.changes import NodeDurations
from gviz.comparison.circumstances import devices_text, run_ref
from gviz.comparison.graph_pairs import GraphTraits, How, pair_graphs, read_graph_traits
from gviz.comparison.launch_totals import host_times, lengths_of
from gviz.comparison.timed_pairs import TimedPairs, judge_together, pair_all
from gviz.comparison.trend_result import Trend, TrendPoint, TrendRun, TrendSeries
from gviz.dataclass import dataclass
from gviz.model import LaunchTimes, comparable_times
from gviz.recording import rows
from gviz.stats import to_document
from gviz.system import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
TREND_VERSION = 1
#: Share of the work that finds each graph in each run; the rest reads its times.
_FOLLOWED = 0.5


@dataclass(frozen=True, slots=True)
class _Met:
    """A graph in one run."""

    recording: Recording
    run: int
    graph: GraphTraits
    how: How | None


@dataclass(frozen=True, slots=True)
class _Measured:
    """A graph of one run with its launches."""

    met: _Met
    launches: NodeDurations
    host_ns: float
    host_count: int
    times: LaunchTimes


@dataclass(slots=True)
class _Series:
    rank: int | None
    met: list[_Met] = field(default_factory=list)

    @property
    def last(self) -> GraphTraits:
        return self.met[-1].graph

    def measure(self) -> list[_Measured]:
        """Return its launches, taken in the same way in all runs where that can be."""
        times = comparable_times([(met.recording, met.graph.graph_id) for met in self.met])
        return [_measure(met, time) for met, time in zip(self.met, times, strict=True)]


def build_trend(recordings: Sequence[Recording], progress: Progress = NO_PROGRESS) -> Trend:
    """Return how the graphs of several runs went on.

    A graph goes on in a run that has one of its shape, its name, or most of its work
    (:func:`gviz.comparison.graph_pairs.pair_graphs`), taken from the last run that had it. Ranks of
    a job are no versions of each other: a rank's graph goes on in runs of that rank alone, of which
    a run without a rank counts as rank 0.

    Parameters
    ----------
    recordings
        Open; each may hold several runs. Runs are ordered by when they were recorded; if one
        does not say when, in the order given.
    progress
        Told which run or graph is read, and the share that is done.

    Raises
    ------
    RecordingError
        If a file is damaged.
    """
    runs = [(recording, run) for recording in recordings for run in recording.fetch_runs()]
    dated = all(run.started_ns is not None for _, run in runs)
    if dated:
        runs.sort(key=lambda item: item[1].started_ns or 0)
    series = _follow(runs, progress.part(0.0, _FOLLOWED))
    measuring = progress.part(_FOLLOWED, 1.0).each(series, lambda one: one.last.name)
    points = [one.measure() for one, _ in measuring]
    gpus = [devices_text(recording, run.run_id) for recording, run in runs]
    steps = [
        pair_all(before.launches, after.launches)
        for measured in points
        for before, after in pairwise(measured)
    ]
    judged = iter(judge_together(steps))
    judged_series = [
        TrendSeries(
            one.last.name,
            one.rank,
            tuple(
                _point(point, measured[i - 1] if i else None, next(judged) if i else None, gpus)
                for i, point in enumerate(measured)
            ),
        )
        for one, measured in zip(series, points, strict=True)
    ]
    judged_series.sort(key=lambda s: (-len(s.points), -max(p.launch_ns or 0.0 for p in s.points)))
    return Trend(
        trend_version=TREND_VERSION,
        order="recorded" if dated else "given",
        runs=tuple(
            TrendRun(run_ref(recording, run), text, run.rank)
            for (recording, run), text in zip(runs, gpus, strict=True)
        ),
        series=tuple(judged_series),
    )


def _follow(runs: Sequence[tuple[Recording, rows.Run]], progress: Progress) -> list[_Series]:
    series: list[_Series] = []
    for (at, (recording, run)), _ in progress.each(list(enumerate(runs)), _name_of):
        graphs = {graph.graph_id: graph for graph in read_graph_traits(recording, run.run_id)}
        # Ids of two files may be equal: series are distinguished by their place.
        known = [
            GraphTraits(place, one.last.name, one.last.shape, one.last.work)
            for place, one in enumerate(series)
            if (one.rank or 0) == (run.rank or 0)
        ]
        for pair in pair_graphs(known, list(graphs.values())):
            graph = graphs.pop(pair.second)
            series[pair.first].met.append(_Met(recording, at, graph, pair.how))
        series += [
            _Series(run.rank, [_Met(recording, at, graph, None)]) for graph in graphs.values()
        ]
    return series


def _name_of(place: tuple[int, tuple[Recording, rows.Run]]) -> str:
    return place[1][1].name


def _measure(met: _Met, times: LaunchTimes) -> _Measured:
    graph_id = met.graph.graph_id
    host = host_times(met.recording, graph_id)
    return _Measured(
        met=met,
        launches=lengths_of(met.recording, graph_id, times),
        host_ns=float(host.typical[0]),
        host_count=len(host.launches),
        times=times,
    )


def _point(
    found: _Measured, before: _Measured | None, step: TimedPairs | None, gpus: Sequence[str]
) -> TrendPoint:
    change = None if step is None else step.at(0)
    launch_ns = float(found.launches.typical[0])
    graph = found.met.graph
    return TrendPoint(
        run=found.met.run,
        graph_id=graph.graph_id,
        name=graph.name,
        topology_hash=graph.shape,
        how=found.met.how,
        node_count=graph.work.total(),
        launch_ns=None if np.isnan(launch_ns) else launch_ns,
        launch_count=found.times.count,
        method=found.times.method,
        evidence=found.times.evidence,
        host_ns=None if np.isnan(found.host_ns) else found.host_ns,
        host_count=found.host_count,
        change_ns=None if change is None else change.change_ns,
        rate=None if change is None else change.rate,
        significant=change is not None and change.significant,
        untested=None if change is None else change.untested,
        same_gpu=before is None or gpus[before.met.run] == gpus[found.met.run],
    )


def remarks(point: TrendPoint, before: TrendPoint | None) -> list[str]:
    """Return what is to be known of a change since the point before, in a word or two each."""
    if before is None:
        return []
    found = []
    if point.rate is None:
        found.append("not tested")
    elif not point.significant:
        found.append("noise")
    if point.topology_hash != before.topology_hash:
        found.append("other shape")
    if not point.same_gpu:
        found.append("other GPU")
    return found


def trend_to_json(trend: Trend) -> dict[str, Any]:
    """Return a trend as JSON values, with how each number came about under ``how``."""
    return to_document(trend)
