"""The ledger of a launch's time: its parts, the gaps on the path, the launches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gviz.analysis import GapLedger, LedgerResult, PathGap, PathNode
from gviz.report.document import (
    Bar,
    Block,
    Content,
    Drawing,
    NodeLink,
    Section,
    Sentence,
    column,
    contradictions_text,
    gap_between,
    joined,
    line,
    nodes,
    ns,
    number,
    numbers,
    resting_on,
    say,
    section,
    share,
    state_text,
    table,
)
from gviz.stats import Evidence
from gviz.text import counted, integer

#: Launches that are listed, the longest.
_LAUNCHES = 10
#: Gaps of the short form, and the share of the launch below which they are not worth a row of it.
_GAPS, _LEAST_GAP = 2, 0.005


def ledger(found: LedgerResult, path: tuple[PathNode, ...]) -> list[Block]:
    """Return where the time of the median launch went; ``path``: its observed critical path."""
    count = counted(len(found.launches), "launch", "launches")
    note = f"The median of {count} with node times, split along its critical path."
    parts = list(_parts(found, path))
    whole = found.median.total_ns
    listed = table(
        "Where the time of the median launch goes",
        [column(f"Median launch of {len(found.launches):,}"), numbers("Time"), numbers("Share"),
         column("Nodes", detail=True)],
        [(bar.name, bar.value, share((bar.value.value or 0.0) / whole) if whole else "", where)
         for bar, where in parts],
    )  # fmt: skip
    blocks: list[Block | None] = [
        say(note, note=True, detail=True),
        Drawing("ledger", tuple(bar for bar, _ in parts)),
        listed,
        _gaps_in_words(found.median, found.evidence),
        _events_in_words(found),
        _longest_gaps(found),
        _launches(found),
    ]
    return [block for block in blocks if block is not None]


def _parts(found: LedgerResult, path: tuple[PathNode, ...]) -> Iterator[tuple[Bar, Content]]:
    """Yield the parts with the nodes that each is about."""
    median = found.median

    def held(by: str) -> Content:
        return nodes(x.node for x in path[1:] if x.held_by == by and x.gap_ns > 0)

    # All four always: that there were no waits is an answer too.
    on_path = nodes(x.node for x in path)
    yield Bar("Nodes on the critical path", ns(median.node_ns), "work"), on_path
    after = Bar("Gaps after a dependency ended", ns(median.dependency_gap_ns), "gap")
    yield after, held("dependency")
    yield Bar("Waits for a hardware queue", ns(median.queue_wait_ns), "wait"), held("queue")
    first = NodeLink(path[0].node) if path else ""
    yield Bar("Until the path's first node", ns(median.late_start_ns), "other"), first
    yield Bar("First node's start to last node's end", ns(median.total_ns), "total"), ""
    if found.residual_ns is not None:
        yield Bar("Residual: seen by events only", ns(found.residual_ns), "other"), ""


def _gaps_in_words(found: GapLedger, evidence: Evidence) -> Sentence:
    gaps = found.dependency_gap_ns + found.queue_wait_ns + found.late_start_ns
    if not gaps:
        return say("There are no gaps on the path.")
    parts: list[Content] = [("In ", ns(gaps - found.busy_gap_ns), " of the gaps nothing ran")]
    if found.busy_gap_ns:
        parts.append(("in ", ns(found.busy_gap_ns), " nodes beside the path did"))
    if found.crossing_gap_ns:
        parts.append((ns(found.crossing_gap_ns), " lie between nodes of different queues"))
    if found.submitting_gap_ns:
        lead = " of the idle part lie before the launch call had returned"
        parts.append((ns(found.submitting_gap_ns), lead))
    if found.untimed_gap_ns:
        parts.append((ns(found.untimed_gap_ns), " hold nodes that CUPTI does not time"))
    return say(joined(parts), f"{contradictions_text(evidence)}.")


def _events_in_words(found: LedgerResult) -> Sentence:
    seen: list[Content] = []
    launches = found.launches
    if found.residual_ns is None:
        seen.append("No launch with node times has events around it, so there is no residual.")
    else:
        more = "more" if found.residual_ns >= 0 else "less"
        count = sum(x.residual_ns is not None for x in launches)
        residual = resting_on(ns(abs(found.residual_ns)), replace(found.evidence, n=count))
        seen.append(("Events around these launches saw ", residual, f" {more} (median)."))
    if found.call_to_first_ns is not None:
        count = sum(x.call_to_first_ns is not None for x in launches)
        lead = ns(found.call_to_first_ns, "measured")
        lead = resting_on(lead, replace(found.evidence, n=count))
        seen.append(("From a launch call to its first node pass ", lead, " (median)."))
    if found.plain_event_ns is not None:
        state = found.plain_event_state
        evidence = Evidence("measured", found.plain_event_count, state=state)
        plain = resting_on(ns(found.plain_event_ns, "measured"), evidence)
        rest = f" between its events ({state_text(evidence)}, median)."
        seen.append(("A launch without node times takes ", plain, rest))
    return say(joined(seen, " "))


def _longest_gaps(found: LedgerResult) -> Section | None:
    if not found.gaps:
        return None
    least = _LEAST_GAP * found.median.total_ns
    worth = sum(gap.alike_ns >= least for gap in found.gaps)
    columns = [
        numbers("Longest", detail=True), numbers("Alike", "Gaps between nodes of these names"),
        numbers("Together"), column("From the end of"), column("To the start of"),
        column("Held by"),
        numbers("Others ran", "How much of it other nodes of the launch ran in", detail=True),
        column("Both", detail=True),
    ]  # fmt: skip
    heading = "Longest gaps on the path"
    rows: list[list[Content]] = [_gap_row(gap) for gap in found.gaps]
    listed = table(heading, columns, rows, brief=min(worth, _GAPS))
    return section("gaps", heading, listed, detail=not worth)


def _gap_row(gap: PathGap) -> list[Content]:
    held = gap.held_by if gap.via is None else line(gap.held_by, ", through ", NodeLink(gap.via))
    return [
        ns(gap.gap_ns), number(gap.alike_count, "derived"), ns(gap.alike_ns),
        NodeLink(gap.before), NodeLink(gap.after), held,
        ns(gap.busy_ns) if gap.busy_ns else "", gap_between(gap.before, gap.after),
    ]  # fmt: skip


def _launches(found: LedgerResult) -> Section | None:
    if len(found.launches) < 2:
        return None
    longest = sorted(found.launches, key=lambda x: -x.ledger.total_ns)[:_LAUNCHES]
    columns = [
        column("Launch"), numbers("First to last node"), numbers("Nodes on the path"),
        numbers("Dependency gaps"), numbers("Queue waits"), numbers("Until the path"),
        numbers("Residual", "Time between the events around it, less the first column"),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [f"#{integer(x.ordinal)}", ns(x.ledger.total_ns), ns(x.ledger.node_ns),
         ns(x.ledger.dependency_gap_ns), ns(x.ledger.queue_wait_ns),
         ns(x.ledger.late_start_ns), ns(x.residual_ns)]
        for x in longest
    ]  # fmt: skip
    more = len(found.launches) - len(longest)
    heading = "Longest launches" if more else "Launch by launch, the longest first"
    noun = ("shorter one", "shorter ones")
    listed = table(heading, columns, rows, left_out=more, row_noun=noun)
    return section("launches", heading, listed, detail=True, folded=True)
