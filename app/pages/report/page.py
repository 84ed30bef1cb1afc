"""The Report page: the findings on a graph, every claim with the nodes it is about."""

from __future__ import annotations

from typing import Any

from dash import dcc, html, no_update
from dash.development.base_component import Component

from gviz.app.components import Addresses, DocumentPage, state_badge
from gviz.app.files import Library, sentence_of
from gviz.app.pages.report.drawings import draw
from gviz.app.pages.report.node_links import NodeLinks
from gviz.app.pages.report.reports import Report, Reports
from gviz.model import graph_title
from gviz.recording import rows
from gviz.report import Drawing, run_document
from gviz.text import counted

#: Milliseconds between two questions whether a report is done.
_EVERY_MS = 700


def render_report(
    library: Library, file: str, run: rows.Run, graph: rows.Graph, addresses: Addresses
) -> Component:
    """Return the page of a report, which follows when it is made (:func:`show_report`)."""
    opened = library.file(file)
    with opened.at():
        title = graph_title(opened.recording, graph)
    graph_page = dcc.Link("See the graph", href=addresses.graph(file, graph.graph_id))
    return html.Div(
        className="gv-sheet gv-report",
        children=[
            html.Div(
                [
                    html.H1(["Report: ", title]),
                    state_badge(run) if run.state != "completed" else None,
                    graph_page,
                ],
                className="gv-title",
            ),
            dcc.Store(
                id="report-view",
                data={"file": file, "graph": graph.graph_id, "version": opened.version},
            ),
            # Each answer that there is no report yet allows one more poll.
            dcc.Interval(id="report-wait", interval=_EVERY_MS, max_intervals=0),
            html.Div(_waiting(library, file, graph), id="report-body"),
        ],
    )


def _waiting(library: Library, file: str, graph: rows.Graph) -> Component:
    recording = library.file(file).recording
    launches = counted(recording.count_launches(graph.graph_id)[0], "launch", "launches")
    nodes = ""
    if graph.topology_id is not None:
        count = recording.fetch_topology(graph.topology_id).node_count
        nodes = f"{counted(count, 'node')} and "
    text = f"Analyzing {nodes}{launches}… Graphs of 100,000 nodes take a minute."
    return html.P(text, role="status", className="gv-muted gv-report-waiting")


def show_report(
    library: Library, reports: Reports, view: dict[str, Any], polls: int, addresses: Addresses
) -> tuple[Any, Any]:
    """Return the body of a report and how many polls its page may make, for the callback."""
    file = view["file"]
    try:
        opened = library.file(file)
        found = reports.find(opened, view["version"], view["graph"])
        if found is None:
            return no_update, polls + 1
        with opened.at(view["version"]):
            return report_body(found, file, addresses), no_update
    except Exception as error:  # the page shows it
        sentence = sentence_of(error).strip()
        return html.P(["There is no report. ", sentence], role="alert"), no_update


def report_body(report: Report, file: str, addresses: Addresses) -> list[Component]:
    """Return everything below the head of a report."""
    links = NodeLinks(file, report.tree, report.ranges, report.families, addresses)

    def drawn(found: Drawing) -> Component | None:
        return draw(found, report.graph)

    return DocumentPage(links, drawn).body(run_document(report.run, report.graph.title))
