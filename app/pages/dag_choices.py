"""The choices over the DAG: what to fold, where nodes stand, what colours mean."""

from __future__ import annotations

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from gviz.app.components import INSIDE, LAYOUTS, OVERLAYS, TIMED, aria, select
from gviz.app.views import GraphView

#: What nodes need to have a colour of an overlay.
_COLUMN = {"nvtx": "nvtx_path_id", "occupancy": "occupancy_fraction", "device": "device_id"}

_MODULES = {"value": "modules", "label": "Fold modules"}


def colour_choice(view: GraphView, colour: str) -> Component:
    """Return the choice of what nodes are coloured by."""
    options = [
        {"value": o.name, "label": o.label, "disabled": is_empty(view, o.name)}
        for o in OVERLAYS
        if not o.signed and (o.name != "module" or view.parts.modules is not None)
    ]
    return select("colour", "Colour", options, colour, width=150, named=False)


def is_empty(view: GraphView, overlay: str) -> bool:
    """Return whether an overlay would show nothing of this graph."""
    if overlay in TIMED:
        return not view.is_timed
    column = _COLUMN.get(overlay)
    return column is not None and not view.tree.nodes.any_known(column)


def is_fold_empty(view: GraphView, folding: str) -> bool:
    """Return whether a way of folding has nothing to go by in this graph."""
    if folding == "modules":
        return view.parts.modules is None
    return folding == "ranges" and is_empty(view, "nvtx")


def fold_choice(view: GraphView) -> Component | None:
    """Return the choice of what to fold; None without edges: folds follow dependencies."""
    if view.edge_count is None:
        return None
    choice: Component = dmc.Select(
        id="folding",
        data=[
            {"value": "none", "label": "No folds"},
            {"value": "repeats", "label": "Fold repeats"},
            {"value": "ranges", "label": "Fold NVTX", "disabled": is_fold_empty(view, "ranges")},
            *([] if is_fold_empty(view, "modules") else [_MODULES]),
        ],
        value="none",
        size="xs",
        w=112,
        allowDeselect=False,
        comboboxProps=INSIDE,
        **aria(label="Folding"),
    )
    return choice


def layout_choice(view: GraphView) -> Component | None:
    """Return the choice of layouts; None without edges: there is only one way then."""
    if view.edge_count is None:
        return None
    labels = {"structure": "Structure", "lanes": "Lanes", "time": "Time"}
    timed = bool(view.recorded_launches)
    choice: Component = dmc.SegmentedControl(
        id="layout",
        size="xs",
        # The view says which it drew.
        value="structure",
        data=[
            {"value": name, "label": labels[name], "disabled": name == "time" and not timed}
            for name in LAYOUTS
        ],
        **aria(label="Layout"),
    )
    return choice


def data_choice(view: GraphView) -> Component | None:
    """Return the switch that draws edges by what they carry; None without nodes."""
    if not view.nodes:
        return None
    switch: Component = dmc.Checkbox(
        id="data",
        label="Data",
        size="xs",
        className="gv-check",
        **{"aria-description": "Tell edges apart by the memory that their ends have in common"},
    )
    return html.Span(
        switch, title="Tell edges apart by the memory that their ends are given in common"
    )
