"""The Compare page below its head: verdict, summary, and the views that share a selection."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from gviz.app.components import Addresses, DocumentPage, Query, Sides, aria, split
from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.compare.drawings import draw_launch
from gviz.app.pages.compare.tables import table_pane
from gviz.app.pages.compare.views import dag_pane, timeline_pane
from gviz.report import change_document


def compare_body(
    found: Comparison, versioned: Sides, query: Query, addresses: Addresses
) -> list[Component]:
    """Return everything below the head of the Compare page."""
    document = change_document(found.run)
    page = DocumentPage(draw=draw_launch)
    summary = html.Section(
        [page.section(part) for part in document.sections],
        className="gv-pane gv-compare-summary",
        tabIndex="0",
        **aria(label="Summary"),
    )
    table = table_pane(found, versioned, query.rows, addresses)
    dag, timeline = (
        dag_pane(found, versioned, query, addresses),
        timeline_pane(query, versioned, addresses),
    )
    return [
        *(page.verdict(verdict) for verdict in document.verdicts),
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
