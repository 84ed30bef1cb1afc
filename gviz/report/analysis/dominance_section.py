"""The work that dominates a launch: node time by name, family, kind, range and layer; waves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gviz.analysis import Dominance, Fullness, LayerTimes, RepeatTime, TimeShares
from gviz.report.document import (
    AlikeLink,
    Bar,
    Block,
    Content,
    Drawing,
    Grouping,
    NodeLink,
    Section,
    Sentence,
    TableBlock,
    average,
    column,
    not_computed,
    ns,
    number,
    numbers,
    say,
    section,
    share,
    table,
)
from gviz.stats import NotComputed
from gviz.text import duration, percent

#: Rows of the table by name, as many as its chart has, and of the others.
_CHARTED, _LISTED = 12, 8
#: Rows of tables in the short form, of those that it has as sentences, and of layers, of which a
#: sentence names the longest and the shortest.
_BRIEF, _IN_LINE, _BRIEF_LAYERS = 3, 4, 2
#: Layers of the table: models have up to some hundred.
_MOST_LAYERS = 500
#: Repeats below this share of the node time are not worth a row of the short form.
_LEAST_REPEAT = 0.02


def dominance(found: Dominance) -> list[Block]:
    """Return what took most of a launch's node time, in several respects."""
    of = f"Shares of the {duration(found.node_ns)} that all nodes of the median launch take"
    return [
        say(f"{of}, whether or not they overlap.", note=True, detail=True),
        Drawing("dominance", tuple(_bars(found.by_name))),
        _shares(found.by_name, "name", "Name", _CHARTED),
        _part("family", "By kernel family", found.by_family, "Family"),
        _part("kind", "By kind", found.by_kind, "Kind"),
        _part("range", "By innermost NVTX range", found.by_range, "Range"),
        *_capture_ranges(found),
        *_forward_operations(found),
        _part("nesting", "By NVTX range as it nests", found.by_nesting, "Range"),
        _layers(found.layers),
        _repeats(found.repeats, is_detail=not isinstance(found.layers, NotComputed)),
        _fullness(found.fullness),
    ]


def _capture_ranges(found: Dominance) -> Iterator[Block]:
    if found.capture_range_count and not isinstance(found.by_range, NotComputed):
        count = number(found.capture_range_count, "derived")
        yield say(
            count, " of the nodes were made on a thread without ranges, such as autograd's: their "
            "range is the one that was open on the capturing thread.", note=True,
        )  # fmt: skip


def _forward_operations(found: Dominance) -> Iterator[Block]:
    if not found.forward_count:
        return
    count = number(found.forward_count, "derived")
    text = " nodes of autograd have their operation of the forward pass (autograd: sequence)"
    if found.forward_range_count:
        ranges = number(found.forward_range_count, "derived")
        yield say(count, text, ", and ", ranges, " its NVTX range.", note=True)
    else:
        yield say(count, text, ".", note=True)


def _bars(found: TimeShares) -> Iterator[Bar]:
    for name, fraction in list(zip(found.name, found.fraction, strict=True))[:_CHARTED]:
        yield Bar(name, share(fraction))


def _part(by: Grouping, heading: str, found: TimeShares | NotComputed, what: str) -> Section:
    # Families tell copies and fills from kernels too.
    is_detail = by in ("nesting", "kind")
    if isinstance(found, NotComputed):
        return section(by, heading, not_computed(found), detail=True)
    rows = _shares(found, by, what, _LISTED, in_line=True, label=heading)
    return section(by, heading, rows, detail=is_detail)


def _shares(
    found: TimeShares, by: Grouping, what: str, most: int, *, in_line: bool = False, label: str = ""
) -> TableBlock:
    overlap = any(x != x for x in found.cumulative_fraction)  # NaN
    columns = [
        column(what), numbers("Executions", detail=in_line), numbers("Time", detail=in_line),
        numbers("Share"),
    ]  # fmt: skip
    if not overlap:
        columns.append(numbers("Together", "This one and all above it", detail=in_line))
    if found.path_ns is not None:
        meaning = "Of its time on the observed critical path"
        columns.append(numbers("On the path", meaning, detail=in_line))
    rows = []
    for at, name in enumerate(found.name[:most]):
        row: list[Content] = [
            AlikeLink(by, name), number(found.executions[at]),
            ns(found.total_ns[at], interval=found.interval[at]),
            share(found.fraction[at]),
        ]  # fmt: skip
        if not overlap:
            row.append(share(found.cumulative_fraction[at]))
        if found.path_ns is not None:
            row.append(ns(found.path_ns[at]))
        rows.append(row)
    return table(
        label or f"Node time by {what.lower()}",
        columns,
        rows,
        brief=_IN_LINE if in_line else _BRIEF,
        in_line=in_line,
        left_out=len(found.name) + found.left_out_count - len(rows),
    )


def _layers(found: LayerTimes | NotComputed) -> Section:
    heading = "Layers of the model"
    if isinstance(found, NotComputed):
        return section("layers", heading, not_computed(found), detail=True)
    columns = [column("Layer"), numbers("Nodes"), numbers("Time"), numbers("Share")]
    order = sorted(range(len(found.name)), key=lambda at: -found.total_ns[at])
    listed = table(
        "Node time by layer, the longest first",
        columns,
        [
            (AlikeLink("layer", found.name[at]), number(found.node_count[at]),
             ns(found.total_ns[at], interval=found.interval[at]), share(found.fraction[at]))
            for at in order[:_MOST_LAYERS]
        ],
        brief=_BRIEF_LAYERS,
        left_out=max(0, len(order) - _MOST_LAYERS),
    )  # fmt: skip
    return section("layers", heading, _layers_in_words(found, order), listed)


def _layers_in_words(found: LayerTimes, order: Sequence[int]) -> Sentence:
    middle = float(np.median(found.total_ns))
    parts: list[Content] = [
        number(len(found.name), "derived"), f" layers, {found.name[0]} to {found.number[-1]}: ",
        share(sum(found.fraction)), " of the node time, ", ns(middle), " each (median), from ",
        ns(found.total_ns[order[-1]]), f" ({found.name[order[-1]]}) to ",
        ns(found.total_ns[order[0]]), f" ({found.name[order[0]]}).",
    ]  # fmt: skip
    if found.source == "repeats":
        parts.append(" They are equal blocks of nodes that repeat, numbered from 0.")
    if found.of_forward_count:
        count = number(found.of_forward_count, "derived")
        parts += [" ", count, " nodes of autograd are in the layer of their operation of the "
                  "forward pass (autograd: sequence)."]  # fmt: skip
    if found.inferred_count:
        count = number(found.inferred_count, "derived")
        parts += [" The layer of ", count, " nodes follows from the order of blocks."]
    return say(*parts)


def _repeats(found: tuple[RepeatTime, ...] | NotComputed, *, is_detail: bool) -> Section:
    heading = "Equal blocks that follow each other"
    if isinstance(found, NotComputed):
        return section("repeats", heading, not_computed(found), detail=True)
    if not found:
        return section("repeats", heading, say("No block of nodes repeats."), detail=True)
    worth = sum(x.fraction >= _LEAST_REPEAT for x in found)
    columns = [
        numbers("Blocks"), numbers("Nodes each"), column("First node", detail=True),
        column("Most of it"), numbers("Time", detail=True), numbers("Share"),
        numbers("A block, median"), numbers("Shortest"), numbers("Longest"),
        numbers("Slowest", "Which block that is, from 0", detail=True),
    ]  # fmt: skip
    listed = table(
        "Repeats of equal blocks",
        columns,
        [_repeat(x) for x in found[:_LISTED]],
        brief=min(worth, _BRIEF),
        left_out=max(0, len(found) - _LISTED),
    )
    return section("repeats", heading, listed, detail=is_detail or not worth)


def _repeat(found: RepeatTime) -> Sequence[Content]:
    return (
        number(found.repeats), number(found.period), NodeLink(found.first),
        AlikeLink("name", found.longest_name), ns(found.total_ns), share(found.fraction),
        ns(found.median_ns), ns(found.least_ns), ns(found.most_ns), number(found.slowest),
    )  # fmt: skip


def _fullness(found: Fullness | NotComputed) -> Section:
    heading = "How full the GPU was"
    if isinstance(found, NotComputed):
        return section("fullness", heading, not_computed(found))
    columns = [
        column("Kernel"), numbers("Executions"), numbers("Time"), numbers("Blocks"),
        numbers("Fit at once", "Multiprocessors times the blocks that fit on one"),
        numbers("Waves"),
        numbers("Filled", "Waves over the same rounded up", detail=True),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [AlikeLink("name", x.name), number(x.executions), ns(x.total_ns), number(x.blocks),
         number(x.blocks_at_once), average(x.waves), share(x.filled_fraction)]
        for x in found.kernels
    ]  # fmt: skip
    empty = found.kernels and found.kernels[0].filled_fraction < 1
    listed = table(
        "Kernels that leave most of the GPU empty for longest",
        columns, rows, brief=1 if empty else 0,
    )  # fmt: skip
    return section("fullness", heading, _filled_in_words(found), listed)


def _filled_in_words(found: Fullness) -> Sentence:
    parts: list[Content] = [
        "Each taken alone, kernels fill ", share(found.filled_fraction), " of their waves by time",
    ]  # fmt: skip
    if found.occupancy_fraction is not None:
        parts += [", at a theoretical occupancy of ", share(found.occupancy_fraction)]
    parts.append(".")
    if found.below_one_wave_ns:
        parts += [" ", ns(found.below_one_wave_ns), " run with less than a wave of blocks."]
    if found.tail_ns:
        cost = ns(found.tail_ns, "estimated")
        parts += [" Last waves that are not full cost ", cost, "."]
    if found.known_fraction < 1:
        parts.append(f" It is recorded of {percent(found.known_fraction)} of the kernels' time.")
    return say(*parts)
