"""Routes of ranks: payloads of the Ranks page, and the way from a rank of a fleet to its graph."""

from __future__ import annotations

import re
from typing import Any

from flask import Flask, Response, redirect, request

from gviz.app.components import FLEET, PAYLOAD, Addresses, parse_id
from gviz.app.files import Library, split_version
from gviz.app.pages import compared_ranks, ranks_timeline
from gviz.app.server.routes import answer, answer_once
from gviz.app.views import ViewWindow, parse_window
from gviz.errors import RecordingError
from gviz.fleet import find_local, find_rank

#: Two numbers of an address.
_PAIR = re.compile(r"(\d{1,19})\.(\d{1,9})", re.ASCII)


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


def add_fleet_routes(server: Flask, library: Library, addresses: Addresses) -> None:
    """Answer ``fleet/open?rank=RECORDING.RUN&graph=KEY.NTH`` with the page of that graph.

    The recording is opened, if it is not open. Only those that the data set names are.
    """

    def open_rank() -> Any:
        fleet, rank = library.fleet, _pair(request.args.get("rank"))
        if fleet is None or rank is None:
            raise RecordingError("the address names no rank of an open data set")
        place = find_rank(fleet.url, *rank, _pair(request.args.get("graph")))
        opened = library.add_once(find_local(place.url))
        return redirect(addresses.graph(opened.key, place.graph_id))

    rule = f"{addresses.prefix.rstrip('/')}{FLEET}/open"
    server.add_url_rule(rule, "gviz_fleet_rank", open_rank)


def _pair(text: str | None) -> tuple[int, int] | None:
    found = _PAIR.fullmatch(text or "")
    return None if found is None else (int(found[1]), int(found[2]))
