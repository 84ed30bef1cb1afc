"""The ranks of a recording: which runs they are, which graphs are the same, how far apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gviz.analysis import GraphSubject, span_evidence
from gviz.comparison.ranks.clock import judge_clock
from gviz.comparison.ranks.differences import rank_differences
from gviz.comparison.ranks.node_skew import body_skews, collective_skews, known, node_skews
from gviz.comparison.ranks.rank_graph import RankGraph, read_rank_graphs
from gviz.comparison.ranks.result import GraphSkew, RankRef, RankTime, Skew
from gviz.comparison.ranks.skew import median, range_of, spread_of
from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.model import timed_by_copy
from gviz.recording import Recording, rows
from gviz.stats import FALSE_DISCOVERIES, Evidence, to_document, worst_of
from gviz.system import NO_PROGRESS, Progress

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
SKEW_VERSION = 1


@dataclass(frozen=True, slots=True)
class RankComparison:
    """Ranks compared, and what that was made of.

    Attributes
    ----------
    skew
        How far they are apart.
    graphs
        Those of ``skew.graphs``, launch by launch.
    shared_count
        Graphs that two ranks or more have, launched with node times on each or not.
    """

    skew: Skew
    graphs: tuple[RankGraph, ...]
    shared_count: int


_OF_COPIES = (
    "event copies timed the nodes: a launch is as long as its copy, and which rank comes later is "
    "not known; 'gviz run --collector cupti' records both"
)
#: Share of the work that finds the graphs that ranks share.
_READ = 0.3


def read_skew(recording: Recording, progress: Progress = NO_PROGRESS) -> Skew:
    """Return how far the ranks of a recording are apart; see :func:`compare_ranks`."""
    return compare_ranks(recording, progress).skew


def compare_ranks(recording: Recording, progress: Progress = NO_PROGRESS) -> RankComparison:
    """Return how far the ranks of a recording are apart, with the launches it was read from.

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
    shared = read_rank_graphs(recording, ranks)
    graphs = tuple(graph for graph in shared if len(graph.ordinal))
    each = progress.part(_READ, 1.0).each(graphs, lambda graph: graph.name)
    found = [_graph_skew(recording, graph, ranks) for graph, _ in each]
    by_copy = [any(timed_by_copy(recording, side.graph_id) for side in g.sides) for g in graphs]
    skew = Skew(
        skew_version=SKEW_VERSION,
        ranks=tuple(
            RankRef(r.run_id, r.rank, r.name, r.host, _gpus(recording, r.run_id)) for r in ranks
        ),
        clock=clock,
        remarks=(*_remarks(ranks), *([_OF_COPIES] if any(by_copy) else [])),
        graphs=tuple(
            _without_starts(graph) if is_by_copy or not clock.is_one else graph
            for graph, is_by_copy in zip(found, by_copy, strict=True)
        ),
    )
    return RankComparison(skew, graphs, len(shared))


def find_ranks(recording: Recording) -> list[rows.Run]:
    """Return the runs that launched graphs, by rank; where any has a rank, only those with one."""
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
        listed = ", ".join(str(rank) for rank in again if rank is not None)
        found.append(
            f"several runs are rank {listed}: they are of different jobs, or one is a child"
        )
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


def _graph_skew(recording: Recording, graph: RankGraph, ranks: Sequence[rows.Run]) -> GraphSkew:
    start = graph.start_ns
    evidence = [_evidence(recording, graph, side.graph_id) for side in graph.sides]
    late = start - start.min(axis=0)
    spread = spread_of(graph.launch_ns[:, :, None])
    rate = spread.probability[0]
    slowest = np.where(np.isnan(graph.launch_ns), -np.inf, graph.launch_ns).argmax(axis=0)
    last = np.where(np.isnan(start), -np.inf, start).argmax(axis=0)
    return GraphSkew(
        name=graph.name,
        ranks=tuple(
            RankTime(
                run_id=ranks[side.rank].run_id,
                graph_id=side.graph_id,
                how=side.how,
                launch_ns=known(spread.medians[i, 0]),
                late_ns=known(float(median(late[i], 0))),
                slowest_count=int((slowest == i).sum()),
                last_count=int((last == i).sum()),
                evidence=evidence[i],
            )
            for i, side in enumerate(graph.sides)
        ),
        launch_count=len(graph.ordinal),
        start_spread_ns=known(float(median(range_of(start), 0))),
        rate=known(rate),
        significant=bool(rate <= FALSE_DISCOVERIES),
        nodes=node_skews(graph, len(ranks)),
        collectives=collective_skews(graph, len(ranks)),
        bodies=body_skews(graph, len(ranks)),
        differences=rank_differences(graph),
        evidence=worst_of(evidence),
    )


def _evidence(recording: Recording, graph: RankGraph, graph_id: int) -> Evidence:
    """Return what a rank's times rest on, in the launches that are compared."""
    subject = GraphSubject(recording, recording.fetch_graph(graph_id))
    return replace(span_evidence(subject), n=len(graph.ordinal), is_cold=not graph.ordinal.any())


def _without_starts(graph: GraphSkew) -> GraphSkew:
    """Return a graph without what needs one clock, and launches as the program made them."""
    return replace(
        graph,
        start_spread_ns=None,
        ranks=tuple(replace(r, late_ns=None, last_count=None) for r in graph.ranks),
        collectives=tuple(replace(c, arrival_ns=None) for c in graph.collectives),
    )
