"""The launches of the Ranks page, those with the longest waits first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from dash import html
from dash.development.base_component import Component

from gviz.app.pages.ranks.rank_links import RankLinks
from gviz.comparison import RankGraph, RankRef, longest_wait
from gviz.report import rank_name
from gviz.text import MISSING, duration

#: Launches that the table lists.
_LAUNCHES = 50
#: Of so many ranks each has a column of its own.
_EACH_RANK = 4
_COLUMNS = (
    ("Launch", "Its number on every rank; click to see it above"),
    ("Who waits", "In its longest wait"),
    ("How long", "Estimated: duration in the collective less that of who came last"),
)
_LAUNCH_OF = "Measured: first node's start to last node's end"
_Cell: TypeAlias = str | Component


def launch_table(
    graph: RankGraph, shown: int, ranks: Sequence[RankRef], links: RankLinks
) -> list[Component]:
    """Return the launches, those with the longest waits first, the one shown marked."""
    names = [rank_name(ranks[side.rank]) for side in graph.sides]
    waits = [longest_wait(graph, at) for at in range(len(graph.ordinal))]
    order = sorted(range(len(waits)), key=lambda at: -(w.wait_ns if (w := waits[at]) else 0.0))
    listed = order[:_LAUNCHES]
    if shown not in listed:
        listed.append(shown)
    rows: list[list[_Cell]] = []
    for at in listed:
        ordinal, wait = int(graph.ordinal[at]), waits[at]
        link = links.to_launch(ordinal)
        rows.append(
            [
                html.Span([link, " (shown)"] if at == shown else [link]),
                MISSING if wait is None else f"{names[wait.side]} for {names[wait.awaited]}",
                duration(None if wait is None else wait.wait_ns),
                *_lengths(graph, at),
            ]
        )
    lengths = names if len(names) <= _EACH_RANK else ["Shortest", "Longest"]
    columns = (*_COLUMNS, *((name, _LAUNCH_OF) for name in lengths))
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
        html.Table(
            [html.Thead(html.Tr(head)), html.Tbody(body)], className="gv-table gv-table-tight"
        ),
        className="gv-scroll-x",
    )
