"""The HTML of pages: the order of scripts, and what of a graph's page begins before Dash."""

from __future__ import annotations

import os
import re
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import pytest
from admitted import admitted_client
from evil_recordings import write_evil_recording
from flask.testing import FlaskClient

from gviz.app.components.shell import early_page
from gviz.app.components.web_modules import join_modules, source_hash
from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import create_app
from gviz.app.server.bundle import Bundle
from gviz.app.server.scripts import order_scripts

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


def bundle(folder: Path) -> Bundle:
    join = partial(join_modules, folder, "a.js")
    return Bundle(folder, ".js", join, "text/javascript", "/gviz.js")


def test_own_script_runs_first() -> None:
    tags = "".join(
        f'<script src="{source}"></script>'
        for source in (
            "/lib/react.js",
            "/lib/dash_ag_grid/dash_ag_grid.v1.min.js",
            "/lib/renderer.js",
        )
    )
    own = "/gviz.js?v=1"
    made = order_scripts(tags + "<script>start()</script>", own)
    head, body = Elements(made.head), Elements(made.body.replace("template", "div"))
    assert [s.get("src") for s in body.of("script")] == [
        "/lib/react.js", "/lib/renderer.js", None, own
    ]  # fmt: skip
    assert [x["href"] for x in head.of("link")] == [own]
    fetched = Elements(made.fetched).of("link")
    assert [x["href"] for x in fetched] == ["/lib/react.js", "/lib/renderer.js"]
    assert head.of("meta")[0]["content"] == "/lib/dash_ag_grid/dash_ag_grid.v1.min.js"


def test_own_modules_are_one_script_that_is_fetched_once(tmp_path: Path) -> None:
    write_modules(tmp_path)
    script = bundle(tmp_path)
    assert script.address().startswith("/gviz.js?v=")
    answer = script.answer()
    assert answer.get_data(as_text=True) == join_modules(tmp_path, "a.js")
    assert answer.cache_control.immutable


def test_changed_module_has_another_address(tmp_path: Path) -> None:
    write_modules(tmp_path)
    script = bundle(tmp_path)
    before = script.address()
    assert script.address() == before
    module = tmp_path / "part" / "b.js"
    module.write_text("export const b = 2;\n")
    os.utime(module, (1, 1))  # file systems may count in seconds
    assert script.address() != before


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
    ("address", "begins"), [("/", False), (PAGE, False), ("/fleet", True), ("/bench", True)]
)
def test_what_draws_charts_is_fetched_at_once_on_their_pages(
    client: FlaskClient, address: str, begins: bool
) -> None:
    found = Elements(client.get(address, headers=LOCAL).text)
    (source,) = [x["content"] for x in found.of("meta") if x.get("name") == "gviz-plotly"]
    fetched = [link["href"] for link in found.of("link") if link.get("as") == "script"]
    assert (source in fetched) == begins
    answer = client.get(source or "", headers=LOCAL)
    assert (answer.mimetype, answer.cache_control.immutable) == ("text/javascript", True)
    assert "plotly.js v" in answer.text[:200]


@pytest.mark.parametrize("address", ["/", PAGE])
def test_styles_are_one_sheet_and_the_scheme_is_set_without_a_request(
    client: FlaskClient, address: str
) -> None:
    page = client.get(address, headers=LOCAL)
    found = Elements(page.text)
    (sheet,) = (x["href"] for x in found.of("link") if x.get("rel") == "stylesheet")
    assert sheet is not None
    assert sheet.startswith("/gviz.css?v=")
    answer = client.get(sheet, headers=LOCAL)
    assert (answer.mimetype, answer.cache_control.immutable) == ("text/css", True)
    # Of graphs' pages and of Runs; that of saved files is theirs.
    assert ".gv-verdict" in answer.text
    assert ".gv-runs" in answer.text
    assert ".gv-file" not in answer.text
    # It stands in the page, allowed by its hash.
    (early,) = re.findall(r"<head>.*<script>(.*?)</script>", page.text, re.DOTALL)
    assert "data-mantine-color-scheme" in early
    assert source_hash(early) in page.headers["Content-Security-Policy"]


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


def test_documents_have_no_name_of_a_recording(tmp_path: Path) -> None:
    access = AccessRules()
    path = write_evil_recording(tmp_path / "evil.gviz")
    client = admitted_client(create_app([path], access).server, access)
    for address in ("/", "/run?file=evil&run=1", "/graph?file=evil&graph=1&node=1000"):
        text = client.get(address, headers=LOCAL).text
        assert "Loading" in text
        assert [word for word in ("gvizEvil", "x" * 50, "Layout, Layout") if word in text] == []


def test_address_of_a_page_is_no_html() -> None:
    evil = '"><script>x</script>'
    tags = [tag for tag, _ in Elements(early_page(evil)).found]
    assert "script" not in tags
    assert early(early_page(evil)) == [evil]
