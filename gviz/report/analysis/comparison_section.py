"""A graph against the same work run eagerly: both sides, the gain split, idle shares."""

from __future__ import annotations

from collections.abc import Callable

from gviz.analysis import AlternateGain, Gain, GainSide, OneSided, StreamResult
from gviz.report.document import (
    STATE_NAMES,
    Bar,
    Block,
    Content,
    Drawing,
    NodeLink,
    Quantity,
    Section,
    Sentence,
    TableBlock,
    bounded,
    column,
    joined,
    ns,
    number,
    numbers,
    say,
    section,
    share,
    state_text,
    table,
)
from gviz.stats import CuptiState, How, NotComputed, Spread
from gviz.text import MISSING, counted, percent

#: Of fewer eager iterations an interval is too narrow.
_FEW = 5
#: Rows of what one side alone has in the short form.
_BRIEF = 3


def comparison(found: StreamResult) -> list[Block]:
    """Return both sides, where the difference comes from, and how idle the GPU is."""
    iterations = found.stream.total_ns.count
    blocks: list[Block] = [_sides(found)]
    if iterations < _FEW:
        count = counted(iterations, "eager iteration")
        few = f"There are {count} only: the intervals are too narrow, of two no more than a range."
        blocks.append(say(few, note=True))
    blocks.append(_conditions(found))
    if not isinstance(found.alternate, NotComputed):
        blocks.append(_alternate(found.alternate))
    more = (_gain(found), _idle(found), _one_sided(found))
    return [*blocks, *(x for x in more if x is not None)]


def interval(found: Quantity) -> str:
    """Return the interval of a quantity as a cell."""
    return found.interval_text or MISSING


def _sides(found: StreamResult) -> TableBlock:
    columns = [
        column("Of a launch or eager iteration"), numbers("Graph"),
        numbers("95% interval", detail=True), numbers("Eager"),
        numbers("95% interval", detail=True),
    ]  # fmt: skip
    total = [side.total_ns for side in (found.graph, found.stream)]
    spread: list[list[Content]] = [
        ["Standard deviation", ns(total[0].sd), "", ns(total[1].sd), ""],
        ["99th percentile", ns(total[0].p99), "", ns(total[1].p99), ""],
    ]
    counts: list[Content] = [
        "Launches, eager iterations", number(total[0].count), "", number(total[1].count), ""
    ]  # fmt: skip
    rows: list[list[Content]]
    if found.is_of_plain_launches:
        rows = [
            _means("On the GPU, mean", found, lambda s: _mean_ns(s.gpu_ns)),
            *spread, _host(found), counts,
        ]  # fmt: skip
    else:
        first_to_last = "First node's start to last node's end, mean"
        rows = [
            _means("Call to last node's end, mean", found, lambda s: _mean_ns(s.total_ns)),
            *spread,
            _means(first_to_last, found, lambda s: _mean_ns(s.gpu_ns)),
            _host(found),
            _means("Idle share while it runs, mean", found, _idle_share),
            counts,
        ]
    return table("The work as a graph and eagerly", columns, rows)


def _alternate(found: AlternateGain) -> TableBlock:
    """Return what the graph saves without node times."""
    heading = "Without node times, launches and eager iterations alternately"
    count = counted(found.evidence.n, "launch", "launches")
    columns = [
        column(f"Of {count} and eager iterations, {state_text(found.evidence)}"),
        numbers("Graph"), numbers("Eager"), numbers("Saved", "Mean of a launch; below 0 it costs"),
        numbers("95% interval", "Of what is saved, by Student's t"), numbers("Its width"),
    ]  # fmt: skip
    return table(
        heading,
        columns,
        [
            _saved("Between events, mean", found.graph_ns, found.eager_ns, found.saved),
            _saved(
                "Host time in calls, mean",
                found.graph_host_ns,
                found.eager_host_ns,
                found.host_saved,
            ),
        ],
    )


def _saved(name: str, graph_ns: float, eager_ns: float, gain: Gain) -> list[Content]:
    saved = ns(gain.mean_ns, interval=gain.interval)
    sides = (ns(graph_ns, "measured"), ns(eager_ns, "measured"))
    return [name, *sides, saved, interval(saved), saved.width_text or MISSING]


def _host(found: StreamResult) -> list[Content]:
    """Return the row of host time in calls; launch calls that waited are left out."""
    row: list[Content] = ["Host time in calls, mean"]
    for side in (found.graph, found.stream):
        if side.host_ns is None:
            row += ["not known", MISSING]
        else:
            mean = bounded(_mean_ns(side.host_ns, "measured"), side.evidence)
            row += [mean, interval(mean)]
    return row


def _mean_ns(found: Spread, how: How = "derived") -> Quantity:
    return ns(found.mean, how, n=found.count, interval=found.interval)


def _idle_share(side: GainSide) -> Quantity:
    found = side.idle_fraction
    return share(None) if found is None else share(found.mean, interval=found.interval)


def _means(name: str, found: StreamResult, value: Callable[[GainSide], Quantity]) -> list[Content]:
    graph, eager = (bounded(value(side), side.evidence) for side in (found.graph, found.stream))
    return [name, graph, interval(graph), eager, interval(eager)]


def _conditions(found: StreamResult) -> Sentence:
    parts: list[Content] = [
        "Launches are plain ones, between the events around them; eager iterations are from the "
        "first operation to the last, with events around each call, which lengthen them."
        if found.is_of_plain_launches
        else "Node times were on for both sides and lengthen calls."
    ]
    if found.plain_graph_ns is not None and not found.is_of_plain_launches:
        parts.append(
            (
                "A launch without them takes ",
                ns(found.plain_graph_ns.median, "measured", n=found.plain_graph_ns.count),
                f" between its events ({_state(found.plain_state)}median).",
            )
        )
    if isinstance(found.alternate, NotComputed):
        parts.append("Eager iterations without them were not measured.")
    parts += _calls(found)
    if found.coverage_fraction < 1:
        covered = percent(found.coverage_fraction)
        parts.append(f"The eager side has {covered} of the graph's timed nodes.")
    left = found.graph.left_out_count, found.stream.left_out_count
    if any(left):
        launches = counted(left[0], "launch", "launches")
        iterations = counted(left[1], "eager iteration")
        parts.append(f"Left out, as first or incomplete: {launches} and {iterations}.")
    return say(joined(parts, " "), note=True)


def _state(state: CuptiState | None) -> str:
    return "" if state is None else f"{STATE_NAMES[state]}, "


def _calls(found: StreamResult) -> list[Content]:
    """Return what launch calls took, and how many of them waited."""
    parts: list[Content] = []
    if found.waited_count:
        known = 0 if found.graph.host_ns is None else found.graph.host_ns.count
        parts.append(
            (
                f"{found.waited_count:,} of {known + found.waited_count:,} launch calls waited for "
                f"a full queue ({found.full_queue_launches:,} launches in flight), ",
                ns(found.waited_ns, "derived", n=found.waited_count),
                " each (median): host times are of the others.",
            )
        )
    if found.host_plain_ns is not None and not found.is_of_plain_launches:
        plain = ns(found.host_plain_ns, "measured", n=found.host_plain_count)
        calls = counted(found.host_plain_count, "call")
        state = _state(found.plain_state)
        parts.append(
            ("A launch call without node times takes ", plain, f" ({state}median of {calls}).")
        )
    return parts


def _gain(found: StreamResult) -> Section | None:
    """Return the parts of the gain; None: it has none."""
    gain_parts = _gain_parts(found)
    if not gain_parts:
        return None
    heading = "What the gain is made of"
    columns = [
        column("Part of the gain"), numbers("Saved", "Mean of a launch; below 0 it costs"),
        numbers("95% interval", "Of the difference of the means, by bootstrap", detail=True),
    ]  # fmt: skip
    named = [
        *gain_parts,
        ("All together", found.saved),
    ]
    if not isinstance(found.host_saved, NotComputed):
        named.append(("Host time in calls, beside it", found.host_saved))
    rows: list[list[Content]] = []
    for name, gain in named:
        saved = ns(gain.mean_ns, interval=gain.interval)
        if gain in (found.saved, found.host_saved):
            saved = bounded(saved, found.evidence)
        rows.append([name, saved, interval(saved)])
    steps = Drawing("gain", _steps(found, gain_parts))
    return section("gain", heading, steps, table(heading, columns, rows, in_line=True))


def _gain_parts(found: StreamResult) -> list[tuple[str, Gain]]:
    named = [
        ("Waiting for calls", found.host),
        ("Other gaps closed", found.gaps),
        ("Overlap gained", found.overlap),
        ("Node times", found.node_time),
        ("Nodes of one side only", found.one_sided),
    ]
    return [(name, part) for name, part in named if not isinstance(part, NotComputed)]


def _steps(found: StreamResult, gain_parts: list[tuple[str, Gain]]) -> tuple[Bar, ...]:
    """Return the way from eager to the graph: what the graph saves goes down."""
    parts = [
        Bar(name, ns(0.0 - gain.mean_ns), "gain" if gain.mean_ns >= 0 else "loss")
        for name, gain in gain_parts
    ]
    eager, graph = found.stream.total_ns.mean, found.graph.total_ns.mean
    return (
        Bar("Eager", bounded(ns(eager), found.stream.evidence), "total"),
        *parts,
        Bar("As a graph", ns(graph), "total"),
    )


def _idle(found: StreamResult) -> Section | None:
    if found.idle_without_host_fraction is None:
        return None
    eager, graph = (bounded(_idle_share(x), x.evidence) for x in (found.stream, found.graph))
    without_host = share(found.idle_without_host_fraction)
    words = say(
        "Of the eager side's time ", eager, " is idle; ", without_host, " would be if the GPU "
        "never waited for a call; as a graph ", graph, " is.",
    )  # fmt: skip
    example = say("NVIDIA's own example has 64%, 45% and 33%.", note=True, detail=True)
    bars = (Bar("eager", eager), Bar("if the GPU never waited for a call", without_host),
            Bar("graph", graph))  # fmt: skip
    heading = "How idle the GPU is while the work runs"
    return section("idle", heading, words, example, Drawing("idle", bars))


def _one_sided(found: StreamResult) -> Section | None:
    rows: list[list[Content]] = [
        [_name(one), side, ns(one.mean_ns)]
        for side, listed in (("graph", found.only_graph), ("eager", found.only_stream))
        for one in listed
    ]
    if not rows:
        return None
    columns = [column("What"), column("Only in"), numbers("Time, mean")]
    heading = "What only one side has, the longest"
    return section("one-sided", heading, table(heading, columns, rows, brief=_BRIEF))


def _name(one: OneSided) -> Content:
    return one.name if one.node is None else NodeLink(one.node)
