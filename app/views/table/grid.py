"""The grid that tables of nodes are: rows are selected by clicks, several at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dash_ag_grid as dag
from dash import html
from dash.development.base_component import Component

from gviz.app.components import GRID_THEME


def node_grid(
    name: str,
    columns: Sequence[Mapping[str, Any]],
    words: Mapping[str, str],
    *,
    least_width: int = 60,
    options: Mapping[str, Any] | None = None,
    **properties: Any,
) -> Component:
    """Return a grid of rows whose data have an id.

    Parameters
    ----------
    name
        Id of the component.
    columns
        As AG Grid has them.
    words
        AG Grid's texts, for when there is nothing to show.
    least_width
        Of a column, in CSS pixels.
    options, properties
        Further options of the grid, and further properties of the component.
    """
    grid: Component = dag.AgGrid(
        id=name,
        className="gv-grid",
        columnDefs=columns,
        getRowId="params.data.id",
        defaultColDef={
            "sortable": True,
            "resizable": True,
            "filter": True,
            "minWidth": least_width,
            "suppressHeaderMenuButton": True,
        },
        dashGridOptions={
            "theme": GRID_THEME,
            "rowSelection": {
                "mode": "multiRow",
                "checkboxes": False,
                "headerCheckbox": False,
                "enableClickSelection": True,
            },
            "animateRows": False,
            "tooltipShowDelay": 400,
            **(options or {}),
            "localeText": words,
        },
        style={"height": "100%", "width": "100%"},
        **properties,
    )
    return grid


def csv_button(button_id: str, **data: str) -> Component:
    """Return the button that saves a table's rows; ``data`` are its data attributes."""
    return html.Button(
        "CSV",
        type="button",
        id=button_id,
        className="gv-button",
        title="Save the rows shown as CSV",
        **{f"data-{key}": value for key, value in data.items()},
    )


def filter_clear(name: str) -> Component:
    """Return the button that ends a view's filter; shown and worded while there is one."""
    return html.Button(
        id=name,
        className="gv-filter-clear",
        hidden=True,
        title="Only these nodes; click to show all",
    )
