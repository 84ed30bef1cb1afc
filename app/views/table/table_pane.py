"""The pane of a table: its head with what chooses, clears and searches, and its rows."""

from __future__ import annotations

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from gviz.app.components import aria, pane


def table_pane(
    title: str,
    choice: Component,
    rows: str,
    *,
    note: Component | None = None,
    foot: Component | None = None,
) -> Component:
    """Return the pane of a table, which assets/web/page/page.js fills.

    Parameters
    ----------
    title
        Heading of the pane.
    choice
        What chooses among its views.
    rows
        What is searched, such as ``nodes``.
    note
        Stands behind the title.
    foot
        Stands below the rows.
    """
    count = html.Span(id="row-count", className="gv-muted", role="status")
    # Shown and worded by the script while there is a filter.
    clear = html.Button(
        id="filter-clear",
        className="gv-filter-clear",
        hidden=True,
        title="Only these nodes; click to show all",
    )
    search = dmc.TextInput(
        id="search",
        placeholder=f"Search {rows}  ( / )",
        size="xs",
        className="gv-search",
        **aria(label=f"Search {rows}"),
    )
    body = html.Div(
        [
            html.Div(id="nodes", className="gv-rows", hidden=True),
            html.Div(id="kernels", className="gv-rows"),
            *([] if foot is None else [foot]),
        ],
        className="gv-grid" if foot is None else "gv-grid gv-grid-footed",
    )
    return pane(title, body, note, count, choice, clear, search, name="table")
