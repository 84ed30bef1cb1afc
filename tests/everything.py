"""Look at everything of a recording: each command that reads one, each page, each payload."""

from __future__ import annotations

import json
from pathlib import Path

from app_tree import texts
from inspected import inspected
from shown_pages import render_page

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.views.graph_data import graph_view
from gviz.app.views.payload import dag_payload, timeline_payload
from gviz.app.views.table.table import table_payload
from gviz.app.views.wire import unpack
from gviz.cli.command_line import main
from gviz.formats.dot.export import to_dot
from gviz.recording.reader import Recording

_ADDRESSES = Addresses("/")


def show_everything(path: Path) -> str:
    """Return all the text that is shown; raises if anything of it cannot be."""
    shown = []
    library = Library([path])
    file = library.files()[0].key
    with Recording(path) as recording:
        pages = [("/", "")]
        pages += [("/run", f"?file={file}&run={r.run_id}") for r in recording.fetch_runs()]
        graphs = [g.graph_id for g in recording.fetch_graphs()]
        pages += [("/graph", f"?file={file}&graph={g}") for g in graphs]
        shown += [texts(render_page(library, _ADDRESSES, *page)[0]) for page in pages]
        for graph_id in graphs:
            view = graph_view(library, file, graph_id)
            for node_id in list(view.nodes)[:50]:
                shown.append(inspected(library, file, view, (node_id,)))
            shown.append(json.dumps(json.loads(table_payload(view))))
            for payload in (dag_payload, _timeline):
                header, _arrays = unpack(payload(recording, graph_id))
                shown.append(json.dumps(header, ensure_ascii=False))
            shown.append(to_dot(recording, graph_id))
    for form in ((), ("--json",)):
        assert main(["info", str(path), *form]) == 0
    for text in shown:
        text.encode()  # a lone surrogate could not be sent to a browser
    return "\n".join(shown)


def _timeline(recording: Recording, graph_id: int) -> bytes:
    return timeline_payload(recording, graph_id, None, None)
