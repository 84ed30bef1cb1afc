"""Any address at all: a page or a sentence, never a fault of the server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from admitted import admit
from app_tree import texts
from flask.testing import FlaskClient
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from shown_pages import render_page

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import build_app
from gviz.app.views.timeline import side_arrays, timeline_window

LOCAL = {"Host": "localhost"}

_WORDS = [
    "", "0", "1", "2", "7", "-1", "+1", "1e9", "0x1", "nan", "inf", "-inf", "١", "9" * 20,
    "9" * 400, "small", "small@", "small@0", "@", "..", ".", "%", "%00", "%2e%2e", "null", "None",
    "[]", "{}",
    "median", "all", "length", "ordinal", "time", "lanes", "structure", "repeats", "ranges", "kind",
    "duration", "launch", "table", "cards", "-launch_ns", "-", "1,2,3", ",,,", "1-2", "5-1",
    "0-99999999999", "\0", "\n", "<script>alert(1)</script>", "'; DROP TABLE run; --", "ü",
    "\ud7ff", "a" * 3000,
]  # fmt: skip
_NAMES = [
    "file", "graph", "run", "node", "launch", "stream", "order", "layout", "fold", "open", "colour",
    "view", "sort", "from", "to", "width", "rows", "v", "x", "id", "name", "size", "offset",
]  # fmt: skip
_PARTS = [
    "graph", "run", "payload", "dag", "timeline", "table", "miniature", "state", "upload", "assets",
    "page.css", "_dash-layout", "_dash-component-suites", "dash", "_favicon.ico", "small", "1", "2",
]  # fmt: skip
_KINDS = ["dag", "timeline", "table", "miniature"]

values = st.one_of(st.sampled_from(_WORDS), st.text(max_size=12))
queries = st.lists(st.tuples(st.sampled_from(_NAMES), values), max_size=8)
parts = st.one_of(st.sampled_from(_PARTS), values)
paths = st.one_of(
    st.lists(parts, max_size=5),
    st.tuples(
        st.just("payload"),
        st.sampled_from(["dag", "timeline", "table", "miniature"]),
        values,
        values,
    ).map(list),
    # Mostly right, so that what is behind the parsing is reached too.
    st.sampled_from(["dag", "timeline", "table", "miniature"]).map(
        lambda kind: ["payload", kind, "small", "1"]
    ),
)
many = settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def library(small_recording: Path) -> Library:
    return Library([small_recording])


@pytest.fixture(scope="module")
def client(library: Library) -> Iterator[FlaskClient]:
    # So that what is sent only in parts is reached with a small recording.
    access = AccessRules()
    with (
        pytest.MonkeyPatch.context() as patch,
        build_app(library, access).server.test_client() as client,
    ):
        patch.setattr(side_arrays, "SENT_WHOLE", 10)
        patch.setattr(timeline_window, "EXACT_SPANS", 10)
        admit(client, access)
        yield client


def address(path: list[str], query: list[tuple[str, str]]) -> str:
    encoded = "/".join(quote(part, safe="", errors="surrogatepass") for part in path)
    return f"/{encoded}?{urlencode(query, errors='surrogatepass')}"


@many
@given(path=paths, query=queries)
@example(path=["payload", "dag", "small", "99999999999999999999"], query=[])
@example(path=["payload", "timeline", "small", "1"], query=[("launch", "9" * 18)])
@example(
    path=["payload", "timeline", "small", "1"],
    query=[("from", "0"), ("to", "1e5"), ("width", "100"), ("node", "99999999999,-5")],
)
@example(
    path=["payload", "timeline", "small", "1"],
    query=[("from", "-1e308"), ("to", "1e308"), ("width", "9" * 18), ("rows", "-5-99999999999")],
)
@example(
    path=["payload", "timeline", "small", "1"],
    query=[("launch", "all"), ("from", "1e5"), ("to", "0"), ("width", "1"), ("rows", "7-3")],
)
@example(path=["_dash-component-suites", "dash", "..", "..", "etc", "passwd"], query=[])
@example(path=["_dash-component-suites", "nothing", "x.js"], query=[])
@example(path=["assets", "\0"], query=[])
def test_address_is_answered_without_a_fault(
    client: FlaskClient, path: list[str], query: list[tuple[str, str]]
) -> None:
    # As a server hands it over: the client would take "//x" for a host.
    place = "/" + "/".join(path).encode("utf-8", "surrogatepass").decode("latin-1")
    answer = client.get(
        "/?" + address([], query).partition("?")[2],
        headers=LOCAL,
        buffered=True,
        environ_overrides={"PATH_INFO": place},
    )
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.mimetype == "text/plain"
        assert answer.text.strip()
        assert "Traceback" not in answer.text


@many
@given(path=st.one_of(paths, st.sampled_from([["graph"], ["run"], []])), query=queries)
@example(path=["graph"], query=[("file", "small")])
@example(path=["graph"], query=[("file", "small"), ("graph", "1"), ("launch", "9" * 18)])
@example(
    path=["graph"], query=[("file", "small"), ("graph", "1"), ("fold", "ranges"), ("open", "x")]
)
@example(path=[], query=[("view", "table"), ("sort", "-nothing")])
def test_page_at_an_address_says_something(
    library: Library, path: list[str], query: list[tuple[str, str]]
) -> None:
    place, _, search = address(path, query).partition("?")
    content, steps, title = render_page(library, Addresses("/"), place, f"?{search}")
    assert texts(content).strip()
    assert "failed" not in texts(content)
    assert steps
    assert title


@many
@given(path=st.text(max_size=20), search=st.one_of(st.none(), st.text(max_size=40)))
def test_page_at_any_text_says_something(library: Library, path: str, search: str | None) -> None:
    content, _, _ = render_page(library, Addresses("/p/"), path, search)
    assert texts(content).strip()
    assert "This page failed" not in texts(content)
