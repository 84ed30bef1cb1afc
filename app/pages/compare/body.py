"""The Compare page below its head: headline, waterfall, and the views that share a selection."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from gviz.app.components import Addresses, Query, Sides, aria, split
from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.compare.headline import (
    circumstances,
    counts,
    headline,
    other_circumstances,
    pairing,
    totals,
)
from gviz.app.pages.compare.tables import table_pane
from gviz.app.pages.compare.views import dag_pane, timeline_pane
from gviz.app.pages.compare.waterfall import launch_waterfall
from gviz.app.pages.report import heading


def compare_body(
    found: Comparison, editions: Sides, query: Query, addresses: Addresses
) -> list[Component]:
    """Return everything below the head of the Compare page."""
    graph = found.graph
    summary = html.Section(
        [
            html.H2("Where the change of a launch lies"),
            *launch_waterfall(graph.waterfall),
            heading("Whole launches"),
            totals(graph),
            heading("Nodes and edges"),
            counts(found),
            pairing(graph),
            heading("Circumstances"),
            circumstances(found),
        ],
        className="gv-pane gv-compare-summary",
        tabIndex="0",
        **aria(label="Summary"),
    )
    table = table_pane(found, editions, query.rows, addresses)
    dag, timeline = (
        dag_pane(found, editions, query, addresses),
        timeline_pane(query, editions, addresses),
    )
    besides = other_circumstances(found)
    return [
        headline(graph),
        *([] if besides is None else [besides]),
        html.Div(
            split(
                56,
                "rows",
                "canvases and details",
                split(50, "columns", "graph and timeline", dag, timeline),
                split(42, "columns", "summary and table", summary, table),
            ),
            className="gv-compare-panes",
        ),
    ]
