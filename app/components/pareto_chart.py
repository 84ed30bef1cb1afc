"""Pareto charts: shares of a whole, the largest first, and what they make together."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from dash.development.base_component import Component

from gviz.app.components.charts import COLOURS, plot
from gviz.text import percent

#: Pixels of a row with what is around it, and of what is above and below all of them.
_ROW, _AROUND = 27, 84


def pareto(
    name: str,
    names: Sequence[str],
    shares: Sequence[float],
    together: Sequence[float],
    *,
    label: str,
    of_what: str,
) -> Component:
    """Return bars of shares (0..1) and the line of what each makes with all above it.

    The numbers are to stand beside it.
    """
    rows = list(range(len(names)))
    bars: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "name": "share",
        "y": rows,
        "x": [100 * share for share in shares],
        "marker": {"color": COLOURS[0]},
        "hovertemplate": "%{text}<extra></extra>",
        "text": [percent(share) for share in shares],
        "textposition": "none",
    }
    line: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "together with all above",
        "y": rows,
        "x": [100 * share for share in together],
        "line": {"color": COLOURS[1], "dash": "dash", "width": 2},
        "marker": {"color": COLOURS[1], "symbol": "diamond", "size": 7},
        "text": [percent(share) for share in together],
        "hovertemplate": "together %{text}<extra></extra>",
    }
    return plot(
        name,
        [bars, line],
        label=label,
        numbers=None,
        height=_AROUND + _ROW * len(names),
        showlegend=True,
        bargap=0.35,
        margin={"l": 10, "r": 16, "t": 8, "b": 44},
        xaxis={"title": {"text": f"% of {of_what}"}, "range": [0, 103], "zeroline": False},
        yaxis=_named_rows(names),
    )


def _named_rows(names: Sequence[str]) -> dict[str, Any]:
    """Return an axis on which row i, from the top, is called by the i-th name."""
    return {
        "tickvals": list(range(len(names))),
        # plotly takes tags and entities for markup.
        "ticktext": [html.escape(name, quote=False) for name in names],
        "range": [len(names) - 0.5, -0.5],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }
