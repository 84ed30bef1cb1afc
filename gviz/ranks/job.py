"""The ranks of a recording: which runs they are, which graphs are the same, how far apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gviz.analysis.figure import to_document
from gviz.comparison.compared_graph import ComparedGraph, read_graph
from gviz.comparison.durations import read_durations
from gviz.comparison.graph_pairs import pair_graphs, read_graph_works
from gviz.comparison.node_pairs import pair_nodes
from gviz.comparison.significance import FALSE_DISCOVERIES, adjusted
from gviz.errors import RecordingError
from gviz.ranks.clock import judge_clock
from gviz.ranks.result import CollectiveSkew, GraphSkew, NodeSkew, RankRef, RankTime, Skew
from gviz.ranks.skew import (
    FloatArray,
    IntArray,
    is_collective,
    median,
    range_of,
    spread_of,
    waits_of,
)
from gviz.recording import rows
from gviz.recording.reader import Recording


@dataclass(frozen=True, slots=True)
class _Side:
    """A graph on one rank: what its launches with node times took, in order of their number."""

    graph_id: int
    how: str
    graph: ComparedGraph
    ordinal: IntArray
    start_ns: FloatArray  # of each launch, after the recording's first
    launch_ns: FloatArray
    durations: FloatArray  # (launch, node)
    starts: FloatArray  # (launch, node), after the launch's start


def read_skew(recording: Recording) -> Skew:
    """Return how far the ranks of a recording are apart.

    Raises
    ------
    RecordingError
        If it has fewer than two runs with launches, edges form a cycle, or it is damaged.
    """
    ranks = find_ranks(recording)
    if len(ranks) < 2:
        raise RecordingError(
            f"{recording.path} has {len(ranks)} run{'' if len(ranks) == 1 else 's'} with launched "
            "graphs, and skew is between ranks; 'gviz merge' puts the files of a job into one"
        )
    clock = judge_clock(ranks)
    origin = min((run.started_ns for run in ranks if run.started_ns is not None), default=0)
    graphs = [
        _graph_skew(name, [(i, _read_side(recording, *side, origin)) for i, side in sides], ranks)
        for name, sides in _same_graphs(recording, ranks)
    ]
    found = [graph if clock.is_one else _without_starts(graph) for graph in graphs if graph]
    return Skew(
        ranks=tuple(
            RankRef(r.run_id, r.rank, r.name, r.host, _gpus(recording, r.run_id)) for r in ranks
        ),
        clock=clock,
        remarks=tuple(_remarks(ranks)),
        graphs=tuple(found),
    )


def find_ranks(recording: Recording) -> list[rows.Run]:
    """Return the runs that launched graphs, by rank; where ranks are told, only those with one."""
    launched = [
        run
        for run in recording.fetch_runs()
        if any(
            recording.count_launches(graph.graph_id)[0]
            for graph in recording.fetch_graphs(run.run_id)
            if graph.parent_graph_id is None
        )
    ]
    ranked = [run for run in launched if run.rank is not None]
    return sorted(ranked, key=lambda run: run.rank or 0) if len(ranked) > 1 else launched


def skew_to_json(skew: Skew) -> dict[str, Any]:
    """Return skew as JSON values, with how each number came about under ``how``."""
    return to_document(skew)


def _remarks(ranks: Sequence[rows.Run]) -> list[str]:
    found = []
    again = [rank for rank, count in Counter(r.rank for r in ranks).items() if count > 1]
    if any(rank is not None for rank in again):
        told = ", ".join(str(rank) for rank in again if rank is not None)
        found.append(f"several runs are rank {told}: they are of different jobs, or one is a child")
    programs = dict.fromkeys(r.command for r in ranks if r.command is not None)
    if len(programs) > 1:
        found.append(f"the runs were started by {len(programs)} different commands")
    revisions = dict.fromkeys(r.git_revision for r in ranks if r.git_revision is not None)
    if len(revisions) > 1:
        found.append(f"the runs were made at {len(revisions)} different commits")
    starts = [r.started_ns for r in ranks if r.started_ns is not None]
    ends = [r.ended_ns for r in ranks if r.ended_ns is not None]
    if len(starts) == len(ends) == len(ranks) and max(starts) > min(ends):
        found.append("some runs began after others had ended: they did not run side by side")
    return found


def _gpus(recording: Recording, run_id: int) -> str:
    devices = recording.fetch_devices(run_id)
    return ", ".join(f"{d.device_id}: {d.name} {d.pci_bus_id or ''}".strip() for d in devices)


_Sides = list[tuple[int, tuple[int, str]]]


def _same_graphs(recording: Recording, ranks: Sequence[rows.Run]) -> list[tuple[str, _Sides]]:
    """Return the graphs of the first rank with those of the others that are the same."""
    works = [read_graph_works(recording, run.run_id) for run in ranks]
    found: dict[int, tuple[str, _Sides]] = {
        work.graph_id: (work.name, [(0, (work.graph_id, "first"))]) for work in works[0]
    }
    for number, other in enumerate(works[1:], start=1):
        for pair in pair_graphs(works[0], other):
            found[pair.first][1].append((number, (pair.second, pair.how)))
    return [graph for graph in found.values() if len(graph[1]) > 1]


def _read_side(recording: Recording, graph_id: int, how: str, origin: int) -> _Side:
    graph = read_graph(recording, graph_id)
    spans = recording.fetch_graph_spans(graph_id)
    ids = np.unique(spans.launch_id)
    launches = {x.launch_id: x for x in recording.fetch_launches(graph_id)}
    times = [launches[i] for i in ids.tolist()]
    places = {
        node.exec_node_id: place
        for place, node in enumerate(recording.fetch_nodes(graph_id))
        if node.exec_node_id is not None
    }
    starts = np.full((len(ids), len(graph)), np.nan)
    place = np.array([places.get(n, -1) for n in spans.node_id.tolist()], np.int64)
    first = (place >= 0) & (spans.iteration == 0)
    starts[np.searchsorted(ids, spans.launch_id[first]), place[first]] = spans.start_ns[first]
    return _Side(
        graph_id=graph_id,
        how=how,
        graph=graph,
        ordinal=np.array([x.ordinal for x in times], np.int64),
        start_ns=_floats(
            [None if x.gpu_start_ns is None else x.gpu_start_ns - origin for x in times]
        ),
        launch_ns=_floats([_length(x) for x in times]),
        durations=read_durations(recording, graph_id).launches,
        starts=starts,
    )


def _length(launch: rows.Launch) -> int | None:
    if launch.gpu_start_ns is None or launch.gpu_end_ns is None:
        return None
    return launch.gpu_end_ns - launch.gpu_start_ns


def _floats(values: Sequence[int | None]) -> FloatArray:
    return np.array([np.nan if v is None else v for v in values], np.float64)


def _graph_skew(
    name: str, sides: Sequence[tuple[int, _Side]], ranks: Sequence[rows.Run]
) -> GraphSkew | None:
    """Return a graph over the ranks; None without a launch that all of them have."""
    common = sides[0][1].ordinal
    for _, side in sides[1:]:
        common = np.intersect1d(common, side.ordinal)
    if not len(common):
        return None
    chosen = [np.searchsorted(side.ordinal, common) for _, side in sides]
    launch = np.stack([s.launch_ns[at] for (_, s), at in zip(sides, chosen, strict=True)])
    start = np.stack([s.start_ns[at] for (_, s), at in zip(sides, chosen, strict=True)])
    late = start - start.min(axis=0)
    spread = spread_of(launch[:, :, None])
    rate = spread.probability[0]
    slowest = np.where(np.isnan(launch), -np.inf, launch).argmax(axis=0)
    last = np.where(np.isnan(start), -np.inf, start).argmax(axis=0)
    nodes, collectives = _node_skews(sides, chosen, start, len(ranks))
    return GraphSkew(
        name=name,
        ranks=tuple(
            RankTime(
                run_id=ranks[number].run_id,
                graph_id=side.graph_id,
                how=side.how,
                launch_ns=_value(spread.medians[i, 0]),
                late_ns=_value(float(median(late[i], 0))),
                slowest_count=int((slowest == i).sum()),
                last_count=int((last == i).sum()),
            )
            for i, (number, side) in enumerate(sides)
        ),
        launch_count=len(common),
        start_spread_ns=_value(float(median(range_of(start), 0))),
        rate=_value(rate),
        significant=bool(rate <= FALSE_DISCOVERIES),
        nodes=nodes,
        collectives=collectives,
    )


def _node_skews(
    sides: Sequence[tuple[int, _Side]], chosen: Sequence[IntArray], start: FloatArray, ranks: int
) -> tuple[tuple[NodeSkew, ...], tuple[CollectiveSkew, ...]]:
    graph = sides[0][1].graph
    partners = [np.arange(len(graph))]
    partners += [pair_nodes(graph, side.graph) for _, side in sides[1:]]
    shape = (len(sides), len(chosen[0]), len(graph))
    durations, starts = np.full(shape, np.nan), np.full(shape, np.nan)
    for i, ((_, side), at, partner) in enumerate(zip(sides, chosen, partners, strict=True)):
        mine = np.flatnonzero(partner >= 0)
        durations[i][:, mine] = side.durations[at][:, partner[mine]]
        starts[i][:, mine] = side.starts[at][:, partner[mine]]
    ids: list[tuple[int | None, ...]] = []
    for node in range(len(graph)):
        row: list[int | None] = [None] * ranks
        for (number, side), partner in zip(sides, partners, strict=True):
            if partner[node] >= 0:
                row[number] = int(side.graph.node_id[partner[node]])
        ids.append(tuple(row))
    collective = np.array([is_collective(title) for title in graph.title], bool)
    numbers = [number for number, _ in sides]
    absolute = starts + start[:, :, None]
    return (
        _nodes(graph, ids, numbers, np.flatnonzero(~collective), durations, starts),
        _collectives(graph, ids, numbers, ranks, np.flatnonzero(collective), durations, absolute),
    )


def _nodes(
    graph: ComparedGraph,
    ids: Sequence[tuple[int | None, ...]],
    numbers: Sequence[int],
    which: IntArray,
    durations: FloatArray,
    starts: FloatArray,
) -> tuple[NodeSkew, ...]:
    spread = spread_of(durations[:, :, which])
    rates = adjusted(spread.probability)
    start_spread = range_of(median(starts[:, :, which], 1))
    found = []
    for place, node in enumerate(which.tolist()):
        if spread.slowest[place] < 0:
            continue
        times = spread.medians[:, place]
        found.append(
            NodeSkew(
                name=graph.title[node],
                node_ids=ids[node],
                low_ns=float(np.nanmin(times)),
                median_ns=float(np.nanmedian(times)),
                high_ns=float(np.nanmax(times)),
                slowest=numbers[int(spread.slowest[place])],
                slowest_fraction=float(spread.slowest_fraction[place]),
                rate=_value(rates[place]),
                significant=bool(rates[place] <= FALSE_DISCOVERIES),
                start_spread_ns=float(start_spread[place]),
            )
        )
    return tuple(sorted(found, key=lambda n: (not n.significant, n.median_ns - n.high_ns)))


def _collectives(
    graph: ComparedGraph,
    ids: Sequence[tuple[int | None, ...]],
    numbers: Sequence[int],
    ranks: int,
    which: IntArray,
    durations: FloatArray,
    absolute: FloatArray,
) -> tuple[CollectiveSkew, ...]:
    waits, last, fraction = waits_of(durations[:, :, which])
    arrival = median(range_of(absolute[:, :, which]), 0)
    found = []
    for place, node in enumerate(which.tolist()):
        if np.isnan(waits[:, place]).sum() > len(waits) - 2:
            continue
        told: Mapping[int, float] = dict(zip(numbers, waits[:, place].tolist(), strict=True))
        found.append(
            CollectiveSkew(
                name=graph.title[node],
                node_ids=ids[node],
                arrival_ns=_value(arrival[place]),
                waited_ns=tuple(_value(told.get(number, np.nan)) for number in range(ranks)),
                last=numbers[int(last[place])],
                last_fraction=float(fraction[place]),
            )
        )
    return tuple(sorted(found, key=lambda c: -max(w or 0.0 for w in c.waited_ns)))


def _without_starts(graph: GraphSkew) -> GraphSkew:
    """Return a graph without what needs one clock."""
    return replace(
        graph,
        start_spread_ns=None,
        ranks=tuple(replace(r, late_ns=None, last_count=None) for r in graph.ranks),
        collectives=tuple(replace(c, arrival_ns=None) for c in graph.collectives),
    )


def _value(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
