"""The Runs page: what recordings are open, a card each run or a row each of their graphs."""

from __future__ import annotations

from collections.abc import Sequence

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import (
    Addresses,
    Miniature,
    Query,
    RunsView,
    aria,
    facts,
    moment,
    note_list,
    state_badge,
)
from gviz.app.pages.run_marks import program_line, troubles
from gviz.app.pages.runs_table import render_runs_table
from gviz.app.views import FileRuns, GraphLine, RunView
from gviz.model import LaunchTimes
from gviz.report import count_text, launch_text
from gviz.text import MISSING, counted, duration, integer

#: Graphs listed on a card; the run's page lists all.
_LISTED_GRAPHS = 4
#: Notes in full on a card; the run's page lists all.
_LISTED_NOTES = 2

NODE_TIME_METHOD = "Sum of node times in one launch, median over the launches recorded with them"

_VIEWS: tuple[tuple[RunsView, str, str], ...] = (
    ("cards", "Cards", "A card each run"),
    ("table", "Table", "A row each graph of every run, to sort and compare"),
)


def render_runs(
    found: Sequence[FileRuns], query: Query, addresses: Addresses, *, has_fleet: bool = False
) -> Component:
    """Return the list of runs, as cards the run whose launches have most node time first.

    ``has_fleet``: there is a data set too, whose page is linked.
    """
    views = [view for file in found for view in file.runs]
    by_time = sorted(views, key=lambda view: -view.largest_node_time_ns)
    several = sum(view.main_graph is not None for view in views) > 1
    jobs = {file.key for file in found if _ranks(file) > 1}
    table = query.runs_view == "table"
    troubled = [_card_without_runs(f) for f in found if not f.runs]
    shown: list[Component] = []
    if not table:
        shown.append(
            html.Div(
                [*(_card(v, addresses, several, v.file in jobs) for v in by_time), *troubled],
                className="gv-cards",
            )
        )
    else:
        shown.append(render_runs_table(views, query.sort, addresses))
        if troubled:
            shown.append(html.Div(troubled, className="gv-cards"))
    return html.Div(
        className="gv-sheet gv-sheet-wide",
        children=[
            html.Div(
                className="gv-title",
                children=[
                    html.H1("Runs"),
                    html.Span(_summary(found, query.runs_view), className="gv-muted"),
                    html.Div(className="gv-grow"),
                    _fleet_link(has_fleet, addresses),
                    _trend_link(len(views), addresses),
                    _view_choice(query.runs_view, addresses),
                    _file_button(),
                ],
            ),
            *shown,
        ],
    )


def _summary(found: Sequence[FileRuns], shown: RunsView) -> str:
    runs = counted(sum(len(f.runs) for f in found), "run")
    live = sum(f.is_live for f in found)
    text = f"{runs} in {counted(len(found), 'recording')}"
    text += f", {live} being recorded" if live else ""
    several = sum(len(f.runs) for f in found) > 1
    return f"{text}; most node time first" if several and shown == "cards" else text


def _fleet_link(has_fleet: bool, addresses: Addresses) -> Component | None:
    if not has_fleet:
        return None
    return dcc.Link(
        "Fleet",
        href=addresses.fleet(),
        className="gv-report-link",
        title="All ranks of the open data set: who is slow, who waits for whom",
    )


def _trend_link(runs: int, addresses: Addresses) -> Component | None:
    if runs < 2:
        return None
    return dcc.Link(
        "Trend",
        href=addresses.trend(),
        className="gv-report-link",
        title="Each graph through all open runs, with the commit of each",
    )


def _view_choice(shown: RunsView, addresses: Addresses) -> Component:
    """Return links, for the choice is part of the address."""
    links = [
        dcc.Link(
            label,
            href=addresses.runs(view),
            title=meaning,
            className="gv-choice gv-choice-on" if view == shown else "gv-choice",
        )
        for view, label, meaning in _VIEWS
    ]
    return html.Nav(links, className="gv-choices", **aria(label="How to show runs"))


def _file_button() -> Component:
    """Return the button that opens files; assets/web/dash/upload.js does it."""
    return html.Button(
        "Open files…",
        type="button",
        id="open-files",
        className="gv-button",
        title="Open recordings (.gviz), traces of PyTorch's profiler (.json, .json.gz) and "
        "rocprofv3 (.json), exports of Nsight Systems (.sqlite) or DOT dumps (.dot) of this "
        "machine; they may also be dropped anywhere on the page",
    )


def _card_without_runs(file: FileRuns) -> Component:
    """Return the card of a file of which nothing can be shown, with the reason."""
    if file.waiting:
        badge = html.Span("recording", className="gv-badge gv-badge-recording")
        body = html.P(file.waiting, role="status")
    elif file.problem:
        badge = html.Span("unreadable", className="gv-badge gv-badge-aborted")
        body = html.P(file.problem)
    else:
        badge = None
        body = html.P("This recording has no runs: nothing was recorded into it.")
    head = [html.H2(file.name), badge]
    return html.Article(
        [html.Div(head, className="gv-card-head"), body], className="gv-card gv-card-without"
    )


def _ranks(file: FileRuns) -> int:
    """Return how many ranks of a job a file holds."""
    return sum(view.run.rank is not None and view.main_graph is not None for view in file.runs)


def _card(view: RunView, addresses: Addresses, several: bool, of_job: bool) -> Component:
    run, href = view.run, addresses.run(view.file, view.run.run_id)
    only = view.only_graph
    opened = href if only is None else addresses.graph(view.file, only.graph.graph_id)
    heading = html.Div(
        className="gv-card-head",
        children=[
            html.H2(dcc.Link(run.name, href=opened, className="gv-card-link")),
            state_badge(run),
            *_trouble_badges(view, href),
            html.Span(view.name, className="gv-muted gv-mono gv-ellipsis", title=view.place),
            html.Div(className="gv-grow"),
            None if only is None else _run_link(view, href),
            _ranks_link(view, addresses) if of_job else None,
            _compare_button(view) if several else None,
        ],
    )
    return html.Article(
        className="gv-card",
        children=[
            heading,
            _program(view),
            _picture(view, addresses),
            facts(_run_facts(view)),
            _graphs(view, addresses),
            _notes(view, href),
        ],
    )


def _trouble_badges(view: RunView, href: str) -> list[Component]:
    """Return a badge for each kind of thing that went wrong; it leads to the run's page."""
    return [
        dcc.Link(
            trouble.words,
            href=href,
            className=f"gv-badge gv-badge-{'failed' if trouble.failed else 'refused'} gv-above",
            title=trouble.reasons,
        )
        for trouble in troubles(view)
    ]


def _run_link(view: RunView, href: str) -> Component:
    """Return the way to the run's page from a card that leads to its graph."""
    return dcc.Link(
        ["Run", html.Span(f" {view.run.name}", className="gv-unseen")],
        href=href,
        className="gv-report-link gv-above",
        title="Environment, notes, what measuring cost, and lives of the executables",
    )


def _program(view: RunView) -> Component | None:
    """Return what was run, on one line; None: not known."""
    line = program_line(view)
    if not line:
        return None
    return html.P(line, className="gv-program gv-mono gv-ellipsis", title=view.run.command)


def _ranks_link(view: RunView, addresses: Addresses) -> Component:
    return dcc.Link(
        "Ranks",
        href=addresses.ranks(view.file),
        className="gv-report-link gv-above",
        title="The ranks of this job side by side",
    )


def _compare_button(view: RunView) -> Component | None:
    """Return the button by which two runs are picked; assets/web/dash/compare.js does it."""
    if view.main_graph is None:
        return None
    return html.Button(
        "Compare",
        type="button",
        className="gv-button gv-compare-pick",
        title=f"Compare {view.main_graph.title} with a graph of another run",
        **{"data-file": view.file, "data-graph": str(view.main_graph.graph.graph_id)},
        **aria(pressed="false"),
    )


def _picture(view: RunView, addresses: Addresses) -> Component | None:
    """Return the picture of the graph that took most of the GPU's time; None without graphs."""
    line = view.main_graph
    if line is None or not line.node_count:
        return None
    return Miniature(source=addresses.miniature(view.versioned_key, line.graph.graph_id))


def _run_facts(view: RunView) -> list[tuple[str, str, str | None]]:
    run, main = view.run, view.main_graph
    found: list[tuple[str, str, str | None]] = [
        ("When", moment(run.started_ns), None),
        ("Graphs", integer(len(view.graphs)), None),
        ("Nodes", integer(sum(g.node_count for g in view.graphs)), "Over all graphs"),
        (
            "Launches",
            integer(sum(g.launch_count for g in view.graphs)),
            "Graph launches seen, with node times or without",
        ),
    ]
    if main is not None and main.times.median_ns is not None:
        method = f"GPU time of {main.title}, median; {main.times.method}"
        found.append(("Launch", launch_text(main.times), method))
    found = [fact for fact in found if fact[1] != MISSING]
    if run.rank is not None:
        found.append(("Rank", integer(run.rank), None))
    if run.source == "import":
        of_dump = run.collector == "dot" or run.collector_reason is None
        reason = "A DOT dump: it carries no times" if of_dump else run.collector_reason
        found.append(("Source", "imported", reason))
    return found


def _graphs(view: RunView, addresses: Addresses) -> Component:
    if not view.graphs:
        return html.P(no_graphs(view), className="gv-muted")
    largest = sorted(
        view.graphs, key=lambda g: (-(g.node_time.median_ns or 0.0), -g.launch_count, -g.node_count)
    )
    # Graphs of as many nodes are told apart by their names, which need the room.
    show_nodes = len({g.node_count for g in largest}) > 1
    lines = [
        _graph_line(view, g, addresses, show_nodes=show_nodes) for g in largest[:_LISTED_GRAPHS]
    ]
    more = len(view.graphs) - len(lines)
    if more > 0:
        href = addresses.run(view.file, view.run.run_id)
        lines.append(html.Li(dcc.Link(f"{counted(more, 'more graph')}", href=href)))
    return html.Ul(lines, className="gv-graph-list")


def no_graphs(view: RunView) -> str:
    """Return why a run has no graph to show, what it has, and what to do."""
    if view.capture_failures or view.instantiate_failures:
        return "No CUDA graph was instantiated: the run's page says what failed."
    if view.run.state == "recording":
        return "No CUDA graph was instantiated yet."
    if view.run.source == "import":
        return _no_graphs_of_trace(view)
    sentence = "No CUDA graph was instantiated while gviz watched."
    if view.stream_count:
        return (
            f"{sentence} It recorded {counted(view.stream_count, 'stream operation')}; to see them "
            "as a graph, capture the work, with torch.cuda.graph or cudaStreamBeginCapture."
        )
    reasons = [n.text for n in view.notes if n.kind == "information"]
    return f"{sentence} Note: {'; '.join(reasons)}." if reasons else sentence


def _no_graphs_of_trace(view: RunView) -> str:
    outside = counted(view.stream_count, "operation")
    return f"The trace has no launch of a CUDA graph, and {outside} outside graphs."


def _graph_line(
    view: RunView, line: GraphLine, addresses: Addresses, *, show_nodes: bool
) -> Component:
    href = addresses.graph(view.file, line.graph.graph_id)
    # Of a run's only graph the card says both counts already.
    is_only = view.only_graph is not None
    values = [
        *([html.Span(counted(line.node_count, "node"))] if show_nodes else ()),
        *(() if is_only else [html.Span(counted(line.launch_count, "launch", "launches"))]),
        html.Span(
            _node_time(line.node_time),
            title=f"{NODE_TIME_METHOD}: {launch_text(line.node_time)}".removesuffix(": "),
        ),
        report_link(view.file, line, addresses),
    ]
    return html.Li(
        [
            dcc.Link(
                line.title,
                href=href,
                className="gv-graph-link gv-ellipsis",
                title=line.title,
            ),
            html.Span(values, className="gv-graph-values"),
        ]
    )


def _node_time(found: LaunchTimes) -> str:
    if found.evidence is None:
        return "no times"
    return f"{duration(found.median_ns)} node time, {count_text(found.evidence)}"


def report_link(file: str, line: GraphLine, addresses: Addresses) -> Component:
    """Return the link to a graph's report."""
    return dcc.Link(
        ["Report", html.Span(f" on {line.title}", className="gv-unseen")],
        href=addresses.report(file, line.graph.graph_id),
    )


def _notes(view: RunView, href: str) -> Component | None:
    warnings = [n for n in view.notes if n.kind != "information"]
    listed = note_list(warnings[:_LISTED_NOTES])
    more = len(warnings) - _LISTED_NOTES
    if more <= 0:
        return listed
    return html.Div([listed, dcc.Link(counted(more, "more note"), href=href, className="gv-more")])
