"""Payloads for the views of the Compare page."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flask import Flask, Response, request

from gviz.app.components import PAYLOAD, Sides, parse_query, parse_sides
from gviz.app.files import Library, OpenRecording, split_edition
from gviz.app.pages import (
    LAYOUTS,
    TABLES,
    Comparison,
    UnionAsked,
    both_timelines,
    compare_sides,
    table_payload,
    union_dag,
)
from gviz.app.server.routes import answer, answer_once
from gviz.app.views import ViewWindow, parse_window
from gviz.errors import RecordingError


@dataclass(frozen=True, slots=True)
class _Asked:
    """The subject of a request: both files in the versions it names, and the comparison."""

    first: OpenRecording
    second: OpenRecording
    sides: Sides
    found: Comparison

    def answer(self, key: tuple[object, ...], build: Callable[[], bytes]) -> Response:
        """Return a payload, kept with the file after."""
        kept = ("compared", self.first.edition, self.sides.graphs, *key)
        return answer(self.second, kept, build)


def add_compared_routes(server: Flask, library: Library, prefix: str) -> None:
    """Serve ``payload/compared/KIND?a=&b=&graph=`` under a prefix.

    Files may be ``key@version``: then the answer is 409 once one is another. KIND is table, of
    which ``rows=`` says which, timeline, or dag, of ``level=`` with
    bodies ``open=``, in ``layout=``.
    """
    base = prefix.rstrip("/") + PAYLOAD + "/compared"

    def serve(kind: str, handle: Callable[[_Asked], Response]) -> None:
        def respond() -> Response:
            with _asked(library) as asked:
                return handle(asked)

        server.add_url_rule(f"{base}/{kind}", f"gviz_compared_{kind}", respond)

    serve("table", _table)
    serve("timeline", _timeline)
    serve("dag", _dag)


@contextlib.contextmanager
def _asked(library: Library) -> Iterator[_Asked]:
    sides = parse_sides(request.args)
    if sides is None:
        raise RecordingError("what is to be compared is not named: a=, b= and graph=")
    found = compare_sides(library, sides)
    (first, first_at), (second, second_at) = map(split_edition, (sides.before, sides.after))
    with (
        library.file(first).at(first_at) as before,
        library.file(second).at(second_at) as after,
    ):
        yield _Asked(before, after, sides, found)


def _table(asked: _Asked) -> Response:
    name = request.args.get("rows", "")
    rows = name if name in TABLES else "nodes"
    return asked.answer(("table", rows), lambda: table_payload(asked.found, rows))


def _timeline(asked: _Asked) -> Response:
    def build(window: ViewWindow | None) -> bytes:
        files = asked.first, asked.second
        return both_timelines(
            asked.found,
            (asked.first.recording, asked.second.recording),
            Sides(asked.first.edition, asked.second.edition),
            window,
            (files[0].keep, files[1].keep),
        )

    window = parse_window(request.args)
    if window is not None:
        return answer_once(build(window))
    return asked.answer(("timeline",), lambda: build(None))


def _dag(asked: _Asked) -> Response:
    query = parse_query(request.query_string.decode())
    if query.level >= len(asked.found.page):
        raise RecordingError(f"there is no level {query.level} of this comparison")
    layout = query.layout if query.layout in LAYOUTS else None
    wanted = UnionAsked(query.level, layout, frozenset(query.unfolded))

    def build() -> bytes:
        return union_dag(
            asked.found,
            (asked.first.recording, asked.second.recording),
            (asked.first.key, asked.second.key),
            wanted,
        )

    return asked.answer(("dag", wanted), build)
