"""Payload routes: compressed, revalidated, and a sentence for what is not there."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from admitted import admitted_client
from flask.testing import FlaskClient
from recordings import FIRST_NODE_ID
from waiting import eventually

from gviz.app.pages import Questions, Reports
from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import create_app
from gviz.app.views.breakdown import breakdown_payload
from gviz.app.views.payload import dag_payload
from gviz.app.views.wire import unpack
from gviz.model.tree.keep import build_anew
from gviz.recording.reader import Recording
from gviz.report import plain, what_if_document
from gviz.whatif import Edit, EditKind, ask_recording

LOCAL = {"Host": "localhost"}
#: The node that all others of the small recording wait for.
FIRST = str(FIRST_NODE_ID)


@pytest.fixture
def client(small_recording: Path) -> FlaskClient:
    access = AccessRules()
    client = admitted_client(create_app([small_recording], access).server, access)
    return client


def once_made(request: Callable[[], Any]) -> Any:
    """Request as a page does: again, while a server whose thread has no core says 'waiting'."""

    def answer() -> Any:
        found = request()
        assert found.status_code == 200, found.text
        return None if found.json == {"waiting": True} else found.json

    return eventually(answer, "an answer")


def test_dag_route_answers_the_payload(client: FlaskClient, small_recording: Path) -> None:
    answer = client.get("/payload/dag/small/1", headers=LOCAL)
    with Recording(small_recording) as recording:
        assert answer.data == dag_payload(recording, 1)


def test_payload_is_compressed_for_who_accepts_it(client: FlaskClient) -> None:
    plain = client.get("/payload/dag/small/1", headers=LOCAL)
    packed = client.get("/payload/dag/small/1", headers=LOCAL | {"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data


def test_payload_is_not_sent_again_when_unchanged(client: FlaskClient) -> None:
    first = client.get("/payload/timeline/small/1?launch=2", headers=LOCAL)
    again = client.get(
        "/payload/timeline/small/1?launch=2",
        headers=LOCAL | {"If-None-Match": first.headers["ETag"]},
    )
    assert (again.status_code, again.data) == (304, b"")


def test_timeline_route_shows_the_launch_requested(client: FlaskClient) -> None:
    headers = []
    for launch in (2, 5):
        answer = client.get(f"/payload/timeline/small/1?launch={launch}", headers=LOCAL)
        headers.append(unpack(answer.data)[0]["graph"]["launch_id"])
    assert headers == [2, 5]


def test_breakdown_route_answers_the_payload(client: FlaskClient, small_recording: Path) -> None:
    answer = client.get("/payload/breakdown/small/1", headers=LOCAL)
    with Recording(small_recording) as recording:
        assert answer.data == breakdown_payload(recording, 1, build_anew)


def test_verdict_route_says_when_there_is_none_yet(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = once_made(lambda: client.get("/payload/verdict/small/1", headers=LOCAL))
    assert "".join(part["text"] for part in made["parts"]).startswith("131 µs (recorded, ")
    monkeypatch.setattr(Reports, "find", lambda *_: None)
    assert client.get("/payload/verdict/small/1", headers=LOCAL).json == {"waiting": True}


def ask(client: FlaskClient, options: object) -> Any:
    return client.post("/payload/what-if/small/1", headers=LOCAL, json=options)


def test_what_if_says_so_where_no_part_has_a_time(small_recording: Path) -> None:
    with Recording(small_recording) as recording:
        found = ask_recording(recording, 1, [])
    assert found.ranking is not None
    without = replace(found, ranking=replace(found.ranking, parts=()))
    document = what_if_document(without)
    (verdict,) = document.verdicts
    assert [plain(one.content) for one in verdict.sentences] == ["No part has a time."]
    assert document.sections == ()


def test_what_if_route_answers_options_of_the_command(
    client: FlaskClient, small_recording: Path
) -> None:
    with Recording(small_recording) as recording:
        expected = ask_recording(recording, 1, [Edit(EditKind.SCALE, FIRST, factor=0.5)])
    (verdict,) = what_if_document(expected).verdicts
    answer = once_made(lambda: ask(client, {"scale": f"{FIRST}=0.5"}))
    assert answer["sentences"] == [plain(one.content) for one in verdict.sentences]
    assert answer["sentences"][1].startswith("Gain: estimated ")


def test_what_if_that_changes_nothing_says_so(client: FlaskClient) -> None:
    answer = once_made(lambda: ask(client, {"cut": f"*:{FIRST}"}))
    assert answer["sentences"][0].startswith(f"'{FIRST}' waits for nothing; ")


@pytest.mark.parametrize("options", [[], {}, {"off": 1}, {"off": "9" * 1_000_001}, {"of": "1"}])
def test_malformed_what_if_is_refused(client: FlaskClient, options: object) -> None:
    assert ask(client, options).status_code == 400


def test_what_if_route_says_when_there_is_no_answer_yet(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Questions, "ask", lambda *_: None)
    assert ask(client, {"off": "1"}).json == {"waiting": True}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("dag/none/1", "no open recording"),
        ("dag/small/99", "no graph 99"),
        ("timeline/small/99", "no graph 99"),
        ("timeline/small/1?launch=999", "no launch 999"),
    ],
)
def test_absent_payload_is_a_sentence(client: FlaskClient, path: str, words: str) -> None:
    answer = client.get(f"/payload/{path}", headers=LOCAL)
    assert answer.status_code == 404
    assert words in answer.text
