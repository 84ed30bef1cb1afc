"""The table of all nodes of a graph: values sent once, sorted and filtered in the browser."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import dash_ag_grid as dag
from dash.development.base_component import Component

from gviz.app.graph_view import GraphView
from gviz.app.quantity import dimensions
from gviz.app.theme import GRID_THEME
from gviz.node_type import node_type_name
from gviz.recording import rows

_NUMBER = {"type": "numericColumn", "filter": "agNumberColumnFilter"}


def table_payload(view: GraphView) -> bytes:
    """Return the table's values as JSON, a list a column, in order of node id.

    Sent apart from the page, so that the canvases need not wait for thousands of rows.
    Times are in nanoseconds; null: no time.
    """
    lines = [_row(view, node) for node in view.nodes.values()]
    columns = {name: [line[name] for line in lines] for name in lines[0]} if lines else {}
    return json.dumps(columns, separators=(",", ":")).encode()


def render_table(view: GraphView) -> Component:
    """Return the grid of a graph's nodes."""
    grid: Component = dag.AgGrid(
        id="nodes",
        className="gv-grid",
        columnDefs=_columns(view),
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
            "rowSelection": {
                "mode": "multiRow",
                "checkboxes": False,
                "headerCheckbox": False,
                "enableClickSelection": True,
            },
            "animateRows": False,
            "tooltipShowDelay": 400,
            "suppressCellFocus": False,
            "localeText": {
                "noRowsToShow": "This graph has no nodes.",
                "noMatchingRows": "No node matches.",
            },
        },
        style={"height": "100%", "width": "100%"},
    )
    return grid


def _columns(view: GraphView) -> list[dict[str, Any]]:
    timed = bool(view.statistics)
    kinds = {node_type_name(n.type) for n in view.nodes.values()}
    grids = {_grid(n) or "" for n in view.nodes.values()}
    blocks = {_block(n) or "" for n in view.nodes.values()}
    columns: list[dict[str, Any]] = [
        {"field": "node", "headerName": "Id", **_NUMBER, "width": 66},
        {
            "field": "name",
            "headerName": "Name",
            "minWidth": 150,
            "flex": 3,
            "tooltipField": "kernel",
        },
        {"field": "kind", "headerName": "Kind", "width": _text_width(kinds, 82)},
        *_time_columns(timed),
        {"field": "grid", "headerName": "Grid", "width": _text_width(grids, 62)},
        {"field": "block", "headerName": "Block", "width": _text_width(blocks, 62)},
        {
            "field": "stream",
            "headerName": "Stream",
            **_NUMBER,
            "width": 72,
            "headerTooltip": "Stream it was captured on (CUPTI id); replay may use another",
        },
        {
            "field": "nvtx",
            "headerName": "NVTX",
            "minWidth": 80,
            "flex": 1,
            "tooltipField": "nvtx",
            "hide": not view.nvtx,
        },
    ]
    return columns


def _time_columns(timed: bool) -> list[dict[str, Any]]:
    shown_us = {"function": "gvizMicroseconds(params.value)"}
    time = {**_NUMBER, "valueFormatter": shown_us, "width": 76}
    return [
        {
            "field": "median_ns",
            "headerName": "Median µs",
            **time,
            "width": 114,
            "hide": not timed,
            "headerTooltip": "Median duration over recorded launches; measured by CUPTI",
            "sort": "desc" if timed else None,
        },
        {
            "field": "p95_ns",
            "headerName": "p95 µs",
            **time,
            "hide": not timed,
            "headerTooltip": "95th percentile over recorded launches; measured by CUPTI",
        },
        {
            "field": "share",
            "headerName": "Share",
            **_NUMBER,
            "width": 86,
            "hide": not timed,
            "valueFormatter": {"function": "gvizPercent(params.value)"},
            "headerTooltip": "Node time over the launch's GPU time; derived. "
            "Overlapping nodes count in full, so shares may sum to over 100 %",
        },
    ]


def _text_width(texts: Iterable[str], least: int) -> int:
    """Return a column width (px) that shows the longest text in full, up to 140."""
    # Capitals of 13 px take 9 px each; digits take less.
    letters = max((sum(9 if c.isupper() else 7 for c in text) for text in texts), default=0)
    return min(140, max(least, 26 + letters))


def _grid(node: rows.Node) -> str | None:
    return dimensions(node.grid_x, node.grid_y, node.grid_z) if node.grid_x else None


def _block(node: rows.Node) -> str | None:
    return dimensions(node.block_x, node.block_y, node.block_z) if node.block_x else None


def _row(view: GraphView, node: rows.Node) -> dict[str, Any]:
    found = view.statistics.get(node.node_id)
    function = view.functions.get(node.function_id) if node.function_id is not None else None
    return {
        "id": str(node.node_id),
        "node": node.node_id,
        "name": node.name,
        "kernel": function.name if function else node.name,
        "kind": node_type_name(node.type),
        "median_ns": found.median_ns if found else None,
        "p95_ns": found.p95_ns if found else None,
        "share": view.share_of_launch(node.node_id),
        "grid": _grid(node),
        "block": _block(node),
        "stream": node.capture_stream_id,
        "nvtx": view.nvtx.get(node.nvtx_path_id) if node.nvtx_path_id is not None else None,
    }
