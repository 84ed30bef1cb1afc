"""A graph against the same work by stream calls: both sides, the gain split, idle shares."""

from __future__ import annotations

import math
from collections.abc import Callable

from dash import html
from dash.development.base_component import Component

from gviz.analysis import Gain, OneSided, Side, StreamResult
from gviz.app.components import Axis, Series, Step, chart, waterfall
from gviz.app.pages.report.node_links import NodeLinks
from gviz.app.pages.report.parts import (
    Column,
    Content,
    heading,
    how,
    number,
    said,
    signed,
    table,
)
from gviz.stats import Interval, Spread
from gviz.text import MISSING, counted, duration, integer, percent

#: Of fewer passes an interval is too narrow.
_FEW = 5


def comparison(found: StreamResult, links: NodeLinks) -> list[Component]:
    """Return both sides, where the difference comes from, and how idle the GPU is."""
    passes = found.stream.total_ns.count
    few = (
        [said(f"There are {counted(passes, 'pass', 'passes')} by stream calls only: the intervals "
              "are too narrow, of two passes no more than their range.", muted=True)]
        if passes < _FEW else []
    )  # fmt: skip
    return [
        _sides(found),
        *few,
        said(_plain_in_words(found), muted=True),
        heading("What the gain is made of"),
        *_gain(found),
        heading("How idle the GPU is while the work runs"),
        _idle(found),
        *_one_sided(found, links),
    ]


def interval_of(found: Interval, text: Callable[[float], str]) -> str:
    """Return an interval in words; a dash where there is none."""
    if found.low is None or found.high is None:
        return MISSING
    return f"{text(found.low)} to {text(found.high)}"


def _sides(found: StreamResult) -> Component:
    columns = [
        Column("Of a launch or pass"), number("Graph"), number("95% interval"),
        number("Stream calls"), number("95% interval"), Column("How"),
    ]  # fmt: skip
    total = [s.total_ns for s in (found.graph, found.stream)]
    rows = [
        _means("Call to last node's end, mean", found, lambda s: s.total_ns, "derived"),
        ["Standard deviation", duration(total[0].sd), "", duration(total[1].sd), "",
         how("derived")],
        ["99th percentile", duration(total[0].p99), "", duration(total[1].p99), "",
         how("derived")],
        _means("First node's start to last one's end, mean", found, lambda s: s.gpu_ns, "derived"),
        _means("Host time in calls, mean", found, lambda s: s.host_ns, "measured"),
        _means("Idle share while it runs, mean", found, lambda s: s.idle_fraction, "derived"),
        ["Launches, passes", integer(total[0].count), "", integer(total[1].count), "",
         how("measured")],
    ]  # fmt: skip
    return table(columns, rows, "The work as a graph and by stream calls")


def _means(
    name: str, found: StreamResult, value: Callable[[Side], Spread], word: str
) -> list[Content]:
    graph, stream = value(found.graph), value(found.stream)
    text = percent if "share" in name else duration
    return [
        name,
        text(graph.mean),
        interval_of(graph.interval, text),
        text(stream.mean),
        interval_of(stream.interval, text),
        how("measured" if word == "measured" else "derived"),
    ]


def _plain_in_words(found: StreamResult) -> str:
    parts = ["Node times were on for both sides and lengthen calls."]
    if found.plain_graph_ns is not None:
        parts.append(
            f"A launch without them takes {duration(found.plain_graph_ns.median)} between its "
            "events (median, measured); passes without them were not measured."
        )
    if found.coverage_fraction < 1:
        parts.append(
            f"The stream side has {percent(found.coverage_fraction)} of the graph's timed nodes."
        )
    left = found.graph.left_out_count, found.stream.left_out_count
    if any(left):
        parts.append(
            f"Left out, as first or incomplete: {counted(left[0], 'launch', 'launches')} and "
            f"{counted(left[1], 'pass', 'passes')}."
        )
    return " ".join(parts)


def _gain(found: StreamResult) -> list[Component]:
    parts: list[tuple[str, Gain]] = [
        ("Waiting for calls", found.host),
        ("Other gaps closed", found.gaps),
        ("Overlap gained", found.overlap),
        ("Node times", found.node_time),
        ("Nodes of one side only", found.one_sided),
    ]
    stream, graph = found.stream.total_ns.mean, found.graph.total_ns.mean
    steps = [
        Step("By stream calls", stream, "total"),
        *(Step(n, 0.0 - g.mean_ns, "gain" if g.mean_ns >= 0 else "loss") for n, g in parts),
        Step("As a graph", graph, "total"),
    ]
    drawn = waterfall(
        "gain", steps, label="Waterfall from stream calls to the graph", whole_ns=stream
    )
    columns = [
        Column("Part of the gain"), number("Saved", "Mean of a launch; below 0 it costs"),
        number("95% interval", "Of the difference of the means, by bootstrap"), Column("How"),
    ]  # fmt: skip
    rows = [
        [name, signed(gain.mean_ns), interval_of(gain.interval, signed), how("derived")]
        for name, gain in [
            *parts,
            ("All together", found.saved),
            ("Host time in calls, beside it", found.host_saved),
        ]
    ]
    return [drawn, table(columns, rows, "What the gain is made of")]


def _idle(found: StreamResult) -> Component:
    sides = [
        ("stream calls", found.stream.idle_fraction.mean, found.stream.idle_fraction.interval),
        ("if the GPU never waited for a call", found.idle_without_host_fraction, None),
        ("graph", found.graph.idle_fraction.mean, found.graph.idle_fraction.interval),
    ]
    ends = [_ends(mean, interval) for _, mean, interval in sides]
    series = Series(
        "idle",
        [name for name, _, _ in sides],
        [100 * mean for _, mean, _ in sides],
        [100 * low for low, _ in ends],
        [100 * high for _, high in ends],
    )
    words = said(
        f"Of the stream side's time {percent(sides[0][1])} is idle; {percent(sides[1][1])} would "
        f"be if the GPU never waited for a call; as a graph {percent(sides[2][1])} is ",
        how("derived"),
        ". NVIDIA's own example has 64%, 45% and 33%.",
    )
    drawn = chart("idle", [series], Axis(""), Axis("idle, %"), bars=True, bargap=0.5)
    return html.Div([words, drawn])


def _ends(mean: float, interval: Interval | None) -> tuple[float, float]:
    if interval is None or interval.low is None or interval.high is None:
        return math.nan, math.nan  # no error bar
    return interval.low, interval.high


def _one_sided(found: StreamResult, links: NodeLinks) -> list[Component]:
    rows = [
        [_name(one, links), side, duration(one.mean_ns), how("derived")]
        for side, listed in (("graph", found.only_graph), ("stream calls", found.only_stream))
        for one in listed
    ]
    if not rows:
        return []
    columns = [Column("What"), Column("Only in the"), number("Time, mean"), Column("How")]
    title = "What only one side has, the longest"
    return [heading(title), table(columns, rows, title)]


def _name(one: OneSided, links: NodeLinks) -> str | Component:
    return one.name if one.node is None else links.node(one.node)
