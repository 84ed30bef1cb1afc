"""The panes of the graph page, and the bars between them."""

from __future__ import annotations

from typing import Any

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from gviz.app.components.aria_attributes import aria


def pane(
    title: str, body: Component, note: Component | None, *tools: Component, name: str | None = None
) -> Component:
    """Return a pane: its title, a note, its tools, and what it shows; ``name`` in addresses."""
    return html.Section(
        className="gv-pane",
        **({} if name is None else _named(name)),
        **aria(label=title),
        children=[
            html.Div(
                [html.H2(title), note, html.Div(className="gv-grow"), *tools],
                className="gv-pane-head",
            ),
            html.Div(body, className="gv-pane-body"),
        ],
    )


def _named(name: str) -> dict[str, Any]:
    """Return how assets/web/page/panes.js knows a pane."""
    return {"data-pane": name}


def panel_pane(timeline: Component, memory: Component, *tools: Component) -> Component:
    """Return the pane beside the DAG: timeline or memory, as its switch says."""
    panels = [
        html.Div(timeline, id="timeline-box", className="gv-panel"),
        html.Div(memory, id="memory-box", className="gv-panel", hidden=True),
    ]
    return html.Section(
        className="gv-pane",
        **_named("timeline"),
        **aria(label="Timeline and memory"),
        children=[
            html.Div(
                [_panel_switch(), html.Div(className="gv-grow"), *tools],
                className="gv-pane-head",
            ),
            html.Div(panels, className="gv-pane-body"),
        ],
    )


def _panel_switch() -> Component:
    """Return the switch between timeline and memory."""
    switch: Component = dmc.SegmentedControl(
        id="panel",
        size="xs",
        value="timeline",
        data=[{"value": "timeline", "label": "Timeline"}, {"value": "memory", "label": "Memory"}],
        **aria(label="Timeline or memory"),
    )
    return switch


def breakdown_box(*, is_timed: bool) -> Component:
    """Return the place of the verdict and the breakdown; assets/web/breakdown fills it."""
    kind = "gv-breakdown gv-breakdown-timed" if is_timed else "gv-breakdown"
    return html.Section(id="breakdown", className=kind, **aria(label="Verdict and breakdown"))


def panes(
    dag: Component, timeline: Component, table: Component, rows: int = 56, inspector: int = 31
) -> Component:
    """Return the four panes, with bars to drag between them; assets/web fills the inspector.

    ``rows`` and ``inspector`` are the shares of the upper row and of the inspector in its row, in
    percent.
    """
    inspector_pane = html.Section(
        id="inspector",
        className="gv-pane gv-inspector",
        tabIndex="0",
        **_named("inspector"),
        **aria(label="Inspector"),
        # assets/web/breakdown lists findings while nothing is selected, and what can be asked of
        # what is.
        children=[html.Div(id="findings"), html.Div(id="what-if"), html.Div(id="inspector-body")],
    )
    return split(
        rows,
        "rows",
        "canvases and details",
        split(50, "columns", "graph and timeline", dag, timeline),
        split(inspector, "columns", "inspector and table", inspector_pane, table),
    )


def split(share: int, direction: str, parts: str, first: Component, second: Component) -> Component:
    """Return two panes with a bar to drag between them; ``share`` of the first in percent."""
    bar = html.Div(
        className="gv-split-bar",
        role="separator",
        tabIndex="0",
        **aria(
            label=f"Resize {parts}",
            valuenow=str(share),
            orientation="horizontal" if direction == "rows" else "vertical",
        ),
    )
    return html.Div(
        [first, bar, second],
        className=f"gv-split gv-split-{direction}",
        style={"--gv-share": f"{share}%"},
    )
