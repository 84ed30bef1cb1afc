"""The Ranks page: one launch of every rank on one axis, and how far they are apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import dcc, html, no_update
from dash.development.base_component import Component

from gviz.app.components import Addresses, Query, parse_query
from gviz.app.files import Library, OpenRecording, sentence_of, split_version
from gviz.app.pages.ranks.body import ranks_body
from gviz.app.pages.ranks.comparison import RankComparisons, ranks_of
from gviz.text import counted

#: Milliseconds between two questions whether the ranks are compared.
_EVERY_MS = 500


def render_ranks_page(opened: OpenRecording, addresses: Addresses) -> Component:
    """Return the page; the comparison follows when it is made (:func:`show_ranks`)."""
    ranks = ranks_of(opened)
    polls: list[Component] = []
    if len(ranks) > 1:
        text = f"Comparing {len(ranks)} ranks…"
        body = html.P(text, role="status", className="gv-muted gv-report-waiting")
        polls = [
            dcc.Store(id="ranks-view", data={"file": opened.versioned_key}),
            dcc.Interval(id="ranks-wait", interval=_EVERY_MS, max_intervals=0),
        ]
    else:
        body = html.P(_no_job(opened, ranks), role="status", className="gv-compare-message")
    return html.Div(
        className="gv-graph-page gv-compare",
        children=[
            html.Div(
                html.Div([html.H1("Ranks")], className="gv-graph-title"), className="gv-graph-head"
            ),
            *polls,
            html.Div(id="said", role="status", className="gv-unseen"),
            html.Div(body, id="ranks-body", className="gv-compare-body"),
        ],
    )


def _no_job(opened: OpenRecording, ranks: list[Any]) -> str:
    """Return why there is nothing to put side by side, and what to do."""
    how = (
        "Record all ranks with 'gviz run torchrun ...', or put their files together with "
        "'gviz merge rank*.gviz -o all.gviz'."
    )
    if ranks:
        return f"{opened.key} holds one rank only, {ranks[0].name}: nothing stands beside it. {how}"
    runs = counted(len(opened.recording.fetch_runs()), "run")
    return f"{opened.key} holds {runs}, none of which launched a graph. {how}"


def show_ranks(
    comparisons: RankComparisons,
    library: Library,
    view: Mapping[str, Any],
    polls: int,
    search: str | None,
    addresses: Addresses,
) -> tuple[Any, Any]:
    """Return the body and how many polls its page may make, for the callback of the page."""
    try:
        found = comparisons.find(view["file"])
        if found is None:
            return no_update, polls + 1
        key, version = split_version(view["file"])
        query: Query = parse_query(search)
        with library.file(key).at(version) as opened:
            return ranks_body(found, opened, query, addresses), no_update
    except Exception as error:  # the page shows it
        sentence = sentence_of(error).strip()
        return html.P(["Not compared. ", sentence], role="alert"), no_update
