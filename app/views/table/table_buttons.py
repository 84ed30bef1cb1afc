"""The button of a table that ends its filter."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component


def filter_clear(name: str) -> Component:
    """Return the button that ends a view's filter; shown and worded while there is one."""
    return html.Button(
        id=name,
        className="gv-filter-clear",
        hidden=True,
        title="Only these nodes; click to show all",
    )
