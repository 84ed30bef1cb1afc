"""The Fleet page: who is slow, in which layer and since when, and who waits for whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import dcc, html, no_update
from dash.development.base_component import Component

from gviz.app.components import Addresses, Query, message
from gviz.app.files import Library, OpenFleet, sentence_of
from gviz.app.pages.fleet.body import fleet_body
from gviz.app.pages.fleet.overviews import Overviews

#: Milliseconds between two questions whether the overview is made.
_EVERY_MS = 500
_NONE = (
    "No data set of a fleet is open. 'gviz fleet build FILES -o fleet/' makes one of the "
    "recordings of many ranks, 'gviz fleet view fleet/' shows it here."
)


def render_fleet_page(opened: OpenFleet | None, query: Query) -> Component:
    """Return the page; what is in it follows when it is read (:func:`show_fleet`)."""
    if opened is None:
        return message("Fleet", _NONE)
    waiting = html.P("Reading the ranks…", role="status", className="gv-muted gv-report-waiting")
    return html.Div(
        className="gv-sheet gv-report",
        children=[
            html.Div(
                [html.H1("Fleet"), html.Span(opened.url, className="gv-muted")],
                className="gv-title",
            ),
            dcc.Store(id="fleet-view", data={"graph": query.graph_id or 0}),
            dcc.Interval(id="fleet-wait", interval=_EVERY_MS, max_intervals=0),
            html.Div(waiting, id="fleet-body"),
        ],
    )


def show_fleet(
    overviews: Overviews,
    library: Library,
    view: Mapping[str, Any],
    polls: int,
    addresses: Addresses,
) -> tuple[Any, Any]:
    """Return the body and how many polls its page may make, for the callback of the page."""
    if library.fleet is None:
        return no_update, no_update
    try:
        found = overviews.find(library.fleet, view["graph"])
        if found is None:
            return no_update, polls + 1
        return fleet_body(found, addresses), no_update
    except Exception as error:  # the page shows it
        sentence = sentence_of(error).strip()
        return html.P(["There is no overview. ", sentence], role="alert"), no_update
