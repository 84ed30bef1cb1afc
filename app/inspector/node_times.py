"""Times of a node: statistics, distribution over launches, and the same work eager."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np
from dash.development.base_component import Component

from gviz.app.components import aria, facts
from gviz.app.components import elements as html
from gviz.app.inspector.node_facts import Fact
from gviz.app.views import GraphView
from gviz.recording import rows
from gviz.text import (
    MISSING,
    counted,
    duration,
    integer,
    percent,
    rounded,
    signed_percent,
)

#: Fewer spans say nothing about a distribution.
_SHOWN_FROM = 5


def time_facts(found: rows.NodeStatistics, share: float | None, launch_count: int) -> list[Fact]:
    """Return the duration statistics of a node over recorded launches."""
    error = found.quantile_error_fraction
    streamed = f"; {integer(found.streamed_count)} of them as a histogram only" if error else ""
    return [
        ("Median", duration(found.median_ns), "Over the launches recorded with node times"),
        (
            "p5 – p95",
            f"{duration(found.p5_ns)} – {duration(found.p95_ns)}",
            "5th and 95th percentile, linear interpolation"
            if error is None
            else f"5th and 95th percentile, within {percent(error)} (see Spans)",
        ),
        (
            "Min – max",
            f"{duration(found.min_ns)} – {duration(found.max_ns)}",
            "Shortest and longest span",
        ),
        (
            "MAD",
            duration(found.mad_ns),
            "Median absolute deviation from the median, over spans that are kept",
        ),
        (
            "Spans",
            integer(found.count),
            f"Executions recorded with a time; loops count each iteration{streamed}",
        ),
        *_of_launches(found, launch_count),
        ("Share of launch", percent(share), "Derived: node time over the launch's GPU time"),
    ]


def _of_launches(found: rows.NodeStatistics, launch_count: int) -> list[Fact]:
    """Return what a node takes in a launch where it does not run just once in each."""
    if not launch_count or found.count == launch_count:
        return []
    mean = found.count / launch_count
    times = integer(int(mean)) if mean.is_integer() else rounded(mean)
    iterations = f"{times} {'iteration' if mean == 1 else 'iterations'}"
    return [
        (
            "A launch",
            f"{duration(found.total_ns / launch_count)} in {iterations}",
            "Derived: all executions over all recorded launches, also those in which it did not "
            "run: means",
        )
    ]


def body_facts(view: GraphView, key: int) -> Component | None:
    """Return the times of what is inside a node; None where nothing inside has a time."""
    times, node = view.tree.times, view.tree.index_of(key)
    if node is None or np.isnan(times.total_ns[node]):
        return None
    nested, count = view.nested, view.timed_count
    inside = nested.bodies
    ran = int(inside.launches[node])
    pairs: list[Fact] = []
    if ran:
        over = f"median over the {counted(ran, 'launch', 'launches')} in which anything inside ran"
        low, high = float(inside.p5_ns[node]), float(inside.p95_ns[node])
        least, most = float(inside.min_ns[node]), float(inside.max_ns[node])
        pairs = [
            (
                "Inside, a launch",
                duration(float(inside.median_ns[node])),
                f"Derived: durations of the nodes inside, all iterations, summed; {over}",
            ),
            ("p5 – p95", f"{duration(low)} – {duration(high)}", "Of these sums"),
            ("Min – max", f"{duration(least)} – {duration(most)}", "Of these sums"),
            ("Ran in", f"{integer(ran)} of {integer(nested.kept_count)} launches", None),
        ]
    if ran and not np.isnan(inside.running_ns[node]):
        running = duration(float(inside.running_ns[node]))
        method = (
            "Derived: time in which anything inside ran, in one iteration of the graph around; on "
            "the critical path it counts as this"
        )
        pairs.append(("Running", running, method))
    mean = duration(float(times.total_ns[node]) / count) if count else MISSING
    pairs += [
        ("Mean of a launch", mean, "Derived: over all recorded launches, with those without it"),
        (
            "Share of launch",
            percent(view.share_of_launch(key)),
            "Derived: the time inside over the launch's GPU time",
        ),
    ]
    return facts(pairs)


def eager_facts(durations: Sequence[int], graph_median_ns: float) -> list[Fact]:
    """Return the node's time outside the graph beside its time inside."""
    if not durations:
        return []
    eager = statistics.median(durations)
    change = graph_median_ns / eager - 1 if eager else 0.0
    method = (
        f"Median of {integer(len(durations))} matched stream operations outside the graph; "
        "matched by name, shape and order"
    )
    return [
        ("Eager", duration(eager), method),
        (
            "Graph vs eager",
            signed_percent(change),
            "Derived: graph median over eager median; below zero the graph is faster",
        ),
    ]


def _bins(count: int) -> int:
    """Return about how many bins to draw: a third of the spans, 8 to 40."""
    return min(40, max(8, count // 3))


def histogram(durations: Sequence[int], name: str) -> Component | None:
    """Return a histogram of a node's durations over launches; None with too few spans."""
    if len(durations) < _SHOWN_FROM:
        return None
    # From the shortest on: large numbers have no edges between them as floating point numbers.
    shortest = min(durations)
    above = np.array(durations) - shortest
    counts, edges = np.histogram(above, bins=_bins(len(durations)))
    edges += shortest
    most = int(counts.max())
    bars = [
        html.Div(
            style={"height": f"calc(100% * {count} / {most})"},
            title=f"{duration(low)} – {duration(high)}: {counted(count, 'span')}",
        )
        for count, low, high in zip(
            counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True
        )
    ]
    ends = [html.Span(duration(float(edges[i]))) for i in (0, -1)]
    median = duration(statistics.median(durations))
    label = (
        f"Histogram of {name}: {counted(len(durations), 'span')}, median {median}, "
        f"at most {integer(most)} in a bar"
    )
    return html.Div(
        [
            html.Div(bars, className="gv-bars"),
            html.Div(
                [ends[0], html.Span(f"highest bar: {counted(most, 'span')}"), ends[1]],
                className="gv-bar-ends",
            ),
        ],
        role="img",
        **aria(label=label),
    )
