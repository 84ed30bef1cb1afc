"""The work that dominates a launch: totals as Pareto chart and tables, and how full the GPU was."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dash import html
from dash.development.base_component import Component

from gviz.analysis import Dominance, Fullness, LayerTime, TimeShares
from gviz.app.components import pareto
from gviz.app.pages.report.node_links import NodeLinks
from gviz.app.pages.report.parts import Column, heading, how, number, said, table, why_not
from gviz.stats import NotComputed
from gviz.text import counted, duration, integer, percent, rounded

#: Names in the chart, and rows of its table; of the other tables.
_CHARTED, _LISTED = 12, 8
#: A name in the chart.
_NAME = 44

_Link = Callable[[str], Component | str]


def dominance(found: Dominance, links: NodeLinks) -> list[Component]:
    """Return what took most of a launch's node time, in several respects."""
    names = found.by_name
    rows = min(_CHARTED, len(names.name))
    chart = pareto(
        "dominance",
        [_short(name) for name in names.name[:rows]],
        names.fraction[:rows],
        names.cumulative_fraction[:rows],
        label="Pareto chart of node time by kernel name",
        of_what="node time",
    )
    return [
        said(
            f"Shares of the {duration(found.node_ns)} that all nodes of the median launch take, "
            "whether or not they overlap.",
            muted=True,
        ),
        *([chart] if rows else []),
        _shares(names, "Name", partial(links.alike, "name"), _CHARTED),
        heading("By kind"),
        _shares(found.by_kind, "Kind", partial(links.alike, "kind"), _LISTED),
        heading("By innermost NVTX range"),
        _ranges(found.by_range, partial(links.alike, "range")),
        heading("By NVTX range as it nests"),
        _ranges(found.by_nesting, partial(links.alike, "nesting")),
        heading("Layers: equal blocks that follow each other"),
        *_layers(found.layers, links),
        heading("How full the GPU was"),
        *_fullness(found.fullness, links),
    ]


def _short(name: str) -> str:
    if len(name) <= _NAME:
        return name
    tail = _NAME // 3
    return f"{name[: _NAME - tail - 1]}…{name[-tail:]}"


def _ranges(found: TimeShares | NotComputed, link: _Link) -> Component:
    if isinstance(found, NotComputed):
        return why_not(found)
    return _shares(found, "Range", link, _LISTED)


def _shares(found: TimeShares, what: str, link: _Link, most: int) -> Component:
    overlap = any(x != x for x in found.cumulative_fraction)  # NaN
    columns = [Column(what), number("Executions"), number("Time"), number("Share")]
    if not overlap:
        columns.append(number("Together", "This one and all above it"))
    if found.path_ns is not None:
        columns.append(number("On the path", "Of its time on the observed critical path"))
    rows = []
    for at, name in enumerate(found.name[:most]):
        row: list[str | Component] = [
            link(name),
            integer(found.executions[at]),
            duration(found.total_ns[at]),
            percent(found.fraction[at]),
        ]
        if not overlap:
            row.append(percent(found.cumulative_fraction[at]))
        if found.path_ns is not None:
            row.append(duration(found.path_ns[at]))
        rows.append(row)
    more = len(found.name) + found.left_out_count - len(rows)
    rest = said(f"And {counted(more, 'more', 'more')}.", muted=True) if more else None
    return html.Div([table(columns, rows, f"Node time by {what.lower()}"), rest])


def _layers(found: tuple[LayerTime, ...] | NotComputed, links: NodeLinks) -> list[Component]:
    if isinstance(found, NotComputed):
        return [why_not(found)]
    if not found:
        return [said("No block of nodes repeats.")]
    columns = [
        number("Blocks"), number("Nodes each"), Column("First node"), Column("Most of it"),
        number("Time"), number("Share"), number("A block, median"), number("Shortest"),
        number("Longest"), number("Slowest", "Which block that is, from 0"),
    ]  # fmt: skip
    rows = [
        [
            integer(x.repeats), integer(x.period), links.node(x.first),
            links.alike("name", x.longest_name), duration(x.total_ns),
            percent(x.fraction), duration(x.median_ns), duration(x.least_ns), duration(x.most_ns),
            integer(x.slowest),
        ]
        for x in found[:_LISTED]
    ]  # fmt: skip
    more = len(found) - len(rows)
    rest = [said(f"And {counted(more, 'more', 'more')}.", muted=True)] if more > 0 else []
    return [table(columns, rows, "Equal blocks that follow each other"), *rest]


def _fullness(found: Fullness | NotComputed, links: NodeLinks) -> list[Component]:
    if isinstance(found, NotComputed):
        return [why_not(found)]
    text = f"Each taken alone, kernels fill {percent(found.filled_fraction)} of their waves by time"
    if found.occupancy_fraction is not None:
        text += f", at a theoretical occupancy of {percent(found.occupancy_fraction)}"
    text += f". {duration(found.below_one_wave_ns)} run with less than a wave of blocks "
    tail = f"Last waves that are not full cost {duration(found.tail_ns)} "
    known = ""
    if found.known_fraction < 1:
        known = f" It is known of {percent(found.known_fraction)} of the kernels' time."
    columns = [
        Column("Kernel"), number("Executions"), number("Time"), number("Blocks"),
        number("Fit at once", "Multiprocessors times the blocks that fit on one"),
        number("Waves"), number("Filled", "Waves over the next whole number of waves"),
        Column("How"),
    ]  # fmt: skip
    rows = [
        [
            links.alike("name", x.name), integer(x.executions), duration(x.total_ns),
            integer(x.blocks), integer(x.blocks_at_once), rounded(x.waves),
            percent(x.filled_fraction), how("derived"),
        ]
        for x in found.kernels
    ]  # fmt: skip
    return [
        said(text, how("derived"), ". ", tail, how("estimated"), ".", known),
        table(columns, rows, "Kernels that leave most of the GPU empty for longest"),
    ]
