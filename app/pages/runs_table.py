"""The table of runs: a row for each graph of every open recording, sorted in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_ag_grid as dag
from dash import html
from dash.development.base_component import Component

from gviz.app.components import GRID_THEME, Addresses, aria, gpu_names, moment
from gviz.app.pages.run_marks import troubles
from gviz.app.views import GraphLine, RunView

_NUMBER = {"type": "numericColumn", "filter": "agNumberColumnFilter"}
_TIME = {**_NUMBER, "valueFormatter": {"function": "gvizDuration(params.value)"}, "width": 90}
_COUNT = {**_NUMBER, "valueFormatter": {"function": "gvizCount(params.value)"}, "width": 88}
_REPORT = {
    "field": "report",
    "headerName": "Report",
    "cellRenderer": "GvizLink",
    "width": 76,
    "sortable": False,
    "filter": False,
    "headerTooltip": "What bounds its launches, and what to change",
}
_COMPARE = {
    "field": "graph_id",
    "headerName": "Compare",
    "cellRenderer": "GvizPick",
    "width": 100,
    "sortable": False,
    "filter": False,
    "headerTooltip": "Pick two graphs: the first is before, the second after",
}
#: What the table is about, and sorted by at first.
_LAUNCH: dict[str, Any] = {
    "field": "launch_ns",
    "headerName": "Launch",
    **_TIME,
    "width": 92,
    "tooltipField": "launch_method",
    "headerTooltip": "GPU time of a launch, median; rest on a cell to see how measured",
}
_NODE_TIME: dict[str, Any] = {
    "field": "node_time_ns",
    "headerName": "Node time",
    **_TIME,
    "width": 96,
    "headerTooltip": "Sum of node times in one launch, median over recorded launches",
}
#: Other numbers of a graph.
_FIGURES: tuple[dict[str, Any], ...] = (
    {
        "field": "nodes",
        "headerName": "Nodes",
        **_COUNT,
        "width": 70,
        "headerTooltip": "Of every level",
    },
    {"field": "launches", "headerName": "Launches", **_COUNT},
    {
        "field": "life_ns",
        "headerName": "Set up",
        **_TIME,
        "width": 84,
        "headerTooltip": "Host time of capture, instantiation and upload, as far as measured",
    },
)
#: Columns whose cells have a bar, as long as the value is of the column's greatest.
_WITH_BARS = ("launch_ns",)
#: At first the dearest graphs stand on top.
DEFAULT_SORT = "-launch_ns"


def render_runs_table(
    views: Sequence[RunView], sort: str | None, addresses: Addresses
) -> Component:
    """Return the table; ``sort`` is a column's name, with ``-`` from the greatest down."""
    rows = [row for view in views for row in _rows(view, addresses)]
    columns = _columns(rows)
    wanted = (sort or DEFAULT_SORT).removeprefix("-")
    if wanted not in {column["field"] for column in columns}:
        sort, wanted = DEFAULT_SORT, DEFAULT_SORT.removeprefix("-")
    for column in columns:
        down = (sort or DEFAULT_SORT).startswith("-")
        column["sort"] = ("desc" if down else "asc") if column["field"] == wanted else None
    grid = dag.AgGrid(
        id="runs-table",
        className="gv-grid gv-runs-grid",
        columnDefs=columns,
        rowData=rows,
        getRowId="params.data.id",
        defaultColDef={
            "sortable": True,
            "resizable": True,
            "filter": True,
            "minWidth": 60,
            "suppressHeaderMenuButton": True,
        },
        dashGridOptions={
            "theme": GRID_THEME,
            "animateRows": False,
            "tooltipShowDelay": 400,
            "localeText": {"noRowsToShow": "No recording holds a run."},
            "domLayout": "autoHeight" if len(rows) <= 30 else "normal",
        },
        style={"width": "100%"} if len(rows) <= 30 else {"width": "100%", "height": "70vh"},
    )
    return html.Section(grid, className="gv-pane gv-runs-pane", **aria(label="Graphs of all runs"))


def _columns(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the columns; what all rows have in common leaves its room to names."""
    several_files = len({row["file"] for row in rows}) > 1
    link = {"cellRenderer": "GvizLink", "minWidth": 140}
    columns: list[dict[str, Any]] = [
        {"field": "graph", "headerName": "Graph", **link, "flex": 4},
        _REPORT,
        {**_COMPARE, "hide": sum("graph_id" in row for row in rows) < 2},
        {"field": "run", "headerName": "Run", **link, "flex": 4},
        _LAUNCH,
        _NODE_TIME,
        {
            "field": "file",
            "headerName": "Recording",
            "cellRenderer": "GvizName",
            "minWidth": 120,
            "flex": 3,
            "tooltipField": "file_name",
            "hide": not several_files,
        },
        {
            "field": "gpu",
            "headerName": "GPU",
            "minWidth": 64,
            "flex": 2,
            "tooltipField": "gpu",
            "hide": len({row["gpu"] for row in rows}) == 1 and len(rows) > 1,
        },
        {
            "field": "state",
            "headerName": "State",
            "minWidth": 96,
            "flex": 1,
            "tooltipField": "state",
            "hide": all(row["state"] == "completed" for row in rows) and len(rows) > 1,
        },
        *_FIGURES,
        {
            "field": "started_ns",
            "headerName": "When",
            "width": 136,
            "valueFormatter": {"function": "params.data.when"},
            "filter": False,
        },
    ]
    columns = [dict(column) for column in columns]
    for column in columns:
        if column["field"] in _WITH_BARS:
            most = max((row.get(column["field"]) or 0.0 for row in rows), default=0.0)
            column["cellStyle"] = {"function": f"gvizBar(params.value, {most!r})"}
    return columns


def _rows(view: RunView, addresses: Addresses) -> list[dict[str, Any]]:
    run = view.run
    about = {
        "run": run.name,
        "run_href": addresses.run(view.file, run.run_id),
        "file": view.file,
        "file_name": view.name,
        "gpu": gpu_names(view.devices).replace("NVIDIA ", ""),
        "started_ns": run.started_ns,
        "when": moment(run.started_ns),
        # What went wrong first: the column may be too narrow for all of it.
        "state": ", ".join([*(trouble.words for trouble in troubles(view)), run.state]),
    }
    if not view.graphs:  # the run must not be missing
        return [{"id": f"{view.file}/run/{run.run_id}", "graph": "no graph", **about}]
    return [about | _row(view, line, addresses) for line in view.graphs]


def _row(view: RunView, line: GraphLine, addresses: Addresses) -> dict[str, Any]:
    steps = (line.capture_ns, line.instantiate_ns, line.upload_ns)
    known = [step for step in steps if step is not None]
    return {
        "id": f"{view.file}/{line.graph.graph_id}",
        "graph": line.title,
        "graph_href": addresses.graph(view.file, line.graph.graph_id),
        "report": "Report",
        "report_href": addresses.report(view.file, line.graph.graph_id),
        "key": view.file,
        "graph_id": line.graph.graph_id,
        "nodes": line.node_count,
        "launches": line.launch_count,
        "launch_ns": line.times.median_ns,
        "launch_method": line.times.method,
        "node_time_ns": line.node_time.median_ns,
        "life_ns": sum(known) if known else None,
    }
