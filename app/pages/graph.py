"""The Graph page: DAG beside timeline, inspector beside table, one selection over all four."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.address import Addresses, Launches, Order, Panel, Query, Table
from gviz.app.aria import aria
from gviz.app.choices import select
from gviz.app.components import Dag, Timeline
from gviz.app.dag_choices import (
    colour_choice,
    data_choice,
    fold_choice,
    is_empty,
    layout_choice,
)
from gviz.app.graph_view import GraphView, TimedLaunch, graph_identity, typical_launch
from gviz.app.inspector import render_inspector
from gviz.app.kernel_table import render_kernel_table
from gviz.app.library import Library
from gviz.app.life import why_no_edges
from gviz.app.memory_panel import panel_switch, render_memory
from gviz.app.pages.run import measurement_name, measurement_text
from gviz.app.pages.runs import NODE_TIME_METHOD
from gviz.app.quantity import counted, duration, integer, sentence
from gviz.app.run_badge import state_badge
from gviz.app.shell import facts
from gviz.app.table import render_table
from gviz.life_summary import is_failed
from gviz.recording import rows

#: Both canvases share hover and selection in the browser under this name.
LINK_GROUP = "graph-page"
#: Launches offered in the launch choice; more would make the page itself slow.
OFFERED_LAUNCHES = 500


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the graph side of the timeline shows: one launch, or several in some way."""

    launch: TimedLaunch | None
    launches: Launches | None
    order: Order

    @property
    def asked(self) -> int | Launches | None:
        """What ``launch=`` says."""
        return self.launches or (self.launch.launch_id if self.launch else None)


def render_graph(
    library: Library, file: str, view: GraphView, query: Query, addresses: Addresses
) -> Component:
    """Return the page of one graph level in the state its address describes."""
    selected = [n for n in query.node_ids if view.tree.index_of(n) is not None]
    shown = _Shown(_chosen_launch(view, query), _chosen_launches(view, query), query.order)
    timed = view.is_timed
    colour = query.colour if query.colour and not is_empty(view, query.colour) else None
    colour = colour or ("duration" if timed else "kind")
    look = _look(selected, colour)
    opened = library.file(file)
    edition = opened.edition
    graphs = opened.recording.fetch_graphs(view.run.run_id)
    measurements = opened.recording.fetch_measurements(view.run.run_id)
    return html.Div(
        className="gv-graph-page",
        children=[
            dcc.Store(
                id="view",
                data={
                    "file": file,
                    "graph": view.graph.graph_id,
                    "version": opened.version,
                    "identity": graph_identity(view.run, view.graph),
                },
            ),
            dcc.Store(id="selection", data=selected),
            dcc.Store(id="address"),
            # What is selected, in a sentence: assets/web/announce.js.
            html.Div(id="said", role="status", className="gv-unseen"),
            _head(view, graphs, measurements),
            _panes(
                _dag(
                    view,
                    _dag_source(edition, view, query, colour, shown.launch, addresses),
                    look,
                    query,
                ),
                _beside(edition, view, shown, look, query, addresses),
                render_inspector(library, file, view, selected, addresses),
                _table(view, addresses.table_payload(edition, view.graph.graph_id), query.table),
            ),
        ],
    )


def _head(
    view: GraphView, graphs: Sequence[rows.Graph], measurements: Sequence[rows.Measurement]
) -> Component:
    """Return what stands above the panes; ``graph-about`` is renewed while a recording grows."""
    about = html.Div(
        [
            html.H1(view.graph.name, className="gv-ellipsis", title=view.graph.name),
            state_badge(view.run) if view.run.state != "completed" else None,
            _graph_facts(view),
            _how_measured(view, measurements),
        ],
        id="graph-about",
        className="gv-graph-title",
    )
    return html.Div([about, _graph_choice(view, graphs)], className="gv-graph-head")


def _graph_facts(view: GraphView) -> Component:
    times, levels = view.launch_times, view.tree.levels
    edges = "unknown" if view.edge_count is None else integer(view.edge_count)
    recorded = view.timed_count
    return facts(
        [
            ("Nodes", integer(len(view.nodes)), "Of this level"),
            *(
                [
                    (
                        "Nested",
                        integer(nested),
                        f"Nodes in {counted(len(levels) - 1, 'body', 'bodies')}: of child graphs "
                        "and conditional nodes",
                    )
                ]
                if (nested := len(view.tree.nodes) - levels[0].end)
                else []
            ),
            (
                "Edges",
                edges,
                "Of this level"
                if view.edge_count is not None
                else "Instantiated before gviz attached: nodes are known from their records only",
            ),
            (
                "Launches",
                integer(view.launch_count),
                f"{counted(recorded, 'launch', 'launches')} recorded with node times",
            ),
            *(
                [
                    (
                        "Launch GPU time",
                        duration(times.median_ns),
                        f"Median of {counted(times.count, 'launch', 'launches')}; {times.method}",
                    )
                ]
                if times.median_ns is not None
                else []
            ),
            *(
                [("Node time", duration(view.node_time_ns), NODE_TIME_METHOD)]
                if view.node_time_ns is not None
                else []
            ),
        ],
        className="gv-facts gv-facts-line",
    )


def _how_measured(view: GraphView, measurements: Sequence[rows.Measurement]) -> Component:
    """Return a popover: the collector, why, and what measuring cost and lost."""
    run = view.run
    recorded = view.timed_count
    sentences = [
        f"Node times: {counted(recorded, 'launch', 'launches')} of {integer(view.launch_count)} "
        f"recorded by {run.collector or 'an unknown collector'}"
        + (f" ({run.collector_reason})" if run.collector_reason else "")
        + "."
        if recorded
        else _no_times(view),
        f"Launch GPU time: {view.launch_times.method}.",
        *([] if view.inflation is None else [f"{sentence(view.inflation.to_text())}."]),
    ]
    lines = [(measurement_name(m), measurement_text(m), m.method) for m in measurements]
    return html.Details(
        className="gv-how",
        children=[
            html.Summary("How measured"),
            html.Div(
                [
                    *(html.P(s) for s in sentences),
                    facts(lines, className="gv-facts gv-facts-wide") if lines else None,
                ],
                className="gv-how-body",
            ),
        ],
    )


def _no_times(view: GraphView) -> str:
    if view.root.origin == "dot":
        return "No times: a DOT dump carries none. Record a run with gviz run to see times."
    if is_failed(view.root):
        return f"No times: there is no executable of this graph ({view.root.origin})."
    if view.run.state == "recording":
        return "No launch of this graph has node times yet; they appear here by themselves."
    if not view.launch_count:
        return "No times: this graph was not launched while gviz watched."
    launches = counted(view.launch_count, "launch", "launches")
    return (
        f"No node times: {launches} of this graph, none recorded node by node. Record again with "
        "gviz run --node-launches all, or for longer."
    )


def _graph_choice(view: GraphView, graphs: Sequence[rows.Graph]) -> Component | None:
    if len(graphs) < 2:
        return None
    return select(
        "graph-choice", "Graph", _graph_options(graphs), str(view.graph.graph_id), width=230
    )


#: Orders of stacked launches, as the choice shows them.
_ORDERS = [
    {"value": "ordinal", "label": "by ordinal"},
    {"value": "length", "label": "longest first"},
]


def _launch_choices(
    view: GraphView, shown: _Shown, stream: TimedLaunch | None, panel: Panel
) -> list[Component]:
    """Return the choices of the graph launches and of the eager pass shown in the timeline."""
    offered = list(view.recorded_launches[:OFFERED_LAUNCHES])
    if shown.launch is not None and shown.launch not in offered:
        offered.append(shown.launch)
    launches = [
        {"value": str(x.launch_id), "label": f"#{x.ordinal} · {_gpu_time(x)}"} for x in offered
    ]
    count = len(view.recorded_launches)
    if count > 1:
        launches = [
            {"value": "median", "label": f"median of {integer(count)}"},
            {"value": "all", "label": f"all {integer(count)}, stacked"},
            *launches,
        ]
    eager = [
        {"value": str(x.launch_id), "label": f"pass {x.ordinal} · {_gpu_time(x)}"}
        for x in view.stream_launches[:OFFERED_LAUNCHES]
    ]
    return [
        select(
            "launch",
            "Launch",
            launches,
            None if shown.asked is None else str(shown.asked),
            width=148,
            placeholder="none recorded",
        ),
        html.Div(
            select("order", "Order", _ORDERS, shown.order, width=124, named=False),
            id="order-box",
            hidden=shown.launches != "all",
        ),
        html.Div(
            select(
                "stream-launch",
                "Eager",
                eager,
                str(stream.launch_id) if stream else None,
                width=148,
                placeholder="not recorded",
            ),
            id="eager-box",
            hidden=panel == "memory",
        ),
    ]


def _graph_options(graphs: Sequence[rows.Graph]) -> list[dict[str, str]]:
    names = {g.graph_id: g.name for g in graphs}
    doubled = {n for n in names.values() if list(names.values()).count(n) > 1}
    return [
        {
            "value": str(g.graph_id),
            "label": f"{g.name} (graph {g.graph_id})" if g.name in doubled else g.name,
        }
        for g in graphs
    ]


def _gpu_time(launch: TimedLaunch) -> str:
    return "no times" if launch.gpu_ns is None else duration(launch.gpu_ns)


def _chosen_launch(view: GraphView, query: Query) -> TimedLaunch | None:
    recorded = view.recorded_launches
    asked = next((x for x in recorded if x.launch_id == query.launch_id), None)
    return asked or typical_launch(recorded)


def _chosen_launches(view: GraphView, query: Query) -> Launches | None:
    return query.launches if len(view.recorded_launches) > 1 else None


def _chosen_stream_launch(view: GraphView, query: Query) -> TimedLaunch | None:
    asked = (x for x in view.stream_launches if x.launch_id == query.stream_launch_id)
    return next(asked, None) or typical_launch(view.stream_launches)


def _look(selected: Sequence[int], colour: str) -> dict[str, Any]:
    """Return the properties that both canvases start with."""
    return {
        "selected": list(selected),
        "focus": {"node": selected[0], "token": 0} if selected else None,
        "colour": colour,
        # The browser knows whether the page is dark; page_links.js says it at once.
        "theme": "light",
        "group": LINK_GROUP,
        "style": {"height": "100%", "width": "100%"},
    }


def _dag_source(
    edition: str,
    view: GraphView,
    query: Query,
    colour: str,
    launch: TimedLaunch | None,
    addresses: Addresses,
) -> str:
    """Return where the DAG comes from; of a launch only where that is asked about."""
    asked = query.layout == "time" or colour == "launch"
    launch_id = launch.launch_id if launch is not None and asked else None
    return addresses.dag_payload(edition, view.graph.graph_id, query, launch_id)


def _dag(view: GraphView, source: str, look: dict[str, Any], query: Query) -> Component:
    if not view.nodes:
        return _pane("Graph", html.P("This graph has no nodes.", className="gv-empty"), None)
    note = (
        None
        if view.edge_count is not None
        else html.Span(f"edges unknown: {why_no_edges(view.root)}", className="gv-muted")
    )
    choices = (
        data_choice(view, query.data),
        fold_choice(view, query.folding),
        layout_choice(view, query.layout),
        colour_choice(view, look["colour"]),
    )
    # Dash's components are false when they have no children.
    tools = [choice for choice in choices if choice is not None]
    canvas = Dag(id="dag", source=source, open=list(query.unfolded), buffer=query.buffer, **look)
    return _pane("Graph", canvas, note, *tools)


def _beside(
    edition: str,
    view: GraphView,
    shown: _Shown,
    look: dict[str, Any],
    query: Query,
    addresses: Addresses,
) -> Component:
    """Return the pane beside the DAG: timeline or memory, as its switch says."""
    graph_id = view.graph.graph_id
    stream = _chosen_stream_launch(view, query)
    source = addresses.timeline_payload(
        edition, graph_id, shown.asked, stream.launch_id if stream else None, shown.order
    )
    memory_source = addresses.memory_payload(
        edition, graph_id, None if shown.launch is None else shown.launch.launch_id
    )
    timeline: Component = html.P(_no_times(view), className="gv-empty")
    choices: list[Component] = []
    if shown.launch is not None or stream is not None:
        timeline = Timeline(id="timeline", source=source, **look)
        choices = _launch_choices(view, shown, stream, query.panel)
    at_memory = query.panel == "memory"
    memory = render_memory(memory_source, look, at_once=at_memory)
    panels = [
        html.Div(timeline, id="timeline-box", className="gv-panel", hidden=at_memory),
        html.Div(memory, id="memory-box", className="gv-panel", hidden=not at_memory),
    ]
    return html.Section(
        className="gv-pane",
        **aria(label="Timeline and memory"),
        children=[
            html.Div(
                [panel_switch(query.panel), html.Div(className="gv-grow"), *choices],
                className="gv-pane-head",
            ),
            html.Div(panels, className="gv-pane-body"),
        ],
    )


def _table(view: GraphView, source: str, shown: Table) -> Component:
    search = dmc.TextInput(
        id="search",
        placeholder="Search nodes  ( / )",
        size="xs",
        className="gv-search",
        **aria(label="Search nodes"),
    )
    note = None if view.is_timed else html.Span("no node times", className="gv-muted")
    save = html.Button(
        "CSV",
        type="button",
        id="save-csv",
        className="gv-button",
        title="Save the rows shown as CSV",
        **{"data-name": view.graph.name},
    )
    grouped = dmc.SegmentedControl(
        id="table-view",
        size="xs",
        value=shown,
        data=[
            {"value": "nodes", "label": "One by one"},
            {"value": "kernels", "label": "By kernel name"},
        ],
        **aria(label="Rows of the table"),
    )
    by_kernel = shown == "kernels"
    body = html.Div(
        [
            dcc.Store(id="table-source", data=source),
            html.Div(render_table(view), id="nodes-box", className="gv-grid", hidden=by_kernel),
            html.Div(
                render_kernel_table() if by_kernel else None,
                id="kernels-box",
                className="gv-grid",
                hidden=not by_kernel,
            ),
        ],
        className="gv-grid",
    )
    # Shown and worded by page_table.js while a view filters the table.
    clear = html.Button(
        id="filter-clear",
        className="gv-filter-clear",
        hidden=True,
        title="Only these nodes; click to show all",
    )
    return _pane("Nodes", body, note, grouped, save, clear, search)


def _pane(title: str, body: Component, note: Component | None, *tools: Component) -> Component:
    return html.Section(
        className="gv-pane",
        **aria(label=title),
        children=[
            html.Div(
                [html.H2(title), note, html.Div(className="gv-grow"), *tools],
                className="gv-pane-head",
            ),
            html.Div(body, className="gv-pane-body"),
        ],
    )


def _panes(
    dag: Component, timeline: Component, inspector: Component, table: Component
) -> Component:
    inspector_pane = html.Section(
        id="inspector",
        className="gv-pane gv-inspector",
        tabIndex="0",
        **aria(label="Inspector"),
        children=inspector,
    )
    return _split(
        56,
        "rows",
        "canvases and details",
        _split(50, "columns", "graph and timeline", dag, timeline),
        _split(31, "columns", "inspector and table", inspector_pane, table),
    )


def _split(
    share: int, direction: str, parts: str, first: Component, second: Component
) -> Component:
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
