"""The gap ledger of every recorded launch and of the median launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from statistics import median

import numpy as np

from gviz.analysis.evidence import span_evidence
from gviz.analysis.launch import (
    NOTHING,
    GapLedger,
    HeldLaunch,
    Hold,
    gap_ledger,
    observed_path,
    path_steps,
)
from gviz.analysis.node_ref import NodeRef
from gviz.analysis.results.launch_sums import FEW, bounds_of, column_sums, observed_path_times
from gviz.analysis.subject import GraphSubject, TimedLaunch
from gviz.dataclass import dataclass
from gviz.model import distinct, least_disturbed, may_have_waited
from gviz.recording import rows
from gviz.stats import (
    LEAST_VALUES,
    CuptiState,
    Evidence,
    Interval,
    NotComputed,
    figure,
    rank_interval,
)

#: Gaps that are listed, the longest of those that are alike.
_GAPS = 10


@dataclass(frozen=True, slots=True)
class LaunchLedger:
    """The ledger of one launch, and what the events around it saw."""

    launch_id: int = figure("stated", "the launch")
    ordinal: int = figure("stated", "which launch of the graph, from 0")
    ledger: GapLedger = figure("derived", "where its time went")
    event_duration_ns: int | None = figure(
        "measured", "between the events around the launch; null where it had none"
    )
    residual_ns: float | None = figure(
        "derived",
        "event_duration_ns less the ledger's total, signed: what the events saw before the first "
        "node and after the last",
    )
    call_to_first_ns: int | None = figure(
        "measured",
        "from the entry of the launch call to the first node's start; null where the launch "
        "waited for the one before it",
    )


@dataclass(frozen=True, slots=True)
class PathGap:
    """A gap on the path of the median launch: the longest between nodes of these names."""

    before: NodeRef = figure("stated", "node that ended")
    after: NodeRef = figure("stated", "node that started then")
    gap_ns: float = figure("derived", "how long")
    busy_ns: float = figure("derived", "part of it in which other nodes of the launch ran")
    held_by: str = figure("derived", "dependency or queue")
    via: NodeRef | None = figure(
        "stated", "node without a time in between; null where there is none"
    )
    alike_count: int = figure(
        "derived", "gaps on the path between nodes of these names, held by the same"
    )
    alike_ns: float = figure("derived", "their time")
    interval: Interval = figure("derived", "of gap_ns")
    alike_interval: Interval = figure("derived", "of alike_ns")


@dataclass(frozen=True, slots=True)
class LedgerResult:
    """Parts of the launches' time."""

    median: GapLedger = figure("derived", "of the median launch")
    low: GapLedger | None = figure(
        "derived", f"lower ends of the 95% intervals of its parts; null: {FEW}"
    )
    high: GapLedger | None = figure("derived", f"their upper ends; null: {FEW}")
    event_median_ns: float | None = figure(
        "measured", "median time between the events around the launches in ``launches``"
    )
    residual_ns: float | None = figure("derived", "median of the launches' residuals, signed")
    residual_interval: Interval = figure("derived", "of residual_ns")
    call_to_first_ns: float | None = figure(
        "measured",
        "median time from a launch call's entry to the first node's start, of launches that did "
        "not wait for the one before them",
    )
    call_to_first_interval: Interval = figure("derived", "of call_to_first_ns")
    plain_event_ns: float | None = figure(
        "measured", "median time between the events around launches without node times"
    )
    plain_event_interval: Interval = figure("derived", "of plain_event_ns")
    plain_event_count: int = figure("measured", "how many these are")
    plain_event_state: CuptiState | None = figure(
        "stated", "the state that these were in, plain or attached; null: there are none"
    )
    gaps: tuple[PathGap, ...] = figure("derived", "the longest gaps on the path, each of its names")
    launches: tuple[LaunchLedger, ...] = figure("derived", "every recorded launch")
    evidence: Evidence = figure("stated", "what it rests on")


def ledger_result(subject: GraphSubject) -> LedgerResult | NotComputed:
    """Return the ledgers of a graph's launches."""
    why_not = subject.why_no_path
    if why_not:
        return NotComputed(why_not)
    launches = tuple(_ledger(subject, launch) for launch in _with_waits(subject))
    events = [x.event_duration_ns for x in launches if x.event_duration_ns is not None]
    residuals = [x.residual_ns for x in launches if x.residual_ns is not None]
    leads = [x.call_to_first_ns for x in launches if x.call_to_first_ns is not None]
    returned = [x.returned_ns for x in subject.timed_launches if x.returned_ns is not None]
    ledger = gap_ledger(subject.held, subject.steps, float(median(returned)) if returned else None)
    others = least_disturbed(subject.recording, subject.row.graph_id, "graph", "event")
    undisturbed = others.state is not CuptiState.RECORDED
    low, high = _ends(ledger, [x.ledger for x in launches])
    plain = others.durations.median_interval_ns() if undisturbed else Interval(None, None)
    return LedgerResult(
        median=ledger,
        low=low,
        high=high,
        event_median_ns=float(median(events)) if events else None,
        residual_ns=float(median(residuals)) if residuals else None,
        residual_interval=rank_interval(residuals),
        call_to_first_ns=float(median(leads)) if leads else None,
        call_to_first_interval=rank_interval(leads),
        plain_event_ns=others.durations.median_ns() if undisturbed else None,
        plain_event_interval=plain,
        plain_event_count=others.durations.count if undisturbed else 0,
        plain_event_state=others.state if undisturbed else None,
        gaps=tuple(_longest_gaps(subject)),
        launches=launches,
        evidence=subject.once(span_evidence),
    )


def _ends(
    shown: GapLedger, launches: Sequence[GapLedger]
) -> tuple[GapLedger | None, GapLedger | None]:
    """Return the lower and the upper ends of the intervals of a ledger's parts; None: too few."""
    if len(launches) < LEAST_VALUES:
        return None, None
    # What is not known of a launch is NaN.
    values = np.array([astuple(one) for one in launches], np.float64)
    found = bounds_of(values, np.array(astuple(shown), np.float64))
    return GapLedger(*found.low_ns.tolist()), GapLedger(*found.high_ns.tolist())


def _with_waits(subject: GraphSubject) -> list[tuple[TimedLaunch, int | None]]:
    """Return each timed launch with the time from its call to its first node.

    None where the launch before it on its stream was still running when it was called: then
    the time is that one's.
    """
    pairs = zip(subject.timed_launches, subject.launches_before(), strict=True)
    return [(x, _call_to_first(x.row, before)) for x, before in pairs]


def _call_to_first(row: rows.Launch, before: rows.Launch | None) -> int | None:
    if row.host_start_ns is None or row.gpu_start_ns is None or may_have_waited(row, before):
        return None
    return row.gpu_start_ns - row.host_start_ns


def _ledger(subject: GraphSubject, entry: tuple[TimedLaunch, int | None]) -> LaunchLedger:
    launch, lead = entry
    held = subject.hold(launch.spans)
    returned = None if launch.returned_ns is None else float(launch.returned_ns)
    ledger = gap_ledger(held, path_steps(held, observed_path(held)), returned)
    event = launch.row.event_duration_ns
    return LaunchLedger(
        launch_id=launch.row.launch_id,
        ordinal=launch.row.ordinal,
        ledger=ledger,
        event_duration_ns=event,
        residual_ns=None if event is None else event - ledger.total_ns,
        call_to_first_ns=lead,
    )


def _longest_gaps(subject: GraphSubject) -> list[PathGap]:
    held: HeldLaunch = subject.held
    steps = subject.steps
    order = np.argsort(-steps.gap_ns[1:], kind="stable") + 1
    order = order[steps.gap_ns[order] > 0]
    name = subject.graph.nodes.texts("name").codes[subject.unrolled.node[steps.vertex]]
    names = name.astype(np.int64)
    first, code = distinct([names[order - 1], names[order], steps.held_by[order].astype(np.int64)])
    count, total_ns = np.bincount(code), np.bincount(code, steps.gap_ns[order])
    each = subject.once(observed_path_times).gap_ns[:, order]
    single = bounds_of(each[:, first], steps.gap_ns[order[first]]).each()
    alike = bounds_of(column_sums(each, code), total_ns).each()
    found = []
    for kind in np.argsort(first)[:_GAPS].tolist():
        at = int(order[first[kind]])
        vertex, before = int(steps.vertex[at]), int(steps.vertex[at - 1])
        via = int(held.via[vertex]) if steps.held_by[at] == Hold.DEPENDENCY else NOTHING
        found.append(
            PathGap(
                before=subject.ref_of_vertex(before),
                after=subject.ref_of_vertex(vertex),
                gap_ns=float(steps.gap_ns[at]),
                busy_ns=float(steps.busy_ns[at]),
                held_by="queue" if steps.held_by[at] == Hold.QUEUE else "dependency",
                via=None if via == NOTHING else subject.ref_of_vertex(via),
                alike_count=int(count[kind]),
                alike_ns=float(total_ns[kind]),
                interval=single[kind],
                alike_interval=alike[kind],
            )
        )
    return found
