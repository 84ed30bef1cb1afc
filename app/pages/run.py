"""The Run page: one run's graphs with their life costs, what measuring cost, and its notes."""

from __future__ import annotations

from collections.abc import Sequence

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import Addresses, facts, gpu_names, moment, note_list, state_badge
from gviz.app.inspector import render_failures, render_lives
from gviz.app.pages.measurements import measurement_name, measurement_text
from gviz.app.pages.runs import NODE_TIME_METHOD, no_graphs, report_link
from gviz.app.views import GraphLine, RunView
from gviz.recording import rows
from gviz.report import launch_text
from gviz.text import MISSING, duration, integer

_CLOCK = "Measured beside the program: median clock and mean power while busy, highest temperature"
_COLUMNS: tuple[tuple[str, str], ...] = (
    ("Graph", "Click a graph to see its nodes"),
    ("Report", "What bounds its launches, and what to change"),
    ("Nodes", "Of every level, bodies included"),
    ("Edges", "Of the top level"),
    ("Launches", "Seen, with node times or without"),
    ("Recorded", "Launches with node times"),
    ("Launch GPU time", "Median over launches; how it was measured stands in each cell"),
    ("Node time", NODE_TIME_METHOD),
    ("Capture", "Measured: cuStreamBeginCapture entered to cuStreamEndCapture returned"),
    ("Instantiate", "Measured: host time of the call, first executable"),
    ("Upload", "Measured: host time of the first cuGraphUpload"),
)


def render_run(view: RunView, addresses: Addresses, ranks: Sequence[rows.Run] = ()) -> Component:
    """Return the page of one run; ``ranks``: those in its file."""
    run = view.run
    sections = [
        html.P(dcc.Link("See the launch costs", href=addresses.bench(view.file, run.run_id)))
        if run.source == "bench"
        else None,
        _section("What failed", render_failures(view, addresses)),
        _section("Graphs", _graph_table(view, addresses)),
        _section("Beside the other ranks", _ranks(view, ranks, addresses)),
        _section("Life of the executables", render_lives(view, addresses)),
        _section("What to know about this run", note_list(view.notes)),
        _section("What measuring cost and lost", _measurements(view)),
        _section("Environment", _environment(view)),
    ]
    return html.Div(
        className="gv-sheet",
        children=[
            html.Div([html.H1(run.name), state_badge(run)], className="gv-title"),
            facts(
                [
                    ("When", moment(run.started_ns), None),
                    ("Lasted", _lasted(run), None),
                    ("GPU", gpu_names(view.devices), None),
                    *(
                        (f"Clock of GPU {one.device_id}", one.to_text(), _CLOCK)
                        for one in view.gpu_conditions
                    ),
                    ("Collector", run.collector or MISSING, run.collector_reason),
                    (
                        "Node level",
                        run.node_launches or MISSING,
                        "Policy: launches of each executable recorded with node times",
                    ),
                ]
            ),
            *(s for s in sections if s is not None),
        ],
    )


def _ranks(view: RunView, ranks: Sequence[rows.Run], addresses: Addresses) -> Component | None:
    if len(ranks) < 2:
        return None
    link = dcc.Link("See the ranks side by side", href=addresses.ranks(view.file))
    text = f": launches of {len(ranks)} ranks on one axis, who waits for whom, what is slow on one."
    return html.P([link, text])


def _section(title: str, body: Component | None) -> Component | None:
    return None if body is None else html.Section([html.H2(title), body], className="gv-section")


def _lasted(run: rows.Run) -> str:
    if run.started_ns is None or run.ended_ns is None:
        return "unknown (aborted)" if run.state == "aborted" else MISSING
    return duration(run.ended_ns - run.started_ns)


def _graph_table(view: RunView, addresses: Addresses) -> Component:
    if not view.graphs:
        return html.P(no_graphs(view), className="gv-muted")
    head = html.Tr(
        [
            html.Th(name, title=meaning, className=None if i < 2 else "gv-number")
            for i, (name, meaning) in enumerate(_COLUMNS)
        ]
    )
    body = [_graph_row(view, line, addresses) for line in view.graphs]
    return html.Div(
        html.Table([html.Thead(head), html.Tbody(body)], className="gv-table gv-graphs"),
        className="gv-scroll-x",
    )


def _graph_row(view: RunView, line: GraphLine, addresses: Addresses) -> Component:
    href = addresses.graph(view.file, line.graph.graph_id)
    edges = "unknown" if line.edge_count is None else integer(line.edge_count)
    cells: list[tuple[str, str | None]] = [
        (integer(line.node_count), None),
        (
            edges,
            None
            if line.edge_count is not None
            else "Instantiated before gviz attached: nodes are known from their records only",
        ),
        (integer(line.launch_count), None),
        (integer(line.recorded_count), None),
        (launch_text(line.times) or MISSING, line.times.method),
        (launch_text(line.node_time) or MISSING, NODE_TIME_METHOD),
        (duration(line.capture_ns), None),
        (duration(line.instantiate_ns), None),
        (duration(line.upload_ns), None),
    ]
    name = html.Td(dcc.Link(line.title, href=href, className="gv-graph-link"))
    report = html.Td(report_link(view.file, line, addresses))
    return html.Tr([name, report, *(html.Td(t, title=m, className="gv-number") for t, m in cells)])


def _measurements(view: RunView) -> Component | None:
    if not view.measurements:
        return None
    return html.Table(
        className="gv-table gv-table-narrow",
        children=[
            html.Thead(
                html.Tr(
                    [
                        html.Th("Quantity"),
                        html.Th("Value", className="gv-number"),
                        html.Th("Method"),
                    ]
                )
            ),
            html.Tbody(
                [
                    html.Tr(
                        [
                            html.Td(measurement_name(m), title=m.name),
                            html.Td(measurement_text(m), className="gv-number"),
                            html.Td(m.method),
                        ]
                    )
                    for m in view.measurements
                ]
            ),
        ],
    )


def _environment(view: RunView) -> Component:
    run = view.run
    pairs = [
        ("Recording", view.place),
        ("Command", run.command),
        ("Host", run.host),
        ("Process", run.process_id),
        ("Rank", run.rank),
        ("Exit code", run.exit_code),
        ("gviz", run.gviz_version),
        ("Python", run.python_version),
        ("CUDA driver", run.driver_version),
        ("CUPTI", run.cupti_version),
        ("Git revision", _revision(run)),
        *((x.name, x.version) for x in view.libraries),
    ]
    given = [(k, str(v), None) for k, v in pairs if v is not None]
    return facts(given, className="gv-facts gv-facts-wide")


def _revision(run: rows.Run) -> str | None:
    if run.git_revision is None:
        return None
    return run.git_revision[:12] + (" with uncommitted changes" if run.git_dirty else "")
