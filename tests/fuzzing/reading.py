"""Everything that reads a recording, as one call: each part must do its work or refuse in words."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from shown_pages import render_page

import gviz.cli.commands.compare.diff
import gviz.cli.commands.compare.trend
from fuzzing.refusals import beside, check_refusal
from gviz.analysis import analysis_to_json, analyze
from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.inspector.inspector import render_sums
from gviz.app.inspector.memory_panel import render_memory_facts
from gviz.app.inspector.node_records import NodeRecords
from gviz.app.pages.report.page import report_body
from gviz.app.pages.report.reports import build_report
from gviz.app.views.graph_data import graph_view
from gviz.app.views.payload import dag_payload, level_memory_payload, timeline_payload
from gviz.app.views.table.table import table_payload
from gviz.cli.commands.look.info import to_json
from gviz.cli.recording_path import find_recording
from gviz.errors import GvizError
from gviz.formats import draw_graphs, draw_launch, to_dot, write_trace
from gviz.recording.reader import Recording
from gviz.report import (
    analysis_documents,
    document_to_json,
    info_document,
    render_text,
    render_texts,
    summarize,
)

_ADDRESSES = Addresses("/")
#: Graphs and nodes looked at.
_GRAPHS, _NODES = 3, 2


def look_at_everything(path: Path) -> None:
    """Run the commands that read a recording, and make its pages; raise a GvizError last.

    Anything else that is raised is a fault, also where a page would have told of it.
    """
    if refused := refusals(path):
        # What has nothing to show says so; that a file is damaged is another matter.
        raise next((error for error in refused if "damaged" in str(error)), refused[0])


def refusals(path: Path) -> list[GvizError]:
    """Run the commands that read a recording, and make its pages; return what they refused."""
    refused: list[GvizError] = []

    def attempt(work: Callable[[], object]) -> None:
        try:
            work()
        except GvizError as error:
            check_refusal(error)
            refused.append(error)

    with contextlib.redirect_stdout(io.StringIO()), _faults_of_the_app():
        for work in _commands(path):
            attempt(work)
        with contextlib.suppress(GvizError):
            library = Library([path])
            try:
                for work in _pages(library):
                    attempt(work)
            finally:
                library.close()
    return refused


def look_at_both(path: Path) -> None:
    """Compare a recording with the one beside it (:func:`beside`), each with each."""
    other = beside(path)
    refused: list[GvizError] = []
    with contextlib.redirect_stdout(io.StringIO()):
        for before, after in ((path, other), (other, path)):
            for work in (_diff, _trend):
                try:
                    work(before, after)
                except GvizError as error:
                    check_refusal(error)
                    refused.append(error)
    if refused:
        raise refused[0]


def _diff(before: Path, after: Path) -> None:
    gviz.cli.commands.compare.diff.run(
        argparse.Namespace(before=before, after=after, more=[], graph=None, all=True, json=False)
    )


def _trend(*paths: Path) -> None:
    gviz.cli.commands.compare.trend.run(
        argparse.Namespace(recordings=list(paths), all=True, json=True)
    )


def _commands(path: Path) -> Iterator[Callable[[], object]]:
    yield lambda: _inform(path)
    yield lambda: _analyze(path)
    yield lambda: _diff(path, path)
    yield lambda: _trend(path, path)
    yield lambda: _export(path)


def _inform(path: Path) -> None:
    """Make both forms of ``gviz info`` of one summary."""
    with Recording(find_recording(path)) as recording:
        summary = summarize(recording, slowest=10)
    json.dumps(to_json(summary), indent=2)
    render_text(info_document(summary), 100)


def _analyze(path: Path) -> None:
    """Make both forms of ``gviz analyze`` of one analysis."""
    with Recording(find_recording(path)) as recording:
        found = analyze(recording)
    documents = analysis_documents(found)
    report = [document_to_json(document) for document in documents]
    json.dumps({**analysis_to_json(found), "report": report})
    render_texts(documents, 100)


def _export(path: Path) -> None:
    """Write each graph in the formats of ``gviz export``; the page of saved files is the app's."""
    with Recording(path) as recording, tempfile.TemporaryDirectory() as folder:
        graphs = [g.graph_id for g in recording.fetch_graphs() if g.parent_graph_id is None]
        for graph in graphs[:_GRAPHS]:
            to_dot(recording, graph)
        draw_graphs(recording, graphs[:_GRAPHS], "light")
        write_trace(recording, Path(folder) / "x.json", graphs)
        for graph in graphs[:_GRAPHS]:
            draw_launch(recording, graph, None, "light")


def _pages(library: Library) -> Iterator[Callable[[], object]]:
    (opened,) = library.files()
    file, recording = opened.key, opened.recording
    yield lambda: render_page(library, _ADDRESSES, "/", "")
    yield lambda: render_page(library, _ADDRESSES, "/", "?view=table")
    try:
        runs = [run.run_id for run in recording.fetch_runs()][:1]
        graphs = [graph.graph_id for graph in recording.fetch_graphs()][:_GRAPHS]
    except GvizError as error:
        check_refusal(error)
        return
    for run in runs:
        yield lambda run=run: render_page(  # type: ignore[misc]
            library, _ADDRESSES, "/run", f"?file={file}&run={run}"
        )
    for graph in graphs:
        yield from _graph_pages(library, file, recording, graph)


def _graph_pages(
    library: Library, file: str, recording: Recording, graph: int
) -> Iterator[Callable[[], object]]:
    def inspect() -> None:
        view = graph_view(library, file, graph)
        for node in list(view.nodes)[:_NODES]:
            index = view.index_of(node)
            NodeRecords(library, file, view, _ADDRESSES).one(index)
            render_sums(view, [index, 0])

    yield lambda: render_page(library, _ADDRESSES, "/graph", f"?file={file}&graph={graph}")
    yield lambda: dag_payload(recording, graph)
    yield lambda: timeline_payload(recording, graph, None, None)
    yield lambda: table_payload(graph_view(library, file, graph))
    yield lambda: level_memory_payload(recording, graph, None)
    yield lambda: render_memory_facts(library, file, graph_view(library, file, graph))
    yield inspect
    if recording.fetch_graph(graph).parent_graph_id is None:
        yield lambda: report_body(build_report(library.file(file), graph), file, _ADDRESSES)


@contextlib.contextmanager
def _faults_of_the_app() -> Iterator[None]:
    """Raise what a page caught that is no GvizError: the page comes, but it is a fault."""
    found: list[BaseException] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            fault = record.exc_info[1] if record.exc_info else getattr(record, "fault", None)
            if fault is not None:
                found.append(fault)

    log, listener = logging.getLogger("gviz.app"), Listener()
    log.addHandler(listener)
    propagate, log.propagate = log.propagate, False
    try:
        yield
    finally:
        log.removeHandler(listener)
        log.propagate = propagate
    if found:
        raise found[0]
