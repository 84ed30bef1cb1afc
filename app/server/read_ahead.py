"""Each file's main graph, read while the server is still being loaded.

To import Dash keeps Python busy for a second; SQLite, which needs no Python, reads meanwhile.
"""

from __future__ import annotations

from gviz.app.files import Library, OpenRecording
from gviz.app.server.ahead_thread import AheadThread
from gviz.app.views import graph_view, read_stream_side, typical_launch
from gviz.model import read_level, read_raw_spans


class ReadAhead(AheadThread):
    """Reads nodes, edges, and of what is shown first the launch's spans and the eager iteration."""

    def __init__(self, library: Library) -> None:
        super().__init__("read ahead", library)

    def _run(self) -> None:
        for file, graph_id in self._main_graphs():
            opened = self._library.file(file)
            with opened.at():
                self._read(opened, graph_id)

    def _read(self, opened: OpenRecording, graph_id: int) -> None:
        view = graph_view(self._library, opened.key, graph_id)
        # The DAG shows the first launch until another is requested, the timeline this one.
        typical = typical_launch(view.recorded_launches)
        for launch in (*view.recorded_launches[:1], *([typical] if typical else [])):
            read_raw_spans(opened.recording, launch.launch_id, opened.keep)
        read_level(opened.recording, view.tree, keep=opened.keep)
        eager = typical_launch(view.stream_launches)
        if eager is not None:
            read_stream_side(opened.recording, view.tree, eager.launch_id, opened.keep)
