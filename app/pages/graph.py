"""The Graph page: DAG beside timeline, inspector beside table, one selection over all four."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import (
    Addresses,
    Baseline,
    Dag,
    Launches,
    Order,
    Panel,
    Query,
    Table,
    Timeline,
    aria,
    breakdown_box,
    pane,
    panel_pane,
    panes,
    select,
)
from gviz.app.files import Library, OpenRecording
from gviz.app.inspector import edges_note, render_memory
from gviz.app.pages.dag_choices import (
    colour_choice,
    data_choice,
    fold_choice,
    is_empty,
    layout_choice,
)
from gviz.app.pages.head import graph_head, no_times
from gviz.app.views import (
    SENT_WHOLE,
    Compared,
    GraphView,
    ShownLaunch,
    baseline_choice,
    csv_button,
    filter_clear,
    find_baseline,
    graph_identity,
    render_kernel_table,
    render_table,
    typical_launch,
)
from gviz.model import in_nested_order, is_failed
from gviz.text import duration, integer

#: Both canvases share hover and selection in the browser under this name.
LINK_GROUP = "graph-page"
#: Launches offered in the launch choice; more would make the page itself slow.
OFFERED_LAUNCHES = 500
#: Of so many spans a node the timeline shows more than the DAG, and is drawn before it.
_MANY_ITERATIONS = 10
#: The data of a DAG of more nodes take longer to make than its page.
_MANY_NODES = 20_000


@dataclass(frozen=True, slots=True)
class _Shown:
    """Content of the timeline's graph side: one launch, or several in some way."""

    launch: ShownLaunch | None
    launches: Launches | None
    order: Order

    @property
    def requested(self) -> int | Launches | None:
        """Return the value of ``launch=``."""
        return self.launches or (self.launch.launch_id if self.launch else None)


def render_graph(
    library: Library, file: str, view: GraphView, query: Query, addresses: Addresses
) -> Component:
    """Return the page of one graph level in the state its address describes."""
    selected = [n for n in query.node_ids if view.tree.index_of(n) is not None]
    shown = _Shown(_chosen_launch(view, query), _chosen_launches(view, query), query.order)
    compared = find_baseline(library, file, view, query.baseline_file, query.baseline_graph_id)
    look = _look(selected, _chosen_colour(view, query, compared))
    opened = library.file(file)
    versioned_key = opened.versioned_key
    graphs = in_nested_order(opened.recording.fetch_graphs(view.run.run_id))
    measurements = opened.recording.fetch_measurements(view.run.run_id)
    return html.Div(
        className="gv-graph-page",
        children=[
            dcc.Store(id="view", data=_about(opened, view, compared, query)),
            dcc.Store(id="selection", data=selected),
            dcc.Store(
                id="inspector-source",
                data=addresses.inspector_payload(
                    versioned_key, view.graph.graph_id, compared.versioned
                ),
            ),
            dcc.Store(id="address"),
            # What is selected, in a sentence: assets/web/core/announce.js.
            html.Div(id="said", role="status", className="gv-unseen"),
            graph_head(
                view,
                graphs,
                measurements,
                None if is_failed(view.root) else addresses.report(file, view.root.graph_id),
                baseline_choice(library, file, view, compared, addresses),
            ),
            *_breakdown(versioned_key, view, addresses),
            panes(
                _dag(
                    view,
                    _dag_source(
                        versioned_key, view, query, look, shown.launch, compared, addresses
                    ),
                    look,
                    query,
                    against=compared.baseline is not None,
                ),
                _beside(versioned_key, view, shown, look, query, addresses),
                _table(
                    view,
                    addresses.table_payload(versioned_key, view.graph.graph_id, compared.versioned),
                    query.table,
                    compared.baseline,
                ),
            ),
        ],
    )


def _breakdown(versioned_key: str, view: GraphView, addresses: Addresses) -> list[Component]:
    """Return the verdict and the breakdown of a graph; of a body there are none."""
    if not has_breakdown(view):
        return []
    graph_id = view.graph.graph_id
    source = {
        "breakdown": addresses.breakdown_payload(versioned_key, graph_id),
        "verdict": addresses.verdict_payload(versioned_key, graph_id),
    }
    return [dcc.Store(id="breakdown-source", data=source), breakdown_box(is_timed=view.is_timed)]


def has_breakdown(view: GraphView) -> bool:
    """Return whether a graph is launched, so that there is something to break down."""
    return view.graph.parent_graph_id is None and not is_failed(view.root)


def _chosen_colour(view: GraphView, query: Query, compared: Compared) -> str:
    against = compared.baseline is not None
    if query.colour and not is_empty(view, query.colour, against):
        return query.colour
    return "duration" if view.is_timed else "kind"


def _about(
    opened: OpenRecording, view: GraphView, compared: Compared, query: Query
) -> dict[str, Any]:
    """Return what the page shows, for callbacks: graph and baseline with their versions."""
    versioned = compared.versioned
    return {
        "file": opened.key,
        "graph": view.graph.graph_id,
        "version": opened.version,
        "identity": graph_identity(view.run, view.graph),
        "baseline": None if versioned is None else asdict(versioned),
        # Also where it could not be had.
        "requested_baseline": query.baseline_file,
    }


#: Orders of stacked launches, as the choice shows them.
_ORDERS = [
    {"value": "ordinal", "label": "by ordinal"},
    {"value": "length", "label": "longest first"},
]


def _launch_choices(
    view: GraphView, shown: _Shown, stream: ShownLaunch | None, panel: Panel
) -> list[Component]:
    """Return the choices of the graph launches and of the eager iteration shown in the timeline."""
    offered = list(view.recorded_launches[:OFFERED_LAUNCHES])
    if shown.launch is not None and shown.launch not in offered:
        offered.append(shown.launch)
    launches = [
        {"value": str(x.launch_id), "label": f"#{x.ordinal} · {gpu_time(x)}"} for x in offered
    ]
    count = len(view.recorded_launches)
    if count > 1:
        launches = [
            {"value": "median", "label": f"median of {integer(count)}"},
            {"value": "all", "label": f"all {integer(count)}, stacked"},
            *launches,
        ]
    eager = [
        {"value": str(x.launch_id), "label": f"iteration {x.ordinal} · {eager_time(x)}"}
        for x in view.stream_launches[:OFFERED_LAUNCHES]
    ]
    return [
        select(
            "launch",
            "Launch",
            launches,
            None if shown.requested is None else str(shown.requested),
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
                width=196,
                placeholder="not recorded",
            ),
            id="eager-box",
            hidden=panel == "memory",
        ),
    ]


def gpu_time(launch: ShownLaunch) -> str:
    """Return how long a launch took on the GPU."""
    return "no times" if launch.gpu_ns is None else duration(launch.gpu_ns)


def eager_time(iteration: ShownLaunch) -> str:
    """Return how long an eager iteration took on the GPU: its node times were recorded."""
    return gpu_time(iteration) if iteration.gpu_ns is None else f"at most {gpu_time(iteration)}"


def _chosen_launch(view: GraphView, query: Query) -> ShownLaunch | None:
    recorded = view.recorded_launches
    requested = next((x for x in recorded if x.launch_id == query.launch_id), None)
    return requested or typical_launch(recorded)


def _chosen_launches(view: GraphView, query: Query) -> Launches | None:
    return query.launches if len(view.recorded_launches) > 1 else None


def _chosen_stream_launch(view: GraphView, query: Query) -> ShownLaunch | None:
    requested = (x for x in view.stream_launches if x.launch_id == query.stream_launch_id)
    return next(requested, None) or typical_launch(view.stream_launches)


def _look(selected: Sequence[int], colour: str) -> dict[str, Any]:
    """Return the properties that both canvases start with."""
    return {
        "selected": list(selected),
        "focus": {"node": selected[0], "token": 0} if selected else None,
        "colour": colour,
        # The browser knows whether the page is dark; assets/web/dash/links.js sets it at once.
        "theme": "light",
        "group": LINK_GROUP,
        "style": {"height": "100%", "width": "100%"},
    }


def _dag_source(
    versioned_key: str,
    view: GraphView,
    query: Query,
    look: dict[str, Any],
    launch: ShownLaunch | None,
    compared: Compared,
    addresses: Addresses,
) -> str:
    """Return where the DAG comes from; of a launch only where that is of_launch about."""
    of_launch = query.layout == "time" or look["colour"] == "launch"
    launch_id = launch.launch_id if launch is not None and of_launch else None
    return addresses.dag_payload(
        versioned_key, view.graph.graph_id, query, launch_id, compared.versioned
    )


def _dag(
    view: GraphView, source: str, look: dict[str, Any], query: Query, against: bool
) -> Component:
    if not view.nodes:
        return pane("Graph", html.P("This graph has no nodes.", className="gv-empty"), None)
    # Inferred edges are named by the head, which has room for it.
    words = None if view.root.edges_inferred else edges_note(view.root)
    note = None if words is None else html.Span(words, className="gv-muted")
    choices = (
        data_choice(view, query.data),
        fold_choice(view, query.folding),
        layout_choice(view, query.layout),
        colour_choice(view, look["colour"], against),
    )
    # Dash's components are false when they have no children.
    tools = [choice for choice in choices if choice is not None]
    is_long = len(view.nodes) > _MANY_NODES or None
    unfolded = list(query.unfolded)
    canvas = Dag(id="dag", source=source, open=unfolded, buffer=query.buffer, long=is_long, **look)
    return pane("Graph", canvas, note, *tools)


def _beside(
    versioned_key: str,
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
        versioned_key, graph_id, shown.requested, stream.launch_id if stream else None, shown.order
    )
    memory_source = addresses.memory_payload(
        versioned_key, graph_id, None if shown.launch is None else shown.launch.launch_id
    )
    timeline: Component = html.P(no_times(view), className="gv-empty")
    choices: list[Component] = []
    if shown.launch is not None or stream is not None:
        lengths = _lengths(view, shown, stream)
        timeline = Timeline(id="timeline", source=source, **lengths, **look)
        choices = _launch_choices(view, shown, stream, query.panel)
    memory = render_memory(memory_source, look, at_once=query.panel == "memory")
    return panel_pane(query.panel, timeline, memory, *choices)


def _lengths(view: GraphView, shown: _Shown, stream: ShownLaunch | None) -> dict[str, Any]:
    """Return the properties of a timeline's data: whether they are long, and come first."""
    launch = shown.launch if shown.launches is None else None
    spans, operations = (0 if x is None else x.span_count for x in (launch, stream))
    is_long = max(spans, operations) > SENT_WHOLE
    is_first = spans > max(SENT_WHOLE, _MANY_ITERATIONS * len(view.tree.nodes))
    return {"long": is_long or None, "first": is_first or None}


def search_field() -> Component:
    """Return the field that searches the table of nodes."""
    field: Component = dmc.TextInput(
        id="search",
        placeholder="Search nodes  ( / )",
        size="xs",
        className="gv-search",
        **aria(label="Search nodes"),
    )
    return field


def _table(view: GraphView, source: str, shown: Table, baseline: Baseline | None) -> Component:
    note = None if view.is_timed else html.Span("no node times", className="gv-muted")
    save = csv_button("save-csv", name=view.graph.name)
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
            html.Div(
                render_table(view, None if baseline is None else baseline.file),
                id="nodes-box",
                className="gv-grid",
                hidden=by_kernel,
            ),
            html.Div(
                render_kernel_table() if by_kernel else None,
                id="kernels-box",
                className="gv-grid",
                hidden=not by_kernel,
            ),
        ],
        className="gv-grid",
    )
    # Shown and worded by assets/web/dash/table.js while a view filters the table.
    clear = filter_clear("filter-clear")
    return pane("Nodes", body, note, grouped, save, clear, search_field())
