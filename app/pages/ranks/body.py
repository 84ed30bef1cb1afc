"""The Ranks page below its head: the launches on one axis, each launch, and the skew."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import Addresses, DocumentPage, Query, Timeline, aria, pane, select, split
from gviz.app.files import OpenRecording
from gviz.app.pages.ranks.launches import launch_table
from gviz.app.pages.ranks.rank_links import RankLinks
from gviz.comparison import RankComparison, RankGraph, longest_wait, typical_launch
from gviz.model import GraphTree, read_tree
from gviz.report import contradictions_text, rank_name, skew_document, state_text
from gviz.text import duration

#: Views of the page share selection and hover; GROUP in assets/web/dash/ranks.js.
_GROUP = "ranks-page"


def ranks_body(
    found: RankComparison, opened: OpenRecording, query: Query, addresses: Addresses
) -> list[Component]:
    """Return everything below the head of the page, for the graph and launch of its address."""
    if not found.graphs:
        document = skew_document(found.skew)
        ranks = DocumentPage()
        return [
            *(ranks.verdict(verdict) for verdict in document.verdicts),
            html.P(_nothing(found), className="gv-compare-message", role="status"),
        ]
    at = _chosen_graph(found, query.graph_id)
    graph = found.graphs[at]
    document = skew_document(replace(found.skew, graphs=(found.skew.graphs[at],)))
    launch, problem = _chosen_launch(graph, query.launch_id)
    missed = [html.P(problem, role="status", className="gv-compare-besides")] if problem else []
    links = RankLinks(
        file=opened.key, graph=graph, tree=_first_tree(opened, graph),
        ordinal=int(graph.ordinal[launch]), addresses=addresses,
    )  # fmt: skip
    page = DocumentPage(links)
    details = html.Section(
        [page.section(part) for part in document.sections],
        className="gv-pane gv-compare-summary",
        tabIndex="0",
        **aria(label="Skew"),
    )
    launches = html.Section(
        launch_table(graph, launch, found.skew.ranks, links),
        className="gv-pane gv-compare-summary",
        tabIndex="0",
        **aria(label="Launches"),
    )
    return [
        dcc.Store(id="ranks-shown", data=_shown(graph, launch)),
        *(page.verdict(verdict) for verdict in document.verdicts),
        *missed,
        *_longest(found, at, launch),
        html.Div(
            split(
                56,
                "rows",
                "timeline and tables",
                _timeline(found, graph, launch, opened, query, links),
                split(58, "columns", "skew and launches", details, launches),
            ),
            className="gv-compare-panes",
        ),
    ]


def _first_tree(opened: OpenRecording, graph: RankGraph) -> GraphTree:
    graph_id = graph.sides[0].graph_id
    return read_tree(opened.recording, graph_id, opened.keep)


def _shown(graph: RankGraph, launch: int) -> dict[str, int]:
    return {"graph": graph.sides[0].graph_id, "launch": int(graph.ordinal[launch])}


def _nothing(found: RankComparison) -> str:
    first = rank_name(found.skew.ranks[0])
    if not found.shared_count:
        return (
            f"No graph of {first} is a graph of another rank: none has the shape, the name or half "
            "of the work of one there. Ranks that run different graphs, as in pipelines, are "
            "compared two at a time on the Compare page."
        )
    return (
        "No launch has node times on every rank, so none can be put side by side: launch the graph "
        "inside the profile on each of them, with the same node-level choice (--node-level)."
    )


def _chosen_graph(found: RankComparison, graph_id: int | None) -> int:
    """Return which graph the address names by the id it has on any rank; else the first."""
    for at, graph in enumerate(found.graphs):
        if graph_id in [side.graph_id for side in graph.sides]:
            return at
    return 0


def _chosen_launch(graph: RankGraph, ordinal: int | None) -> tuple[int, str | None]:
    """Return a launch (index), and a message where the address names one that is not there."""
    known = graph.ordinal.tolist()
    if ordinal in known:
        return known.index(ordinal), None
    launch = typical_launch(graph)
    if ordinal is None:
        return launch, None
    return launch, (
        f"Launch {ordinal} has no node times on every rank; shown is launch {known[launch]}, of "
        "typical length."
    )


def _longest(found: RankComparison, at: int, launch: int) -> list[Component]:
    """Return who waits longest in the launch of a graph shown; none where no rank waits."""
    graph, evidence = found.graphs[at], found.skew.graphs[at].evidence
    wait = longest_wait(graph, launch)
    if wait is None:
        return []
    names = [rank_name(found.skew.ranks[side.rank]) for side in graph.sides]
    words = (
        f"In launch {int(graph.ordinal[launch])}: {names[wait.side]} waits "
        f"{duration(wait.wait_ns)} for {names[wait.awaited]} ({state_text(evidence)})"
        f"{contradictions_text(evidence)}."
    )
    return [html.P(words, className="gv-compare-besides")]


def _timeline(
    found: RankComparison,
    graph: RankGraph,
    launch: int,
    opened: OpenRecording,
    query: Query,
    links: RankLinks,
) -> Component:
    ordinals = graph.ordinal.tolist()
    graph_id = graph.sides[0].graph_id
    source = links.addresses.ranks_payload(opened.versioned_key, graph_id, ordinals[launch])
    timeline = Timeline(
        id="ranks-timeline",
        source=source,
        selected=list(query.node_ids),
        colour="family",
        group=_GROUP,
        style={"height": "100%", "width": "100%"},
    )
    around = (("◀ Before", launch - 1), ("After ▶", launch + 1))
    steps = [
        html.Button(
            text,
            type="button",
            className="gv-button gv-ranks-step",
            title=f"Launch {ordinals[to]}",
            **{"data-launch": str(ordinals[to])},
        )
        for text, to in around
        if 0 <= to < len(ordinals)
    ]
    options = [{"value": str(o), "label": f"launch {o}"} for o in ordinals]
    tools = [select("ranks-launch", "Launch", options, str(ordinals[launch]), width=130), *steps]
    if len(found.graphs) > 1:
        graphs = [
            {"value": str(g.sides[0].graph_id), "label": f"{g.sides[0].graph_id}: {g.name}"}
            for g in found.graphs
        ]
        tools.insert(0, select("ranks-graph", "Graph", graphs, str(graph_id), width=190))
    return pane("Launch on every rank", timeline, None, *tools)
