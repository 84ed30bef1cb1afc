"""Parallel work in a graph: what could run side by side, what did, and where that was lost."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gviz.analysis.evidence import span_evidence
from gviz.analysis.launch import WaitGroup
from gviz.analysis.node_ref import NodeRef
from gviz.analysis.results.paths import structural_length_of
from gviz.analysis.subject import GraphSubject
from gviz.cuda import EdgeType
from gviz.dag import (
    Reachability,
    cover_by_chains,
    cover_series,
    graph_width,
    most_at_once,
    rank_rows,
)
from gviz.dataclass import dataclass
from gviz.model import NOT_WORKING, GraphTree, TreeLevel
from gviz.stats import BoolArray, Evidence, NotComputed, figure, union

#: Nodes, edges and pairs that a result names, at most.
NAMED = 100


@dataclass(frozen=True, slots=True)
class LevelShape:
    """Shape of one level: what its edges allow."""

    graph_id: int = figure("stated", "graph or body")
    node_count: int = figure("measured", "its nodes")
    width: int = figure(
        "derived",
        "the largest number of nodes that do something (not empty, event, semaphore, allocation "
        "and free nodes) of which none depends on another: largest antichain, by minimum flow",
    )
    width_at_most: int = figure(
        "derived", "above width where the search was cut short: the width lies between them"
    )
    widest: tuple[NodeRef, ...] = figure("derived", f"such nodes, {NAMED} at most")
    lane_count: int = figure(
        "derived", "chains of a greedy cover of all nodes: as many lanes show them all"
    )
    redundant_edge_count: int | None = figure(
        "derived",
        "edges without which everything depends on the same nodes; null where the level is too "
        "wide to say",
    )
    redundant_edges: tuple[tuple[NodeRef, NodeRef], ...] = figure(
        "derived", f"of these, {NAMED} at most: dependency and dependent"
    )


@dataclass(frozen=True, slots=True)
class Overlap:
    """Overlap of nodes; medians over the launches."""

    node_ns: float = figure("derived", "time of all nodes of a launch")
    busy_ns: float = figure("derived", "time in which any node ran")
    achieved: float = figure("derived", "node_ns over busy_ns: nodes at once while anything ran")
    possible: float | None = figure(
        "derived",
        "node_ns over the structural critical path: nodes at once on average if only "
        "dependencies held them (work over span); too much where edges are programmatic, because "
        "that path takes each of them to release its dependent at once; null "
        "where times contradict dependencies",
    )
    most_at_once: int = figure("derived", "most nodes that ran at the same moment of a launch")


@dataclass(frozen=True, slots=True)
class TurnTaking:
    """Nodes that waited while nodes that they do not depend on ran."""

    reason: str = figure(
        "estimated",
        "same hardware queue (derived), multiprocessors full, priority, same copy engine, or "
        "launch order where it is none of these",
    )
    count: int = figure("derived", "nodes that waited")
    waited_ns: float = figure(
        "derived", "from when all they depend on had ended to their start, summed"
    )
    gain_ns: float | None = figure(
        "estimated",
        "what the launch would be shorter by if none of them waited and nothing ran slower for "
        "it, at most; 0 where the GPU had no room; null beyond the 20 longest waits",
    )
    waiting: tuple[NodeRef, ...] = figure("derived", f"nodes that waited, {NAMED} at most")
    meanwhile: tuple[NodeRef, ...] = figure(
        "derived", "for each of these the node that ran longest meanwhile"
    )
    overlapped_launches: int = figure(
        "derived", "launches in which any of these pairs overlapped at all"
    )
    launch_count: int = figure("measured", "launches looked at")


@dataclass(frozen=True, slots=True)
class SmallBranchResult:
    """Branches whose work would cost less in series with the others than beside them."""

    count: int = figure("derived", "such branches")
    work_ns: float = figure("derived", "time of their nodes")
    serial_ns: float = figure(
        "estimated", "what they take in series: their work and the usual gap before each node"
    )
    gain_ns: float = figure("estimated", "what the launch would be shorter by, at least")
    nodes: tuple[NodeRef, ...] = figure("derived", f"first nodes of them, {NAMED} at most")


@dataclass(frozen=True, slots=True)
class BarrierResult:
    """Branches that wait for each other before they go on."""

    count: int = figure("derived", "such joins")
    gain_ns: float = figure(
        "estimated",
        "what the launch would be shorter by if each node waited only for the branch it goes on "
        "with (same capture stream, else same queue); at most: the others may be meant",
    )
    waiting: tuple[NodeRef, ...] = figure("derived", f"nodes that wait, {NAMED} at most")
    waited_for: tuple[NodeRef, ...] = figure("derived", f"what they wait for, {NAMED} at most")


@dataclass(frozen=True, slots=True)
class Parallelism:
    """Possible and achieved overlap, and where it was lost."""

    levels: tuple[LevelShape, ...] = figure("derived", "the graph, and each body in it")
    overlap: Overlap | NotComputed = figure("derived", "how much ran side by side")
    turn_taking: tuple[TurnTaking, ...] | NotComputed = figure(
        "derived", "independent nodes that took turns, those first that could give back most"
    )
    barriers: BarrierResult | NotComputed | None = figure(
        "derived", "joins at which branches wait for each other; null: none"
    )
    small_branches: SmallBranchResult | NotComputed | None = figure(
        "derived", "branches that are not worth their fork; null: none"
    )
    evidence: Evidence = figure("stated", "what all but the levels rests on")


def parallelism(subject: GraphSubject) -> Parallelism | NotComputed:
    """Return what could run side by side in a graph, and what did."""
    if subject.why_no_edges:
        return NotComputed(subject.why_no_edges)
    levels = tuple(level_shape(subject, level) for level in subject.graph.levels)
    evidence = subject.once(span_evidence)
    if subject.why_no_times:
        missing = NotComputed(subject.why_no_times)
        return Parallelism(levels, missing, missing, missing, missing, evidence)
    if subject.why_contradicted:
        missing = NotComputed(subject.why_contradicted)
        return Parallelism(levels, overlap(subject), missing, missing, missing, evidence)
    if subject.why_no_order:
        missing = NotComputed(subject.why_no_order)
        return Parallelism(levels, missing, missing, _barriers(subject), missing, evidence)
    wide = NotComputed(
        "too many nodes run side by side to say of all pairs whether they depend on each other"
    )
    is_known = subject.reachability is not None
    return Parallelism(
        levels=levels,
        overlap=overlap(subject),
        turn_taking=_turn_taking(subject) if is_known else wide,
        barriers=_barriers(subject),
        small_branches=_small_branches(subject) if is_known else wide,
        evidence=evidence,
    )


def _named(subject: GraphSubject, vertices: Iterable[int]) -> tuple[NodeRef, ...]:
    return tuple(subject.ref_of_vertex(v) for v in list(vertices)[:NAMED])


def _turn_taking(subject: GraphSubject) -> tuple[TurnTaking, ...]:
    return tuple(_turn_taking_of(subject, group) for group in subject.wait_groups)


def _turn_taking_of(subject: GraphSubject, group: WaitGroup) -> TurnTaking:
    return TurnTaking(
        reason=group.reason.value,
        count=len(group.waits),
        waited_ns=sum(w.waited_ns for w in group.waits),
        gain_ns=group.gain_ns,
        waiting=_named(subject, (w.vertex for w in group.waits)),
        meanwhile=_named(subject, (w.blocker for w in group.waits)),
        overlapped_launches=group.overlapped_launches,
        launch_count=len(subject.timed_launches),
    )


def _barriers(subject: GraphSubject) -> BarrierResult | None:
    found = subject.barriers
    if found is None:
        return None
    return BarrierResult(
        count=found.barrier_count,
        gain_ns=found.gain_ns,
        waiting=_named(subject, found.dependents.tolist()),
        waited_for=_named(subject, found.dependencies.tolist()),
    )


def _small_branches(subject: GraphSubject) -> SmallBranchResult | None:
    found = subject.small_branches
    if found is None:
        return None
    return SmallBranchResult(
        count=len(found.branches),
        work_ns=found.work_ns,
        serial_ns=found.serial_ns,
        gain_ns=found.gain_ns,
        nodes=_named(subject, (int(b[0]) for b in found.branches)),
    )


def level_shape(subject: GraphSubject, level: TreeLevel) -> LevelShape:
    """Return what the edges of a level allow."""
    graph = subject.graph
    edges = subject.edges.of(level)
    tail, head = edges.source, edges.target
    reach = subject.level_reachability(level)
    width = graph_width(reach.cover, _counted(graph, level))
    full = edges.type != EdgeType.PROGRAMMATIC
    # Only full dependencies make another edge redundant: a programmatic one triggers earlier.
    if not full.all():
        row = subject.level_rows[level.at]
        reach = Reachability(cover_series(row, tail[full], head[full]))
    redundant = reach.redundant_edges() if reach.is_small_enough else None
    pairs = [] if redundant is None else np.flatnonzero(full)[redundant[:NAMED]].tolist()
    return LevelShape(
        graph_id=level.graph.graph_id,
        node_count=level.count,
        width=width.least,
        width_at_most=width.most,
        widest=tuple(subject.ref(level.first + n) for n in width.antichain[:NAMED].tolist()),
        lane_count=width.lane_count,
        redundant_edge_count=None if redundant is None else len(redundant),
        redundant_edges=tuple(
            (subject.ref(level.first + int(tail[e])), subject.ref(level.first + int(head[e])))
            for e in pairs
        ),
    )


def lane_count(subject: GraphSubject, level: TreeLevel) -> int:
    """Return how many lanes show a level: the chains of a greedy cover."""
    edges = subject.edges.of(level)
    row = rank_rows(level.count, edges.source, edges.target)
    return int(cover_by_chains(row, edges.source, edges.target).max(initial=-1)) + 1


def _counted(graph: GraphTree, level: TreeLevel) -> BoolArray:
    """Return which nodes of a level do something, themselves or in a body."""
    return ~np.isin(graph.types[level.part], list(NOT_WORKING))


def overlap(subject: GraphSubject) -> Overlap:
    """Return how much ran side by side in the launches."""
    launches = [x.spans for x in subject.timed_launches]
    total = float(np.median([(x.end_ns - x.start_ns).sum() for x in launches]))
    busy = float(np.median([union(x.start_ns, x.end_ns).total_ns for x in launches]))
    possible = None
    if not subject.why_contradicted:
        longest = structural_length_of(subject.held)
        possible = total / longest if longest else 1.0
    return Overlap(
        node_ns=total,
        busy_ns=busy,
        achieved=total / busy if busy else 1.0,
        possible=possible,
        most_at_once=max(most_at_once(x.start_ns, x.end_ns) for x in launches),
    )
