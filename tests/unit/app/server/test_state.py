"""The state that pages ask for every few seconds, and refusals in words."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from admitted import admitted_client
from flask.testing import FlaskClient
from recordings import (
    fork_join_shape,
    transformer_shape,
    write_loop_recording,
    write_recording,
)

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import build_app
from gviz.app.server.state import shown_files
from gviz.app.views.graph_data import graph_identity, graph_view
from gviz.app.views.wire import unpack

LOCAL = {"Host": "localhost", "Origin": "http://localhost"}
ADDRESSES = Addresses("/")


@pytest.fixture
def path(tmp_path: Path, small_recording: Path) -> Path:
    return Path(shutil.copy(small_recording, tmp_path / "mine.gviz"))


@pytest.fixture
def library(path: Path, small_recording: Path) -> Library:
    return Library([path, small_recording])


@pytest.fixture
def client(library: Library) -> FlaskClient:
    access = AccessRules()
    client = admitted_client(build_app(library, access).server, access)
    return client


def state(client: FlaskClient) -> Any:
    return client.get("/payload/state", headers=LOCAL).get_json()["files"]


def test_state_is_the_same_while_nothing_changes(client: FlaskClient) -> None:
    before = state(client)
    assert sorted(before) == ["mine", "small"]
    assert before["mine"]["name"] == "mine.gviz"
    assert not before["mine"]["live"]
    assert state(client) == before


def test_state_shows_a_change_and_a_loss(client: FlaskClient, path: Path) -> None:
    before = state(client)
    write_loop_recording(path, overwrite=True)
    after = state(client)
    assert after["mine"]["version"] != before["mine"]["version"]
    assert after["small"] == before["small"]
    path.unlink()
    gone = state(client)["mine"]
    assert gone["version"] is None
    assert "put it back" in gone["gone"]


def test_state_is_not_kept_by_the_browser(client: FlaskClient) -> None:
    answer = client.get("/payload/state", headers=LOCAL)
    assert answer.headers["Cache-Control"] == "no-store, private"


def test_each_page_knows_the_files_it_is_made_of(library: Library) -> None:
    runs = shown_files(library, ADDRESSES, "/", "")
    assert (runs["page"], sorted(runs["files"])) == ("runs", ["mine", "small"])
    graph = shown_files(library, ADDRESSES, "/graph", "?file=mine&graph=1")
    assert (graph["page"], sorted(graph["files"])) == ("graph", ["mine"])
    assert shown_files(library, ADDRESSES, "/nowhere", "?file=mine") == {"page": "", "files": {}}
    assert shown_files(library, ADDRESSES, "/run", "?file=none")["files"] == {}


@pytest.mark.parametrize("kind", ["dag", "timeline", "table", "breakdown", "verdict", "miniature"])
def test_data_of_another_version_is_refused(
    client: FlaskClient, library: Library, path: Path, kind: str
) -> None:
    versioned_key = library.file("mine").versioned_key
    assert client.get(f"/payload/{kind}/{versioned_key}/1", headers=LOCAL).status_code == 200
    write_loop_recording(path, overwrite=True)
    answer = client.get(f"/payload/{kind}/{versioned_key}/1", headers=LOCAL)
    assert answer.status_code == 409
    assert answer.text == "mine.gviz changed since this page was opened; reload the page\n"
    versioned_key = library.file("mine").versioned_key
    assert client.get(f"/payload/{kind}/{versioned_key}/1", headers=LOCAL).status_code == 200


@pytest.mark.parametrize("kind", ["dag", "timeline", "table", "breakdown", "verdict", "miniature"])
def test_data_of_a_deleted_file_is_refused(
    client: FlaskClient, library: Library, path: Path, kind: str
) -> None:
    versioned_key = library.file("mine").versioned_key
    client.get(f"/payload/{kind}/{versioned_key}/1", headers=LOCAL)
    path.unlink()
    answer = client.get(f"/payload/{kind}/{versioned_key}/1", headers=LOCAL)
    assert answer.status_code == 410
    assert "any more" in answer.text


def test_fault_of_the_server_is_a_sentence_and_logged(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from gviz.app.server import routes

    def fail(*_: object) -> None:
        raise ZeroDivisionError("secret of the traceback")

    monkeypatch.setattr(routes.payload, "dag_payload", fail)
    answer = client.get("/payload/dag/small/1", headers=LOCAL)
    assert answer.status_code == 500
    assert answer.text.startswith("gviz failed here (ZeroDivisionError)")
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    assert "secret of the traceback" in caplog.text


def selection(client: FlaskClient, versioned_key: str, *nodes: object) -> Any:
    """Ask as the page does when a node is clicked."""
    return client.post(f"/payload/inspector/{versioned_key}/1", json=nodes or [1005], headers=LOCAL)


def test_click_is_answered_with_what_is_known_of_the_node(
    client: FlaskClient, library: Library
) -> None:
    versioned_key = library.file("mine").versioned_key
    assert "branch0_step0" in selection(client, versioned_key).text
    # Of no node, of nodes that are not there, and of what is no node at all.
    for nodes in ([], [77], ["x", None, {}]):
        assert (
            "No node selected"
            in client.post(f"/payload/inspector/{versioned_key}/1", json=nodes, headers=LOCAL).text
        )
    body = {"data": "{", "content_type": "application/json"}
    broken = client.post(f"/payload/inspector/{versioned_key}/1", headers=LOCAL, **body)
    assert "No node selected" in broken.text


def test_click_on_a_page_of_another_version_says_so(
    client: FlaskClient, library: Library, path: Path
) -> None:
    versioned_key = library.file("mine").versioned_key
    write_recording(path, transformer_shape(2), launches=2, overwrite=True)
    stated = selection(client, versioned_key)
    assert stated.status_code == 409
    assert "mine.gviz changed since this page was opened" in stated.text
    assert "kernel" not in stated.text
    path.unlink()
    gone = selection(client, versioned_key)
    assert gone.status_code == 410
    assert "any more" in gone.text


# -- a graph page that takes in what is new ---------------------------------------------


def page_of(client: FlaskClient, identity: str) -> Any:
    address = "/payload/page/mine/1"
    return client.get(address, headers=LOCAL, query_string={"identity": identity})


def test_page_that_is_requested_again_is_of_the_file_as_it_is(
    client: FlaskClient, library: Library, path: Path
) -> None:
    view = graph_view(library, "mine", 1)
    identity = graph_identity(view.run, view.graph)
    before = page_of(client, identity).get_json()
    write_recording(path, fork_join_shape(), launches=30, overwrite=True)
    after = page_of(client, identity).get_json()
    assert before["sources"]["dag"] != after["sources"]["dag"]
    assert library.file("mine").versioned_key in after["sources"]["dag"]
    assert "moved_to" not in after


def test_page_of_a_graph_whose_number_changed_is_elsewhere(
    client: FlaskClient, library: Library, path: Path
) -> None:
    write_loop_recording(path, overwrite=True)
    body = graph_view(library, "mine", 2)
    answer = page_of(client, graph_identity(body.run, body.graph))
    assert answer.get_json() == {"moved_to": "/graph?file=mine&graph=2"}


def test_page_of_a_graph_that_is_gone_is_refused(client: FlaskClient) -> None:
    answer = page_of(client, "another")
    assert answer.status_code == 404
    assert "not in the recording any more" in answer.text


def test_memory_of_a_level_is_answered_once_for_all_its_nodes(
    client: FlaskClient, library: Library
) -> None:
    key = library.file("mine").versioned_key
    answered = client.get(f"/payload/uses/{key}/1?level=0", headers=LOCAL)
    assert answered.status_code == 200
    assert {"use_node", "place_low", "allocation_bytes"} <= set(unpack(answered.data)[1])
    missing = client.get(f"/payload/uses/{key}/1?level=9", headers=LOCAL)
    assert "no level 9; reload the page" in missing.text
