"""Connections: what those without a session may cost, and how long a request may take."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest

from gviz.app.server.access import connections
from gviz.app.server.access.connections import MOST_CONNECTIONS, MOST_STRANGERS
from gviz.app.server.server import Options, RunningServer
from gviz.errors import RecordingError

#: A server that does not end a connection in the tests' time never does.
_PATIENCE_S = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    from recordings import fork_join_shape, write_recording

    path = write_recording(tmp_path_factory.mktemp("served") / "a.gviz", fork_join_shape())
    running = RunningServer([path], Options(port=0))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    yield running
    running.close()
    thread.join(timeout=120)


@pytest.fixture
def session(server: RunningServer) -> str:
    """The Cookie header of an admitted browser."""
    found = urllib.request.HTTPCookieProcessor()
    urllib.request.build_opener(found).open(server.new_link()).close()
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in found.cookiejar)


def connect(server: RunningServer, sent: str = "") -> socket.socket:
    client = socket.create_connection(("localhost", server.port), timeout=_PATIENCE_S)
    client.sendall(sent.encode())
    return client


def head(server: RunningServer, *more: str, method: str = "POST") -> str:
    path = urlsplit(server.url).path + "payload/upload?name=a.gviz&size=1"
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *more, "", ""])


@pytest.mark.parametrize("count", [MOST_STRANGERS + 40, MOST_CONNECTIONS + 40])
def test_idle_connections_do_not_keep_others_out(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 3600.0)  # the deadline makes no room
    idle = [connect(server, "GET / HTTP/1.1\r\n" if i % 2 else "") for i in range(count)]
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(server.new_link(), timeout=_PATIENCE_S) as answer:
        assert answer.status == 200
    for client in idle:
        client.close()


@pytest.mark.parametrize(
    "sent", ["", "GET / HTTP/1.1\r\nHost: localhost\r\nX: "], ids=["nothing", "half"]
)
def test_connection_that_asks_for_nothing_in_time_is_closed(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, sent: str
) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.5)
    with connect(server, sent) as client:
        assert client.recv(100) == b""


def test_headers_that_come_drop_by_drop_are_given_up(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.5)
    with connect(server, "GET / HTTP/1.1\r\nX: ") as client:
        until = time.monotonic() + _PATIENCE_S
        client.settimeout(0.05)
        said = None
        while said is None and time.monotonic() < until:
            with contextlib.suppress(TimeoutError):
                client.sendall(b"x")
                said = client.recv(100)
        assert said == b""


def test_body_of_an_admitted_browser_has_a_deadline(
    server: RunningServer, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.5)
    with connect(server, head(server, f"Cookie: {session}", "Content-Length: 9")) as client:
        assert client.recv(100) == b""


@pytest.mark.parametrize(
    "how",
    [
        ["Content-Length: 1000000"],
        ["Transfer-Encoding: chunked"],
        ["Content-Length: 1000000", "Expect: 100-continue"],
        ["Content-Length: 1000000", "Cookie: gviz_session=made-up"],
    ],
    ids=["length", "chunks", "expect", "made-up session"],
)
def test_body_without_a_session_is_refused_before_it_is_sent(
    server: RunningServer, how: list[str]
) -> None:
    with connect(server, head(server, *how)) as client:
        # To its end: what follows is no request.
        assert client.makefile("rb").read().startswith(b"HTTP/1.1 403 ")


def test_body_with_a_session_is_taken_in(server: RunningServer, session: str) -> None:
    own = [f"Cookie: {session}", "Content-Length: 1"]
    with connect(server, head(server, *own) + "x") as client:
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 422 "), "x is no recording"
    with connect(
        server, head(server, f"Cookie: {session}", f"Content-Length: {1 << 40}")
    ) as client:
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 413 ")


def test_admitted_connection_is_kept_where_there_are_many_strangers(
    server: RunningServer, session: str
) -> None:
    question = head(server, f"Cookie: {session}", method="GET").replace(
        "payload/upload", "payload/state"
    )

    def answer(client: socket.socket) -> bytes:
        """Read head and body: they may come one by one."""
        found = client.recv(1 << 16)
        while found and not found.endswith(b"}"):
            found += client.recv(1 << 16)
        return found

    with connect(server, question) as admitted:
        assert answer(admitted).startswith(b"HTTP/1.1 200 ")
        idle = [connect(server) for _ in range(MOST_STRANGERS + 20)]
        admitted.sendall(question.encode())
        assert answer(admitted).startswith(b"HTTP/1.1 200 ")
        for client in idle:
            client.close()


def test_file_is_not_written_on_for_a_page_that_has_gone(
    server: RunningServer, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, ended = threading.Event(), threading.Event()

    def write(command: object, is_gone: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE_S
        asked.set()
        while time.monotonic() < end and not ended.is_set():
            if is_gone():
                ended.set()
            time.sleep(0.01)
        raise RecordingError("gone")

    monkeypatch.setattr("gviz.app.server.share_routes.run_writer", write)
    path = urlsplit(server.url).path + "payload/saved/a/1"
    lines = [f"GET {path} HTTP/1.1", "Host: localhost", f"Cookie: {session}", "", ""]
    with connect(server, "\r\n".join(lines)):
        assert asked.wait(_PATIENCE_S)
    assert ended.wait(_PATIENCE_S)
