"""Tables of the Ranks page: who starts late, who is slow, who waits for whom, launch by launch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.address import Addresses
from gviz.app.quantity import MISSING, counted, duration, integer, percent
from gviz.app.ranks.names import rank_name
from gviz.nvtx_paths import telling_parts
from gviz.ranks.launch import longest_wait
from gviz.ranks.rank_graph import RankGraph
from gviz.ranks.result import CollectiveSkew, GraphSkew, NodeSkew, RankRef

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
    ("Node", "Click to select it above"),
    ("In range", "NVTX ranges it was created in, less what all of these share"),
    ("Rank", "The slowest; click for the node in its graph"),
    ("Fastest", "Derived: median duration on the fastest rank"),
    ("Median", "Derived: median of the ranks' medians"),
    ("Slowest", "Derived: median duration on the slowest rank"),
    ("In", "Share of the launches in which that rank was the slowest"),
    ("Start spread", "Derived: of median starts after the launch's start, latest less earliest"),
)
_COLLECTIVES = (
    ("Collective", "Click to select it above"),
    ("In range", "NVTX ranges it was created in, less what all of these share"),
    ("Comes last", "Estimated: the rank that most often takes least in it; click for its graph"),
    ("In", "Share of the launches in which it did"),
    ("Longest wait", "Estimated: of the rank that waits most, median"),
    ("Waits", "The rank that waits most"),
    ("Arrivals apart", "Derived: first to last start, median; needs one clock"),
)

#: Launches that the table lists.
_LAUNCHES = 50
_WAITS_INSIDE = " A rank that starts first has the longer launch: it waits in collectives."
#: Of so many ranks each has a column of its own.
_EACH_RANK = 4
#: A link that is not broken at its blanks.
_WHOLE = "gv-whole"
_LAUNCH = (
    ("Launch", "Its number on every rank; click to see it above"),
    ("Who waits", "In its longest wait"),
    ("Longest wait", "Estimated: duration in the collective less that of who came last"),
)
_LAUNCH_OF = "Measured: first node's start to last node's end"


@dataclass(frozen=True, slots=True)
class RankLinks:
    """Where the tables of a page lead.

    Attributes
    ----------
    file
        Key of the file.
    ranks
        All ranks.
    graph
        The graph shown.
    ordinal
        The launch shown.
    """

    file: str
    ranks: Sequence[RankRef]
    graph: RankGraph
    ordinal: int
    addresses: Addresses

    def launch(self, ordinal: int, node_ids: Sequence[int] = ()) -> str:
        """Return the address of this page with another launch, nodes selected."""
        graph = self.graph.sides[0].graph_id
        return self.addresses.ranks(self.file, graph, ordinal, node_ids)

    def node(self, node_ids: Sequence[int | None]) -> str | None:
        """Return the address of this page with a node selected; None: not on the first rank."""
        found = node_ids[0]
        return None if found is None else self.launch(self.ordinal, (found,))

    def graph_node(self, rank: int, node_ids: Sequence[int | None]) -> str | None:
        """Return the address of a rank's graph page with a node selected."""
        node = node_ids[rank]
        graph = next((s.graph_id for s in self.graph.sides if s.rank == rank), None)
        if node is None or graph is None:
            return None
        return self.addresses.graph(self.file, graph, (node,))


def graph_skew(graph: GraphSkew, links: RankLinks) -> list[Component]:
    """Return what is said of a graph over its launches: ranks, waits, slow nodes."""
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
        html.H2(f"Skew over {launches}"),
        html.P(
            f"{launches} with node times on every rank: {verdict}{spread}."
            + (_WAITS_INSIDE if graph.collectives else "")
        ),
        _table(_RANKS, 3, _rank_rows(graph, links)),
    ]
    if graph.collectives:
        found = graph.collectives[:_LISTED]
        where = telling_parts([c.context for c in found])
        rows = [_collective_row(c, w, links) for c, w in zip(found, where, strict=True)]
        parts += [html.H3("Waiting in collectives"), _table(_COLLECTIVES, 3, rows)]
        parts += _more(len(graph.collectives))
    parts.append(html.H3("Nodes that one rank is slower in"))
    slow = [node for node in graph.nodes if node.significant]
    if slow:
        where = telling_parts([node.context for node in slow[:_LISTED]])
        rows = [_node_row(n, w, links) for n, w in zip(slow[:_LISTED], where, strict=True)]
        parts += [_table(_NODES, 3, rows), *_more(len(slow))]
    else:
        parts.append(html.P("No node is slower on one rank by more than noise."))
    return parts


def _more(count: int) -> list[Component]:
    if count <= _LISTED:
        return []
    return [html.P(f"{count - _LISTED} more: gviz skew --all lists them.", className="gv-muted")]


def launch_table(graph: RankGraph, shown: int, links: RankLinks) -> list[Component]:
    """Return the launches, those with the longest waits first, the one shown marked."""
    names = [rank_name(links.ranks[side.rank]) for side in graph.sides]
    waits = [longest_wait(graph, at) for at in range(len(graph.ordinal))]
    order = sorted(range(len(waits)), key=lambda at: -(w.wait_ns if (w := waits[at]) else 0.0))
    listed = order[:_LAUNCHES]
    if shown not in listed:
        listed.append(shown)
    rows = []
    for at in listed:
        ordinal, wait = int(graph.ordinal[at]), waits[at]
        link = _linked(f"launch {ordinal}", links.launch(ordinal))
        rows.append(
            [
                html.Span([link, " (shown)"] if at == shown else [link]),
                MISSING if wait is None else f"{names[wait.side]} for {names[wait.awaited]}",
                duration(None if wait is None else wait.wait_ns),
                *_lengths(graph, at),
            ]
        )
    lengths = names if len(names) <= _EACH_RANK else ["Shortest", "Longest"]
    columns = (*_LAUNCH, *((name, _LAUNCH_OF) for name in lengths))
    more = len(order) - len(listed)
    note = f"The longest waits first; {more} more launches." if more else "The longest waits first."
    return [html.H2("Each launch"), html.P(note), _table(columns, 2, rows)]


def _lengths(graph: RankGraph, launch: int) -> list[str]:
    """Return how long a launch takes on each rank; of many ranks the least and the most."""
    lengths = [duration(_known(value)) for value in graph.launch_ns[:, launch].tolist()]
    if len(lengths) <= _EACH_RANK:
        return lengths
    known = graph.launch_ns[:, launch][~np.isnan(graph.launch_ns[:, launch])]
    return [duration(float(f(known))) if len(known) else MISSING for f in (np.min, np.max)]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


_Cell: TypeAlias = str | Component


def _rank_rows(graph: GraphSkew, links: RankLinks) -> list[list[_Cell]]:
    by_run = {ref.run_id: ref for ref in links.ranks}
    file, addresses = links.file, links.addresses
    return [
        [
            _linked(rank_name(by_run[time.run_id]), addresses.run(file, time.run_id)),
            ", ".join(filter(None, (by_run[time.run_id].host, by_run[time.run_id].gpus))),
            _linked(f"graph {time.graph_id}", addresses.graph(file, time.graph_id)),
            duration(time.launch_ns),
            integer(time.slowest_count),
            duration(time.late_ns),
            integer(time.last_count),
        ]
        for time in graph.ranks
    ]


def _node_row(node: NodeSkew, where: str, links: RankLinks) -> list[_Cell]:
    in_graph = links.graph_node(node.slowest, node.node_ids)
    return [
        _linked(node.name or MISSING, links.node(node.node_ids)),
        where or MISSING,
        _linked(rank_name(links.ranks[node.slowest]), in_graph),
        duration(node.low_ns),
        duration(node.median_ns),
        duration(node.high_ns),
        percent(node.slowest_fraction),
        duration(node.start_spread_ns),
    ]


def _collective_row(found: CollectiveSkew, where: str, links: RankLinks) -> list[_Cell]:
    waits = [wait or 0.0 for wait in found.waited_ns]
    longest = waits.index(max(waits))
    return [
        _linked(found.name or MISSING, links.node(found.node_ids)),
        where or MISSING,
        _linked(rank_name(links.ranks[found.last]), links.graph_node(found.last, found.node_ids)),
        percent(found.last_fraction),
        duration(waits[longest]),
        rank_name(links.ranks[longest]),
        duration(found.arrival_ns),
    ]


def _linked(text: str, href: str | None) -> _Cell:
    return text if href is None else dcc.Link(text, href=href, className=_WHOLE)


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
