"""Payloads of the Ranks page."""

from __future__ import annotations

from flask import Flask, Response, request

from gviz.app.components import PAYLOAD, parse_id
from gviz.app.files import Library, split_version
from gviz.app.pages import compared_ranks, ranks_timeline
from gviz.app.server.routes import answer, answer_once
from gviz.app.views import ViewWindow, parse_window
from gviz.errors import RecordingError


def add_rank_routes(server: Flask, library: Library, prefix: str) -> None:
    """Serve ``payload/ranks/FILE/GRAPH?launch=``: one launch of every rank.

    FILE may be ``key@version``: then the answer is 409 once it is another. GRAPH is that of the
    first rank, ``launch`` the number of a launch.
    """

    def respond(file: str, graph_id: int) -> Response:
        key, version = split_version(file)
        with library.file(key).at(version) as opened:
            found = compared_ranks(opened)
            graph = next((g for g in found.graphs if g.sides[0].graph_id == graph_id), None)
            if graph is None:
                raise RecordingError(f"no rank beside the first one of {key} has graph {graph_id}")
            ordinal = parse_id(request.args.get("launch"))
            known = graph.ordinal.tolist()
            if ordinal not in known:
                raise RecordingError(f"launch {ordinal} has no node times on every rank of {key}")
            launch = known.index(ordinal)

            def build(window: ViewWindow | None) -> bytes:
                recording, keep = opened.recording, opened.keep
                return ranks_timeline(recording, found, graph, launch, window, keep)

            window = parse_window(request.args)
            if window is not None:
                return answer_once(build(window))
            return answer(opened, ("ranks", graph_id, ordinal), lambda: build(None))

    base = prefix.rstrip("/") + PAYLOAD
    rule = f"{base}/ranks/<file>/<int(max=999999999999999999):graph_id>"
    server.add_url_rule(rule, "gviz_ranks", respond)
