"""The break-even of a graph: when it has paid back its making, and what its calls should cost."""

from __future__ import annotations

from dash.development.base_component import Component

from gviz.analysis import BreakEven, ExpectedCall, ExpectedCost, LengthTable, PayBack, SetupCost
from gviz.app.components import COLOURS, Axis, Series, chart
from gviz.app.pages.report.parts import (
    Column,
    Content,
    heading,
    how,
    number,
    said,
    signed,
    table,
    why_not,
)
from gviz.app.pages.report.stream import interval_of
from gviz.stats import NotComputed
from gviz.text import MISSING, counted, duration, integer, multiple, percent

_NEVER = "never"


def break_even(found: BreakEven) -> list[Component]:
    """Return the setup, the launches that pay it back, and the curve."""
    seen = counted(round(found.launches_seen), "time")
    columns = [
        Column("Measured by"), number("A launch saves"), number("95% interval"),
        number("Paid back after"), number("At the ends of the interval"), Column("How"),
    ]  # fmt: skip
    rows = [
        _pay_back("Elapsed time, call to last node's end", found.elapsed),
        _pay_back("Host time in calls", found.host),
    ]
    return [
        table(columns, rows, "When the graph has paid back what making it cost"),
        said(f"Each executable was launched {seen} in this run (median, measured)."),
        _curve(found),
        heading("What making it costs the host"),
        _setup(found.setup),
    ]


def _pay_back(name: str, found: PayBack) -> list[Content]:
    after = _launches(found.launches)
    known = found.saved.interval.low is not None
    ends = MISSING
    if known:
        fewest = _NEVER if found.fewest is None else integer(found.fewest)
        ends = f"{fewest} to {_launches(found.most)}"
    interval = interval_of(found.saved.interval, signed)
    return [name, signed(found.saved.mean_ns), interval, after, ends, how("derived")]


def _launches(count: int | None) -> str:
    return _NEVER if count is None else counted(count, "launch", "launches")


def _curve(found: BreakEven) -> Component:
    curve, elapsed = found.curve, found.elapsed
    unit, scale = ("ms", 1e6) if max(curve.stream_ns) >= 1e6 else ("µs", 1e3)
    series = [
        Series("by stream calls", curve.launches, [ns / scale for ns in curve.stream_ns]),
        Series("as a graph, its setup included", curve.launches,
               [ns / scale for ns in curve.graph_ns]),
    ]  # fmt: skip
    shapes = []
    if elapsed.fewest is not None and elapsed.launches is not None:
        last = curve.launches[-1]
        most = last if elapsed.most is None else min(elapsed.most, last)
        shapes.append(
            {
                "type": "rect", "yref": "paper", "y0": 0, "y1": 1, "x0": elapsed.fewest,
                "x1": most, "fillcolor": COLOURS[2], "opacity": 0.18, "line": {"width": 0},
                "layer": "below",
            }
        )  # fmt: skip
    if elapsed.launches is not None:
        line = {"color": COLOURS[2], "width": 2, "dash": "dot"}
        shapes.append(
            {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": elapsed.launches,
             "x1": elapsed.launches, "line": line}
        )  # fmt: skip
    return chart(
        "break_even",
        series,
        Axis("launches (dotted: paid back; band: at the ends of the 95% interval)"),
        Axis(f"time spent, {unit}"),
        shapes=shapes,
    )


def _setup(found: SetupCost) -> Component:
    columns = [Column("Step"), number("Host time"), Column("How")]
    rows: list[list[Content]] = [
        ["Capture", duration(found.capture_ns), how("measured")],
        ["Instantiation, median", duration(found.instantiate_ns), how("measured")],
        ["Upload, median", "none" if found.upload_ns is None else duration(found.upload_ns),
         how("measured")],
        ["First launch call, more than later ones", duration(found.first_launch_ns),
         how("derived")],
        ["All together", duration(found.total_ns), how("derived")],
    ]  # fmt: skip
    if found.own_ns:
        own = ["Taken off: gviz's own callbacks", duration(found.own_ns), how("measured")]
        rows.insert(-1, own)
    elif found.own_ns is None:
        rows.insert(-1, ["gviz's own callbacks, still in these times", "not known", ""])
    return table(columns, rows, f"Setup, of {counted(found.executable_count, 'executable')}")


def expected_cost(found: ExpectedCost) -> list[Component]:
    """Return what calls took beside what they must, and break-even of other lengths."""
    columns = [
        Column("Call"), number("Measured", "Host time, median"),
        number("At least", "Estimated: by the lines of the launch costs, of empty kernels"),
        number("Ratio"), number("Line's error", "Root mean square against what it was fitted to"),
        Column("Note"),
    ]  # fmt: skip
    many = "branches that join" if found.topology == "fork-join" else found.topology
    shape = "a straight line" if found.width == 1 else f"{many}, {found.width} wide"
    return [
        table(columns, [_call(x) for x in found.calls], "What calls take and must"),
        said(
            "At least ", how("estimated"), f": what a graph of as many empty kernels costs, "
            f"launched from native code, in the nearest shape measured ({shape}). More is the "
            "framework's, the nodes' kinds and parameters, or the recording's own.",
        ),
        heading("Break-even of shorter and longer graphs of the same nodes"),
        *_lengths(found.by_length),
    ]  # fmt: skip


def _call(found: ExpectedCall) -> list[Content]:
    notes = []
    if found.with_node_times:
        notes.append("node times were on, which lengthens it")
    if found.is_extrapolated:
        notes.append("beyond the lengths measured")
    ratio = MISSING
    if found.measured_ns is not None and found.expected_ns:
        ratio = multiple(found.measured_ns / found.expected_ns)
    return [
        found.name.capitalize(),
        duration(found.measured_ns),
        duration(found.expected_ns),
        ratio,
        percent(found.residual_fraction),
        "; ".join(notes),
    ]


def _lengths(found: LengthTable | NotComputed) -> list[Component]:
    if isinstance(found, NotComputed):
        return [why_not(found)]
    elapsed = found.elapsed_launches is not None and found.elapsed_saved_ns is not None
    columns = [
        number("Nodes"), number("Setup"), number("Host time saved, a launch"),
        number("Paid back by host time after"),
    ]  # fmt: skip
    if elapsed:
        columns += [number("Elapsed time saved, a launch"), number("Paid back by it after")]
    rows = []
    for at, count in enumerate(found.node_count):
        row = [
            integer(count),
            duration(found.setup_ns[at]),
            signed(found.host_saved_ns[at]),
            _launches(found.host_launches[at]),
        ]
        if found.elapsed_launches is not None and found.elapsed_saved_ns is not None:
            row += [signed(found.elapsed_saved_ns[at]), _launches(found.elapsed_launches[at])]
        rows.append(row)
    basis = (
        "What was measured here grows as the lines of the launch costs do"
        if found.stream_is_measured
        else "No stream side was recorded: stream calls cost what their line says, the least "
        "that they can"
    )
    return [
        said(f"{basis} ", how("estimated"), "."),
        table(columns, rows, "Break-even by length"),
    ]
