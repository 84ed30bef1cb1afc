"""The graphs that one can be compared with: which are offered, and where old addresses lead."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from admitted import admitted_client
from app_tree import by_id, walk
from flask.testing import FlaskClient
from recordings import (
    fork_join_shape,
    transformer_shape,
    write_loop_recording,
    write_recording,
)
from shown_pages import render_page

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.pages.compare.counterparts import address_against, offered
from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import create_app
from gviz.app.views.graph_data import graph_view
from gviz.errors import RecordingError

ADDRESSES = Addresses("/")
LOCAL = {"Host": "localhost"}
SHAPE = transformer_shape(layers=3)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("counterparts")
    before = write_recording(folder / "before.gviz", SHAPE, launches=3, seed=1)
    after = write_recording(folder / "after.gviz", transformer_shape(layers=4), launches=3, seed=2)
    other = write_recording(folder / "other.gviz", fork_join_shape(), launches=3, seed=3)
    return Library([before, after, other])


def against(library: Library, file: str, graph: int | None) -> str:
    view = graph_view(library, "after", 1)
    return address_against(library, "after", view, (file, graph), ADDRESSES)


@pytest.mark.parametrize("graph", [1, None])
def test_baseline_leads_to_the_comparison(library: Library, graph: int | None) -> None:
    assert against(library, "before", graph) == "/compare?a=before&b=after&graph=1:1"


@pytest.mark.parametrize(
    ("file", "graph"), [("nowhere", 1), ("before", 99), ("other", None), ("after", 1)]
)
def test_baseline_that_is_not_there_leads_to_the_choice(
    library: Library, file: str, graph: int | None
) -> None:
    assert against(library, file, graph) == f"/compare?a={file}&b=after"


def test_graphs_offered_begin_with_the_likely_ones(library: Library) -> None:
    offers = offered(library, "after", graph_view(library, "after", 1))
    found = [(o.file, o.graph_id, o.likely) for o in offers]
    assert found == [("before", 1, True), ("other", 1, False)]
    assert offers[0].label == "before: decode, 3 layers (most work shared)"


def test_one_graph_alone_is_offered_nothing(tmp_path: Path) -> None:
    alone = Library([write_recording(tmp_path / "alone.gviz", SHAPE, launches=1)])
    assert offered(alone, "alone", graph_view(alone, "alone", 1)) == []


def test_file_that_cannot_be_read_leads_to_the_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [write_recording(tmp_path / f"{x}.gviz", SHAPE, launches=1) for x in ("whole", "bad")]
    both = Library(paths)
    view = graph_view(both, "whole", 1)

    def refuse(*_: object) -> None:
        raise RecordingError("bad.gviz is damaged")

    monkeypatch.setattr("gviz.app.pages.compare.counterparts.read_graph_traits", refuse)
    found = address_against(both, "whole", view, ("bad", None), ADDRESSES)
    assert found == "/compare?a=bad&b=whole"


def test_choice_leads_to_the_comparison(library: Library) -> None:
    page = render_page(library, ADDRESSES, "/graph", "?file=after&graph=1")[0]
    first, second, *_ = by_id(page, "baseline").data
    assert first == {"value": "", "label": "none"}
    assert second["value"] == "/compare?a=before&b=after&graph=1:1"


def test_body_is_compared_with_the_graph_that_it_is_in(tmp_path: Path) -> None:
    files = [write_loop_recording(tmp_path / f"{n}.gviz", iterations=n) for n in (3, 5)]
    loops = Library(files)
    page = render_page(loops, ADDRESSES, "/graph", "?file=5&graph=2")[0]
    assert not [x for x in walk(page) if getattr(x, "id", None) == "baseline"]
    found = address_against(loops, "5", graph_view(loops, "5", 2), ("3", 2), ADDRESSES)
    assert found == "/compare?a=3&b=5&graph=1:1"


@pytest.fixture
def client(library: Library) -> FlaskClient:
    access = AccessRules()
    return admitted_client(create_app([f.path for f in library.files()], access).server, access)


@pytest.mark.parametrize(
    ("query", "there"),
    [
        ("baseline=before&baseline_graph=1", "/compare?a=before&b=after&graph=1:1"),
        ("baseline=nowhere", "/compare?a=nowhere&b=after"),
    ],
)
def test_address_with_a_baseline_is_that_of_the_comparison(
    client: FlaskClient, query: str, there: str
) -> None:
    answer = client.get(f"/payload/page/after/1?{query}", headers=LOCAL)
    assert json.loads(answer.data) == {"moved_to": there}
