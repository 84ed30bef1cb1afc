"""The Runs page: what recordings are open, one card a run."""

from __future__ import annotations

from collections.abc import Sequence

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.address import Addresses
from gviz.app.quantity import MISSING, counted, duration, integer, moment
from gviz.app.run_view import GraphLine, RunView
from gviz.app.shell import facts
from gviz.recording import rows

#: Graphs listed on a card; the run's page lists all.
_LISTED_GRAPHS = 4

NODE_TIME_METHOD = (
    "Sum of node times in one launch, mean over recorded launches; "
    "derived from spans measured by CUPTI"
)


def render_runs(views: Sequence[RunView], addresses: Addresses) -> Component:
    """Return the list of runs."""
    return html.Div(
        className="gv-sheet",
        children=[
            html.Div(
                className="gv-title",
                children=[html.H1("Runs"), html.Span(_summary(views), className="gv-muted")],
            ),
            html.Div([_card(v, addresses) for v in views], className="gv-cards"),
        ],
    )


def state_badge(run: rows.Run) -> Component:
    """Return the run's state as a badge that says what an aborted run means."""
    meaning = {
        "completed": "The process ended and everything was written",
        "aborted": "The process ended without closing its recording: the last buffers are lost",
        "recording": "The process was still recording when this file was written",
    }.get(run.state)
    return html.Span(run.state, className=f"gv-badge gv-badge-{run.state}", title=meaning)


def gpu_names(devices: Sequence[rows.Device]) -> str:
    """Return the GPUs of a run, equal ones counted."""
    names: dict[str, int] = {}
    for device in devices:
        names[device.name] = names.get(device.name, 0) + 1
    return ", ".join(n if c == 1 else f"{c} × {n}" for n, c in names.items()) or MISSING


def note_list(notes: Sequence[rows.Note]) -> Component | None:
    """Return notes as a list, warnings first; None without notes."""
    order = {"warning": 0, "limit": 1}
    found = sorted(notes, key=lambda n: order.get(n.kind, 2))
    if not found:
        return None
    return html.Ul(
        className="gv-notes",
        children=[
            html.Li([html.Span(n.kind, className=f"gv-note gv-note-{n.kind}"), n.text])
            for n in found
        ],
    )


def _summary(views: Sequence[RunView]) -> str:
    files = len({v.file for v in views})
    return f"{counted(len(views), 'run')} in {counted(files, 'recording')}"


def _card(view: RunView, addresses: Addresses) -> Component:
    run, href = view.run, addresses.run(view.file, view.run.run_id)
    heading = html.Div(
        className="gv-card-head",
        children=[
            html.H2(dcc.Link(run.name, href=href, className="gv-card-link")),
            state_badge(run),
            html.Span(
                f"{view.file}.gviz", className="gv-muted gv-mono gv-ellipsis", title=view.path
            ),
        ],
    )
    return html.Article(
        className="gv-card",
        children=[
            heading,
            facts(_run_facts(view)),
            _graphs(view, addresses),
            note_list([n for n in view.notes if n.kind != "information"]),
        ],
    )


def _run_facts(view: RunView) -> list[tuple[str, str, str | None]]:
    run = view.run
    found: list[tuple[str, str, str | None]] = [
        ("When", moment(run.started_ns), None),
        ("GPU", gpu_names(view.devices), None),
        ("Graphs", integer(len(view.graphs)), None),
        ("Nodes", integer(sum(g.node_count for g in view.graphs)), "Over all graphs"),
        (
            "Launches",
            integer(sum(g.launch_count for g in view.graphs)),
            "Graph launches seen, with node times or without",
        ),
    ]
    found = [fact for fact in found if fact[1] != MISSING]
    if run.rank is not None:
        found.append(("Rank", integer(run.rank), None))
    if run.source == "import":
        found.append(("Source", "imported", "A DOT dump: it carries no times"))
    return found


def _graphs(view: RunView, addresses: Addresses) -> Component:
    if not view.graphs:
        return html.P("No CUDA graph was instantiated in this run.", className="gv-muted")
    largest = sorted(view.graphs, key=lambda g: (-g.launch_count, -g.node_count))
    lines = [_graph_line(view, g, addresses) for g in largest[:_LISTED_GRAPHS]]
    more = len(view.graphs) - len(lines)
    if more > 0:
        href = addresses.run(view.file, view.run.run_id)
        lines.append(html.Li(dcc.Link(f"{counted(more, 'more graph')}", href=href)))
    return html.Ul(lines, className="gv-graph-list")


def _graph_line(view: RunView, line: GraphLine, addresses: Addresses) -> Component:
    href = addresses.graph(view.file, line.graph.graph_id)
    values = [
        html.Span(counted(line.node_count, "node")),
        html.Span(counted(line.launch_count, "launch", "launches")),
        html.Span(
            f"{duration(line.node_time_ns)} node time"
            if line.node_time_ns is not None
            else "no times",
            title=NODE_TIME_METHOD,
        ),
    ]
    return html.Li(
        [
            dcc.Link(
                line.graph.name,
                href=href,
                className="gv-graph-link gv-ellipsis",
                title=line.graph.name,
            ),
            html.Span(values, className="gv-graph-values"),
        ]
    )
