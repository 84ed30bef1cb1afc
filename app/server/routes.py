"""Payloads for canvases, table and inspector, revalidated by ETag."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from dash.development.base_component import Component
from flask import Flask, Response, request

from gviz.app.components import (
    FOLDINGS,
    PAYLOAD,
    Addresses,
    Launches,
    Parts,
    parse_id,
    parse_launches,
    parse_order,
    parse_query,
)
from gviz.app.files import Library, OneAtATime, OpenRecording, split_version
from gviz.app.inspector import NodeRecords, render_memory_facts, render_sums
from gviz.app.pages import Questions, Reports, address_against, graph_payload
from gviz.app.server.ahead import prepare_next
from gviz.app.views import (
    GraphView,
    body_view,
    breakdown_payload,
    build_miniature,
    draw_miniature,
    draw_reason,
    find_graph,
    graph_identity,
    graph_view,
    launches_with_times,
    parse_window,
    payload,
    read_breakdown,
    table_payload,
    typical_launch,
    uses_payload,
    verdict_values,
)
from gviz.errors import CycleError, RecordingError
from gviz.model import read_timed_level, read_timed_tree

_T = TypeVar("_T")

#: Two payloads made at once would both be late, as Python runs one thread at a time: a page
#: requests its DAG first, and gets it before its timeline. What is kept needs no such order.
_BUILDING = OneAtATime(patience_s=3.0)


#: Characters of an option of what-if: the numbers of 100,000 nodes in no row have fewer.
_MOST_OPTION = 1_000_000


#: Answers a request about one graph of an open file.
_Answer = Callable[[OpenRecording, int], Response]


def add_payload_routes(
    server: Flask, library: Library, addresses: Addresses, reports: Reports
) -> None:
    """Serve ``payload/KIND/FILE/GRAPH`` under a prefix.

    KIND is page, dag, timeline, memory, facts, table, breakdown, verdict, miniature, uses,
    inspector or what-if.
    ``FILE`` is a key, or
    ``key@version`` (:attr:`OpenRecording.versioned_key`): then the answer is 409 once the file is
    another one. Requests of the last two post
    JSON: a selection, as a list of nodes' numbers on the page, and options of ``gviz what-if`` by
    name. The page of a graph that is called
    otherwise than ``identity=`` says is another one's: it answers where that one is.
    """
    base = addresses.prefix.rstrip("/") + PAYLOAD

    def serve(kind: str, handle: _Answer, method: str = "GET") -> None:
        def respond(file: str, graph_id: int) -> Response:
            key, version = split_version(file)
            with library.file(key).at(version) as opened:
                return handle(opened, graph_id)

        # SQLite cannot hold greater ids than this.
        rule = f"{base}/{kind}/<file>/<int(max=999999999999999999):graph_id>"
        server.add_url_rule(rule, f"gviz_{kind}", respond, methods=[method])

    def dag(opened: OpenRecording, graph_id: int) -> Response:
        return _dag(opened, graph_id)

    def table(opened: OpenRecording, graph_id: int) -> Response:
        view = graph_view(library, opened.key, graph_id)
        found = answer(opened, ("table", graph_id), lambda: table_payload(view))
        # Requested once the page is drawn: next comes a click, or another way of folding.
        prepare_next(library, opened, graph_id, addresses)
        return found

    def inspector(opened: OpenRecording, graph_id: int) -> Response:
        return _inspector(graph_view(library, opened.key, graph_id), opened, library, addresses)

    def uses(opened: OpenRecording, graph_id: int) -> Response:
        return _uses(graph_view(library, opened.key, graph_id), opened, library)

    def verdict(opened: OpenRecording, graph_id: int) -> Response:
        return _verdict(opened, graph_id, reports)

    questions = Questions()

    def what_if(opened: OpenRecording, graph_id: int) -> Response:
        options = options_of(request.get_json(silent=True))
        return _as_json(questions.ask(opened, graph_id, options) or {"waiting": True})

    def page(opened: OpenRecording, graph_id: int) -> Response:
        return not_kept(_page(opened, graph_id, library, addresses))

    def facts(opened: OpenRecording, graph_id: int) -> Response:
        view = graph_view(library, opened.key, graph_id)
        return as_parts(render_memory_facts(library, opened.key, view))

    serve("page", page)
    serve("facts", facts)
    serve("dag", dag)
    serve("timeline", _timeline)
    serve("memory", _memory)
    serve("table", table)
    serve("breakdown", _breakdown)
    serve("verdict", verdict)
    serve("miniature", _miniature_of)
    serve("inspector", inspector, "POST")
    serve("uses", uses)
    serve("what-if", what_if, "POST")


def _page(opened: OpenRecording, graph_id: int, library: Library, addresses: Addresses) -> bytes:
    """Return what the page of a graph is made of, or the address of another page."""
    query = parse_query(request.query_string.decode(errors="replace"))
    view = graph_view(library, opened.key, graph_id)
    identity = request.args.get("identity")
    if query.baseline_file is not None:
        baseline = query.baseline_file, query.baseline_graph_id
        there = address_against(library, opened.key, view, baseline, addresses)
        return json.dumps({"moved_to": there}).encode()
    if identity is not None and identity != graph_identity(view.run, view.graph):
        moved = find_graph(opened.recording, identity)
        return json.dumps({"moved_to": addresses.graph(opened.key, moved)}).encode()
    return graph_payload(library, opened.key, view, query, addresses)


def _inspector(
    view: GraphView, opened: OpenRecording, library: Library, addresses: Addresses
) -> Response:
    """Return the record of the node that is selected; sums over several; of none the slowest."""
    selected = dict.fromkeys(selection_of(request.get_json(silent=True)))
    nodes = [node for key in selected if (node := view.tree.index_of(key)) is not None]
    if len(nodes) != 1:
        return as_parts(render_sums(view, nodes))
    return _as_json(NodeRecords(library, opened.key, view, addresses).one(nodes[0]))


def _uses(view: GraphView, opened: OpenRecording, library: Library) -> Response:
    """Return who uses the memory of the level that is requested."""
    at = parse_id(request.args.get("level")) or 0
    if at >= len(view.tree.levels):
        raise RecordingError(f"graph {view.graph.graph_id} has no level {at}; reload the page")

    def build() -> bytes:
        return uses_payload(library, opened.key, body_view(library, opened.key, view, at))

    return answer(opened, ("uses", view.graph.graph_id, at), build)


def _dag(opened: OpenRecording, graph_id: int) -> Response:
    wanted = _dag_request(request.args)

    def build() -> bytes:
        return payload.dag_payload(opened.recording, graph_id, wanted, opened.keep)

    return answer(opened, ("dag", graph_id, wanted), build)


def _timeline(opened: OpenRecording, graph_id: int) -> Response:
    chosen = request.args.get("launch")
    launch: int | Launches | None = parse_launches(chosen) or parse_id(chosen)
    order = parse_order(request.args.get("order"))
    stream = parse_id(request.args.get("stream"))
    window = parse_window(request.args)

    def build() -> bytes:
        return payload.timeline_payload(
            opened.recording, graph_id, launch, stream, order, window, opened.keep
        )

    if window is not None:
        # Hardly ever requested again: what it is made of is kept, not the answer.
        return answer_once(build())
    return answer(opened, ("timeline", graph_id, launch, stream, order), build)


def _memory(opened: OpenRecording, graph_id: int) -> Response:
    launch = parse_id(request.args.get("launch"))
    return answer(
        opened,
        ("memory", graph_id, launch),
        lambda: payload.level_memory_payload(opened.recording, graph_id, launch, opened.keep),
    )


def _breakdown(opened: OpenRecording, graph_id: int) -> Response:
    return answer(
        opened,
        ("breakdown payload", graph_id),
        lambda: breakdown_payload(opened.recording, graph_id, opened.keep),
    )


def _verdict(opened: OpenRecording, graph_id: int, reports: Reports) -> Response:
    """Return the verdict on a graph; ``{"waiting": true}`` while its analysis is being made."""
    report = reports.find(opened, opened.version, graph_id)
    values: dict[str, Any] = {"waiting": True}
    if report is not None:
        found = read_breakdown(opened.recording, graph_id, opened.keep)
        values = verdict_values(report.run, report.graph, found, report.tree)
    return _as_json(values)


def _miniature_of(opened: OpenRecording, graph_id: int) -> Response:
    found = answer(opened, ("miniature", graph_id), lambda: _miniature(opened, graph_id))
    found.mimetype = "image/svg+xml"
    return found


def _miniature(opened: OpenRecording, graph_id: int) -> bytes:
    recording = opened.recording
    keep = opened.keep
    tree = read_timed_tree(recording, graph_id, keep)
    try:
        level = read_timed_level(recording, tree, 0, keep)
    except CycleError as error:
        return draw_reason(str(error)).encode()
    launches, _ = launches_with_times(recording, tree.outermost.graph_id)
    shapes = build_miniature(recording, level, typical_launch(launches), keep)
    return draw_miniature(shapes).encode()


def _dag_request(arguments: Mapping[str, str]) -> payload.DagRequest:
    """Return the part of the DAG that a query requests; unknown values count as absent."""
    folding = arguments.get("fold")
    return payload.DagRequest(
        layout=arguments.get("layout"),
        launch_id=parse_id(arguments.get("launch")),
        folding=folding if folding in FOLDINGS else None,
        unfolded=frozenset(arguments.get("open", "").split(",")) - {""},
        data=arguments.get("edges") == "data",
    )


def selection_of(content: object) -> list[int]:
    """Return the nodes of a request; what is no number counts as absent."""
    return [n for n in content if isinstance(n, int)] if isinstance(content, list) else []


def options_of(content: object) -> dict[str, str]:
    """Return the options of a request: names with texts; ValueError if it has none such."""
    if not isinstance(content, dict) or not content:
        raise ValueError("a question is options by name")
    if not all(isinstance(value, str) and len(value) <= _MOST_OPTION for value in content.values()):
        raise ValueError(f"an option is a text of at most {_MOST_OPTION} characters")
    return content


def as_parts(component: Component) -> Response:
    """Return a component as what assets/web/core/parts.js makes elements of."""
    parts = Parts()
    place = parts.add(component)
    return _as_json({"parts": parts.list, "place": place})


def _as_json(values: dict[str, Any]) -> Response:
    """Return values that are not kept."""
    return not_kept(json.dumps(values, separators=(",", ":")).encode())


def not_kept(text: bytes) -> Response:
    """Return JSON that browsers are not to keep."""
    return Response(text, mimetype="application/json", headers={"Cache-Control": "no-store"})


def answer(opened: OpenRecording, key: tuple[object, ...], build: Callable[[], bytes]) -> Response:
    """Return a payload, kept with its file."""
    return _respond(*opened.derive(key, lambda: _one_at_a_time(build)))


def _one_at_a_time(build: Callable[[], bytes]) -> tuple[bytes, str]:
    with _BUILDING.working():
        return _tagged(build())


def answer_once(body: bytes) -> Response:
    """Return a payload that is not kept."""
    return _respond(*_tagged(body))


def _respond(body: bytes, tag: str) -> Response:
    response = Response(body, mimetype="application/octet-stream")
    response.set_etag(tag)
    response.headers["Cache-Control"] = "private, no-cache"
    response.make_conditional(request)
    return response


def _tagged(body: bytes) -> tuple[bytes, str]:
    return body, hashlib.sha256(body).hexdigest()[:32]
