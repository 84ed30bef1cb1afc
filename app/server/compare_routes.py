"""Payloads for the views of the Compare page."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from flask import Flask, Response, request

from gviz.app.components import PAYLOAD, Addresses, Sides, parse_query, parse_sides
from gviz.app.files import Library, OpenRecording, split_version
from gviz.app.pages import (
    LAYOUTS,
    TABLES,
    Comparison,
    Comparisons,
    UnionRequest,
    both_timelines,
    compare_sides,
    compared_content,
    compared_inspector,
    compared_table,
    union_dag,
)
from gviz.app.server.routes import answer, answer_once, as_parts, not_kept, selection_of
from gviz.app.views import ViewWindow, parse_window
from gviz.dataclass import dataclass
from gviz.errors import RecordingError


@dataclass(frozen=True, slots=True)
class _Subject:
    """The subject of a request: both files in the versions it names, and the comparison."""

    first: OpenRecording
    second: OpenRecording
    sides: Sides
    found: Comparison

    def answer(self, key: tuple[object, ...], build: Callable[[], bytes]) -> Response:
        """Return a payload, kept with the file after."""
        kept = ("compared", self.first.versioned_key, self.sides.graphs, *key)
        return answer(self.second, kept, build)


def add_compared_routes(server: Flask, library: Library, addresses: Addresses) -> None:
    """Serve ``payload/compared/KIND?a=&b=&graph=`` under a prefix.

    Files may be ``key@version``: then the answer is 409 once one is another. KIND is page, table,
    of which ``rows=`` says which, timeline, dag, of ``level=`` with bodies ``open=``, in
    ``layout=``, or inspector. A request of the last posts a selection: a JSON list of nodes'
    numbers on the page.
    """
    base = addresses.prefix.rstrip("/") + PAYLOAD + "/compared"
    comparisons = Comparisons(library)

    def serve(kind: str, handle: Callable[[_Subject], Response], method: str = "GET") -> None:
        def respond() -> Response:
            with _subject(library) as subject:
                return handle(subject)

        server.add_url_rule(f"{base}/{kind}", f"gviz_compared_{kind}", respond, methods=[method])

    def page() -> Response:
        query = parse_query(request.query_string.decode(errors="replace"))
        return not_kept(compared_content(comparisons, library, query, addresses))

    def inspector(subject: _Subject) -> Response:
        nodes = selection_of(request.get_json(silent=True))
        sides = Sides(subject.first.key, subject.second.key)
        return as_parts(compared_inspector(subject.found, sides, nodes, addresses))

    server.add_url_rule(f"{base}/page", "gviz_compared_page", page)
    serve("inspector", inspector, "POST")
    serve("table", _table)
    serve("timeline", _timeline)
    serve("dag", _dag)


@contextlib.contextmanager
def _subject(library: Library) -> Iterator[_Subject]:
    sides = parse_sides(request.args)
    if sides is None:
        raise RecordingError("what is to be compared is not named: a=, b= and graph=")
    found = compare_sides(library, sides)
    (first, first_at), (second, second_at) = map(split_version, (sides.before, sides.after))
    with (
        library.file(first).at(first_at) as before,
        library.file(second).at(second_at) as after,
    ):
        yield _Subject(before, after, sides, found)


def _table(subject: _Subject) -> Response:
    name = request.args.get("rows", "")
    rows = name if name in TABLES else "names"
    return subject.answer(("table", rows), lambda: compared_table(subject.found, rows))


def _timeline(subject: _Subject) -> Response:
    def build(window: ViewWindow | None) -> bytes:
        files = subject.first, subject.second
        return both_timelines(
            subject.found,
            (subject.first.recording, subject.second.recording),
            Sides(subject.first.versioned_key, subject.second.versioned_key),
            window,
            (files[0].keep, files[1].keep),
        )

    window = parse_window(request.args)
    if window is not None:
        return answer_once(build(window))
    return subject.answer(("timeline",), lambda: build(None))


def _dag(subject: _Subject) -> Response:
    query = parse_query(request.query_string.decode())
    if query.level >= len(subject.found.page):
        raise RecordingError(f"there is no level {query.level} of this comparison")
    layout = query.layout if query.layout in LAYOUTS else None
    wanted = UnionRequest(query.level, layout, frozenset(query.unfolded))

    def build() -> bytes:
        return union_dag(
            subject.found,
            (subject.first.recording, subject.second.recording),
            (subject.first.key, subject.second.key),
            wanted,
        )

    return subject.answer(("dag", wanted), build)
