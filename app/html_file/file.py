"""Writing graphs of a recording as one HTML file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gviz import __version__
from gviz.app.components import Parts
from gviz.app.files import Library
from gviz.app.html_file.document import document
from gviz.app.html_file.fact_makers import FactMakers
from gviz.app.html_file.frame import render_frame
from gviz.app.html_file.graph_data import Progress, graph_blobs
from gviz.app.html_file.launches import Chosen, LaunchChoice, check_launches, choose
from gviz.app.html_file.source import Source, open_source
from gviz.app.views import Compared, GraphView
from gviz.errors import RecordingError, cannot_write
from gviz.recording import check_output
from gviz.system import create_file, mode_for


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """The result of writing.

    Attributes
    ----------
    path
        The file.
    size_bytes
        Its size.
    graph_count, node_count
        Levels of graphs in it, and their nodes.
    launches
        Of the first graph, in words.
    """

    path: Path
    size_bytes: int
    graph_count: int
    node_count: int
    launches: str


def write_html(
    recording: Path,
    output: Path,
    graph_ids: Sequence[int],
    launches: Sequence[LaunchChoice] = (),
    *,
    baseline: Path | None = None,
    state: str = "",
    overwrite: bool = False,
    processes: int | None = None,
    progress: Progress = lambda text: None,
) -> WrittenPage:
    """Write graphs as one HTML file that opens without a server.

    Parameters
    ----------
    recording, output
        From where to where.
    graph_ids
        Graphs, at least one; the bodies in them come with them.
    launches
        Those that the timeline shows; none: one of typical length. The median is always there.
    baseline
        A recording whose graphs they are compared with, each with the one that corresponds to it.
    state
        What the page shows at first, as the query of the address of a graph's page has it.
    overwrite
        Replace an existing file.
    processes
        So many help at most, where there are enough nodes; None: one for each processor but one.
    progress
        Called with what is being done.

    Raises
    ------
    RecordingError
        If a recording, a graph or a launch is not there, the baseline has no graph that
        corresponds to any, or the file cannot be written.
    """
    check_output(output, overwrite=overwrite)
    library = Library([recording] if baseline is None else [recording, baseline])
    opened = library.files()[0]
    try:
        # One version throughout, also where the file is replaced meanwhile.
        with opened.at():
            source = open_source(library, graph_ids)
            graphs = source.graphs
            views = [source.view(graph.graph_id) for graph in graphs]
            check_launches(opened.recording, views, launches)
            chosen = [choose(view, launches) for view in views]
            compared = _compared(source, views)
            with FactMakers(source, graph_ids, processes) as makers:
                blobs = _blobs(source, views, compared, chosen, state, makers, progress)
                size = _write(output, document(f"{graphs[0].name} – gviz", __version__, blobs))
    finally:
        library.close()
    nodes = sum(len(view.nodes) for view in views)
    return WrittenPage(output, size, len(graphs), nodes, chosen[0].to_text())


def _compared(source: Source, views: Sequence[GraphView]) -> list[Compared]:
    """Return what became of the baseline in each graph; RecordingError if it has none of them."""
    found = [source.compared(view) for view in views]
    if source.baseline is not None and all(c.comparison is None for c in found):
        raise RecordingError(f"{found[0].problem} 'gviz info' lists its graphs.")
    return found


def _blobs(
    source: Source,
    views: Sequence[GraphView],
    compared: Sequence[Compared],
    chosen: Sequence[Chosen],
    state: str,
    makers: FactMakers,
    progress: Progress,
) -> Iterator[tuple[str, bytes]]:
    parts = Parts()
    frame = parts.add(render_frame(views[0].run.name))
    graphs = [{"id": view.graph.graph_id, "name": view.graph.name} for view in views]
    found = {"parts": parts.list, "frame": frame, "graphs": graphs, "state": state}
    yield "file", json.dumps(found, separators=(",", ":")).encode()
    for view, against, launches in zip(views, compared, chosen, strict=True):
        yield from graph_blobs(source, view, against, launches, makers, progress)


def _write(output: Path, pieces: Iterator[str]) -> int:
    """Write text aside and move it to its place when it is whole; return its size."""
    part = output.with_name(output.name + ".part")
    size = 0
    try:
        with open(create_file(part, mode_for(output)), "wb") as file:
            for piece in pieces:
                size += file.write(piece.encode())
        os.replace(part, output)
    except OSError as error:
        raise RecordingError(cannot_write(output, error)) from error
    finally:
        part.unlink(missing_ok=True)
    return size
