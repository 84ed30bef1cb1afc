"""The ledger of a launch's time: its parts, the gaps on the path, the launches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import nan

from gviz.analysis import LedgerResult, PathGap, PathNode
from gviz.report.document import (
    Bar,
    Block,
    Content,
    Drawing,
    NodeLink,
    Quantity,
    Section,
    Sentence,
    column,
    contradictions_text,
    gap_between,
    joined,
    line,
    negated,
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
from gviz.stats import Evidence, interval_between
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
        _gaps_in_words(found),
        _events_in_words(found),
        _longest_gaps(found),
        _launches(found),
    ]
    return [block for block in blocks if block is not None]


def _parts(found: LedgerResult, path: tuple[PathNode, ...]) -> Iterator[tuple[Bar, Content]]:
    """Yield the parts with the nodes that each is about."""

    def held(by: str) -> Content:
        return nodes(x.node for x in path[1:] if x.held_by == by and x.gap_ns > 0)

    # All four always: that there were no waits is an answer too.
    on_path = nodes(x.node for x in path)
    yield Bar("Nodes on the critical path", _part(found, "node_ns"), "work"), on_path
    after = Bar("Gaps after a dependency ended", _part(found, "dependency_gap_ns"), "gap")
    yield after, held("dependency")
    waits = Bar("Waits for a hardware queue", _part(found, "queue_wait_ns"), "wait")
    yield waits, held("queue")
    first = NodeLink(path[0].node) if path else ""
    yield Bar("Until the path's first node", _part(found, "late_start_ns"), "other"), first
    whole = Bar("First node's start to last node's end", _part(found, "total_ns"), "total")
    yield whole, ""
    if found.residual_ns is not None:
        residual = ns(found.residual_ns, interval=found.residual_interval)
        yield Bar("Residual: seen by events only", residual, "other"), ""


def _part(found: LedgerResult, name: str) -> Quantity:
    """Return a part of the median launch's time, by its field, with its interval."""
    low, high = (nan if end is None else getattr(end, name) for end in (found.low, found.high))
    return ns(getattr(found.median, name), interval=interval_between(low, high))


def _gaps_in_words(found: LedgerResult) -> Sentence:
    median = found.median
    if not median.dependency_gap_ns + median.queue_wait_ns + median.late_start_ns:
        return say("There are no gaps on the path.")
    parts: list[Content] = [("In ", _part(found, "idle_gap_ns"), " of the gaps nothing ran")]
    if median.busy_gap_ns:
        parts.append(("in ", _part(found, "busy_gap_ns"), " nodes beside the path did"))
    if median.crossing_gap_ns:
        rest = " lie between nodes of different queues"
        parts.append((_part(found, "crossing_gap_ns"), rest))
    if median.submitting_gap_ns:
        lead = " of the idle part lie before the launch call had returned"
        parts.append((_part(found, "submitting_gap_ns"), lead))
    if median.untimed_gap_ns:
        parts.append((_part(found, "untimed_gap_ns"), " hold nodes that CUPTI does not time"))
    return say(joined(parts), f"{contradictions_text(found.evidence)}.")


def _events_in_words(found: LedgerResult) -> Sentence:
    seen: list[Content] = []
    launches = found.launches
    if found.residual_ns is None:
        seen.append("No launch with node times has events around it, so there is no residual.")
    else:
        more = "more" if found.residual_ns >= 0 else "less"
        count = sum(x.residual_ns is not None for x in launches)
        residual = ns(found.residual_ns, interval=found.residual_interval)
        residual = residual if found.residual_ns >= 0 else negated(residual)
        residual = resting_on(residual, replace(found.evidence, n=count))
        seen.append(("Events around these launches saw ", residual, f" {more} (median)."))
    if found.call_to_first_ns is not None:
        count = sum(x.call_to_first_ns is not None for x in launches)
        lead = ns(found.call_to_first_ns, "measured", interval=found.call_to_first_interval)
        lead = resting_on(lead, replace(found.evidence, n=count))
        seen.append(("From a launch call to its first node pass ", lead, " (median)."))
    if found.plain_event_ns is not None:
        state = found.plain_event_state
        evidence = Evidence("measured", found.plain_event_count, state=state)
        plain = ns(found.plain_event_ns, "measured", interval=found.plain_event_interval)
        plain = resting_on(plain, evidence)
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
        ns(gap.gap_ns, interval=gap.interval), number(gap.alike_count, "derived"),
        ns(gap.alike_ns, interval=gap.alike_interval),
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
