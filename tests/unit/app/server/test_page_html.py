"""The HTML of pages: the order of scripts, and what of a graph's page begins before Dash."""

from __future__ import annotations

import os
from html.parser import HTMLParser
from pathlib import Path

import pytest
from admitted import admitted_client
from flask.testing import FlaskClient

from gviz.app.components.shell import early_page
from gviz.app.components.web_modules import join_modules
from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import create_app
from gviz.app.server.scripts import Scripts

LOCAL = {"Host": "localhost"}
PAGE = "/graph?file=small&graph=1"


class Elements(HTMLParser):
    """Reads the elements of a page: tags and attributes."""

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
    access = AccessRules()
    return admitted_client(create_app([small_recording], access).server, access)


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


def early(text: str) -> list[str]:
    """Return the addresses that a page's data are fetched from before Dash is there."""
    return [box["data-source"] or "" for box in Elements(text).of("div") if "data-source" in box]


def test_graph_page_names_what_it_is_made_of(client: FlaskClient) -> None:
    text = client.get(f"{PAGE}&launch=7&colour=kind", headers=LOCAL).text
    (source,) = early(text)
    assert source.startswith("/payload/page/small@")
    assert source.endswith("/1?launch=7")
    assert [x["href"] for x in Elements(text).of("link") if x.get("as") == "fetch"] == [source]
    made = client.get(source, headers=LOCAL).get_json()
    assert made["name"] == "fork-join 3x4"
    (own,) = (s["src"] for s in Elements(text).of("script") if "gviz.js" in (s.get("src") or ""))
    answer = client.get(own or "", headers=LOCAL)
    assert answer.mimetype == "text/javascript"
    assert "class GraphPage" in answer.text


def test_dash_is_fetched_when_the_graph_page_has_begun(client: FlaskClient) -> None:
    def scripts(address: str) -> int:
        links = Elements(client.get(address, headers=LOCAL).text).of("link")
        return sum(link.get("as") == "script" for link in links)

    assert scripts(PAGE) == 1
    assert scripts("/") > 1


@pytest.mark.parametrize(
    "address", ["/", "/graph", "/graph?file=none&graph=1", "/report?file=small"]
)
def test_other_pages_come_when_dash_is_there(client: FlaskClient, address: str) -> None:
    answer = client.get(address, headers=LOCAL)
    assert answer.status_code == 200
    assert "gv-early" not in answer.text


def test_file_that_is_gone_is_left_to_dash(client: FlaskClient, small_recording: Path) -> None:
    aside = small_recording.with_suffix(".aside")
    small_recording.rename(aside)
    try:
        answer = client.get(PAGE, headers=LOCAL)
    finally:
        aside.rename(small_recording)
    assert answer.status_code == 200
    assert "gv-early" not in answer.text


def test_address_of_a_page_is_no_html() -> None:
    evil = '"><script>x</script>'
    tags = [tag for tag, _ in Elements(early_page(evil)).found]
    assert "script" not in tags
    assert early(early_page(evil)) == [evil]
