"""The text of ``gviz analyze``: short, the largest first, every number with how it came about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from gviz.analysis import (
    Advice,
    Analysis,
    CriticalPathResult,
    DeviceLaunch,
    Finding,
    GraphAnalysis,
    LedgerResult,
    LevelShape,
    NodeRef,
    Overlap,
    Parallelism,
    PathGap,
    RunAnalysis,
    TurnTaking,
)
from gviz.errors import NO_GRAPH
from gviz.report.analyze_compared import describe_share, render_break_even, render_comparison
from gviz.report.analyze_costs import render_expected_cost, render_forecast
from gviz.report.analyze_dominance import render_dominance
from gviz.stats import NotComputed
from gviz.text import counted, duration, percent, render_table, rounded, shorten, wrapped

_R = TypeVar("_R")

#: Rows of a list that the text shows; the JSON has all.
_LISTED = 3
#: Findings that the text shows.
_FINDINGS = 5
#: Nodes of a finding that the text names.
_IDS = 4
#: A kernel's name in running text.
_NAME = 36
#: Gaps of the path below this share of the launch are not worth a line.
_LEAST_GAP = 0.005


def render_analysis(analysis: Analysis, width: int) -> str:
    """Return an analysis as text, no line longer than ``width`` where that can be."""
    lines: list[str] = []
    for run in analysis.runs:
        lines += (
            ["", *_render_run(run, analysis.path, width)]
            if lines
            else list(_render_run(run, analysis.path, width))
        )
    return "\n".join(lines)


def _render_run(run: RunAnalysis, path: str, width: int) -> Iterator[str]:
    yield f"{path}, run {run.run_id}: {run.name}"
    if not run.graphs:
        yield f"  {NO_GRAPH}"
    elif isinstance(run.launch_costs, NotComputed):
        yield from wrapped(f"launch costs: {run.launch_costs.not_computed}", width, indent=2)
    else:
        yield from wrapped(f"{run.launch_costs.description} are used", width, indent=2)
    for graph in run.graphs:
        yield ""
        yield from _render_graph(graph, width)
    if run.graphs:
        yield ""
        yield from wrapped(describe_share(run.graph_share), width, indent=0)
    yield ""
    yield "will a graph help"
    if isinstance(run.forecast, NotComputed):
        yield from wrapped(f"not computed: {run.forecast.not_computed}", width)
    else:
        yield from render_forecast(run.forecast, width)
    if run.findings.findings:
        yield ""
        yield "the run as a whole"
        yield from _render_advice(run.findings, width)
    if run.left_out_count:
        yield ""
        yield (
            f"  and {counted(run.left_out_count, 'more graph')} whose launches took less time "
            "(--all, or --graph ID)"
        )


def _render_graph(graph: GraphAnalysis, width: int) -> Iterator[str]:
    yield f"graph {graph.graph_id}: {graph.name}"
    timed = f", {graph.timed_launch_count:,} of them with node times" if graph.launch_count else ""
    yield from wrapped(
        f"{counted(graph.node_count, 'node')}, launched "
        f"{counted(graph.launch_count, 'time')}{timed}",
        width,
        indent=2,
    )
    for doubt in graph.doubts:
        yield from wrapped(f"doubt: {doubt}", width, indent=2)
    yield from _section("Where a launch's time goes", graph.ledger, _render_ledger, width)
    yield from _section("What bounds it", graph.critical_path, _render_path, width)
    yield from _section("What dominates", graph.dominance, render_dominance, width)
    yield from _section(
        "What could run side by side", graph.parallelism, _render_parallelism, width
    )
    compared = graph.stream_comparison
    yield from _section("Against the same work by stream calls", compared, render_comparison, width)
    if not isinstance(compared, NotComputed):
        yield from _section("When it pays back", graph.break_even, render_break_even, width)
    yield from _section(
        "What its calls cost at least", graph.expected_cost, render_expected_cost, width
    )
    yield ""
    yield "  What to change"
    yield from _render_advice(graph.findings, width)
    yield from wrapped(_describe_device_launch(graph.device_launch), width)


def _section(
    title: str, found: _R | NotComputed, render: Callable[[_R, int], Iterator[str]], width: int
) -> Iterator[str]:
    yield ""
    yield f"  {title}"
    if isinstance(found, NotComputed):
        yield from wrapped(f"not computed: {found.not_computed}", width)
    else:
        yield from render(found, width)


# -- the ledger ------------------------------------------------------------------------


def _render_ledger(result: LedgerResult, width: int) -> Iterator[str]:
    ledger = result.median
    total = ledger.total_ns or 1
    rows = [
        ("first node's start to last node's end", ledger.total_ns, ""),
        ("  nodes on the critical path", ledger.node_ns, ""),
        ("  gaps after a dependency ended", ledger.dependency_gap_ns, ""),
        ("  waits for the same hardware queue", ledger.queue_wait_ns, ""),
        ("  until the path's first node", ledger.late_start_ns, ""),
    ]
    shown = [row for row in rows if row[1] or row is rows[0]]
    yield from _indented(
        render_table(
            [f"median of {len(result.launches):,} launches", "derived", "share"],
            [[label, duration(value), percent(value / total)] for label, value, _ in shown],
            width=width,
            elastic=0,
            indent=4,
        )
    )
    for part in _gap_parts(result):
        yield from wrapped(part, width)
    yield from wrapped(_describe_events(result), width)
    worth = [g for g in result.gaps if g.gap_ns >= _LEAST_GAP * total][:_LISTED]
    if worth:
        yield from wrapped("longest gaps on the path [derived]:", width)
        for gap in worth:
            yield from wrapped(_describe_gap(gap), width, indent=6)


def _gap_parts(result: LedgerResult) -> Iterator[str]:
    ledger = result.median
    gaps = ledger.dependency_gap_ns + ledger.queue_wait_ns + ledger.late_start_ns
    if not gaps:
        return
    idle = gaps - ledger.busy_gap_ns
    parts = [f"in {duration(idle)} of the gaps nothing ran"]
    if ledger.busy_gap_ns:
        parts.append(f"in {duration(ledger.busy_gap_ns)} nodes beside the path did")
    if ledger.submitting_gap_ns:
        parts.append(
            f"{duration(ledger.submitting_gap_ns)} of the idle part lies before the launch call "
            "had returned"
        )
    if ledger.untimed_gap_ns:
        parts.append(f"{duration(ledger.untimed_gap_ns)} hold nodes that CUPTI does not time")
    yield ", ".join(parts) + " [derived]"


def _describe_events(result: LedgerResult) -> str:
    if result.residual_ns is None:
        text = "no launch with node times has events around it: no residual"
    else:
        more = "more" if result.residual_ns >= 0 else "less"
        text = (
            f"events around these launches saw {duration(abs(result.residual_ns))} {more} "
            "[derived, median]"
        )
        if result.call_to_first_ns is not None:
            text += (
                f"; from a call to its first node pass {duration(result.call_to_first_ns)} "
                "[measured, median]"
            )
    if result.plain_event_ns is not None:
        text += (
            f". A launch without node times takes {duration(result.plain_event_ns)} between its "
            "events [measured, median]"
        )
    return text


def _describe_gap(gap: PathGap) -> str:
    ran = f", other nodes ran in {duration(gap.busy_ns)} of it" if gap.busy_ns else ""
    via = f", node {_id(gap.via)} {gap.via.name} in between" if gap.via else ""
    queue = " (same queue)" if gap.held_by == "queue" else ""
    return f"{duration(gap.gap_ns)}: {_node(gap.before)} -> {_node(gap.after)}{queue}{via}{ran}"


# -- the paths -------------------------------------------------------------------------


def _render_path(result: CriticalPathResult, width: int) -> Iterator[str]:
    structural = (
        f"by dependencies alone: {duration(result.structural_ns)}, "
        f"{counted(len(result.structural), 'node')} [derived]"
    )
    if result.observed_ns is None:
        yield from wrapped(structural, width)
        yield from wrapped(f"as it ran: not computed: {result.why_not_observed}", width)
        return
    share = result.structural_ns / result.observed_ns if result.observed_ns else 1.0
    yield from wrapped(
        f"{structural}; that is {percent(share)} of the median launch, which no other order of the "
        "same nodes gets below",
        width,
    )
    queued = sum(node.held_by == "queue" for node in result.observed)
    waited = f", {queued:,} of them behind work on their queue" if queued else ""
    yield from wrapped(
        f"as it ran: {counted(len(result.observed), 'node')} on the path{waited} [derived]",
        width,
    )


# -- parallelism -----------------------------------------------------------------------


def _render_parallelism(result: Parallelism, width: int) -> Iterator[str]:
    for level in result.levels[:_LISTED]:
        yield from wrapped(_describe_level(level, len(result.levels) > 1), width)
    if len(result.levels) > _LISTED:
        yield from wrapped(f"and {len(result.levels) - _LISTED:,} more bodies (--json)", width)
    if isinstance(result.overlap, NotComputed):
        yield from wrapped(f"overlap: not computed: {result.overlap.not_computed}", width)
    else:
        yield from wrapped(_describe_overlap(result.overlap), width)
    if isinstance(result.turn_taking, NotComputed):
        return
    if not result.turn_taking:
        yield from wrapped("no node waited for one that it does not depend on [derived]", width)
    gainful = [turn for turn in result.turn_taking if turn.gain_ns]
    for turn in gainful[:_LISTED]:
        yield from wrapped(_describe_turn(turn), width)
    if len(gainful) > _LISTED:
        yield from wrapped(f"and {len(gainful) - _LISTED:,} more kinds of waits (--json)", width)
    idle = [turn for turn in result.turn_taking if turn.gain_ns == 0]
    for reason in dict.fromkeys(turn.reason for turn in idle):
        found = [turn for turn in idle if turn.reason == reason]
        yield from wrapped(_describe_full(reason, found), width)


def _describe_level(level: LevelShape, named: bool) -> str:
    where = f"graph {level.graph_id}: " if named else ""
    width = f"{level.width:,}"
    if level.width_at_most > level.width:
        width = f"{level.width:,} to {level.width_at_most:,}"
    text = f"{where}width {width}"
    if level.width > 1:
        names = ", ".join(_node(n) for n in level.widest[:4])
        more = ", ..." if level.width > 4 else ""
        text += f" ({names}{more})"
    text += f", {counted(level.lane_count, 'lane')}"
    if level.redundant_edge_count is None:
        text += "; too wide to look for redundant edges"
    elif level.redundant_edge_count:
        text += f", {counted(level.redundant_edge_count, 'redundant edge')}"
    return f"{text} [derived]"


def _describe_overlap(overlap: Overlap) -> str:
    return (
        f"nodes at once while anything ran: {rounded(overlap.achieved)} on average, "
        f"{overlap.most_at_once} at most; dependencies allow {rounded(overlap.possible)} on "
        "average [derived]"
    )


def _describe_turn(turn: TurnTaking) -> str:
    many = f", {turn.count:,} such nodes in all" if turn.count > 1 else ""
    gain = duration(turn.gain_ns)
    return (
        f"{_node(turn.waiting[0])} waited while {_node(turn.meanwhile[0])} ran, on which it does "
        f"not depend{many}: {duration(turn.waited_ns)} [derived], likely reason: {turn.reason}; "
        f"side by side a launch is shorter by at most {gain} [estimated]"
    )


def _describe_full(reason: str, turns: list[TurnTaking]) -> str:
    first = turns[0]
    count = counted(sum(turn.count for turn in turns), "node")
    waited = duration(sum(turn.waited_ns for turn in turns))
    return (
        f"{count} waited {waited} in all [derived] for ones that they do not depend on, such as "
        f"{_node(first.waiting[0])} for {_node(first.meanwhile[0])}; likely reason: {reason}, so "
        "there is nothing to gain [estimated]"
    )


# -- advice ----------------------------------------------------------------------------


def _render_advice(advice: Advice, width: int) -> Iterator[str]:
    if not advice.findings:
        yield from wrapped("no rule found anything whose gain is above noise", width)
    for number, finding in enumerate(advice.findings[:_FINDINGS], start=1):
        yield from _render_finding(number, finding, width)
    if len(advice.findings) > _FINDINGS:
        yield from wrapped(f"and {len(advice.findings) - _FINDINGS:,} more (--json)", width)
    if advice.ignored_count:
        count = counted(advice.ignored_count, "finding")
        yield from wrapped(f"{count} left out by the configuration", width)
    for reason in advice.not_checked:
        yield from wrapped(f"not checked: {reason}", width)


def _render_finding(number: int, finding: Finding, width: int) -> Iterator[str]:
    bound = "" if finding.gain_bound == "about" else f"{finding.gain_bound} "
    gain = f"{bound}{duration(finding.gain_ns)} a {finding.gain_per} [estimated]"
    nodes = ""
    if finding.nodes:
        ids = ", ".join(_id(node) for node in finding.nodes[:_IDS])
        nodes = f"; nodes {ids}{', ...' if finding.node_count > _IDS else ''}"
    yield from wrapped(f"{number}. {gain}: {finding.reason}{nodes} [{finding.rule}]", width)
    yield from wrapped(f"fix: {finding.fix}", width, indent=7)


def _describe_device_launch(found: DeviceLaunch | NotComputed) -> str:
    if isinstance(found, NotComputed):
        return f"whether the device could launch this graph: not computed: {found.not_computed}"
    if found.is_possible:
        text = "the device could launch this graph, as far as its nodes tell"
        unknown = f"; not known: {', '.join(found.unknown)}" if found.unknown else ""
        return f"{text}{unknown} [derived]"
    return f"the device could not launch this graph: {'; '.join(found.broken)} [derived]"


# -- words -----------------------------------------------------------------------------


def _id(node: NodeRef) -> str:
    return f"{node.node_id}"


def _node(node: NodeRef) -> str:
    return f"{_id(node)} {shorten(node.name, _NAME)}"


def _indented(table: str) -> Sequence[str]:
    return table.split("\n")
