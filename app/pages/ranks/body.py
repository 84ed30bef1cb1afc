"""The Ranks page below its head: the launches on one axis, each launch, and the skew."""

from __future__ import annotations

from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import Addresses, Query, Timeline, aria, pane, select, split
from gviz.app.files import OpenRecording
from gviz.app.pages.ranks.names import rank_name
from gviz.app.pages.ranks.tables import RankLinks, graph_skew, launch_table
from gviz.comparison import GraphSkew, RankComparison, RankGraph, longest_wait, typical_launch
from gviz.model import GraphTree, read_tree
from gviz.text import counted, duration

#: Views of the page share selection and hover; GROUP in assets/web/dash/ranks.js.
_GROUP = "ranks-page"


def ranks_body(
    found: RankComparison, opened: OpenRecording, query: Query, addresses: Addresses
) -> list[Component]:
    """Return everything below the head of the page, for the graph and launch of its address."""
    about = _about(found)
    if not found.graphs:
        return [*about, html.P(_nothing(found), className="gv-compare-message", role="status")]
    at = _chosen_graph(found, query.graph_id)
    graph, skew = found.graphs[at], found.skew.graphs[at]
    launch, problem = _chosen_launch(graph, query.launch_id)
    missed = [html.P(problem, role="status", className="gv-compare-besides")] if problem else []
    links = RankLinks(
        file=opened.key, ranks=found.skew.ranks, graph=graph, tree=_first_tree(opened, graph),
        ordinal=int(graph.ordinal[launch]), addresses=addresses,
    )  # fmt: skip
    details = html.Section(
        graph_skew(skew, links), className="gv-pane gv-compare-summary", tabIndex="0",
        **aria(label="Skew"),
    )  # fmt: skip
    launches = html.Section(
        launch_table(graph, launch, links), className="gv-pane gv-compare-summary", tabIndex="0",
        **aria(label="Launches"),
    )  # fmt: skip
    return [
        dcc.Store(id="ranks-shown", data=_shown(graph, launch)),
        _headline(found, graph, skew, launch),
        *missed,
        *about,
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


def _about(found: RankComparison) -> list[Component]:
    clock = found.skew.clock
    how = (
        f"On one clock: {clock.reason}."
        if clock.is_one
        else f"Not on one clock, so first nodes are put below each other: {clock.reason}."
    )
    notes = "".join(f" Note: {remark}." for remark in found.skew.remarks)
    return [html.P(how + notes, className="gv-compare-besides gv-muted")]


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
    """Return a launch (index), and what is said where the address names one that is not there."""
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


def _headline(found: RankComparison, graph: RankGraph, skew: GraphSkew, launch: int) -> Component:
    """Return who waits for whom, over launches and in this one."""
    ranks = found.skew.ranks
    parts: list[Any] = [html.Strong(graph.name), f" on {counted(len(graph.sides), 'rank')}. "]
    left_out = [rank_name(r) for i, r in enumerate(ranks) if i not in [s.rank for s in graph.sides]]
    if left_out:
        parts.append(f"Not on {', '.join(left_out)}, which have no such graph. ")
    worst = skew.collectives[0] if skew.collectives else None
    if worst is None:
        parts.append("It has no collectives of NCCL, so no rank waits for another inside it. ")
    else:
        waits = [w or 0.0 for w in worst.waited_ns]
        waiting, last = rank_name(ranks[waits.index(max(waits))]), rank_name(ranks[worst.last])
        where = " in ".join(filter(None, (worst.context, worst.body)))
        place = f" ({where})" if where else ""
        of = (
            counted(worst.execution_count, "execution")
            if worst.body
            else counted(skew.launch_count, "launch", "launches")
        )
        parts.append(
            f"In the median of {of}, {waiting} waits "
            f"{duration(max(waits))} for {last} in {worst.name}{place}: its longest wait. "
        )
    wait = longest_wait(graph, launch)
    if wait is not None:
        names = [rank_name(ranks[side.rank]) for side in graph.sides]
        parts.append(
            f"In launch {int(graph.ordinal[launch])}: {names[wait.side]} waits "
            f"{duration(wait.wait_ns)} for {names[wait.awaited]}."
        )
    return html.P(parts, className="gv-compare-headline")


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
    source = links.addresses.ranks_payload(opened.edition, graph_id, ordinals[launch])
    timeline = Timeline(
        id="ranks-timeline",
        source=source,
        selected=list(query.node_ids),
        colour="duration",
        # The browser knows whether the page is dark; assets/web/dash/ranks.js says it at once.
        theme="light",
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
