"""Two recordings compared: what ``gviz diff`` prints and writes as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from gviz.comparison.circumstances import circumstances, pair_runs, run_ref
from gviz.comparison.diff_result import Diff, GraphRef, RunDiff
from gviz.comparison.graph_diff import (
    ComparedPair,
    ComparedRun,
    compare_pair,
    graph_diff,
    judge_pairs,
    read_compared_run,
)
from gviz.comparison.graph_pairs import (
    GraphPair,
    GraphTraits,
    likeness,
    pair_graphs,
    read_graph_traits,
)
from gviz.dataclass import dataclass
from gviz.errors import RecordingError, no_such_graph
from gviz.recording import rows
from gviz.stats import to_document
from gviz.system import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
DIFF_VERSION = 1
#: Share of the work that compares graphs one by one; the rest judges what is noise.
_COMPARED = 0.97


class RequestedPair(NamedTuple):
    """The one graph to compare.

    Attributes
    ----------
    before
        Its graph_id before.
    after
        Its graph_id after; None: the one that is found.
    """

    before: int
    after: int | None


@dataclass(frozen=True, slots=True)
class PairedRecordings:
    """Two recordings, and which graph of one is which of the other.

    Attributes
    ----------
    runs
        Pairs of runs.
    graphs
        Of each pair of runs the pairs of graphs.
    traits
        The graphs of each run of either side (0 or 1), by side and run_id.
    """

    runs: Sequence[tuple[rows.Run, rows.Run]]
    graphs: Sequence[Sequence[GraphPair]]
    traits: dict[tuple[int, int], list[GraphTraits]]


def pair_recordings(
    first: Recording, second: Recording, requested: RequestedPair | None = None
) -> PairedRecordings:
    """Return which graph is which; nothing but the graphs' nodes is read.

    Raises
    ------
    RecordingError
        If a graph that is requested is not there or has no counterpart.
    """
    runs = first.fetch_runs(), second.fetch_runs()
    pairs = pair_runs(*runs)
    traits = {
        (side, run.run_id): read_graph_traits(recording, run.run_id)
        for side, recording in enumerate((first, second))
        for run in runs[side]
    }
    if requested is None:
        chosen = [pair_graphs(traits[0, a.run_id], traits[1, b.run_id]) for a, b in pairs]
    else:
        pairs, chosen = _requested_pair(first, second, requested, traits, pairs)
    return PairedRecordings(pairs, chosen, traits)


def compare_graph(
    first: Recording, second: Recording, requested: RequestedPair
) -> tuple[RunDiff, ComparedPair]:
    """Return what became of one graph: as results have it, and node by node for views.

    Noise is judged over this graph alone, as by :func:`compare_recordings` of this pair.

    Raises
    ------
    RecordingError
        As of :func:`compare_recordings`.
    """
    paired = pair_recordings(first, second, requested)
    ((before, after),), ((pair,),) = paired.runs, paired.graphs
    sides = read_compared_run(first, before), read_compared_run(second, after)
    (found,) = judge_pairs([compare_pair(*sides, pair)])
    return _run_diff(*sides, [found], ((), ())), found


def compare_recordings(
    first: Recording,
    second: Recording,
    requested: RequestedPair | None = None,
    progress: Progress = NO_PROGRESS,
) -> Diff:
    """Return what became of the graphs of a recording in another.

    Graphs come in order of the first recording. Noise is judged over all graphs of all runs.

    Raises
    ------
    RecordingError
        If a graph that is requested is not there or has no counterpart, edges form a cycle, or
        a file is damaged.
    """
    runs = first.fetch_runs(), second.fetch_runs()
    paired = pair_recordings(first, second, requested)
    pairs, chosen, traits = paired.runs, paired.graphs, paired.traits
    sides = [(read_compared_run(first, a), read_compared_run(second, b)) for a, b in pairs]
    compared = [
        [
            compare_pair(before, after, pair, stretch)
            for pair, stretch in part.each(graphs, partial(_title_of, before))
        ]
        for ((before, after), graphs), part in progress.part(0.0, _COMPARED).each(
            list(zip(sides, chosen, strict=True)), lambda side: side[0][0].run.name
        )
    ]
    progress.at(_COMPARED, "changes and noise")
    judged = iter(judge_pairs([found for run in compared for found in run]))
    kept = [{pair[side].run_id for pair in pairs} for side in (0, 1)]
    left = [
        (recording, run)
        for recording, side, known in zip((first, second), runs, kept, strict=True)
        for run in side
        if run.run_id not in known
    ]
    return Diff(
        diff_version=DIFF_VERSION,
        runs=tuple(
            _run_diff(
                before,
                after,
                [next(judged) for _ in graphs],
                (traits[0, before.run.run_id], traits[1, after.run.run_id])
                if not requested
                else ((), ()),
            )
            for (before, after), graphs in zip(sides, compared, strict=True)
        ),
        unpaired=() if requested else tuple(run_ref(r, run) for r, run in left),
    )


def _title_of(before: ComparedRun, pair: GraphPair) -> str:
    return before.title(pair.first)


def _run_diff(
    before: ComparedRun,
    after: ComparedRun,
    found: Sequence[ComparedPair],
    traits: tuple[Sequence[GraphTraits], Sequence[GraphTraits]],
) -> RunDiff:
    known = {x.pair.first for x in found}, {x.pair.second for x in found}
    removed, added = (
        tuple(GraphRef(g.graph_id, g.name) for g in side if g.graph_id not in paired)
        for side, paired in zip(traits, known, strict=True)
    )
    return RunDiff(
        before=run_ref(before.recording, before.run),
        after=run_ref(after.recording, after.run),
        circumstances=circumstances(before.recording, before.run, after.recording, after.run),
        graphs=tuple(graph_diff(x) for x in found),
        removed=removed,
        added=added,
    )


def _requested_pair(
    first: Recording,
    second: Recording,
    requested: RequestedPair,
    traits: dict[tuple[int, int], list[GraphTraits]],
    pairs: Sequence[tuple[rows.Run, rows.Run]],
) -> tuple[list[tuple[rows.Run, rows.Run]], list[list[GraphPair]]]:
    """Return the runs and the pair of graphs that are requested."""
    run_before, one = _find(first, 0, requested.before, traits)
    if requested.after is None:
        partner = next((b for a, b in pairs if a.run_id == run_before), None)
        graphs = (
            [] if partner is None else pair_graphs(traits[0, run_before], traits[1, partner.run_id])
        )
        pair = next((p for p in graphs if p.first == requested.before), None)
        if pair is None or partner is None:
            raise RecordingError(
                f"{second.path} has no graph like graph {requested.before} of {first.path}; name "
                f"one with --graph {requested.before}:ID ('gviz info' lists them)"
            )
        run_after = partner.run_id
    else:
        run_after, two = _find(second, 1, requested.after, traits)
        pair = GraphPair(requested.before, requested.after, "asked", likeness(one, two))
    runs = _run(first, run_before), _run(second, run_after)
    return [runs], [[pair]]


def _find(
    recording: Recording, side: int, graph_id: int, traits: dict[tuple[int, int], list[GraphTraits]]
) -> tuple[int, GraphTraits]:
    for (where, run_id), graphs in traits.items():
        for graph in graphs:
            if (where, graph.graph_id) == (side, graph_id):
                return run_id, graph
    raise RecordingError(no_such_graph(recording.path, graph_id))


def _run(recording: Recording, run_id: int) -> rows.Run:
    return next(run for run in recording.fetch_runs() if run.run_id == run_id)


def diff_to_json(diff: Diff) -> dict[str, Any]:
    """Return a comparison as JSON values, with how each number came about under ``how``."""
    return to_document(diff)
