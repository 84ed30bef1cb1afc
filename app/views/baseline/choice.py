"""The choice of a graph to compare that of a page with: it leads to the comparison."""

from __future__ import annotations

from dash.development.base_component import Component

from gviz.app.components import Addresses, Baseline, Sides, select
from gviz.app.files import Library
from gviz.app.views.baseline.baseline import offered
from gviz.app.views.graph_data import GraphView


def baseline_choice(
    library: Library, file: str, view: GraphView, addresses: Addresses
) -> Component | None:
    """Return the choice, whose options are addresses; None: there is no other graph.

    Bodies have none: they are compared with the graph that they are in.
    """
    if view.graph.parent_graph_id is not None:
        return None
    offers = offered(library, file, view)
    if not offers:
        return None
    none = {"value": "", "label": "none"}
    options = [
        {"value": comparison_address(file, view, o.baseline, addresses), "label": o.label}
        for o in offers
    ]
    return select("baseline", "Compare with", [none, *options], "", width=150)


def comparison_address(file: str, view: GraphView, baseline: Baseline, addresses: Addresses) -> str:
    """Return the address of the comparison of a baseline with the graph of a page."""
    sides = Sides(baseline.file, file, baseline.graph_id, view.graph.graph_id)
    return addresses.compare(sides)
