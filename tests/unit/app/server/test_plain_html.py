"""Pages before Dash is loaded: plain HTML of components, and the order of scripts."""

from __future__ import annotations

import json
import os
from html.parser import HTMLParser
from pathlib import Path

import dash_mantine_components as dmc
import pytest
from dash import dcc, html
from flask.testing import FlaskClient

from gviz.app.components.canvases import Dag
from gviz.app.components.web_modules import join_modules
from gviz.app.server.application import create_app
from gviz.app.server.plain_html import to_html
from gviz.app.server.scripts import Scripts
from gviz.app.server.security import LOOPBACK_HOSTS, AccessRules

LOCAL = {"Host": "localhost"}


class Elements(HTMLParser):
    """Reads the elements of a page: tag and attributes, and that what is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for found, attributes in self.found if found == tag]


@pytest.fixture
def client(small_recording: Path) -> FlaskClient:
    access = AccessRules("secret-of-this-start", LOOPBACK_HOSTS)
    client = create_app([small_recording], access).server.test_client()
    client.get("/?token=secret-of-this-start", headers=LOCAL)
    return client


# -- components as HTML -----------------------------------------------------------------


def test_elements_are_written_without_ids_and_with_their_styles() -> None:
    made = to_html(
        html.Div(
            [html.P("a < b & c"), None, html.Img(src="/x.svg", alt="")],
            id="once",
            className="gv-a",
            style={"--gv-share": "50%", "minHeight": 3},
            hidden=False,
        )
    )
    assert made == (
        '<div class="gv-a" style="--gv-share:50%;min-height:3">'
        '<p>a &lt; b &amp; c</p><img alt="" src="/x.svg"></div>'
    )


def test_names_stay_text() -> None:
    evil = '"><script>alert(1)</script></template>'
    made = Elements(to_html(html.Div([html.Span(evil, title=evil), dcc.Link(evil, href="/a")])))
    assert [tag for tag, _ in made.found] == ["div", "span", "a"]
    assert made.of("span") == [{"title": evil}]


def test_controls_show_what_is_chosen_and_data_are_left_out() -> None:
    options = [{"value": "a", "label": "First"}, {"value": "b", "label": "Second"}]
    made = to_html([dmc.Select(data=options, value="b", w=90), dcc.Store(id="s", data=[1])])
    assert made == '<div class="gv-stand-in" style="width:90px">Second</div>'


def test_view_carries_what_it_is_made_of() -> None:
    (box,) = Elements(to_html(Dag(id="dag", source="/payload/x", selected=[3]))).of("div")
    assert box["data-view"] == "Dag"
    found = json.loads(box["data-props"] or "")
    assert (found["id"], found["source"], found["selected"]) == ("dag", "/payload/x", [3])


# -- scripts ----------------------------------------------------------------------------


def write_modules(folder: Path) -> None:
    (folder / "part").mkdir()
    (folder / "part" / "b.js").write_text("export const b = 1;\n")
    (folder / "a.js").write_text('import { b } from "./part/b.js";\n\nwindow.found = b;\n')


def test_own_modules_are_one_script_and_run_first(tmp_path: Path) -> None:
    write_modules(tmp_path)
    tags = "".join(
        f'<script src="{source}"></script>'
        for source in (
            "/lib/react.js",
            "/lib/dash_ag_grid/dash_ag_grid.v1.min.js",
            "/lib/renderer.js",
        )
    )
    scripts = Scripts(tmp_path, "a.js")
    made = scripts.order(tags + "<script>start()</script>", "/gviz.js")
    head, body = Elements(made.head), Elements(made.body.replace("template", "div"))
    own = body.of("script")[-1]["src"] or ""
    assert own.startswith("/gviz.js?v=")
    assert [s.get("src") for s in body.of("script")] == [
        "/lib/react.js", "/lib/renderer.js", None, own
    ]  # fmt: skip
    assert [x["href"] for x in head.of("link")] == [own]
    fetched = Elements(made.fetched).of("link")
    assert [x["href"] for x in fetched] == ["/lib/react.js", "/lib/renderer.js"]
    assert head.of("meta")[0]["content"] == "/lib/dash_ag_grid/dash_ag_grid.v1.min.js"
    text = scripts.answer().get_data(as_text=True)
    assert text == join_modules(tmp_path, "a.js")


def test_changed_module_has_another_address(tmp_path: Path) -> None:
    write_modules(tmp_path)
    scripts = Scripts(tmp_path, "a.js")

    def address() -> str:
        return str(Elements(scripts.order("", "/gviz.js").head).of("link")[0]["href"])

    before = address()
    assert address() == before
    module = tmp_path / "part" / "b.js"
    module.write_text("export const b = 2;\n")
    os.utime(module, (1, 1))  # file systems may count in seconds
    assert address() != before


# -- pages ------------------------------------------------------------------------------


def test_graph_page_comes_with_its_content_and_where_its_data_are(client: FlaskClient) -> None:
    text = client.get("/graph?file=small&graph=1", headers=LOCAL).text
    page = Elements(text)
    views = [json.loads(box["data-props"] or "") for box in page.of("div") if "data-view" in box]
    assert [view["id"] for view in views if "source" in view] == ["dag", "timeline"]
    fetched = [x["href"] for x in page.of("link") if x.get("as") == "fetch"]
    # The first view's alone: the server makes one view's data after the other's.
    assert fetched == [next(view["source"] for view in views if "source" in view)]
    assert client.get(fetched[0] or "", headers=LOCAL).status_code == 200
    assert "Launch GPU time" in text
    (own,) = (s["src"] for s in page.of("script") if "gviz.js" in (s.get("src") or ""))
    answer = client.get(own or "", headers=LOCAL)
    assert answer.mimetype == "text/javascript"
    assert "class Frame" in answer.text


@pytest.mark.parametrize(
    "address", ["/", "/graph", "/graph?file=small&graph=77", "/report?file=small&graph=1"]
)
def test_other_pages_come_when_dash_is_there(client: FlaskClient, address: str) -> None:
    answer = client.get(address, headers=LOCAL)
    assert answer.status_code == 200
    assert not [b for b in Elements(answer.text).of("div") if "data-view" in b]
