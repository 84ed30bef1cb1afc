"""The choice of a baseline in a graph page's head, and what there is to say of it."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from gviz.app.address import baseline_value
from gviz.app.baseline import Compared, offered
from gviz.app.choices import select
from gviz.app.graph_view import GraphView
from gviz.app.library import Library


def baseline_choice(
    library: Library, file: str, view: GraphView, compared: Compared
) -> list[Component]:
    """Return the choice of the graph to compare with, if there is another, and a note."""
    # Worded by page_history.js too, while graphs are compared.
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
    return [note, select("baseline", "Baseline", options, value, width=190)]
