"""The buttons of a table: one saves its rows, one ends its filter."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component


def csv_button(button_id: str) -> Component:
    """Return the button that saves a table's rows."""
    return html.Button(
        "CSV",
        type="button",
        id=button_id,
        className="gv-button",
        title="Save the rows shown as CSV",
    )


def filter_clear(name: str) -> Component:
    """Return the button that ends a view's filter; shown and worded while there is one."""
    return html.Button(
        id=name,
        className="gv-filter-clear",
        hidden=True,
        title="Only these nodes; click to show all",
    )
