"""Drawings of a report: waterfalls, the Pareto chart, idle shares and the break-even curve."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any, cast

from dash.development.base_component import Component

from gviz.analysis import BreakEven, GraphAnalysis
from gviz.app.components import COLOURS, Axis, Kind, Series, Step, chart, pareto, waterfall
from gviz.families import kernel_label
from gviz.report import Bar, Drawing
from gviz.stats import NotComputed
from gviz.text import shorten

#: A name in the Pareto chart.
_NAME = 44


def draw(found: Drawing, graph: GraphAnalysis) -> Component | None:
    """Return a drawing of a report on a graph; None: there is nothing to draw."""
    match found.name:
        case "ledger":
            whole = next(bar for bar in found.bars if bar.kind == "total")
            label = "Waterfall of the time of the median launch"
            return waterfall(steps_of(found), label=label, whole_ns=whole.value.value)
        case "gain":
            label = "Waterfall from eager to the graph"
            whole_ns = found.bars[0].value.value
            return waterfall(steps_of(found), label=label, whole_ns=whole_ns)
        case "dominance":
            return _pareto(found)
        case "part_gains":
            return _part_gains(found)
        case "idle":
            return _idle(found)
        case "break_even":
            even = graph.break_even
            return None if isinstance(even, NotComputed) else _curve(even)
    raise ValueError(f"no drawing is called {found.name!r}")


def steps_of(found: Drawing) -> list[Step]:
    """Return the bars of a drawing as steps of a waterfall."""
    return [Step(_label(bar), _length(bar), cast(Kind, bar.kind)) for bar in found.bars]


def _label(bar: Bar) -> str:
    return f"{bar.name}, {bar.value.bound}" if bar.value.bound else bar.name


def _length(bar: Bar) -> float:
    return bar.value.value or 0.0


def _pareto(found: Drawing) -> Component | None:
    if not found.bars:
        return None
    shares = [_length(bar) for bar in found.bars]
    return pareto(
        "dominance",
        [shorten(kernel_label(bar.name), _NAME) for bar in found.bars],
        shares,
        list(accumulate(shares)),
        label="Pareto chart of node time by kernel name",
        of_what="node time",
    )


def _part_gains(found: Drawing) -> Component:
    """Return bars of share of time beside bars of gain: equal where all of the time counts."""
    names = list(dict.fromkeys(shorten(bar.name, _NAME) for bar in found.bars))
    series = [
        Series(legend, names, [100 * times * _length(b) for b in found.bars if b.kind == kind])
        for legend, kind, times in (
            ("share of time", "share", 1),
            ("10 × what 10% off brings", "gain", 10),
        )
    ]
    return chart("part_gains", series, Axis(""), Axis("of the launch, %"), bars=True)


def _idle(found: Drawing) -> Component:
    # No error bar where there is no interval.
    ends = [bar.value.interval or (math.nan, math.nan) for bar in found.bars]
    series = Series(
        "idle",
        [_label(bar) for bar in found.bars],
        [100 * _length(bar) for bar in found.bars],
        [100 * low for low, _ in ends],
        [100 * high for _, high in ends],
    )
    return chart("idle", [series], Axis(""), Axis("idle, %"), bars=True, bargap=0.5)


def _curve(found: BreakEven) -> Component:
    curve = found.curve
    unit, scale = ("ms", 1e6) if max(curve.stream_ns) >= 1e6 else ("µs", 1e3)
    eager = "eager, at most" if found.evidence.is_at_most else "eager"
    series = [
        Series(eager, curve.launches, [ns / scale for ns in curve.stream_ns]),
        Series("as a graph, its setup included", curve.launches,
               [ns / scale for ns in curve.graph_ns]),
    ]  # fmt: skip
    return chart(
        "break_even",
        series,
        Axis("launches (dotted: paid back; band: at the ends of the 95% interval)"),
        Axis(f"time spent, {unit}"),
        shapes=list(_marks(found)),
    )


def _marks(found: BreakEven) -> list[dict[str, Any]]:
    """Return where the graph has paid back, and the band of its interval."""
    elapsed, last = found.elapsed, found.curve.launches[-1]
    if elapsed.launches is None:
        return []
    marks: list[dict[str, Any]] = []
    if elapsed.fewest is not None:
        most = last if elapsed.most is None else min(elapsed.most, last)
        marks.append(
            {
                "type": "rect", "yref": "paper", "y0": 0, "y1": 1, "x0": elapsed.fewest,
                "x1": most, "fillcolor": COLOURS[2], "opacity": 0.18, "line": {"width": 0},
                "layer": "below",
            }
        )  # fmt: skip
    marks.append(
        {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": elapsed.launches,
         "x1": elapsed.launches, "line": {"color": COLOURS[2], "width": 2, "dash": "dot"}}
    )  # fmt: skip
    return marks
