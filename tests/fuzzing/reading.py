"""Everything that reads a recording, as one call: each part must do its work or refuse in words."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from admitted import admitted_client
from shown_pages import render_page
from werkzeug.routing import Rule

from fuzzing.commands import diff, reading_works, trend
from fuzzing.refusals import beside, check_refusal
from gviz.app.components.addresses import (
    BENCH,
    COMPARE,
    FLEET,
    GRAPH,
    PAGES,
    RANKS,
    REPORT,
    RUN,
    RUNS,
    TREND,
    Addresses,
)
from gviz.app.files.library import Library
from gviz.app.inspector.inspector import render_sums
from gviz.app.inspector.node_records import NodeRecords
from gviz.app.pages.report.page import report_body
from gviz.app.pages.report.reports import build_report
from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import build_app
from gviz.app.views.breakdown import read_breakdown
from gviz.app.views.graph_data import graph_view
from gviz.app.views.verdict import verdict_values
from gviz.errors import GvizError

_ADDRESSES = Addresses("/")
#: Graphs and nodes looked at.
_GRAPHS, _NODES = 3, 2
#: Routes that answer "waiting", whose work is done by other calls; and those of no recording.
_NO_PAYLOAD = frozenset(
    {
        *("gviz_verdict", "gviz_what-if", "gviz_saved"),
        *("gviz_overlay", "gviz_state", "gviz_upload", "gviz_nothing"),
    }
)


def look_by_commands(path: Path) -> None:
    """Run the commands that read a recording; raise a GvizError last.

    Anything else that is raised is a fault.
    """
    works = list(reading_works(path))
    refused = _refused_by_commands(works)
    _raise_damaged(refused)
    if len(refused) == len(works):
        raise refused[0]


def look_by_pages(path: Path) -> None:
    """Make the pages of a recording, and what they request; raise a GvizError last.

    Anything else that is raised is a fault, also where a page would have told of it.
    """
    _raise_damaged(_refused_by_pages(path))


def refusals(path: Path) -> list[GvizError]:
    """Run the commands that read a recording, and make its pages; return what they refused."""
    refused = _refused_by_commands(reading_works(path))
    with contextlib.suppress(GvizError):  # the commands have said why it cannot be opened
        refused += _refused_by_pages(path)
    return refused


def _raise_damaged(refused: Sequence[GvizError]) -> None:
    """Raise what says that a file is damaged; what has nothing to show says so, too."""
    for error in refused:
        if "damaged" in str(error):
            raise error


def _refused_by_commands(works: Iterable[Callable[[], object]]) -> list[GvizError]:
    with contextlib.redirect_stdout(io.StringIO()), _faults_of_the_app():
        return _attempted(works)


def _refused_by_pages(path: Path) -> list[GvizError]:
    with _faults_of_the_app():
        library = Library([path])
        try:
            return _attempted(_pages(library))
        finally:
            library.close()


def _attempted(works: Iterable[Callable[[], object]]) -> list[GvizError]:
    """Do all works; return what they refused."""
    refused: list[GvizError] = []
    for work in works:
        try:
            work()
        except GvizError as error:
            check_refusal(error)
            refused.append(error)
    return refused


def look_at_both(path: Path) -> None:
    """Compare a recording with the one beside it (:func:`beside`), each with each."""
    other = beside(path)
    with contextlib.redirect_stdout(io.StringIO()):
        pairs = ((path, other), (other, path))
        refused = _attempted(partial(work, *pair) for pair in pairs for work in (diff, trend))
    if refused:
        raise refused[0]


def _pages(library: Library) -> Iterator[Callable[[], object]]:
    (opened,) = library.files()
    file, recording = opened.key, opened.recording
    try:
        runs = [run.run_id for run in recording.fetch_runs()][:1]
        graphs = [graph.graph_id for graph in recording.fetch_graphs()][:_GRAPHS]
    except GvizError as error:
        check_refusal(error)
        runs = graphs = []
    for page in PAGES:
        for search in _searches(page, file, runs, graphs):
            yield partial(render_page, library, _ADDRESSES, page, search)
    payloads = _Payloads(library, file)
    for graph in graphs:
        yield partial(_inspect, library, file, graph)
        yield from payloads.of(graph)
        if recording.fetch_graph(graph).parent_graph_id is None:
            yield partial(_report, library, file, graph)


def _searches(page: str, file: str, runs: Sequence[int], graphs: Sequence[int]) -> Sequence[str]:
    """Return what follows a page's address where it shows a file; KeyError: nobody opens it."""
    of_file, of_graphs = f"?file={file}", [f"?file={file}&graph={graph}" for graph in graphs]
    return {
        RUNS: ["", "?view=table"],
        RUN: [f"{of_file}&run={run}" for run in runs],
        GRAPH: of_graphs,
        REPORT: of_graphs,
        BENCH: ["", *(f"{of_file}&run={run}" for run in runs)],
        COMPARE: [f"?a={file}&b={file}"],
        TREND: [of_file],
        RANKS: [of_file],
        FLEET: [""],
    }[page]


def _inspect(library: Library, file: str, graph: int) -> None:
    view = graph_view(library, file, graph)
    for node in list(view.nodes)[:_NODES]:
        index = view.index_of(node)
        NodeRecords(library, file, view, _ADDRESSES).one(index)
        render_sums(view, [index, 0])


def _report(library: Library, file: str, graph: int) -> None:
    """Make the Report page of a graph, and the verdict above its graph page."""
    opened = library.file(file)
    report = build_report(opened, graph)
    report_body(report, file, _ADDRESSES)
    breakdown = read_breakdown(opened.recording, graph, opened.keep)
    verdict_values(report.run, report.graph, breakdown, report.tree)


class _Payloads:
    """Whatever the server answers about a graph of a library's file, through its routes."""

    def __init__(self, library: Library, file: str) -> None:
        access = AccessRules()
        self._server = build_app(library, access).server
        self._client = admitted_client(self._server, access)
        self._prefix, self._file = access.prefix.rstrip("/"), file

    def of(self, graph: int) -> Iterator[Callable[[], object]]:
        """Yield a request for each payload of a graph, and of it compared with itself."""
        compared = f"?a={self._file}&b={self._file}&graph={graph}"
        for rule in self._server.url_map.iter_rules():
            if not rule.rule.startswith(f"{self._prefix}/payload/") or rule.endpoint in _NO_PAYLOAD:
                continue
            given = rule.arguments
            if given == {"file", "graph_id"}:
                path = self._server.url_map.bind("").build(
                    rule.endpoint,
                    {"file": self._file, "graph_id": graph},
                    method=_method(rule),
                )
                yield partial(self._ask, path, _method(rule))
            elif not given:
                yield partial(self._ask, f"{rule.rule}{compared}", _method(rule))
            else:
                raise AssertionError(f"nobody asks for {rule.rule}")

    def _ask(self, path: str, method: str) -> None:
        host = {"Host": "localhost", "Origin": "http://localhost"}
        answer = self._client.open(
            path, method=method, headers=host, json=[] if method == "POST" else None
        )
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400:
            raise GvizError(f"{path.removeprefix(self._prefix)}: {answer.text}")


def _method(rule: Rule) -> str:
    return "POST" if "POST" in (rule.methods or ()) else "GET"


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
