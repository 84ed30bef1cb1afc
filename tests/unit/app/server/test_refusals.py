"""Malformed requests: 400 and a line in the log, whatever is wrong with them."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from admitted import LOCAL, admitted_client
from flask.testing import FlaskClient

from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import create_app

_WRONG: tuple[Any, ...] = (None, 0, -1, 1e308, "", "x" * 300, [], {}, [[]], {"path": 1}, True)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from recordings import fork_join_shape, write_recording

    path = write_recording(tmp_path_factory.mktemp("served") / "a.gviz", fork_join_shape())
    access = AccessRules()
    app = create_app([path], access)
    return app, admitted_client(app.server, access)


def _requests(app: Any) -> list[dict[str, Any]]:
    """Return a well-formed request of every callback, with values of no use."""
    value = {"path": "/", "search": "", "count": 1}
    found = []
    for output, callback in app.callback_map.items():
        given = {
            kind: [{**part, "value": value} for part in callback[kind]]
            for kind in ("inputs", "state")
        }
        changed = [f"{part['id']}.{part['property']}" for part in callback["inputs"][:1]]
        found.append({"output": output, "outputs": [], **given, "changedPropIds": changed})
    return found


def _spoiled(request: dict[str, Any], dice: random.Random) -> Any:
    """Return a request with one of its parts gone or replaced."""
    spoiled = json.loads(json.dumps(request))
    places: list[tuple[Any, Any]] = [(spoiled, key) for key in spoiled]
    for kind in ("inputs", "state"):
        places += [(spoiled[kind], i) for i in range(len(spoiled[kind]))]
        places += [(part, key) for part in spoiled[kind] for key in part]
    where, key = dice.choice(places)
    if dice.random() < 0.3:
        del where[key]
    else:
        where[key] = dice.choice(_WRONG)
    return spoiled


def test_malformed_callbacks_are_no_faults(
    server: tuple[Any, FlaskClient], caplog: pytest.LogCaptureFixture
) -> None:
    app, client = server
    dice = random.Random(7)
    bodies = [_spoiled(r, dice) for r in _requests(app) for _ in range(40)]
    bodies += [*_WRONG, {"output": "no.such"}]
    answers: dict[int, int] = {}
    for body in bodies:
        answer = client.post("/_dash-update-component", json=body, headers=LOCAL)
        answers[answer.status_code] = answers.get(answer.status_code, 0) + 1
    assert not [status for status in answers if status >= 500], answers
    assert answers[400] > 20
    assert sum(len(r.getMessage()) for r in caplog.records) < 20_000
    assert [r for r in caplog.records if r.exc_info] == []


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 5000, b"null", b'"' * 3])
def test_body_that_is_no_json_is_400(server: tuple[Any, FlaskClient], content: bytes) -> None:
    _, client = server
    for kind in ("application/json", "text/plain"):
        headers = LOCAL | {"Content-Type": kind}
        answer = client.post("/_dash-update-component", data=content, headers=headers)
        assert answer.status_code in (400, 415)
        assert answer.text.count("\n") == 1


@pytest.mark.parametrize(
    ("view", "given"),
    [
        ("trend", {}), ("trend", {"files": "a"}), ("ranks", {"file": 1}), ("ranks", {}),
        ("report", {"file": "a", "version": "0", "graph": "1"}), ("report", None), ("fleet", {}),
    ],
)  # fmt: skip
def test_page_that_holds_something_else_is_one_line(
    server: tuple[Any, FlaskClient], caplog: pytest.LogCaptureFixture, view: str, given: object
) -> None:
    app, client = server
    (output,) = (name for name in app.callback_map if f"{view}-body" in name)
    callback = app.callback_map[output]
    values = {f"{view}-wait": 0, f"{view}-view": given, "location": ""}
    body: dict[str, Any] = {
        kind: [{**part, "value": values[part["id"]]} for part in callback[kind]]
        for kind in ("inputs", "state")
    }
    ends = [end.rpartition(".") for end in output.strip(".").split("...")]
    body["outputs"] = [{"id": name, "property": prop} for name, _, prop in ends]
    body |= {"output": output, "changedPropIds": [f"{view}-wait.n_intervals"]}
    answer = client.post("/_dash-update-component", json=body, headers=LOCAL)
    assert (answer.status_code, answer.text.count("\n")) == (400, 1)
    assert [record.exc_info for record in caplog.records if record.exc_info] == []
