"""One graph before and after, with all bodies in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gviz.analysis import GraphSubject
from gviz.comparison.compared_layers import ComparedLayers, compare_layers
from gviz.comparison.compared_tree import ComparedTree
from gviz.comparison.comparison import pair_bodies
from gviz.comparison.diff_result import (
    GraphDiff,
    LoneBody,
    RepeatedChange,
    TimeChange,
    Waterfall,
)
from gviz.comparison.graph_pairs import GraphPair
from gviz.comparison.launch_totals import (
    critical_paths,
    first_to_last,
    host_times,
    lengths_of,
)
from gviz.comparison.level_diff import ComparedLevel, compare_level, level_diff
from gviz.comparison.lone_bodies import lone_bodies
from gviz.comparison.repeated_change import repeated_change
from gviz.comparison.timed_pairs import TimedPairs, judge_together, pair_all
from gviz.comparison.waterfall import NodeKey, Partners, build_waterfall
from gviz.dataclass import dataclass
from gviz.model import OF_RUN, Bodies, Keep, comparable_times, graph_title, keeper, read_bodies
from gviz.recording import rows
from gviz.stats import Evidence, NotComputed
from gviz.system import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from gviz.recording import Recording


#: Steps of comparing a pair, in tenths of a second for two graphs of 100,000 nodes.
_STEPS = (5, 4, 110, 33, 2, 10, 10, 8, 1, 22)


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run with what is used again for each of its graphs."""

    recording: Recording
    run: rows.Run
    graphs: Mapping[int, rows.Graph]
    bodies: Bodies
    devices: Sequence[rows.Device]
    keep: Keep

    def subject(self, graph_id: int) -> GraphSubject:
        """Return one of its graphs for the analysis."""
        return GraphSubject(self.recording, self.graphs[graph_id], self.devices, self.keep)

    def title(self, graph_id: int) -> str:
        """Return what one of its graphs is called among the others."""
        return graph_title(self.recording, self.graphs[graph_id], self.keep)

    def tree(self, graph_id: int) -> ComparedTree:
        """Return one of its graphs for a comparison."""
        return ComparedTree(self.recording, graph_id, self.keep)


def read_compared_run(recording: Recording, run: rows.Run) -> ComparedRun:
    """Return a run of a recording, which stays open as long as it is used."""
    keep = keeper(OF_RUN)
    return ComparedRun(
        recording=recording,
        run=run,
        graphs={g.graph_id: g for g in recording.fetch_graphs(run.run_id)},
        bodies=read_bodies(recording, run.run_id, keep),
        devices=recording.fetch_devices(run.run_id),
        keep=keep,
    )


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """A graph compared, before noise is judged over all graphs.

    Attributes
    ----------
    totals
        launch and host; then, as far as they are known, critical_path and first_to_last.
    why_no_totals
        Why the others are not there, one each.
    lone
        Bodies of one side only: before, after.
    evidence
        What the time of a launch rests on: before, after; None: no launch was timed.
    contradicted
        Sides whose node times contradict their dependencies, with how much.
    """

    pair: GraphPair
    names: tuple[str, str]
    totals: tuple[TimedPairs, ...]
    why_no_totals: tuple[str, ...]
    waterfall: Waterfall | NotComputed
    repeated: RepeatedChange | None
    layers: ComparedLayers | None
    levels: tuple[ComparedLevel, ...]
    lone: tuple[tuple[LoneBody, ...], tuple[LoneBody, ...]]
    evidence: tuple[Evidence | None, Evidence | None]
    contradicted: tuple[str, ...]


def compare_pair(
    before: ComparedRun, after: ComparedRun, pair: GraphPair, progress: Progress = NO_PROGRESS
) -> ComparedPair:
    """Compare one graph of two runs, with the bodies of partners.

    Raises
    ------
    RecordingError
        If edges form a cycle.
    """
    steps = progress.steps(_STEPS, before.title(pair.first))
    trees = steps.run(before.tree, pair.first), steps.run(after.tree, pair.second)
    levels = tuple(steps.run(_compare_levels, before.bodies, after.bodies, trees))
    subjects = before.subject(pair.first), after.subject(pair.second)
    graphs = [(s.recording, s.row.graph_id) for s in subjects]
    times = comparable_times(graphs)
    lengths = (lengths_of(*graph, time) for graph, time in zip(graphs, times, strict=True))
    keeps = before.keep, after.keep
    calls = (
        host_times(s.recording, s.row.graph_id, keep)
        for s, keep in zip(subjects, keeps, strict=True)
    )
    totals = [pair_all(*lengths), pair_all(*calls)]
    why_no_path = _first_reason(subjects, lambda s: s.why_no_model)
    why_no_length = why_no_path or _first_reason(subjects, lambda s: s.why_no_order)
    if not why_no_path:
        totals.append(pair_all(*(steps.run(critical_paths, subject) for subject in subjects)))
    if not why_no_length:
        totals.append(pair_all(*(steps.run(first_to_last, subject) for subject in subjects)))
    launch = totals[0].changes
    launch_ns = float(launch.before_ns[0]), float(launch.after_ns[0])
    return ComparedPair(
        pair=pair,
        names=(before.title(pair.first), after.title(pair.second)),
        totals=tuple(totals),
        why_no_totals=tuple(filter(None, (why_no_path, why_no_length))),
        waterfall=steps.run(build_waterfall, *subjects, _partners(levels, subjects), launch_ns),
        repeated=steps.run(repeated_change, levels, subjects[0]),
        layers=steps.run(compare_layers, levels, *subjects),
        levels=levels,
        lone=(
            lone_bodies(trees[0].tree, {level.graph_ids[0] for level in levels}),
            lone_bodies(trees[1].tree, {level.graph_ids[1] for level in levels}),
        ),
        evidence=(times[0].evidence, times[1].evidence),
        contradicted=tuple(
            f"{side}: {subject.why_contradicted}"
            for side, subject in zip(("before", "after"), subjects, strict=True)
            if subject.why_contradicted
        ),
    )


def _first_reason(
    subjects: tuple[GraphSubject, GraphSubject], why_not: Callable[[GraphSubject], str | None]
) -> str:
    """Return why something is not known of a side, the first that has a reason; empty: none has."""
    reasons = zip(("before", "after"), map(why_not, subjects), strict=True)
    return next((f"{side}: {reason}" for side, reason in reasons if reason), "")


def node_partners(
    before: ComparedRun, after: ComparedRun, pair: GraphPair
) -> dict[NodeKey, NodeKey]:
    """Return the node after of each node of a graph, or of a body in it, that has a partner.

    Raises
    ------
    RecordingError
        If edges form a cycle.
    """
    trees = before.tree(pair.first), after.tree(pair.second)
    found: dict[NodeKey, NodeKey] = {}
    for level in _compare_levels(before.bodies, after.bodies, trees):
        found |= level.partners()
    return found


def _compare_levels(
    before: Bodies, after: Bodies, trees: tuple[ComparedTree, ComparedTree]
) -> list[ComparedLevel]:
    found = []
    one, two = trees
    waiting = [(one.tree.graph.graph_id, two.tree.graph.graph_id)]
    while waiting:
        a, b = waiting.pop(0)
        level = compare_level(one, a, two, b)
        found.append(level)
        waiting += pair_bodies(level.comparison, before.of(a), after.of(b))
    return found


def _partners(
    levels: Sequence[ComparedLevel], subjects: tuple[GraphSubject, GraphSubject]
) -> Partners:
    after: dict[NodeKey, NodeKey] = {}
    changed: set[NodeKey] = set()
    contexts: tuple[dict[NodeKey, str], dict[NodeKey, str]] = ({}, {})
    replaced: tuple[dict[NodeKey, str], dict[NodeKey, str]] = ({}, {})
    for level in levels:
        after |= level.partners()
        changed |= level.changed()
        for known, more in zip(contexts, level.contexts(), strict=True):
            known |= more
        for known, more in zip(replaced, level.replaced_names(), strict=True):
            known |= more
    for known, subject in zip(contexts, subjects, strict=True):
        _fill_contexts(known, subject)
    return Partners(after, changed, replaced, contexts)


def _fill_contexts(known: dict[NodeKey, str], subject: GraphSubject) -> None:
    """Give nodes of bodies without a counterpart, or without ranges, those of their parent node."""
    graph = subject.graph
    for level in graph.levels[1:]:
        if level.parent < 0:
            continue
        parent = subject.ref(level.parent)
        outer = known.get((parent.graph_id, parent.node_id), "")
        for node_id in graph.nodes[level.part].integers("node_id").tolist():
            key = (level.graph.graph_id, node_id)
            known[key] = known.get(key) or outer


def judge_pairs(found: Sequence[ComparedPair]) -> list[ComparedPair]:
    """Return graphs whose noise is judged over all of them: totals, nodes, ranges, names."""
    totals = iter(judge_together([total for pair in found for total in pair.totals]))
    found = [replace(pair, totals=tuple(next(totals) for _ in pair.totals)) for pair in found]
    families = zip(*(level.families() for pair in found for level in pair.levels), strict=True)
    judged = [iter(judge_together(family)) for family in families]
    return [
        replace(
            pair,
            levels=tuple(
                level.with_families(*(next(family) for family in judged)) for level in pair.levels
            ),
        )
        for pair in found
    ]


def graph_diff(found: ComparedPair) -> GraphDiff:
    """Return a graph as a result."""
    times: list[TimeChange | NotComputed] = [total.at(0) for total in found.totals]
    times += map(NotComputed, found.why_no_totals)
    launch, host = (total.at(0) for total in found.totals[:2])
    return GraphDiff(
        before_graph_id=found.pair.first,
        after_graph_id=found.pair.second,
        before_name=found.names[0],
        after_name=found.names[1],
        how=found.pair.how,
        likeness_fraction=found.pair.likeness,
        launch=launch,
        host=host,
        first_to_last=times[3],
        critical_path=times[2],
        waterfall=found.waterfall,
        repeated=found.repeated,
        levels=tuple(level_diff(level) for level in found.levels),
        bodies_removed=found.lone[0],
        bodies_added=found.lone[1],
        before_evidence=found.evidence[0],
        after_evidence=found.evidence[1],
        contradicted=found.contradicted,
    )
