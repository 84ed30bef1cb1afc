"""Payloads for canvases and table, compressed once and revalidated by ETag."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Mapping
from typing import TypeVar

from flask import Flask, Response, request

from gviz.app import payload
from gviz.app.address import PAYLOAD, Launches, parse_id, parse_launches, parse_order
from gviz.app.folding import FOLDINGS
from gviz.app.graph_view import graph_view
from gviz.app.library import Library
from gviz.app.table import table_payload
from gviz.app.timeline_window import parse_window
from gviz.errors import RecordingError

_T = TypeVar("_T")

#: On payloads level 1 takes a quarter of level 6's time or less, for 5 to 9 % more bytes.
_GZIP_LEVEL = 1


def add_payload_routes(server: Flask, library: Library, prefix: str) -> None:
    """Serve ``payload/VIEW/FILE/GRAPH`` under a prefix; VIEW: dag, timeline, memory, table."""
    base = prefix.rstrip("/") + PAYLOAD

    def keeper(file: str) -> payload.Keep:
        def keep(key: tuple[object, ...], build: Callable[[], _T]) -> _T:
            return library.derive(("read", file, *key), build)

        return keep

    def dag(file: str, graph_id: int) -> Response:
        opened = library.file(file)
        asked = _asked(request.args)
        return _answer(
            library,
            ("dag", file, graph_id, asked),
            lambda: payload.dag_payload(opened.recording, graph_id, asked, keeper(file)),
        )

    def timeline(file: str, graph_id: int) -> Response:
        opened = library.file(file)
        asked = request.args.get("launch")
        launch: int | Launches | None = parse_launches(asked) or parse_id(asked)
        order = parse_order(request.args.get("order"))
        stream = parse_id(request.args.get("stream"))
        window = parse_window(request.args)

        def build() -> bytes:
            return payload.timeline_payload(
                opened.recording, graph_id, launch, stream, order, window, keeper(file)
            )

        if window is not None:
            # Hardly ever asked for again: what it is made of is kept, not the answer.
            return _respond(*_compressed(build()))
        return _answer(library, ("timeline", file, graph_id, launch, stream, order), build)

    def memory(file: str, graph_id: int) -> Response:
        opened = library.file(file)
        launch = parse_id(request.args.get("launch"))
        return _answer(
            library,
            ("memory", file, graph_id, launch),
            lambda: payload.level_memory_payload(opened.recording, graph_id, launch, keeper(file)),
        )

    def table(file: str, graph_id: int) -> Response:
        view = graph_view(library, file, graph_id)
        return _answer(library, ("table", file, graph_id), lambda: table_payload(view))

    def not_found(error: RecordingError) -> Response:
        return Response(f"{error}\n", status=404, mimetype="text/plain")

    server.add_url_rule(f"{base}/dag/<file>/<int:graph_id>", "gviz_dag", dag)
    server.add_url_rule(f"{base}/timeline/<file>/<int:graph_id>", "gviz_timeline", timeline)
    server.add_url_rule(f"{base}/memory/<file>/<int:graph_id>", "gviz_memory", memory)
    server.add_url_rule(f"{base}/table/<file>/<int:graph_id>", "gviz_table", table)
    server.register_error_handler(RecordingError, not_found)


def _asked(arguments: Mapping[str, str]) -> payload.DagAsked:
    """Return what of the DAG a query asks for; what it does not know counts as absent."""
    folding = arguments.get("fold")
    return payload.DagAsked(
        layout=arguments.get("layout"),
        launch_id=parse_id(arguments.get("launch")),
        folding=folding if folding in FOLDINGS else None,
        unfolded=frozenset(arguments.get("open", "").split(",")) - {""},
        data=arguments.get("edges") == "data",
    )


def _answer(library: Library, key: tuple[object, ...], build: Callable[[], bytes]) -> Response:
    return _respond(*library.derive(key, lambda: _compressed(build())))


def _respond(body: bytes, tag: str) -> Response:
    response = Response(mimetype="application/octet-stream")
    response.set_etag(tag)
    response.headers["Cache-Control"] = "private, no-cache"
    response.headers["Vary"] = "Accept-Encoding"
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        response.headers["Content-Encoding"] = "gzip"
        response.set_data(body)
    else:
        response.set_data(gzip.decompress(body))
    response.make_conditional(request)
    return response


def _compressed(body: bytes) -> tuple[bytes, str]:
    return gzip.compress(body, _GZIP_LEVEL, mtime=0), hashlib.sha256(body).hexdigest()[:32]
