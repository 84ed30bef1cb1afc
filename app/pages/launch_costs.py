"""The page Launch costs: what graphs cost on a GPU, as charts."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from gviz.analysis import CostLine, Figures, bundled_costs, read_figures, read_lines
from gviz.app.components import facts, message, moment, note_list, state_badge
from gviz.app.files import Library, OpenRecording
from gviz.app.pages.launch_cost_charts import BenchSection, sections
from gviz.errors import RecordingError
from gviz.recording import Recording, rows
from gviz.text import integer, microseconds, percent, signed_percent

#: Lines of the table: what the analysis uses, of straight lines.
_MODELS = (
    ("stream", "host"),
    ("first", "host"),
    ("relaunch", "host"),
    ("stream", "device"),
    ("relaunch", "device"),
    ("capture", "host"),
    ("instantiate", "host"),
    ("upload and wait", "host"),
    ("update", "host"),
)
_COLUMNS = (
    ("Of a straight line of N kernels", ""),
    ("Fixed, µs", "Of a graph that has no nodes, extrapolated"),
    ("A kernel, µs", "Cost of one kernel more"),
    ("Error", "How far measured costs are from the line: root mean square, relative"),
    ("Worst", "The largest of these errors"),
    ("N", "Lengths fitted"),
)


def render_launch_costs(library: Library, file: str | None, run_id: int | None) -> Component:
    """Return the page of a bench run; without one, of an open one, else of the bundled one.

    Raises
    ------
    RecordingError
        If there is no such file or run, or the run is no bench.
    """
    if file is None:
        for opened in library.files():
            run = _any_bench(opened)
            if run is not None:
                return _page(opened.recording, run)
        with Recording(bundled_costs()) as recording:
            return _page(recording, recording.fetch_runs()[0], bundled=True)
    with library.file(file).at() as opened:
        return _page(opened.recording, _run_of(opened, run_id))


def _any_bench(opened: OpenRecording) -> rows.Run | None:
    try:
        runs = opened.recording.fetch_runs()
    except RecordingError:  # a file that went bad must not hide the figures of another
        return None
    return next((r for r in runs if r.source == "bench"), None)


def _run_of(opened: OpenRecording, run_id: int | None) -> rows.Run:
    for run in opened.recording.fetch_runs():
        if run.source == "bench" and run_id in (None, run.run_id):
            return run
    raise RecordingError(f"{opened.key} has no such bench; make one with: gviz bench -o bench.gviz")


def _page(recording: Recording, run: rows.Run, *, bundled: bool = False) -> Component:
    figures = Figures(read_figures(recording, run.run_id))
    devices = recording.fetch_devices(run.run_id)
    found = sections(figures)
    body: list[Component | None] = [
        html.Div([html.H1("Launch costs"), state_badge(run)], className="gv-title"),
        html.P(
            "These are the figures that come with gviz. For those of your own GPU run: gviz bench, "
            "then open the recording it writes.",
            className="gv-muted",
        )
        if bundled
        else None,
        facts(
            [
                ("GPU", devices[0].name if devices else "unknown", None),
                ("Driver", f"CUDA {run.driver_version}" if run.driver_version else "unknown", None),
                ("When", moment(run.started_ns), None),
                ("Figures", f"{len(figures.all):,}", "Medians over repeated readings"),
            ]
        ),
        note_list(recording.fetch_notes(run.run_id)),
        html.Div([_card(section) for section in found], className="gv-charts")
        if found
        else message("Nothing was measured", "The bench was interrupted before its first figure."),
        _model_table(read_lines(recording, run.run_id)),
        _gap_list(recording.fetch_cost_gaps(run.run_id)),
    ]
    return html.Div(className="gv-sheet", children=[part for part in body if part is not None])


def _card(section: BenchSection) -> Component:
    return html.Section(
        [html.H2(section.question), html.P(section.note, className="gv-muted"), section.body],
        className="gv-chart-card",
    )


def _model_table(lines: list[CostLine]) -> Component | None:
    chosen = {(x.subject, x.quantity): x for x in lines if x.topology == "straight line"}
    body = []
    for key in _MODELS:
        line = chosen.get(key)
        if line is None:
            continue
        cells = (
            microseconds(line.fixed_ns),
            microseconds(line.per_node_ns),
            percent(line.residual_fraction),
            signed_percent(line.worst_fraction),
            f"{integer(line.smallest_node_count)} to {integer(line.largest_node_count)}",
        )
        name = f"{line.subject}, {line.quantity} time"
        body.append(html.Tr([html.Td(name), *(html.Td(c, className="gv-number") for c in cells)]))
    if not body:
        return None
    head = html.Tr(
        [
            html.Th(name, title=meaning or None, className="gv-number" if i else None)
            for i, (name, meaning) in enumerate(_COLUMNS)
        ]
    )
    return html.Section(
        [
            html.H2("Fitted lines, which analyses use"),
            html.Div(
                html.Table([html.Thead(head), html.Tbody(body)], className="gv-table"),
                className="gv-scroll-x",
            ),
        ],
        className="gv-section",
    )


def _gap_list(gaps: list[rows.CostGap]) -> Component | None:
    if not gaps:
        return None
    items = [html.Li([html.Strong(gap.experiment), f": {gap.reason}"]) for gap in gaps]
    return html.Section([html.H2("Not measured"), html.Ul(items)], className="gv-section")
