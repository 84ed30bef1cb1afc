"""Requests as bytes on a connection, to a server of the viewer that runs in this process."""

from __future__ import annotations

import http.client
import json
import logging
import os
import socket
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from recordings import fork_join_shape, write_loop_recording, write_recording
from waitress.adjustments import Adjustments
from waitress.parser import HTTPRequestParser

from fuzzing.mutations import TEXT, mutate, splice
from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import create_app
from gviz.app.server.server import Options, RunningServer
from gviz.errors import GvizError

#: Stand in inputs for what differs from one server to the next; a prefix as long as any, for it
#: stands in bodies too, whose length a header says.
_PREFIX, _SESSION = b"/PREFIX-OF-TWENTY-TWO-C/", b"SESSION"
#: An answer that comes later than this is a fault; less than the campaign's own limit.
_ANSWER_S = 9.0
#: The server's own, for what it does not know: "Transfer-Encoding: x".
_NOT_IMPLEMENTED = 501

_GETS = (
    "", "?view=table&sort=-size", "graph?file=small&graph=1&launch=median&colour=duration&node=1",
    "run?file=small&run=1", "trend?file=small,loop", "ranks?file=small&graph=1",
    "compare?a=small&b=loop&graph=1", "report?file=small&graph=1",
    "payload/page/small/1?layout=lanes&fold=repeats&select=family:gemm",
    "payload/page/small@0/1?identity=x", "payload/facts/small/1",
    "payload/dag/small/1?layout=time&launch=1", "payload/dag/small/1?fold=ranges&edges=data",
    "payload/timeline/small/1?launch=all&from=0&to=1e5&width=800&rows=0-3&node=1,2",
    "payload/memory/small/1?launch=1", "payload/table/loop/1", "payload/breakdown/small/1?by=range",
    "payload/verdict/small/1", "payload/miniature/small/1", "payload/uses/small/1?node=1",
    "payload/compared/page?a=small&b=loop&graph=1",
    "payload/ranks/small/1", "payload/overlay/0",
    "payload/state?file=small", "payload/saved/loop/9", "_dash-layout", "_dash-dependencies",
)  # fmt: skip
_POSTS: Sequence[tuple[str, object]] = (
    ("payload/inspector/small/1", [1, 2]),
    ("payload/inspector/loop/1", []),
    ("payload/compared/inspector?a=small&b=loop&graph=1", [0]),
    # Longer than the body: nothing is imported, which takes a process each.
    ("payload/upload?name=x.dot&size=100000", {"digraph": 1}),
    ("payload/upload?name=x.gviz&size=100000&id=x&offset=0", "SQLite format 3"),
)


def write_requests(folder: Path) -> Sequence[Path]:
    """Write well-formed requests into a folder, each a file."""
    made = [_request("GET", path) for path in _GETS]
    made += [_request("HEAD", "payload/dag/small/1"), _request("OPTIONS", "")]
    made += [_request("POST", path, json.dumps(body).encode()) for path, body in _POSTS]
    value = {"path": _PREFIX.decode(), "search": "?file=small&graph=1", "count": 1, "graph": 1}
    value |= {"file": "small@0", "files": ["small@0"], "version": "0"}
    recording = write_recording(folder / "small.gviz", fork_join_shape(1, 2, 1), launches=1)
    for output, callback in create_app([recording], AccessRules()).callback_map.items():
        if "callback" not in callback:  # it runs in the browser
            continue
        given = {
            kind: [{**part, "value": value} for part in callback[kind]]
            for kind in ("inputs", "state")
        }
        changed = [f"{part['id']}.{part['property']}" for part in callback["inputs"][:1]]
        ends = [end.rpartition(".") for end in output.strip(".").split("...")]
        outputs = [{"id": name, "property": prop} for name, _, prop in ends]
        many = output.startswith("..")
        body = {"output": output, "outputs": outputs if many else outputs[0], **given}
        body["changedPropIds"] = changed
        made.append(_request("POST", "_dash-update-component", json.dumps(body).encode()))
    paths = []
    for at, data in enumerate(made):
        paths.append(folder / f"{at:02d}.http")
        paths[-1].write_bytes(data)
    return paths


def _request(method: str, path: str, body: bytes | None = None) -> bytes:
    head = [
        f"{method} {_PREFIX.decode()}{path} HTTP/1.1", "Host: localhost",
        "Cookie: gviz_session=SESSION", "Accept-Encoding: gzip", "If-None-Match: \"x\"",
    ]  # fmt: skip
    if body is not None:
        head += ["Content-Type: application/json", "Origin: http://localhost"]
        head += [f"Content-Length: {len(body)}"]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + (body or b"")


def mutate_request(random: Random, corpus: Sequence[Path], folder: Path) -> Path:
    """Change a request: mostly its target or body, so that it is understood, else anything."""
    data = random.choice(corpus).read_bytes()
    head, end, body = data.partition(b"\r\n\r\n")
    first, line_end, headers = head.partition(b"\r\n")
    part = random.choice(("target", "target", "body", "body", "headers", "all"))
    if part == "target":
        method, _, rest = first.partition(b" ")
        target = rest.removesuffix(b" HTTP/1.1")
        other = random.choice(corpus).read_bytes().split(b" ", 2)[1]
        target = splice(random, target, other) if random.random() < 0.2 else target
        first = method + b" " + _quoted(mutate(random, target, TEXT)) + b" HTTP/1.1"
    elif part == "headers":
        headers = mutate(random, headers, TEXT)
    elif body:
        body = mutate(random, body, TEXT)
    if random.random() < 0.9 and body:
        kept = [x for x in headers.split(b"\r\n") if not x.startswith(b"Content-Length")]
        headers = b"\r\n".join([*kept, b"Content-Length: %d" % len(body)])
    data = first + line_end + headers + end + body
    output = folder / "input.http"
    output.write_bytes(mutate(random, data, TEXT) if part == "all" else data)
    return output


def _quoted(target: bytes) -> bytes:
    """Return a target that is one word, as clients send it."""
    return b"".join(b"%%%02X" % c if c <= 0x20 or c >= 0x7F else bytes([c]) for c in target)


class _Server:
    """A running server with two recordings, and one browser that it has admitted."""

    def __init__(self, folder: Path) -> None:
        small = write_recording(folder / "small.gviz", fork_join_shape(1, 2, 1), launches=4)
        loop = write_loop_recording(folder / "loop.gviz")
        self._path = folder / "socket"
        options = Options(socket_path=self._path, open_browser=False)
        self._server = RunningServer([small, loop], options)
        self._prefix = self._server.prefix.encode()
        threading.Thread(target=self._server.run, daemon=True).start()
        self._session = b""
        self._session = self._admitted()

    def _admitted(self) -> bytes:
        target = urlsplit(self._server.new_link())
        asked = f"GET {target.path}?{target.query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        with self._asked(asked, "GET") as answer:
            cookie = answer.getheader("Set-Cookie") or ""
            return cookie.partition("=")[2].partition(";")[0].encode()

    def ask(self, data: bytes) -> None:
        """Send an input; raise GvizError with a refusal's sentence, AssertionError of a fault."""
        data = data.replace(_PREFIX, self._prefix).replace(_SESSION, self._session)
        if not _is_whole(data):
            self._leave(data)
            raise GvizError("the request is not whole: the server waits for the rest of it")
        with self._asked(data, data.partition(b" ")[0].decode("latin-1").upper()) as answer:
            body = answer.read()
            text = body[:500].decode(errors="replace")
            refused = answer.status >= 400
            assert answer.status < 500 or answer.status == _NOT_IMPLEMENTED, text
            if refused and body:
                raise GvizError(text)

    @contextmanager
    def _asked(self, data: bytes, method: str) -> Iterator[http.client.HTTPResponse]:
        with self._connected() as connection:
            # It may have been refused, and the connection closed, before all of it was sent.
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(data)
            answer = http.client.HTTPResponse(connection, method=method)
            answer.begin()
            yield answer

    def _leave(self, data: bytes) -> None:
        """Send a part of a request and go."""
        with self._connected() as connection, suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(data)

    @contextmanager
    def _connected(self) -> Iterator[socket.socket]:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_ANSWER_S)
            connection.connect(str(self._path))
            yield connection


def _is_whole(data: bytes) -> bool:
    """Return whether a server can answer these bytes, as waitress reads them."""
    parser = HTTPRequestParser(Adjustments())
    while data and not parser.completed:
        taken = parser.received(data)
        data = data[taken:]
        if not taken:
            break
    return bool(parser.completed or parser.error)


@cache
def _server_of(process: int) -> _Server:
    """Return the server of a process: threads do not go with a fork."""
    return _Server(Path(tempfile.mkdtemp()))


def read_request(path: Path) -> None:
    """Send a request; what the server has logged as a fault by then is raised."""
    faults = _faults_of(os.getpid())
    try:
        _server_of(os.getpid()).ask(path.read_bytes())
    finally:
        # That of the request before, where its thread was slower.
        found = [faults.popleft() for _ in range(len(faults))]
        assert not found, found[0]


@cache
def _faults_of(process: int) -> deque[str]:
    """Return what the server of this process logs with a traceback, from now on."""
    found: deque[str] = deque()

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.exc_info:
                found.append(logging.Formatter().format(record))

    for name in ("gviz", "waitress"):
        logging.getLogger(name).addHandler(Listener())
    return found
