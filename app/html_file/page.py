"""The page of one graph in a file: the panes of the application's page, without their server."""

from __future__ import annotations

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from gviz.app.components import breakdown_box, pane, panel_pane, panes, select
from gviz.app.html_file.launches import Chosen
from gviz.app.inspector import edges_note
from gviz.app.pages import (
    colour_choice,
    data_choice,
    eager_time,
    fold_choice,
    graph_head,
    has_breakdown,
    layout_choice,
    no_times,
    search_field,
)
from gviz.app.views import Compared, GraphView, csv_button, filter_clear, typical_launch
from gviz.recording import rows

#: The scripts of the page put canvases into elements of this class.
_CANVAS = "gviz-canvas-box"


def render_graph(
    view: GraphView,
    graphs: Sequence[rows.Graph],
    measurements: Sequence[rows.Measurement],
    chosen: Chosen,
    memory_facts: Component,
    compared: Compared,
) -> Component:
    """Return the page of a graph level.

    Parameters
    ----------
    view
        The level.
    graphs
        All that the file holds.
    measurements
        Of the run.
    chosen
        Launches that the file holds.
    memory_facts
        What stands over the memory view.
    compared
        What became of the baseline.
    """
    beside = panel_pane(
        "timeline", _timeline(view, chosen), _memory(memory_facts), *_tools(view, chosen)
    )
    return html.Div(
        className="gv-graph-page",
        children=[
            graph_head(view, graphs, measurements, baseline=_against(compared)),
            *([breakdown_box(is_timed=view.is_timed)] if has_breakdown(view) else []),
            panes(_dag(view, against=compared.baseline is not None), beside, _table(view)),
        ],
    )


def first_colour(view: GraphView, against: bool) -> str:
    """Return what nodes are coloured by at first; ``against``: there is a baseline."""
    if against:
        return "change"
    return "duration" if view.is_timed else "kind"


def _against(compared: Compared) -> list[Component]:
    """Return which graph the page is compared with, or why with none."""
    baseline = compared.baseline
    words = compared.problem
    if baseline is not None:
        words = f"Baseline: {baseline.file}, graph {baseline.graph_id}"
    return [html.Span(words, className="gv-muted gv-ellipsis")] if words else []


def _dag(view: GraphView, against: bool) -> Component:
    if not view.nodes:
        return pane("Graph", html.P("This graph has no nodes.", className="gv-empty"), None)
    # The head names inferred edges; it has room for it.
    words = None if view.root.edges_inferred else edges_note(view.root)
    note = None if words is None else html.Span(words, className="gv-muted")
    choices = (
        data_choice(view, data=False),
        fold_choice(view, None),
        layout_choice(view, None),
        colour_choice(view, first_colour(view, against), against),
    )
    tools = [choice for choice in choices if choice is not None]
    return pane("Graph", html.Div(id="dag", className=_CANVAS), note, *tools)


def _timeline(view: GraphView, chosen: Chosen) -> Component:
    if not chosen.single and not view.stream_launches:
        return html.P(no_times(view), className="gv-empty")
    return html.Div(id="timeline", className=_CANVAS)


def _tools(view: GraphView, chosen: Chosen) -> list[Component]:
    """Return the text that says which launch and which eager iteration are shown."""
    found: list[Component] = []
    stream = typical_launch(view.stream_launches)
    if stream is not None:
        words = f"eager iteration {stream.ordinal} · {eager_time(stream)}"
        found.append(html.Span(words, id="eager-box", className="gv-muted"))
    if chosen.single:
        found.append(select("launch", "Launch", chosen.options(), chosen.names[0], width=148))
    return found


def _memory(facts: Component) -> Component:
    canvas = html.Div(html.Div(id="memory", className=_CANVAS), className="gv-memory-canvas")
    return html.Div([facts, canvas], className="gv-memory-view")


def _table(view: GraphView) -> Component:
    note = None if view.is_timed else html.Span("no node times", className="gv-muted")
    count = html.Span(id="row-count", className="gv-muted", role="status")
    save, clear = csv_button("save-rows"), filter_clear("filter-clear")
    body = html.Div(id="nodes", className="gv-rows")
    return pane("Nodes", body, note, count, save, clear, search_field())
