"""Charts: what plotly.js draws, as plain dictionaries. assets/web/dash/chart.js draws them."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import Any

from dash import html
from dash.development.base_component import Component

from gviz.app.components.aria_attributes import aria
from gviz.app.components.canvases import Chart
from gviz.app.components.theme import SANS
from gviz.dataclass import dataclass
from gviz.text import MISSING, rounded

#: Okabe and Ito's palette without black: distinguished by people who do not see all colours
#: (Okabe, Ito 2008, "Color Universal Design").
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
_HEIGHT = 320
#: Up to such a count an axis has a tick at each whole number, and none between: no rank is a half.
_FEW = 5


@dataclass(frozen=True, slots=True)
class Series:
    """One line or group of bars.

    Attributes
    ----------
    name
        In the legend.
    x, y
        Positions (numbers, or names for bars) and values.
    low, high
        Ends of the spread at each position, drawn as error bars; empty: none.
    hover
        Text for each point besides its values; empty: none.
    """

    name: str
    x: Sequence[float | str]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    hover: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its title with the unit, and whether it is logarithmic."""

    title: str
    log: bool = False


def chart(
    name: str, series: Sequence[Series], x: Axis, y: Axis, *, bars: bool = False, **layout: Any
) -> Component:
    """Return a chart.

    Parameters
    ----------
    name
        Unique on the page.
    series
        At most seven: lines differ in colour, symbol and dash, bars in colour and position.
    x, y
        The axes.
    bars
        Groups of bars instead of lines.
    **layout
        Of plotly, such as shapes.
    """
    draw = _bar if bars else _line
    return plot(
        name,
        [draw(one, number) for number, one in enumerate(series)],
        label=f"Chart of {y.title} by {x.title}".removesuffix(" by "),
        numbers=_table(series, x, y),
        barmode="group",
        showlegend=len(series) > 1,
        xaxis=_axis(x, [p for one in series for p in one.x if not isinstance(p, str)]),
        yaxis=_axis(y, [value for one in series for value in one.y]),
        **layout,
    )


def plot(
    name: str,
    data: Sequence[dict[str, Any]],
    *,
    label: str,
    numbers: Component | None,
    height: int = _HEIGHT,
    open: str | None = None,
    **layout: Any,
) -> Component:
    """Return what plotly.js draws, in the look of all charts.

    Parameters
    ----------
    name
        Unique on the page.
    data
        plotly's traces.
    label
        What the chart is, for those who do not see it.
    numbers
        The same as a table, behind a word below it; None: it stands on the page anyway.
    height
        In pixels.
    open
        The address that what is clicked leads to, completed by its customdata.
    **layout
        Of plotly, beside what all charts have.
    """
    figure = {
        "data": list(data),
        "layout": {
            "height": height,
            "margin": {"l": 62, "r": 12, "t": 8, "b": 44},
            "font": {"family": SANS, "size": 12},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "hovermode": "closest",
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
            **layout,
        },
    }
    made = Chart(f"chart-{name}", figure, open)
    drawn = html.Div(made, role="group", className="gv-chart", **aria(label=label))
    if numbers is None:
        return drawn
    return html.Div(
        [
            drawn,
            html.Details([html.Summary("The numbers"), numbers], className="gv-chart-numbers"),
        ]
    )


def _table(series: Sequence[Series], x: Axis, y: Axis) -> Component:
    """Return what a chart shows as a table, for those who read it otherwise."""
    positions = list(dict.fromkeys(position for one in series for position in one.x))
    values = [dict(zip(one.x, one.y, strict=True)) for one in series]
    head = [html.Th(x.title or "")] + [
        html.Th(f"{one.name}, {y.title}" if one.name != y.title else y.title, className="gv-number")
        for one in series
    ]
    body = [
        html.Tr(
            [html.Th(f"{p:g}" if isinstance(p, float) else p, scope="row")]
            + [html.Td(rounded(v[p]) if p in v else MISSING, className="gv-number") for v in values]
        )
        for p in positions
    ]
    table = html.Table(
        [html.Thead(html.Tr(head)), html.Tbody(body)], className="gv-table gv-table-report"
    )
    return html.Div(table, className="gv-scroll-x")


def _axis(axis: Axis, values: Sequence[float]) -> dict[str, Any]:
    """Return an axis with such values as plotly has it."""
    return {
        "title": {"text": axis.title},
        "type": "log" if axis.log else "-",
        "automargin": True,
        "zeroline": False,
        **(_log_ticks(values) if axis.log else {"rangemode": "tozero", **_whole_ticks(values)}),
    }


def _whole_ticks(values: Sequence[float]) -> dict[str, Any]:
    """Return the ticks of an axis of few things that are counted."""
    counted = all(isinstance(value, int) for value in values)
    return {"dtick": 1} if counted and max(values, default=_FEW + 1) <= _FEW else {}


def _log_ticks(values: Sequence[float]) -> dict[str, Any]:
    """Return the ticks of a log axis: 1, 10, 100, and each 2 and 5 where that would be too few."""
    positive = [value for value in values if value > 0]
    if not positive or max(positive) > 30 * min(positive):
        return {"dtick": 1, "exponentformat": "SI"}
    first, last = (floor(log10(end(positive))) for end in (min, max))
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in (1, 2, 5)]
    # Plotly's own write 0.5 and 5 alike.
    return {"tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}


def _spread(one: Series) -> dict[str, Any]:
    if not one.low or not one.high:
        return {}
    return {
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [high - y for high, y in zip(one.high, one.y, strict=True)],
            "arrayminus": [y - low for low, y in zip(one.low, one.y, strict=True)],
            "thickness": 1,
            "width": 3,
        }
    }


def _common(one: Series) -> dict[str, Any]:
    return {
        "name": one.name,
        "x": list(one.x),
        "y": list(one.y),
        **({"hovertext": list(one.hover)} if one.hover else {}),
        **_spread(one),
    }


def _line(one: Series, number: int) -> dict[str, Any]:
    colour = COLOURS[number % len(COLOURS)]
    return {
        **_common(one),
        "type": "scatter",
        "mode": "lines+markers",
        "line": {"color": colour, "dash": _DASHES[number % len(_DASHES)], "width": 2},
        "marker": {"color": colour, "symbol": _SYMBOLS[number % len(_SYMBOLS)], "size": 7},
    }


def _bar(one: Series, number: int) -> dict[str, Any]:
    patterns = ("", "/", ".", "x", "-", "\\", "+")
    return {
        **_common(one),
        "type": "bar",
        "marker": {
            "color": COLOURS[number % len(COLOURS)],
            "pattern": {"shape": patterns[number % len(patterns)], "solidity": 0.25},
        },
    }
