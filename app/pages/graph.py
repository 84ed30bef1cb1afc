"""The page of a graph: DAG beside timeline, inspector beside table, for a server and for a file.

The browser makes elements of it (assets/web/page/page.js) and fills them from one of two stores.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from gviz.app.components import (
    Addresses,
    Parts,
    Query,
    aria,
    breakdown_box,
    pane,
    panel_pane,
    panes,
    select,
)
from gviz.app.files import Library
from gviz.app.inspector import edges_note
from gviz.app.pages.compare import counterpart_choice
from gviz.app.pages.dag_choices import colour_choice, data_choice, fold_choice, layout_choice
from gviz.app.pages.head import graph_head, has_breakdown, no_times
from gviz.app.pages.initial_folds import first_folds
from gviz.app.pages.overlay_list import laid_tables
from gviz.app.views import (
    SENT_WHOLE,
    GraphView,
    ShownLaunch,
    family_columns,
    first_launch,
    graph_identity,
    table_columns,
    table_pane,
    typical_launch,
)
from gviz.dataclass import dataclass
from gviz.model import in_nested_order, is_failed
from gviz.text import duration, integer

#: Launches offered in the launch choice; more would make the page itself slow.
OFFERED_LAUNCHES = 500
#: Of so many spans a node the timeline shows more than the DAG, and is drawn before it.
_MANY_ITERATIONS = 10
#: What nodes are coloured by at first, as spans, blocks and rows of the table are.
_FIRST_COLOUR = "family"
#: The scripts of the page put canvases into elements of this class.
_CANVAS = "gviz-canvas-box"
#: Data of a graph's page; what is chosen comes as queries of their addresses.
_SOURCES = (
    "timeline",
    "memory",
    "facts",
    "breakdown",
    "verdict",
    "saved",
    "dag",
    "table",
    "inspector",
    "uses",
    "what-if",
)
#: Orders of stacked launches, as the choice shows them.
_ORDERS = [
    {"value": "ordinal", "label": "by ordinal"},
    {"value": "length", "label": "longest first"},
]


@dataclass(frozen=True, slots=True)
class OfferedLaunches:
    """The launches that a page's timeline can show.

    Attributes
    ----------
    options
        Of the choice of launches, as :func:`gviz.app.components.select` has them.
    value
        The one to begin with; None: there is none.
    eager
        Options of the choice of eager iterations; None: there is no choice.
    eager_value
        The one to begin with.
    eager_words
        What is shown of the eager side where there is no choice; None: nothing.
    """

    options: Sequence[Mapping[str, str]]
    value: str | None
    eager: Sequence[Mapping[str, str]] | None = None
    eager_value: str | None = None
    eager_words: str | None = None

    @property
    def is_any(self) -> bool:
        """True where the timeline has something to show."""
        return self.value is not None or self.eager_value is not None or bool(self.eager_words)


def render_graph(
    view: GraphView,
    head: Component,
    launches: OfferedLaunches,
) -> Component:
    """Return the page of one graph level below the application's header.

    Parameters
    ----------
    view
        The level.
    head
        What stands above the panes.
    launches
        Those that can be chosen.
    """
    timeline = (
        html.Div(id="timeline", className=_CANVAS)
        if launches.is_any
        else html.P(no_times(view), className="gv-empty")
    )
    beside = panel_pane(timeline, _memory(), *_launch_choices(launches))
    return html.Div(
        className="gv-graph-page",
        children=[
            # What is selected, in a sentence: assets/web/core/announce.js.
            html.Div(id="said", role="status", className="gv-unseen"),
            head,
            *_breakdown(view),
            panes(_dag(view), beside, _table(view)),
        ],
    )


def _breakdown(view: GraphView) -> list[Component]:
    """Return the place of the breakdown, or why a body has none."""
    if has_breakdown(view):
        return [breakdown_box(is_timed=view.is_timed)]
    if view.graph.parent_graph_id is None:
        return []
    around = view.titles[view.root.graph_id]
    words = f"A body has no launch of its own: the breakdown of {around} holds its nodes."
    return [html.P(words, className="gv-muted gv-no-breakdown")]


def _dag(view: GraphView) -> Component:
    if not view.nodes:
        nothing = html.P("This graph has no nodes.", className="gv-empty")
        return pane("Graph", nothing, None, name="graph")
    # The head names inferred edges; it has room for it.
    words = None if view.root.edges_inferred else edges_note(view.root)
    note = None if words is None else html.Span(words, className="gv-muted")
    choices = (
        data_choice(view),
        fold_choice(view),
        layout_choice(view),
        colour_choice(view, _FIRST_COLOUR),
    )
    # Dash's components are false when they have no children.
    tools = [choice for choice in choices if choice is not None]
    return pane("Graph", html.Div(id="dag", className=_CANVAS), note, *tools, name="graph")


def _launch_choices(launches: OfferedLaunches) -> list[Component]:
    """Return the choices of the graph launches and of the eager iteration shown in the timeline."""
    if not launches.is_any:
        return []
    found: list[Component] = []
    if launches.eager_words is not None:
        found.append(html.Span(launches.eager_words, id="eager-box", className="gv-muted"))
    if launches.options or launches.eager is not None:
        found.append(
            select(
                "launch",
                "Launch",
                launches.options,
                launches.value,
                width=148,
                placeholder="none recorded",
            )
        )
    if launches.eager is not None:
        order = select("order", "Order", _ORDERS, "ordinal", width=124, named=False)
        eager = select(
            "stream-launch",
            "Eager",
            launches.eager,
            launches.eager_value,
            width=196,
            placeholder="not recorded",
        )
        found += [
            html.Div(order, id="order-box", hidden=True),
            html.Div(eager, id="eager-box"),
        ]
    return found


def _memory() -> Component:
    """Return the memory view; its text and its canvas are made when it is first looked at."""
    canvas = html.Div(html.Div(id="memory", className=_CANVAS), className="gv-memory-canvas")
    return html.Div([html.Div(id="memory-facts"), canvas], className="gv-memory-view")


def _table(view: GraphView) -> Component:
    note = None if view.is_timed else html.Span("no node times", className="gv-muted")
    grouped = dmc.SegmentedControl(
        id="table-view",
        size="xs",
        value="families",
        data=[
            {"value": "families", "label": "By family"},
            {"value": "nodes", "label": "One by one"},
        ],
        **aria(label="Rows of the table"),
    )
    return table_pane("Nodes", grouped, "nodes", note=note, foot=_foot())


def _foot() -> Component:
    """Return the foot of the table: sums of what is selected, a switch that lists only that."""
    only = dmc.Checkbox(
        id="only-selected",
        label="Only selected",
        size="xs",
        className="gv-check",
        **{"aria-description": "Rows of what is selected; a click leaves the selection as it is"},
    )
    sums = html.Span(id="table-sums", title="Derived: sums of medians; in loops of what a launch "
                     "takes on average")  # fmt: skip
    return html.Div([sums, only], className="gv-table-foot")


def graph_content(
    view: GraphView,
    page: Component,
    parts: Parts,
    fixed: Mapping[str, object],
) -> dict[str, Any]:
    """Return what the browser's page of a graph is made of, alike for a server and for a file.

    Parameters
    ----------
    view, page
        The level, and its page.
    parts
        Where the page's parts go.
    fixed
        Fields of the page's address that no choice on it changes.
    """
    launch = typical_launch(view.recorded_launches)
    place = parts.add(page)
    return {
        "id": view.graph.graph_id,
        "name": view.title,
        "note": "",
        "parts": parts.list,
        "page": place,
        "colour": _FIRST_COLOUR,
        "layout": "",
        "tables": {
            "families": {"columns": family_columns(view), "label": "Kernel families"},
            "nodes": {"columns": table_columns(view), "label": "Nodes"},
        },
        "fixed": {name: value for name, value in fixed.items() if value is not None},
        "has_breakdown": has_breakdown(view),
        "launch": "" if launch is None else str(launch.launch_id),
        "first": ["timeline", "dag"] if _has_many_spans(view) else ["dag", "timeline"],
    }


def _has_many_spans(view: GraphView) -> bool:
    launch = typical_launch(view.recorded_launches)
    most = max(SENT_WHOLE, _MANY_ITERATIONS * len(view.tree.nodes))
    return launch is not None and launch.span_count > most


# -- of a server ---------------------------------------------------------------------------


def render_served_graph(
    library: Library, file: str, view: GraphView, query: Query, addresses: Addresses
) -> Component:
    """Return the page of one graph level of an open file."""
    recording = library.file(file).recording
    head = graph_head(
        view,
        in_nested_order(recording.fetch_graphs(view.run.run_id)),
        recording.fetch_measurements(view.run.run_id),
        None if is_failed(view.root) else addresses.report(file, view.root.graph_id),
        counterpart_choice(library, file, view, addresses),
        # What grows would be another one by the time it is written.
        can_share=not library.file(file).is_followed,
    )
    return render_graph(view, head, offer_launches(view, query))


def graph_payload(
    library: Library, file: str, view: GraphView, query: Query, addresses: Addresses
) -> bytes:
    """Return what the page of a graph is made of, and where its data are, as JSON."""
    page = render_served_graph(library, file, view, query, addresses)
    opened = library.file(file)
    fixed = {"file": opened.key, "graph": view.graph.graph_id}
    found = graph_content(view, page, Parts(), fixed)
    around = {view.graph.graph_id, view.root.graph_id}
    found["overlays"] = laid_tables(library, {"": (opened.key, around)}, addresses.overlay)
    found |= asdict(first_folds(opened.recording, view, opened.keep))
    found["identity"] = graph_identity(view.run, view.graph)
    found["sources"] = {
        kind: addresses.graph_payload(kind, opened.versioned_key, view.graph.graph_id)
        for kind in _SOURCES
    }
    return json.dumps(found, separators=(",", ":")).encode()


def offer_launches(view: GraphView, query: Query) -> OfferedLaunches:
    """Return the launches of a recording that can be chosen, with those that are requested."""
    launch = _requested(view.recorded_launches, query.launch_id)
    eager = _requested(view.stream_launches, query.stream_launch_id)
    options = [
        {"value": str(x.launch_id), "label": f"#{x.ordinal} · {gpu_time(x)}"}
        for x in _with(view.recorded_launches, launch)
    ]
    count = len(view.recorded_launches)
    if count > 1:
        options = [
            {"value": "median", "label": f"median of {integer(count)}"},
            {"value": "all", "label": f"all {integer(count)}, stacked"},
            *options,
        ]
    shown = first_launch(view) if launch is None or query.launch_id is None else launch.launch_id
    return OfferedLaunches(
        options,
        None if shown is None else str(shown),
        [
            {"value": str(x.launch_id), "label": f"#{x.ordinal} · {eager_time(x)}"}
            for x in _with(view.stream_launches, eager)
        ],
        None if eager is None else str(eager.launch_id),
    )


def _requested(launches: Sequence[ShownLaunch], launch_id: int | None) -> ShownLaunch | None:
    """Return the launch that is requested, or else one of typical length."""
    requested = (x for x in launches if x.launch_id == launch_id)
    return next(requested, None) or typical_launch(launches)


def _with(launches: Sequence[ShownLaunch], shown: ShownLaunch | None) -> list[ShownLaunch]:
    offered = list(launches[:OFFERED_LAUNCHES])
    return offered if shown is None or shown in offered else [*offered, shown]


def gpu_time(launch: ShownLaunch) -> str:
    """Return how long a launch took on the GPU."""
    return "no times" if launch.gpu_ns is None else duration(launch.gpu_ns)


def eager_time(iteration: ShownLaunch) -> str:
    """Return how long an eager iteration took on the GPU: its node times were recorded."""
    return gpu_time(iteration) if iteration.gpu_ns is None else f"≤ {gpu_time(iteration)}"
