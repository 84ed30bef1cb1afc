"""Tables of the Ranks page: who starts late, who is slow, who waits for whom, launch by launch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import Addresses
from gviz.app.pages.ranks.names import rank_name
from gviz.comparison import (
    BodySkew,
    CollectiveSkew,
    GraphSkew,
    NodeSkew,
    RankGraph,
    RankRef,
    longest_wait,
)
from gviz.model import GraphTree, telling_parts
from gviz.text import MISSING, counted, duration, integer, percent

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
#: Shown where a row has a body.
_BODY = ("In body", "The body it is in and those around it; empty: the graph itself")
_NODES = (
    ("Node", "Click to select it above"),
    ("In range", "NVTX ranges it was created in, less what all of these share"),
    _BODY,
    ("Rank", "The slowest; click for the node in its graph"),
    ("Fastest", "Derived: median duration on the fastest rank"),
    ("Median", "Derived: median of the ranks' medians"),
    ("Slowest", "Derived: median duration on the slowest rank"),
    ("In", "Share of the executions in which that rank was the slowest: launches, turns of bodies"),
    ("Start spread", "Derived: of median starts after the launch's start, latest less earliest"),
)
_COLLECTIVES = (
    ("Collective", "Click to select it above"),
    ("In range", "NVTX ranges it was created in, less what all of these share"),
    _BODY,
    ("Comes last", "Estimated: the rank that most often takes least in it; click for its graph"),
    ("In", "Share of the executions in which it did: launches, turns of bodies"),
    ("Longest wait", "Estimated: of the rank that waits most, median"),
    ("Waits", "The rank that waits most"),
    ("Arrivals apart", "Derived: first to last start, median; needs one clock"),
)

_BODIES = (
    ("Body", "After the bodies around it; click for the one of the first rank"),
    ("Why", "What is left out of it"),
    ("Turns", "Derived: in a launch, median of each rank; of many ranks the least and the most"),
    ("Compared in", "Launches in which nodes of it are compared"),
    ("Left out", "Launches in which nodes of it ran different numbers of times on the ranks"),
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
    """Links of a page's tables.

    Attributes
    ----------
    file
        Key of the file.
    ranks
        All ranks.
    graph
        The graph shown.
    tree
        The same on its first rank, with the numbers that nodes have on the page.
    ordinal
        The launch shown.
    """

    file: str
    ranks: Sequence[RankRef]
    graph: RankGraph
    tree: GraphTree
    ordinal: int
    addresses: Addresses

    def launch(self, ordinal: int, node_ids: Sequence[int] = ()) -> str:
        """Return the address of this page with another launch, nodes selected."""
        graph = self.graph.sides[0].graph_id
        return self.addresses.ranks(self.file, graph, ordinal, node_ids)

    def node(self, found: NodeSkew | CollectiveSkew) -> str | None:
        """Return the address of this page with a node selected; None: not on the first rank."""
        graph_id, node_id = found.graph_ids[0], found.node_ids[0]
        levels = [at for at, x in enumerate(self.tree.levels) if x.graph.graph_id == graph_id]
        key = None if node_id is None or not levels else self.tree.key_in(levels[0], node_id)
        return None if key is None else self.launch(self.ordinal, (key,))

    def graph_node(self, rank: int, found: NodeSkew | CollectiveSkew) -> str | None:
        """Return the address of the page of a rank's graph, or body, with a node selected."""
        graph_id, node_id = found.graph_ids[rank], found.node_ids[rank]
        if graph_id is None or node_id is None:
            return None
        return self.addresses.graph(self.file, graph_id, (node_id,))


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
        parts += [html.H3("Waiting in collectives"), _table_of(_COLLECTIVES, rows, found)]
        parts += _more(len(graph.collectives))
    parts.append(html.H3("Nodes that one rank is slower in"))
    slow = [node for node in graph.nodes if node.significant]
    if slow:
        where = telling_parts([node.context for node in slow[:_LISTED]])
        rows = [_node_row(n, w, links) for n, w in zip(slow[:_LISTED], where, strict=True)]
        parts += [_table_of(_NODES, rows, slow[:_LISTED]), *_more(len(slow))]
    else:
        parts.append(html.P("No node is slower on one rank by more than noise."))
    left_out = [body for body in graph.bodies if body.reason is not None]
    if left_out:
        rows = [_body_row(body, links) for body in left_out[:_LISTED]]
        parts += [html.H3("Bodies not compared in full"), _table(_BODIES, 2, rows)]
        parts += _more(len(left_out), "gviz skew --json")
    return parts


def _more(count: int, command: str = "gviz skew --all") -> list[Component]:
    if count <= _LISTED:
        return []
    return [html.P(f"{count - _LISTED} more: {command} lists them.", className="gv-muted")]


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
    in_graph = links.graph_node(node.slowest, node)
    return [
        _linked(node.name or MISSING, links.node(node)),
        where or MISSING,
        node.body,
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
        _linked(found.name or MISSING, links.node(found)),
        where or MISSING,
        found.body,
        _linked(rank_name(links.ranks[found.last]), links.graph_node(found.last, found)),
        percent(found.last_fraction),
        duration(waits[longest]),
        rank_name(links.ranks[longest]),
        duration(found.arrival_ns),
    ]


def _body_row(body: BodySkew, links: RankLinks) -> list[_Cell]:
    graph_id = body.graph_ids[0]
    href = None if graph_id is None else links.addresses.graph(links.file, graph_id)
    return [
        _linked(body.body, href),
        body.reason or MISSING,
        _turns(body, links),
        integer(body.launch_count),
        integer(body.left_out_count),
    ]


def _turns(body: BodySkew, links: RankLinks) -> str:
    """Return how often each rank turns a body; of many ranks the least and the most."""
    told = zip(links.ranks, body.turns, strict=True)
    turns = [(rank_name(ref), turns) for ref, turns in told if turns is not None]
    if len(turns) > _EACH_RANK:
        turns = [f(turns, key=lambda found: found[1]) for f in (min, max)]
    return ", ".join(f"{name}: {count:g}" for name, count in turns) or MISSING


def _linked(text: str, href: str | None) -> _Cell:
    return text if href is None else dcc.Link(text, href=href, className=_WHOLE)


def _table_of(
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[_Cell]],
    found: Sequence[NodeSkew] | Sequence[CollectiveSkew],
) -> Component:
    """Return the table of nodes or collectives, without the column of bodies if none is in one."""
    at = columns.index(_BODY)
    if any(item.body for item in found):
        return _table(columns, at + 2, rows)
    kept = [i for i in range(len(columns)) if i != at]
    return _table([columns[i] for i in kept], at + 1, [[row[i] for i in kept] for row in rows])


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
