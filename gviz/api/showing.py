"""``.show()``: a recording's view in a notebook, or in the browser where there is none."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

from gviz.errors import GvizError
from gviz.text import byte_size

#: A notebook keeps what its cells show: beyond this it is slow to open and to save.
MOST_BYTES = 20_000_000
#: The frame needs a script, and to save pictures and tables; it gets nothing of the notebook.
_SANDBOX = "allow-scripts allow-downloads"


def in_notebook() -> bool:
    """Return whether this program's output is shown by a notebook."""
    interactive = sys.modules.get("IPython")
    shell = None if interactive is None else interactive.get_ipython()
    return getattr(shell, "kernel", None) is not None


def show(path: Path, graph_ids: Sequence[int], *, server: bool = False, height: int = 720) -> None:
    """Show a recording: in a notebook inside the cell, else in the browser.

    In a notebook the view is one HTML file without a server, which stays in the notebook when it
    is sent to others. Outside, or with ``server``, it is what ``gviz view`` shows, until Ctrl-C
    or the kernel's interrupt.

    Parameters
    ----------
    path
        The recording.
    graph_ids
        Graphs of the file; a server shows all.
    server
        Serve it, and open a browser on this machine.
    height
        Of the frame in a notebook, in pixels.

    Raises
    ------
    GvizError
        If there is no graph, or the file would be too large for a notebook.
    """
    if server or not in_notebook():
        from gviz.app import Options, serve

        serve([path], Options())
        return
    from IPython.display import HTML, display

    display(HTML(frame_html(path, graph_ids, height=height)))


def frame_html(path: Path, graph_ids: Sequence[int], *, height: int = 720) -> str:
    """Return a frame with graphs as one HTML file inside; see :func:`show`."""
    from gviz.app import write_html

    if not graph_ids:
        raise GvizError(f"{path} has no graph to show; 'gviz info {path}' says why")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "view.html"
        size = write_html(path, file, graph_ids).size_bytes
        if size > MOST_BYTES:
            raise GvizError(
                f"the view of {path} has {byte_size(size)}, and a notebook holds "
                f"{byte_size(MOST_BYTES)}; show one graph, or use .show(server=True)"
            )
        text = file.read_text(encoding="utf-8")
    return (
        f'<iframe title="gviz: {escape(path.name)}" sandbox="{_SANDBOX}" '
        f'style="width: 100%; height: {height:d}px; border: 0" srcdoc="{escape(text)}"></iframe>'
    )
