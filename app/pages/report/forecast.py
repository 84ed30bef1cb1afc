"""The whole run: would a graph help, how much lies in graphs, findings."""

from __future__ import annotations

from dash.development.base_component import Component

from gviz.analysis import GraphShare, PassForecast, RunForecast
from gviz.app.pages.report.parts import Column, Content, how, number, said, table, why_not
from gviz.stats import NotComputed
from gviz.text import (
    counted,
    duration,
    integer,
    multiple,
    percent,
    rounded,
    signed_percent,
)

#: Kinds of passes that are listed.
_LISTED = 12


def forecast(found: RunForecast) -> list[Component]:
    """Return what graphs of the run's passes by stream calls would take."""
    columns = [
        Column("Passes by stream calls"), number("Operations"),
        number("Measured", "First operation's start to last one's end, median"),
        number("As a graph", "Estimated: gaps closed to what lies between a graph's nodes"),
        number("Gain"), number("Launch call", "Estimated, at least"),
        number("Then took", "The graph as it was recorded, measured"),
        number("Error", "Of the forecast; below 0 it is too low"),
    ]  # fmt: skip
    rows = [_row(x) for x in found.passes[:_LISTED]]
    more = len(found.passes) - len(rows)
    parts: list[Component] = [
        table(columns, rows, "What graphs of the passes would take"),
        said(
            "Measured: the median pass. As a graph ", how("estimated"), ": its busy time, with "
            "every gap closed to what the launch costs have between the nodes of a graph.",
        ),
    ]  # fmt: skip
    if more > 0:
        parts.append(said(f"And {counted(more, 'more kind')} of passes.", muted=True))
    if found.left_over_count:
        left = counted(found.left_over_count, "operation")
        parts.append(said(f"{left} outside graphs are in no pass with a kernel.", muted=True))
    return parts


def _row(found: PassForecast) -> list[Content]:
    name = counted(found.pass_count, "pass", "passes")
    if found.graph_id is not None:
        name += f" over the work of graph {found.graph_id}"
    if found.range is not None:
        name += f", {found.range}"
    elif found.graph_id is None:
        name += f" of {counted(found.block_count, 'block')}"
    error = signed_percent(found.error_fraction)
    return [
        name,
        integer(found.operation_count),
        duration(found.stream_ns),
        duration(found.graph_ns),
        multiple(found.gain),
        duration(found.graph_host_ns),
        duration(found.measured_graph_ns),
        error,
    ]


def share(found: GraphShare | NotComputed) -> Component:
    """Return how much of the run lies in graphs, and what that leaves to gain."""
    if isinstance(found, NotComputed):
        return why_not(found, "Share of the run in graphs: not computed")
    text = (
        f"Launches fill {percent(found.gpu_fraction)} of the run's {duration(found.run_ns)} on the "
        f"GPU, their calls {percent(found.host_fraction)} on the host"
    )
    if found.most_speedup is not None:
        text += (
            "; if launches took no time at all the run would be "
            f"{rounded(found.most_speedup)} times as fast (Amdahl)"
        )
    recorded = ""
    if found.recorded_fraction is not None:
        recorded = (
            f" Of the node time in recorded windows {percent(found.recorded_fraction)} lies in "
            "graphs; windows are open while a program warms up, so that is no share of the run."
        )
    return said(f"{text} ", how("estimated"), f".{recorded}")
