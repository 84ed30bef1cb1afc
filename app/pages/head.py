"""The head of a graph's page: its name, its figures, how it was measured, other graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import facts, select, sentence, state_badge
from gviz.app.inspector import edges_note
from gviz.app.pages.measurements import measurement_list
from gviz.app.pages.runs import NODE_TIME_METHOD
from gviz.app.views import GraphView
from gviz.model import is_failed
from gviz.recording import rows
from gviz.report import launch_text
from gviz.text import counted, integer

#: A view that can be saved as a picture: its id, and what it is called.
Picture = tuple[str, str]
GRAPH_PICTURE: Picture = ("dag", "Graph")
TIMELINE_PICTURE: Picture = ("timeline", "Timeline")


def graph_head(
    view: GraphView,
    graphs: Sequence[rows.Graph],
    measurements: Sequence[rows.Measurement],
    report: str | None = None,
    other: Component | None = None,
    *,
    can_share: bool = False,
) -> Component:
    """Return what stands above the panes; ``graph-about`` is renewed while a recording grows.

    ``report`` is the address of the graph's report, None: there is no way to it; ``other``
    leads to a comparison; ``can_share``: a server is there that can write the page as a file.
    """
    about = html.Div(
        [
            html.H1(view.title, className="gv-ellipsis", title=view.title),
            state_badge(view.run) if view.run.state != "completed" else None,
            graph_facts(view),
            how_measured(view, measurements),
        ],
        id="graph-about",
        className="gv-graph-title",
    )
    ways = html.Div(
        [
            _report(report),
            other,
            _graph_choice(view, graphs),
            *share_menu(_pictures(view), can_share),
        ],
        className="gv-graph-ways",
    )
    return html.Div([about, ways], className="gv-graph-head gv-graph-row")


def _pictures(view: GraphView) -> list[Picture]:
    """Return the views of a graph's page that can be saved as pictures."""
    graph = [GRAPH_PICTURE] if view.nodes else []
    return [*graph, *([TIMELINE_PICTURE] if view.recorded_launches or view.stream_launches else [])]


def share_menu(
    pictures: Sequence[Picture], can_share: bool, sides: Sequence[str] = ("",)
) -> list[Component]:
    """Return the menu of what can be saved, and what is said of it: assets/web/page/page.js.

    ``can_share``: a server is there that can write the page as a file; ``sides``: what tables can
    be laid on.
    """
    items = [
        html.Button(
            f"{name} as {kind}",
            type="button",
            title=f"What is in view ({key}, when it is focused)",
            **{"data-save": f"{place} {kind.lower()}"},
        )
        for place, name in pictures
        for kind, key in (("PNG", "s"), ("SVG", "S"))
    ]
    page = [_share_page()] if can_share else []
    table = html.Button("Table as CSV", id="save-csv", type="button", title="The rows shown")
    menu = html.Details(
        [
            html.Summary("Share"),
            html.Div(
                [*page, *items, table, *map(_add_overlay, sides)],
                className="gv-how-body gv-menu-body",
            ),
        ],
        id="share-menu",
        className="gv-how gv-menu",
    )
    note = html.Span(id="share-note", className="gv-share-note gv-ellipsis", role="status")
    return [menu, note] if can_share else [menu]


def _add_overlay(side: str) -> Component:
    """Return the item that lays a table on the graph, or on one of two."""
    return html.Button(
        f"Add overlay to {side}…" if side else "Add overlay…",
        type="button",
        title=f"Lay a table of your own (CSV, JSON) on {f'graph {side}' if side else 'the graph'}; "
        "or drop it on the page",
        **{"data-lay": side},
    )


def _report(address: str | None) -> Component | None:
    if address is None:
        return None
    return dcc.Link(
        "Report",
        href=address,
        className="gv-report-link",
        title="What bounds its launches, and what to change",
    )


def _share_page() -> Component:
    """Return the item that saves the page as a file; assets/web/page/share.js does it."""
    return html.Button(
        "This page as HTML",
        type="button",
        id="share",
        title="What this page shows as one file, which a browser opens without gviz",
    )


def graph_facts(view: GraphView) -> Component:
    """Return what a graph level amounts to, on one line."""
    levels = view.tree.levels
    nested = len(view.tree.nodes) - levels[0].end
    inside = (
        f"Nodes in {counted(len(levels) - 1, 'body', 'bodies')}: of child graphs and conditional "
        "nodes"
    )
    edges = "unknown" if view.edge_count is None else integer(view.edge_count)
    edges += " inferred" if view.graph.edges_inferred else ""
    recorded = len(view.recorded_launches)
    return facts(
        [
            ("Nodes", integer(len(view.nodes)), "Of this level"),
            *([("Nested", integer(nested), inside)] if nested else []),
            (
                "Edges",
                edges,
                edges_note(view.graph) or "Of this level",
            ),
            (
                "Launches",
                integer(view.launch_count),
                f"{counted(recorded, 'launch', 'launches')} recorded with node times",
            ),
            # Where there is a verdict it begins with the time of a launch.
            *([] if has_breakdown(view) and view.is_timed else time_facts(view)),
        ],
        className="gv-facts gv-facts-line",
    )


def has_breakdown(view: GraphView) -> bool:
    """Return whether a graph is launched, so that there is something to break down."""
    return view.graph.parent_graph_id is None and not is_failed(view.root)


def time_facts(view: GraphView) -> list[tuple[str, str, str]]:
    """Return what a launch takes, and its nodes."""
    times, found = view.launch_times, []
    if times.median_ns is not None:
        how = f"Median of {counted(times.count, 'launch', 'launches')}; {times.method}"
        found.append(("Launch GPU time", launch_text(times), how))
    if view.node_time.median_ns is not None:
        found.append(("Node time", launch_text(view.node_time), NODE_TIME_METHOD))
    return found


def how_measured(view: GraphView, measurements: Sequence[rows.Measurement]) -> Component:
    """Return a popover: the collector, why, and what measuring cost and lost."""
    run = view.run
    recorded = len(view.recorded_launches)
    sentences = [
        f"Node times: {counted(recorded, 'launch', 'launches')} of {integer(view.launch_count)} "
        f"recorded by {run.collector or 'an unknown collector'}"
        + (f" ({run.collector_reason})" if run.collector_reason else "")
        + "."
        if recorded
        else no_times(view),
        f"Launch GPU time: {view.launch_times.method}.",
        *([] if view.inflation is None else [f"{sentence(view.inflation.to_text())}."]),
    ]
    figures = measurement_list(time_facts(view), measurements)
    return html.Details(
        className="gv-how",
        children=[
            html.Summary("How measured"),
            html.Div(
                [
                    *(html.P(s) for s in sentences),
                    *figures,
                ],
                className="gv-how-body",
            ),
        ],
    )


def no_times(view: GraphView) -> str:
    """Return why there are no times."""
    if view.root.origin == "dot":
        return "No times: a DOT dump carries none. Record a run with gviz run to see times."
    if is_failed(view.root):
        return f"No times: there is no executable of this graph ({view.root.origin})."
    if view.run.state == "recording":
        return "No launch of this graph has node times yet; they appear here by themselves."
    if not view.launch_count:
        return "No times: this graph was not launched while gviz watched."
    launches = counted(view.launch_count, "launch", "launches")
    if view.run.collector == "events":
        return (
            f"No node times: {launches} of this graph, none of them by an event copy. Record again "
            "with gviz run --collector cupti, or for longer."
        )
    return (
        f"No node times: {launches} of this graph, none recorded node by node. Record again with "
        "gviz run --node-launches all, or for longer."
    )


def _graph_choice(view: GraphView, graphs: Sequence[rows.Graph]) -> Component | None:
    if len(graphs) < 2:
        return None
    return select(
        "graph-choice",
        "Graph",
        graph_options(graphs, view.titles),
        str(view.graph.graph_id),
        width=230,
    )


def graph_options(graphs: Sequence[rows.Graph], titles: Mapping[int, str]) -> list[dict[str, str]]:
    """Return the options of a choice of graphs; bodies of one name with their numbers."""
    names = {g.graph_id: titles.get(g.graph_id, g.name) for g in graphs}
    count = Counter(names.values())
    return [
        {
            "value": str(graph_id),
            "label": f"{name} (graph {graph_id})" if count[name] > 1 else name,
        }
        for graph_id, name in names.items()
    ]
