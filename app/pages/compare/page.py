"""The Compare page: two graphs, what became of one in the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import dcc, html, no_update
from dash.development.base_component import Component

from gviz.app.components import Addresses, Query, Sides, parse_query, parse_sides
from gviz.app.files import Library, sentence_of
from gviz.app.pages.compare.body import compare_body
from gviz.app.pages.compare.choice import (
    choose_graph,
    file_choices,
    graph_choices,
    nothing_to_compare,
    offer_pairs,
    swap_link,
)
from gviz.app.pages.compare.comparison import Comparisons

#: Milliseconds between two polls for a comparison.
_EVERY_MS = 500


def render_compare(library: Library, query: Query, addresses: Addresses) -> Component:
    """Return the page; the comparison follows when it is made.

    Raises
    ------
    RecordingError
        If a file is not open or is damaged.
    """
    missing = nothing_to_compare(library, query)
    if missing:
        offered = [html.Li(link) for link in offer_pairs(library, addresses)]
        body = [_sentence(text) for text in missing]
        return _page(
            file_choices(library, query),
            [*body, html.Ul(offered, className="gv-compare-offers")] if offered else body,
        )
    assert query.before_file is not None
    assert query.after_file is not None
    first, second = library.file(query.before_file), library.file(query.after_file)
    with first.at(), second.at():
        graphs = query.graphs or (choose_graph(first, second), None)
        sides = Sides(first.key, second.key, *graphs)
        choices = [
            *file_choices(library, query),
            swap_link(sides, addresses),
            *graph_choices(first, second, sides),
        ]
        if sides.before_graph is None:
            text = (
                f"No graph of {first.key} is a graph of {second.key}: none has the shape, the name "
                "or half of the work of one there. Choose two graphs to compare them anyway."
            )
            return _page(choices, [_sentence(text)])
        versioned = Sides(first.versioned_key, second.versioned_key, *graphs)
    text = "Comparing… Graphs of 20,000 nodes take ten seconds."
    waiting = html.P(text, role="status", className="gv-muted gv-report-waiting")
    view = {"a": versioned.before, "b": versioned.after, "graph": versioned.graphs}
    return _page(choices, [waiting], view)


def _sentence(text: str) -> Component:
    return html.P(text, className="gv-compare-message", role="status")


def _page(
    choices: list[Component], body: list[Component], view: dict[str, Any] | None = None
) -> Component:
    return html.Div(
        className="gv-graph-page gv-compare",
        children=[
            html.Div(
                [
                    html.Div([html.H1("Compare")], className="gv-graph-title"),
                    html.Div(choices, className="gv-graph-ways"),
                ],
                className="gv-graph-head",
            ),
            dcc.Store(id="compare-view", data=view or {}),
            html.Div(id="said", role="status", className="gv-unseen"),
            dcc.Interval(id="compare-wait", interval=_EVERY_MS, max_intervals=0),
            html.Div(body, id="compare-body", className="gv-compare-body"),
        ],
    )


def show_comparison(
    comparisons: Comparisons,
    view: Mapping[str, Any],
    polls: int,
    search: str | None,
    addresses: Addresses,
) -> tuple[Any, Any]:
    """Return the body and how many polls its page may make, for the callback of the page."""
    versioned = parse_sides({k: v for k, v in view.items() if v is not None})
    if versioned is None:
        return no_update, no_update
    try:
        found = comparisons.find(versioned)
        if found is None:
            return no_update, polls + 1
        return compare_body(found, versioned, parse_query(search), addresses), no_update
    except Exception as error:  # the page shows it
        sentence = sentence_of(error).strip()
        return html.P(["Not compared. ", sentence], role="alert"), no_update
