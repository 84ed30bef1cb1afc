"""The ranks of a job on the Run page: who starts late, who is slow, who waits for whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.address import Addresses
from gviz.app.open_recording import OpenRecording
from gviz.app.quantity import MISSING, counted, duration, integer, percent, sentence
from gviz.errors import GvizError
from gviz.ranks.job import find_ranks, read_skew
from gviz.ranks.result import CollectiveSkew, GraphSkew, NodeSkew, RankRef, Skew

#: Rows of a table; gviz skew --all lists every node.
_LISTED = 10
_RANKS = (
    ("Rank", "Its number in the job; click for its run"),
    ("Machine", "Host name, GPUs"),
    ("Graph", "The same graph on this rank"),
    ("Launch", "Derived: median, first node's start to last node's end"),
    ("Slowest in", "Launches in which it took longest"),
    ("Starts after", "Derived: median, after the rank that started first"),
    ("Last in", "Launches in which it started last"),
)
_NODES = (
    ("Slow on a rank", "Click for the node on the slowest rank"),
    ("Rank", "The slowest"),
    ("Fastest", "Derived: median duration on the fastest rank"),
    ("Median", "Derived: median of the ranks' medians"),
    ("Slowest", "Derived: median duration on the slowest rank"),
    ("In", "Share of the launches in which that rank was the slowest"),
    ("Start spread", "Derived: of median starts after the launch's start, latest less earliest"),
)
_COLLECTIVES = (
    ("Collective", "Click for the node on the rank that comes last"),
    ("Comes last", "Estimated: the rank that most often takes least in it"),
    ("In", "Share of the launches in which it did"),
    ("Longest wait", "Estimated: of the rank that waits most, median"),
    ("Waits", "The rank that waits most"),
    ("Arrivals apart", "Derived: first to last start, median; needs one clock"),
)


def rank_skew(opened: OpenRecording) -> Skew | str | None:
    """Return the skew of a file's ranks, why there is none, or None where there are no ranks."""

    def build() -> Skew | str | None:
        if len(find_ranks(opened.recording)) < 2:
            return None
        try:
            return read_skew(opened.recording)
        except GvizError as error:
            return str(error)

    return opened.derive(("skew",), build)


def render_ranks(skew: Skew | str | None, file: str, addresses: Addresses) -> Component | None:
    """Return what is said of a file's ranks; None where it has none."""
    if skew is None:
        return None
    if isinstance(skew, str):
        return html.P(sentence(skew), role="alert")
    told = "On one clock" if skew.clock.is_one else "Not on one clock"
    parts: list[Component] = [html.P(f"{told}: {skew.clock.reason}.", className="gv-muted")]
    parts += [html.P(f"Note: {remark}.") for remark in skew.remarks]
    for graph in skew.graphs:
        parts += _graph(graph, skew.ranks, file, addresses)
    if not skew.graphs:
        parts.append(html.P("No graph has launches with node times on every rank."))
    return html.Div(parts, className="gv-ranks")


def _graph(
    graph: GraphSkew, ranks: Sequence[RankRef], file: str, addresses: Addresses
) -> list[Component]:
    launches = counted(graph.launch_count, "launch", "launches")
    verdict = (
        "too few to tell a slow rank from noise"
        if graph.rate is None
        else "one rank's take longer, beyond noise"
        if graph.significant
        else "no rank's take longer beyond noise"
    )
    spread = (
        ""
        if graph.start_spread_ns is None
        else f"; first to last start {duration(graph.start_spread_ns)}"
    )
    parts: list[Component] = [
        html.H3(graph.name),
        html.P(f"{launches} on every rank: {verdict}{spread}."),
        _table(_RANKS, 3, _rank_rows(graph, ranks, file, addresses)),
    ]
    slow = [node for node in graph.nodes if node.significant]
    graph_of = {r.run_id: r.graph_id for r in graph.ranks}
    if slow:
        rows = [_node_row(node, ranks, graph_of, file, addresses) for node in slow[:_LISTED]]
        parts.append(_table(_NODES, 2, rows))
    else:
        parts.append(html.P("No node is slower on one rank by more than noise."))
    if graph.collectives:
        found = graph.collectives[:_LISTED]
        rows = [_collective_row(c, ranks, graph_of, file, addresses) for c in found]
        parts.append(_table(_COLLECTIVES, 2, rows))
    return parts


_Cell: TypeAlias = str | Component


def _rank_rows(
    graph: GraphSkew, ranks: Sequence[RankRef], file: str, addresses: Addresses
) -> list[list[_Cell]]:
    by_run = {ref.run_id: ref for ref in ranks}
    return [
        [
            dcc.Link(_name(by_run[time.run_id]), href=addresses.run(file, time.run_id)),
            ", ".join(filter(None, (by_run[time.run_id].host, by_run[time.run_id].gpus))),
            dcc.Link(f"{time.graph_id}", href=addresses.graph(file, time.graph_id)),
            duration(time.launch_ns),
            integer(time.slowest_count),
            duration(time.late_ns),
            integer(time.last_count),
        ]
        for time in graph.ranks
    ]


def _node_row(
    node: NodeSkew,
    ranks: Sequence[RankRef],
    graph_of: dict[int, int],
    file: str,
    addresses: Addresses,
) -> list[_Cell]:
    link = _node_link(node.name, node.node_ids, ranks, node.slowest, graph_of, file, addresses)
    return [
        link,
        _name(ranks[node.slowest]),
        duration(node.low_ns),
        duration(node.median_ns),
        duration(node.high_ns),
        percent(node.slowest_fraction),
        duration(node.start_spread_ns),
    ]


def _collective_row(
    found: CollectiveSkew,
    ranks: Sequence[RankRef],
    graph_of: dict[int, int],
    file: str,
    addresses: Addresses,
) -> list[_Cell]:
    waits = [wait or 0.0 for wait in found.waited_ns]
    longest = waits.index(max(waits))
    return [
        _node_link(found.name, found.node_ids, ranks, found.last, graph_of, file, addresses),
        _name(ranks[found.last]),
        percent(found.last_fraction),
        duration(waits[longest]),
        _name(ranks[longest]),
        duration(found.arrival_ns),
    ]


def _node_link(
    name: str,
    node_ids: Sequence[int | None],
    ranks: Sequence[RankRef],
    rank: int,
    graph_of: dict[int, int],
    file: str,
    addresses: Addresses,
) -> _Cell:
    graph, node = graph_of.get(ranks[rank].run_id), node_ids[rank]
    if graph is None or node is None:
        return name
    return dcc.Link(name or MISSING, href=addresses.graph(file, graph, (node,)))


def _name(ref: RankRef) -> str:
    return ref.name if ref.rank is None else f"rank {ref.rank}"


def _table(
    columns: Sequence[tuple[str, str]], texts: int, rows: Sequence[Sequence[_Cell]]
) -> Component:
    """Return a table whose first columns are texts, the others numbers."""
    head = [
        html.Th(name, title=meaning, className=None if i < texts else "gv-number")
        for i, (name, meaning) in enumerate(columns)
    ]
    body = [
        html.Tr(
            [html.Td(c, className=None if i < texts else "gv-number") for i, c in enumerate(row)]
        )
        for row in rows
    ]
    return html.Div(
        html.Table([html.Thead(html.Tr(head)), html.Tbody(body)], className="gv-table"),
        className="gv-scroll-x",
    )
