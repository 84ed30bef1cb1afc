"""Routes of saved files: graphs as the Share button of their page downloads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

from flask import Flask, Response, request

from gviz.app.components import PAYLOAD, parse_id, parse_launches, parse_query
from gviz.app.files import Library, OpenRecording, split_version
from gviz.app.server.writer import run_writer
from gviz.app.views import GraphView, graph_view
from gviz.system import own_command

#: Of waitress, in the environment of a request: whether its connection is closed.
_GONE = "waitress.client_disconnected"


def add_share_route(server: Flask, library: Library, prefix: str) -> None:
    """Serve ``payload/saved/FILE/GRAPH?state=QUERY`` under a prefix.

    The answer is an HTML file that begins with what QUERY says, as the address of a graph's page
    has it: with its launch, its baseline, the verdict and the findings. ``FILE`` is a key, or
    ``key@version``. What lies on the graph the page puts into it: assets/web/overlay/carry.js.
    """

    def saved(file: str, graph_id: int) -> Response:
        state = request.args.get("state", "")
        key, version = split_version(file)
        with library.file(key).at(version) as opened:
            view = graph_view(library, key, graph_id)
            is_gone = request.environ.get(_GONE, lambda: False)
            text = _write(library, opened, view, state, is_gone)
        # Never shown as a page of this server, whose scripts would be others.
        return Response(text, mimetype="application/octet-stream")

    rule = f"{prefix.rstrip('/')}{PAYLOAD}/saved/<file>/<int(max=999999999999999999):graph_id>"
    server.add_url_rule(rule, "gviz_saved", saved)


def _write(
    library: Library,
    opened: OpenRecording,
    view: GraphView,
    state: str,
    is_gone: Callable[[], bool],
) -> bytes:
    """Write a file in a process of its own: what takes memory and a processor is soon over."""
    folder = library.scratch.new_path("")
    folder.mkdir()
    output = folder / "saved.html"
    try:
        path = _named(folder, opened)
        command = own_command(
            "gviz", "export", "--html", str(path), "--graph", str(view.graph.graph_id),
            "--state", state, "-o", str(output), *_launch(view, state),
            *_baseline(library, folder, state),
        )  # fmt: skip
        run_writer(command, is_gone)
        return output.read_bytes()
    finally:
        for made in folder.iterdir():
            made.unlink()
        folder.rmdir()


def _named(folder: Path, opened: OpenRecording) -> Path:
    """Return a path to a recording that ends in the name that pages show of it."""
    inside = folder / f"{opened.key}.gviz"
    if not inside.is_symlink():  # two graphs of one file
        inside.symlink_to(opened.recording.path.resolve())
    return inside


def _launch(view: GraphView, state: str) -> list[str]:
    """Return the launch that a state shows, as an argument; none: what a file has anyway."""
    text = parse_qs(state).get("launch", [""])[0]
    if parse_launches(text):
        return ["--launch", text]
    number = parse_id(text)
    found = [x.ordinal for x in view.recorded_launches if x.launch_id == number]
    return ["--launch", str(found[0])] if found else []


def _baseline(library: Library, folder: Path, state: str) -> list[str]:
    """Return the graph that a state compares with, as arguments; none: it compares nothing."""
    query = parse_query(state)
    if query.before_file is None:
        return []
    arguments = ["--baseline", str(_named(folder, library.file(query.before_file)))]
    if query.graphs is not None:
        arguments += ["--baseline-graph", str(query.graphs[0])]
    return arguments
