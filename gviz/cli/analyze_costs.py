"""The text of ``gviz analyze`` that rests on launch costs: expected calls, other lengths."""

from __future__ import annotations

from collections.abc import Iterator

from gviz.analysis.expected_cost import ExpectedCost, LengthTable
from gviz.analysis.figure import NotComputed
from gviz.cli.quantity import format_ns
from gviz.cli.text_table import render_table
from gviz.cli.wrapped import wrapped

#: Lengths that the text shows: every other one.
_STEP = 2


def render_expected_cost(result: ExpectedCost, width: int) -> Iterator[str]:
    """Yield the lines about what calls should cost, and about graphs of other lengths."""
    body = []
    for call in result.calls:
        times = "-"
        if call.measured_ns is not None and call.expected_ns:
            times = f"{call.measured_ns / call.expected_ns:.1f} x"
        marks = ("*" if call.with_node_times else "") + ("+" if call.is_extrapolated else "")
        body.append(
            [f"{call.name}{marks}", format_ns(call.measured_ns), format_ns(call.expected_ns), times]
        )
    head = ["host time", "measured", "estimated", "here"]
    yield from render_table(head, body, width=width, elastic=0, indent=4).split("\n")
    notes = [f"by lines for {_shape(result)} of empty kernels, launched from native code"]
    if any(call.with_node_times for call in result.calls):
        notes.append("* with node times on, which lengthen it")
    if any(call.is_extrapolated for call in result.calls):
        notes.append("+ beyond the lengths measured")
    yield from wrapped("; ".join(notes), width)
    if isinstance(result.by_length, NotComputed):
        yield from wrapped(f"other lengths: not computed: {result.by_length.not_computed}", width)
    else:
        yield from _render_lengths(result.by_length, width)


def _shape(result: ExpectedCost) -> str:
    if result.width == 1:
        return "straight lines"
    plural = "joined branches" if result.topology == "fork-join" else "parallel lines"
    return f"{result.width} {plural}"


def _render_lengths(found: LengthTable, width: int) -> Iterator[str]:
    launches = found.elapsed_launches or found.host_launches
    shown = [
        f"{count:,}: {'never' if needed is None else f'{needed:,}'}"
        for count, needed in list(zip(found.node_count, launches, strict=True))[::_STEP]
    ]
    by = "elapsed" if found.elapsed_launches else "host"
    side = "" if found.stream_is_measured else ", against stream calls that cost what lines say"
    yield from wrapped(
        f"launches that pay back a graph of so many of these nodes, by {by} time{side} "
        f"[estimated]: {', '.join(shown)}",
        width,
    )
