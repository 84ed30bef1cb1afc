"""The critical paths of a graph's launches, structural and observed, with every node's slack."""

from __future__ import annotations

import numpy as np

from gviz.analysis.evidence import span_evidence
from gviz.analysis.launch import HeldLaunch, Hold
from gviz.analysis.node_ref import NodeRef
from gviz.analysis.results.launch_sums import (
    Bounds,
    bounds_of,
    column_sums,
    observed_path_times,
    path_times,
)
from gviz.analysis.subject import GraphSubject
from gviz.dag import CriticalPath, structural_length_ns, structural_path
from gviz.dataclass import dataclass
from gviz.model import TimeArray, distinct
from gviz.stats import (
    Evidence,
    FloatArray,
    IntArray,
    Interval,
    NotComputed,
    apart,
    figure,
    order_of_rows,
)

#: Nodes of the path whose speeding up is computed, the longest of a name each.
_SPED_UP = 10
_HELD_BY = {Hold.NOTHING: "nothing", Hold.DEPENDENCY: "dependency", Hold.QUEUE: "queue"}


@dataclass(frozen=True, slots=True)
class PathNode:
    """An execution on the observed critical path."""

    node: NodeRef = figure("stated", "the node")
    iteration: int = figure("stated", "which of its executions, from 0")
    start_ns: float = figure("derived", "start, from the launch's first node")
    duration_ns: float = figure("derived", "its duration")
    gap_ns: float = figure("derived", "from the end of the path before it to its start")
    held_by: str = figure(
        "derived",
        "what it waited for last: dependency, queue (work ahead on its hardware queue), or nothing",
    )


@dataclass(frozen=True, slots=True)
class SlackTable:
    """Every execution's slack; columns of one length, by start."""

    graph_id: IntArray = figure("stated", "graph or body")
    node_id: IntArray = figure("stated", "node")
    iteration: IntArray = figure("stated", "which of its executions")
    duration_ns: TimeArray = figure("derived", "median duration")
    structural_slack_ns: TimeArray = figure(
        "derived", "how much later it could end without making the structural path longer"
    )
    observed_slack_ns: TimeArray = figure(
        "estimated",
        "how much later it could have ended without the launch ending later, if every node keeps "
        "its gap; null where node order is not known",
    )


@dataclass(frozen=True, slots=True)
class FasterNode:
    """Gain if the longest node of its name on the path took no time at all."""

    node: NodeRef = figure("stated", "the node")
    iteration: int = figure("stated", "which of its executions")
    duration_ns: float = figure("derived", "its duration")
    gain_ns: float = figure(
        "estimated", "what the launch would be shorter by; less than the duration where another "
        "path becomes the longest"
    )  # fmt: skip
    alike_count: int = figure("derived", "executions of nodes of its name on the path")
    alike_ns: float = figure("derived", "their time")
    interval: Interval = figure("derived", "of duration_ns")
    alike_interval: Interval = figure("derived", "of alike_ns")


@dataclass(frozen=True, slots=True)
class CriticalPathResult:
    """The critical paths."""

    launch_count: int = figure("measured", "launches behind the medians")
    structural_ns: float = figure(
        "derived",
        "longest path through the graph weighted with the median durations: no launch with these "
        "durations can be shorter, whatever the queues",
    )
    structural_interval: Interval = figure("derived", "of the time of this path")
    structural: tuple[NodeRef, ...] = figure("derived", "its nodes, in order")
    observed_ns: float | None = figure(
        "derived", "from the first node's start to the last node's end of the median launch"
    )
    observed_interval: Interval = figure("derived", "of observed_ns")
    observed: tuple[PathNode, ...] = figure(
        "derived",
        "walked back from the last node to end, each time to the dependency or the work ahead on "
        "the same hardware queue that ended last",
    )
    slack: SlackTable = figure("derived", "every execution's slack")
    faster: tuple[FasterNode, ...] = figure(
        "estimated", "the longest names of the observed path; of the structural one without it"
    )
    why_not_observed: str | None = figure("stated", "why there is no observed path; else null")
    evidence: Evidence = figure("stated", "what it rests on")
    gap_bounds: tuple[Bounds, ...] = apart(
        "of the gaps before each of ``observed``, one; empty: no path"
    )


def critical_path_result(subject: GraphSubject) -> CriticalPathResult | NotComputed:
    """Return the critical paths of a graph."""
    why_not = subject.why_no_edges or subject.why_contradicted
    if why_not:
        return NotComputed(why_not)
    if subject.why_no_times:
        return NotComputed(subject.why_no_times)
    held, unrolled = subject.held, subject.unrolled
    structural = structural_path_of(subject.held)
    observed = subject.why_no_order is None
    lengths = np.array([[x.spans.length_ns] for x in subject.timed_launches], np.float64)
    whole = bounds_of(lengths, np.array([held.length_ns])).each() if observed else ()
    timed = np.flatnonzero(held.timed)
    timed = timed[order_of_rows((held.start_ns[timed],))]
    slack = subject.model_path.slack_ns[timed] if observed else np.full(len(timed), np.nan)
    nodes = unrolled.node[timed]
    levels = np.array([level.graph.graph_id for level in subject.graph.levels], np.int64)
    return CriticalPathResult(
        launch_count=subject.median_count,
        structural_ns=structural.length_ns,
        structural_interval=_interval_of_path(subject, structural),
        structural=tuple(subject.refs_of_vertices(structural.nodes[held.timed[structural.nodes]])),
        observed_ns=held.length_ns if observed else None,
        observed_interval=whole[0] if whole else Interval(None, None),
        observed=tuple(_path_nodes(subject)) if observed else (),
        slack=SlackTable(
            graph_id=levels[subject.graph.level[nodes]],
            node_id=subject.graph.nodes.integers("node_id")[nodes],
            iteration=unrolled.iteration[timed],
            duration_ns=held.duration_ns[timed],
            structural_slack_ns=structural.slack_ns[timed],
            observed_slack_ns=slack,
        ),
        faster=tuple(_faster(subject)),
        why_not_observed=subject.why_no_order,
        evidence=subject.once(span_evidence),
        gap_bounds=(_gap_bounds(subject),) if observed else (),
    )


def _gap_bounds(subject: GraphSubject) -> Bounds:
    return bounds_of(subject.once(observed_path_times).gap_ns, subject.steps.gap_ns)


def _interval_of_path(subject: GraphSubject, path: CriticalPath) -> Interval:
    """Return the interval of the time of a path's nodes, less what overlaps in the median launch.

    Programmatic edges let nodes of a path run beside each other.
    """
    held = subject.held
    on_path = path.nodes[held.timed[path.nodes]]
    total = held.duration_ns[on_path].sum()
    each = path_times(subject, on_path).duration_ns.sum(axis=1, keepdims=True)
    (found,) = bounds_of(each - total + path.length_ns, np.array([path.length_ns])).each()
    return found


def structural_path_of(held: HeldLaunch) -> CriticalPath:
    """Return the structural path of a launch, by vertices of its unrolled form."""
    return structural_path(*_structure(held))


def structural_length_of(held: HeldLaunch) -> float:
    """Return the length of the structural path of a launch alone (ns)."""
    return structural_length_ns(*_structure(held))


def _structure(held: HeldLaunch) -> tuple[int, IntArray, IntArray, IntArray, FloatArray, IntArray]:
    unrolled = held.unrolled
    return (
        len(unrolled),
        unrolled.tail,
        unrolled.head,
        unrolled.programmatic.astype(np.int64),
        held.duration_ns,
        unrolled.row,
    )


def _path_nodes(subject: GraphSubject) -> list[PathNode]:
    held, steps, path = subject.held, subject.steps, subject.path
    columns = (
        subject.unrolled.iteration[path],
        held.start_ns[path],
        held.duration_ns[path],
        steps.gap_ns,
    )
    held_by = (_HELD_BY[Hold(by)] for by in steps.held_by.tolist())
    nodes = subject.refs_of_vertices(path)
    return list(map(PathNode, nodes, *(c.tolist() for c in columns), held_by))


def _faster(subject: GraphSubject) -> list[FasterNode]:
    model, path = subject.model, subject.path
    order = np.argsort(-model.duration_ns[path], kind="stable")
    path = path[order]
    name = subject.graph.nodes.texts("name").codes[subject.unrolled.node[path]]
    first, code = distinct([name.astype(np.int64)])
    count, total_ns = np.bincount(code), np.bincount(code, model.duration_ns[path])
    chosen = np.argsort(first)[:_SPED_UP]
    longest = path[first[chosen]]
    gains = model.whole_ns - model.lengths_without(subject.model_path, longest)
    iteration, duration_ns = subject.unrolled.iteration[longest], model.duration_ns[longest]
    columns = iteration, duration_ns, gains, count[chosen], total_ns[chosen]
    each = subject.once(observed_path_times).duration_ns[:, order]
    intervals = bounds_of(each[:, first[chosen]], duration_ns).each()
    alike = bounds_of(column_sums(each, code)[:, chosen], total_ns[chosen]).each()
    nodes = subject.refs_of_vertices(longest)
    return list(map(FasterNode, nodes, *(c.tolist() for c in columns), intervals, alike))
