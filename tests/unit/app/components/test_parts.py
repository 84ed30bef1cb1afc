"""Content that the browser makes instead of Dash."""

from __future__ import annotations

import json

from dash import dcc, html

from gviz.app.components import Chart, Parts, made_by_browser


def test_content_without_a_graph_is_handed_over() -> None:
    link = dcc.Link("12", href="/graph?node=12", title="these nodes", className="gv-choice")
    (made,) = made_by_browser([html.Section([html.H2("Gaps"), html.P(["of ", link])], id="gaps")])
    assert made.id == "gaps"
    assert made.children is None
    parts = json.loads(getattr(made, "data-parts"))
    assert parts == [
        ["h2", 0, "Gaps"],
        ["Link", {"href": "/graph?node=12", "title": "these nodes", "class": "gv-choice"}, "12"],
        ["p", 0, "of ", 1],
        ["section", {"id": "gaps"}, 3, 1],
    ]


def test_what_only_dash_can_stays_dashs_and_what_is_beside_it_is_handed_over() -> None:
    chart = Chart("chart", {})
    facts = html.Dl([html.Dt("Nodes"), html.Dd("3")])
    text = html.P("in words")
    made = made_by_browser(html.Section([html.Div(chart), facts, text]))
    assert not hasattr(made, "data-parts")
    box, handed, words = made.children
    assert box.children is chart
    assert json.loads(getattr(handed, "data-parts"))[-1] == ["dl", 0, 2, 1]
    assert words.children == "in words"


def test_texts_and_components_of_dash_are_left_as_they_are() -> None:
    assert made_by_browser("text") == "text"
    store = dcc.Store(id="view")
    assert made_by_browser([store, None]) == [store, None]


def test_links_without_an_address_keep_their_place() -> None:
    parts = Parts()
    parts.add(dcc.Link("nowhere", href=""))
    assert parts.list == [["Link", {"href": ""}, "nowhere"]]
