"""The ledger of a launch's time: the gap ledger of the median launch, as waterfall and table."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from gviz.analysis import GapLedger, LedgerResult, PathGap, PathNode
from gviz.app.components import Kind, Step, waterfall
from gviz.app.pages.report.node_links import NodeLinks
from gviz.app.pages.report.parts import Column, heading, how, joined, number, said, signed, table
from gviz.stats import How
from gviz.text import counted, duration, integer, percent

#: Launches that the table lists, the longest.
_LISTED = 10

_Part = tuple[str, float, Kind, How, Component | str]


def ledger(found: LedgerResult, path: tuple[PathNode, ...], links: NodeLinks) -> list[Component]:
    """Return the waterfall with its parts, the longest gaps, and the launches."""
    parts = _parts(found, path, links)
    whole = found.median.total_ns
    drawn = waterfall(
        "ledger",
        [Step(name, ns, kind) for name, ns, kind, _, _ in parts],
        label="Waterfall of the time of the median launch",
        whole_ns=whole,
    )
    rows = [
        [name, signed(ns), percent(ns / whole) if whole else "", how(word), where]
        for name, ns, _, word, where in parts
    ]
    columns = [Column("Part"), number("Time"), number("Share"), Column("How"), Column("Nodes")]
    count = counted(len(found.launches), "launch", "launches")
    return [
        said(f"The median of {count} with node times, split along its critical path.", muted=True),
        drawn,
        table(columns, rows, "Where the time of the median launch goes"),
        said(_gaps_in_words(found.median)),
        said(_events_in_words(found)),
        *_longest_gaps(found, links),
        *_launches(found),
    ]


def _parts(found: LedgerResult, path: tuple[PathNode, ...], links: NodeLinks) -> list[_Part]:
    median = found.median

    def held(by: str) -> Component | str:
        waited = [x.node for x in path[1:] if x.held_by == by and x.gap_ns > 0]
        return links.nodes(waited) if waited else ""

    nodes = links.nodes(x.node for x in path) if path else ""
    first = links.node(path[0].node) if path else ""
    derived: How = "derived"
    each: list[_Part] = [
        ("Nodes on the critical path", median.node_ns, "work", derived, nodes),
        ("Gaps after a dependency ended", median.dependency_gap_ns, "gap", derived,
         held("dependency")),
        ("Waits for the hardware queue", median.queue_wait_ns, "wait", derived, held("queue")),
        ("Until the path's first node", median.late_start_ns, "other", derived, first),
    ]  # fmt: skip
    # All four always: that there were no waits is an answer too.
    each.append(("First node's start to last one's end", median.total_ns, "total", derived, ""))
    if found.residual_ns is not None:
        each.append(("Residual: seen by events only", found.residual_ns, "other", derived, ""))
    return each


def _gaps_in_words(found: GapLedger) -> str:
    gaps = found.dependency_gap_ns + found.queue_wait_ns + found.late_start_ns
    if not gaps:
        return "There are no gaps on the path."
    parts = [f"in {duration(gaps - found.busy_gap_ns)} of the gaps nothing ran"]
    if found.busy_gap_ns:
        parts.append(f"in {duration(found.busy_gap_ns)} nodes beside the path did")
    if found.crossing_gap_ns:
        parts.append(f"{duration(found.crossing_gap_ns)} lie between nodes of different queues")
    if found.submitting_gap_ns:
        parts.append(
            f"{duration(found.submitting_gap_ns)} of the idle part lie before the launch call "
            "had returned"
        )
    if found.untimed_gap_ns:
        parts.append(f"{duration(found.untimed_gap_ns)} hold nodes that CUPTI does not time")
    return joined(", ".join(parts))


def _events_in_words(found: LedgerResult) -> str:
    if found.residual_ns is None:
        text = "no launch with node times has events around it, so there is no residual"
    else:
        more = "more" if found.residual_ns >= 0 else "less"
        text = (
            f"events around these launches saw {duration(abs(found.residual_ns))} {more} (median)"
        )
    call = ""
    if found.call_to_first_ns is not None:
        call = (
            f"from a launch call to its first node pass {duration(found.call_to_first_ns)} (median)"
        )
    plain = ""
    if found.plain_event_ns is not None:
        plain = (
            f"a launch without node times takes {duration(found.plain_event_ns)} between its "
            "events (median)"
        )
    return joined(text, call, plain)


def _longest_gaps(found: LedgerResult, links: NodeLinks) -> list[Component]:
    if not found.gaps:
        return []
    columns = [
        number("Gap"), Column("From the end of"), Column("To the start of"), Column("Held by"),
        number("Others ran", "Part of it in which other nodes of the launch ran"),  Column("Both"),
    ]  # fmt: skip
    rows = [_gap_row(gap, links) for gap in found.gaps]
    return [heading("Longest gaps on the path"), table(columns, rows, "Longest gaps on the path")]


def _gap_row(gap: PathGap, links: NodeLinks) -> list[str | Component | list[str | Component]]:
    held: list[str | Component] = [gap.held_by]
    if gap.via is not None:
        held += [", through ", links.node(gap.via)]
    return [
        duration(gap.gap_ns),
        links.node(gap.before),
        links.node(gap.after),
        held,
        duration(gap.busy_ns) if gap.busy_ns else "",
        links.nodes([gap.before, gap.after]),
    ]


def _launches(found: LedgerResult) -> list[Component]:
    if len(found.launches) < 2:
        return []
    longest = sorted(found.launches, key=lambda x: -x.ledger.total_ns)[:_LISTED]
    columns = [
        Column("Launch"), number("First to last node"), number("Nodes on the path"),
        number("Dependency gaps"), number("Queue waits"), number("Until the path"),
        number("Residual", "Time between the events around it, less the first column"),
    ]  # fmt: skip
    rows = [
        [
            f"#{integer(x.ordinal)}",
            duration(x.ledger.total_ns),
            duration(x.ledger.node_ns),
            duration(x.ledger.dependency_gap_ns),
            duration(x.ledger.queue_wait_ns),
            duration(x.ledger.late_start_ns),
            signed(x.residual_ns),
        ]
        for x in longest
    ]
    more = len(found.launches) - len(longest)
    title = "Longest launches" if more else "Launch by launch, the longest first"
    rest = [said(f"And {counted(more, 'shorter one')}; gviz analyze --json has all.", muted=True)]
    inside = [table(columns, rows, title), *(rest if more else [])]
    return [html.Details([html.Summary(title), *inside], className="gv-report-more")]
