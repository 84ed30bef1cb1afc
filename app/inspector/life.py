"""Graphs' lives on the pages: what failed, with the call and the line, and what each step cost."""

from __future__ import annotations

from collections.abc import Sequence

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import Addresses, DocumentPage
from gviz.app.views import GraphLine, RunView
from gviz.model import ExecLife, FailedCapture, FaultSummary, is_failed
from gviz.recording import InstantiateFailure, rows
from gviz.report import culprit, fault_paragraph, saved_by_updates, without_line
from gviz.text import MISSING, byte_size, counted, duration, integer

#: Executables listed; programs that instantiate for every step have thousands.
_LISTED = 200

_COLUMNS: tuple[tuple[str, str], ...] = (
    ("Executable", "Its graph, and its number in the file"),
    ("Capture", "Mode of the stream capture that gave its graph"),
    ("Instantiate", "Measured: host time of the call"),
    ("Upload", "Measured: host time of the first cuGraphUpload"),
    ("First launch", "Measured: host time of the first cuGraphLaunch"),
    (
        "Launch again",
        "Measured: median host time of later launches of the graph, node level off, "
        "calls that waited for a full queue left out",
    ),
    ("Launches", "Seen, with node times or without"),
    ("Updates", "cuGraphExecUpdate, new node parameters, nodes switched on or off; refused ones"),
    ("Memory", "Estimated: fall of free device memory around instantiation, upload, first launch"),
    ("End", "Destroyed while gviz watched, or not"),
)


def why_no_edges(graph: rows.Graph) -> str:
    """Return why the edges of a graph are not known."""
    if is_failed(graph):
        return "the capture failed before they could be read"
    if graph.origin == "trace":
        return "the imported trace records its launches as a whole only"
    return "the graph was instantiated before gviz attached"


def edges_note(graph: rows.Graph) -> str | None:
    """Return what must be known of a graph's edges; None: they are CUDA's own."""
    if graph.topology_id is None:
        return f"edges unknown: {why_no_edges(graph)}"
    if graph.edges_inferred:
        return "edges inferred from stream order (dotted): an imported trace has none"
    return None


def render_failures(view: RunView, addresses: Addresses) -> Component | None:
    """Return faults, and the captures and instantiations that failed; None where none did."""
    parts = [_fault(view, fault, addresses) for fault in view.faults]
    parts += [_capture(view, capture, addresses) for capture in view.capture_failures]
    parts += [_instantiation(view, failure, addresses) for failure in view.instantiate_failures]
    return html.Div(parts) if parts else None


def _fault(view: RunView, found: FaultSummary, addresses: Addresses) -> Component:
    graph_id = found.fault.graph_id
    link = None
    if graph_id is not None:
        href = addresses.graph(view.file, graph_id)
        link = html.P(dcc.Link(f"Graph {graph_id}", href=href), className="gv-muted")
    parts = [html.H3("Black box"), html.P(fault_paragraph(found)), link]
    return html.Article(parts, className="gv-failure")


def _capture(view: RunView, capture: FailedCapture, addresses: Addresses) -> Component:
    failure = capture.failure
    nodes = f"{counted(capture.node_count, 'node')} captured until then"
    broken_by = culprit(failure)
    return html.Article(
        [
            html.H3(f"Capture failed: {failure.rule}"),
            html.P(failure.explanation),
            _place(capture),
            html.P(
                [
                    None if broken_by is None else f"{broken_by} ",
                    nodes
                    if failure.graph_id is None
                    else dcc.Link(nodes, href=addresses.graph(view.file, failure.graph_id)),
                ],
                className="gv-muted",
            ),
            html.P([html.Strong("Fix: "), failure.fix]),
        ],
        className="gv-failure",
    )


def _place(capture: FailedCapture) -> Component | None:
    place = capture.place
    if place is None:
        reason = capture.failure.stack_reason
        return html.P(without_line(reason), className="gv-muted") if reason else None
    where = f"{place.file}:{place.line} in {place.function}"
    return html.Div(
        className="gv-line-own",
        children=[
            html.Code(place.source.strip() if place.source else place.function,
                      className="gv-source"),
            html.Div(where, className="gv-muted gv-mono gv-break"),
        ],
    )  # fmt: skip


def _instantiation(view: RunView, failure: InstantiateFailure, addresses: Addresses) -> Component:
    text = failure.explanation
    return html.Article(
        [
            html.H3("Instantiation failed"),
            html.P(
                text
                if failure.graph_id is None
                else [
                    f"{text} ",
                    dcc.Link("Its graph", href=addresses.graph(view.file, failure.graph_id)),
                ]
            ),
        ],
        className="gv-failure",
    )


def render_lives(view: RunView, addresses: Addresses) -> Component | None:
    """Return a table of the executables; None where there are none."""
    lives = [(line, e) for line in view.graphs for e in line.life.execs]
    if not lives:
        return None
    head = html.Tr(
        [
            html.Th(name, title=meaning, className=None if i == 0 else "gv-number")
            for i, (name, meaning) in enumerate(_COLUMNS)
        ]
    )
    body = [_row(view, line, e, addresses) for line, e in lives[:_LISTED]]
    more = len(lives) - _LISTED
    table = html.Table([html.Thead(head), html.Tbody(body)], className="gv-table gv-lives")
    return html.Div(
        [
            html.Div(table, className="gv-scroll-x"),
            html.P(f"and {counted(more, 'more', 'more')}", className="gv-muted")
            if more > 0
            else None,
            _again([e for _, e in lives]),
        ]
    )


def _row(view: RunView, line: GraphLine, e: ExecLife, addresses: Addresses) -> Component:
    cells = (
        (line.life.capture_mode or MISSING, None),
        (duration(e.instantiate_ns), None),
        (duration(e.upload_ns), None),
        (duration(e.first_launch_ns), None),
        (duration(line.life.relaunch_median_ns), None),
        (integer(e.launch_count), None),
        (_updates(e), "; ".join(refusals(e)) or None),
        (byte_size(e.device_memory_bytes), None),
        ("destroyed" if e.destroyed_ns is not None else MISSING, None),
    )
    name = f"{line.title} · {e.graph_exec_id}"
    link = dcc.Link(name, href=addresses.graph(view.file, line.graph.graph_id))
    rest = (html.Td(text, className="gv-number", title=title) for text, title in cells)
    return html.Tr([html.Td(link), *rest])


def _updates(e: ExecLife) -> str:
    good = sum(u.count for u in e.updates if u.result == 0)
    refused = sum(u.count for u in e.updates if u.result != 0)
    if not good and not refused:
        return MISSING
    if not refused:
        return integer(good)
    first, *others = refusals(e)
    return f"{integer(good)}, {integer(refused)} refused: {first}{' …' if others else ''}"


def refusals(e: ExecLife) -> list[str]:
    """Return why updates of an executable were refused, each reason once."""
    refused = (u for u in e.updates if u.result != 0)
    reasons = (u.difference or u.detail_name or f"CUresult {u.result}" for u in refused)
    return list(dict.fromkeys(reasons))


def _again(execs: Sequence[ExecLife]) -> Component | None:
    again = [e for e in execs if e.could_update_graph_exec_id is not None]
    if not again:
        return None
    sentence = saved_by_updates(len(again), sum(e.instantiate_ns or 0 for e in again))
    return html.P(DocumentPage().line(sentence.content))
