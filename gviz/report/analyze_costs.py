"""The text of ``gviz analyze`` that rests on launch costs: expected calls, other lengths."""

from __future__ import annotations

from collections.abc import Iterator

from gviz.analysis import ExpectedCost, LengthTable, PassForecast, RunForecast
from gviz.stats import NotComputed
from gviz.text import MISSING, counted, duration, multiple, render_table, signed_percent, wrapped

#: Lengths that the text shows: every other one.
_STEP = 2
#: Passes that the text shows.
_LISTED = 8


def render_expected_cost(result: ExpectedCost, width: int) -> Iterator[str]:
    """Yield the lines about what calls should cost, and about graphs of other lengths."""
    body = []
    for call in result.calls:
        times = MISSING
        if call.measured_ns is not None and call.expected_ns:
            times = multiple(call.measured_ns / call.expected_ns)
        marks = ("*" if call.with_node_times else "") + ("+" if call.is_extrapolated else "")
        body.append(
            [f"{call.name}{marks}", duration(call.measured_ns), duration(call.expected_ns), times]
        )
    head = ["host time", "measured", "at least", "ratio"]
    yield from render_table(head, body, width=width, elastic=0, indent=4).split("\n")
    notes = [
        f"at least [estimated]: by lines for {_shape(result)} of empty kernels, launched from "
        "native code; more is the framework's, the nodes' kinds and parameters, or the "
        "recording's own"
    ]
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
        f"{'never' if needed is None else f'{needed:,}'} with {counted(count, 'node')}"
        for count, needed in list(zip(found.node_count, launches, strict=True))[::_STEP]
    ]
    by = "elapsed" if found.elapsed_launches else "host"
    side = "" if found.stream_is_measured else ", against stream calls that cost what lines say"
    yield from wrapped(
        f"a shorter or longer graph of such nodes pays back by {by} time{side} after launches "
        f"[estimated]: {', '.join(shown)}",
        width,
    )


def render_forecast(found: RunForecast, width: int) -> Iterator[str]:
    """Yield the lines about what graphs of passes by stream calls would take."""
    head = ["passes", "operations", "measured", "as a graph", "gain", "then took"]
    columns = len(head) if any(one.measured_graph_ns for one in found.passes) else len(head) - 1
    body = [_forecast_row(one)[:columns] for one in found.passes[:_LISTED]]
    yield from render_table(head[:columns], body, width=width, elastic=0, indent=4).split("\n")
    if len(found.passes) > _LISTED:
        yield from wrapped(f"and {len(found.passes) - _LISTED:,} more kinds (--json)", width)
    text = (
        "median pass from its first operation to its last on the GPU [measured]; as a graph, gaps "
        "closed to what lies between nodes by the launch costs [estimated]"
    )
    if any(one.error_fraction is not None for one in found.passes):
        text += "; then took: the graph as it was recorded [measured], and the forecast's error"
    yield from wrapped(text, width)
    if found.left_over_count:
        count = counted(found.left_over_count, "operation")
        yield from wrapped(f"{count} outside graphs are in no pass with a kernel", width)


def _forecast_row(one: PassForecast) -> list[str]:
    name = counted(one.pass_count, "pass", "passes")
    if one.graph_id is not None:
        name += f" before graph {one.graph_id}"
    if one.range is not None:
        name += f", {one.range}"
    elif one.graph_id is None:
        name += f" of {counted(one.block_count, 'block')}"
    took = MISSING
    if one.measured_graph_ns is not None and one.error_fraction is not None:
        took = f"{duration(one.measured_graph_ns)} ({signed_percent(one.error_fraction)})"
    return [
        name, f"{one.operation_count:,}", duration(one.stream_ns),
        duration(one.graph_ns), multiple(one.gain), took,
    ]  # fmt: skip
