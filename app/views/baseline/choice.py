"""The choice of a baseline in a graph page's head, and the note about it."""

from __future__ import annotations

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import Addresses, Sides, baseline_value, select
from gviz.app.files import Library
from gviz.app.views.baseline.baseline import Compared, offered
from gviz.app.views.graph_data import GraphView


def baseline_choice(
    library: Library, file: str, view: GraphView, compared: Compared, addresses: Addresses
) -> list[Component]:
    """Return the choice of the graph to compare with, if there is another, and a note.

    With a baseline also the way to both graphs side by side.
    """
    # Worded by assets/web/dash/history.js too, while graphs are compared.
    note = html.Span(
        compared.problem, id="baseline-note", className="gv-muted gv-ellipsis", role="status"
    )
    offers = offered(library, file, view)
    if not offers:
        return [note]
    options = [
        {"value": "none", "label": "none"},
        *({"value": baseline_value(o.baseline), "label": o.label} for o in offers),
    ]
    value = "none" if compared.baseline is None else baseline_value(compared.baseline)
    choice = select("baseline", "Baseline", options, value, width=190)
    return [note, choice, *_in_full(file, view, compared, addresses)]


def _in_full(
    file: str, view: GraphView, compared: Compared, addresses: Addresses
) -> list[Component]:
    """Return the link to the Compare page; none of bodies, which it compares with their graph."""
    baseline = compared.baseline
    if baseline is None or view.graph.parent_graph_id is not None:
        return []
    sides = Sides(baseline.file, file, baseline.graph_id, view.graph.graph_id)
    link = dcc.Link(
        "Compare in full",
        href=addresses.compare(sides),
        className="gv-report-link",
        title="Both graphs in one picture, both launches on one axis, where the change lies",
    )
    return [link]
