"""Writing graphs of a recording as one HTML file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from gviz import __version__
from gviz.app.components import Parts
from gviz.app.files import Library
from gviz.app.html_file.comparison_data import comparison_blobs
from gviz.app.html_file.document import document
from gviz.app.html_file.facts import Inspected, InspectedGraph, inspected, to_json
from gviz.app.html_file.frame import render_frame
from gviz.app.html_file.graph_data import graph_blobs
from gviz.app.html_file.launches import LaunchChoice, check_launches, choose
from gviz.app.html_file.notes import MEDIAN_LAUNCHES
from gviz.app.html_file.source import Source, find_partners, open_source
from gviz.app.pages import laid_tables
from gviz.dataclass import dataclass
from gviz.errors import RecordingError, cannot_write
from gviz.model import graph_titles
from gviz.overlay import OverlayFile
from gviz.recording import check_output
from gviz.system import NO_PROGRESS, Progress, written_aside


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
    baseline_graph: int | None = None,
    overlays: Sequence[OverlayFile] = (),
    values: bool = True,
    state: str = "",
    overwrite: bool = False,
    progress: Progress = NO_PROGRESS,
) -> WrittenPage:
    """Write graphs as one HTML file that opens without a server.

    Parameters
    ----------
    recording, output
        From where to where.
    graph_ids
        Graphs, at least one; the bodies in them come with them.
    launches
        Those that the timeline shows; none: one of typical length. The median is always there, and
        of graphs that are compared nothing else.
    baseline
        A recording whose graphs they are compared with, each with the one that corresponds to it.
        A graph that none corresponds to is shown alone.
    baseline_graph
        The graph of the baseline that the only graph is compared with; None: what corresponds.
    overlays
        Tables that are laid on the graphs.
    values
        Whether it has what the memory of nodes held.
    state
        What the page shows at first, as the query of the address of a graph's page has it.
    overwrite
        Replace an existing file.
    progress
        Called with what is being done.

    Raises
    ------
    RecordingError
        If a recording, a graph or a launch is not there, the baseline has no graph that
        corresponds to any, or the file cannot be written.
    """
    check_output(output, overwrite=overwrite)
    library = Library(_files(recording, baseline), overlays, values=values)
    opened, before = library.files()[0], library.files()[-1]
    try:
        # One version of each throughout, also where a file is replaced meanwhile.
        with opened.at(), before.at():
            partners = {}
            if baseline is not None:
                partners = find_partners(before, opened, graph_ids, baseline_graph)
            source = open_source(library, graph_ids, partners)
            written = [inspected(source, graph.graph_id) for graph in source.graphs]
            views = [found.view for found in written if isinstance(found, InspectedGraph)]
            check_launches(opened.recording, views, launches)
            blobs = _blobs(source, written, launches, state, progress)
            title = f"{source.graphs[0].name} – gviz"
            size = _write(output, document(title, __version__, blobs))
    finally:
        library.close()
    nodes = sum(found.node_count for found in written)
    return WrittenPage(output, size, len(written), nodes, _launch_words(written[0], launches))


def _launch_words(first: Inspected, launches: Sequence[LaunchChoice]) -> str:
    """Return which launches of a graph a file has."""
    if isinstance(first, InspectedGraph):
        return choose(first.view, launches).to_text()
    return MEDIAN_LAUNCHES


def _files(recording: Path, baseline: Path | None) -> list[Path]:
    """Return the files to open; a baseline may be another graph of the same one."""
    same = baseline is None or baseline.resolve() == recording.resolve()
    return [recording] if baseline is None or same else [recording, baseline]


def _blobs(
    source: Source,
    written: Sequence[Inspected],
    launches: Sequence[LaunchChoice],
    state: str,
    progress: Progress,
) -> Iterator[tuple[str, bytes]]:
    parts = Parts()
    run_id = source.graphs[0].run_id
    run = next(run for run in source.recording.fetch_runs() if run.run_id == run_id)
    frame = parts.add(render_frame(run.name))
    titles = graph_titles(source.recording, source.recording.fetch_graphs())
    graphs = [
        {"id": graph.graph_id, "name": titles.get(graph.graph_id, graph.name)}
        for graph in source.graphs
    ]
    found = {"parts": parts.list, "frame": frame, "graphs": graphs, "state": state}
    yield "file", json.dumps(found, separators=(",", ":")).encode()
    laid = _laid(source)
    if source.library.overlays:
        yield "overlays", to_json(laid)
    for number, overlay in enumerate(source.library.overlays):
        yield f"overlay-{number}", overlay.text
    for one, part in progress.each(written, _title_of):
        if isinstance(one, InspectedGraph):
            chosen = choose(one.view, launches)
            yield from graph_blobs(source, one, chosen, part)
        else:
            yield from comparison_blobs(source, one, part)


def _title_of(one: Inspected) -> str:
    return one.view.title if isinstance(one, InspectedGraph) else one.found.graph.after_name


def _laid(source: Source) -> list[dict[str, object]]:
    """Return the tables that lie on graphs of a file, each with the ids of these."""
    found: dict[str, dict[str, object]] = {}
    graphs: dict[str, list[int]] = {}
    for graph in source.graphs:
        about = source.about(graph.graph_id)
        for one in laid_tables(source.library, about, "overlay-{}".format):
            key = f"{one['source']} {one.get('side', '')}"
            found.setdefault(key, dict(one))
            graphs.setdefault(key, []).append(graph.graph_id)
    return [{**one, "graphs": graphs[key]} for key, one in found.items()]


def _write(output: Path, pieces: Iterator[str]) -> int:
    """Write text aside and move it to its place when it is whole; return its size."""
    size = 0
    try:
        with written_aside(output) as part, part.open("wb") as file:
            for piece in pieces:
                size += file.write(piece.encode())
    except OSError as error:
        raise RecordingError(cannot_write(output, error)) from error
    return size
