"""The table of all nodes of a graph: values sent once, sorted and filtered in the browser."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import dash_ag_grid as dag
import numpy as np
import numpy.typing as npt
from dash.development.base_component import Component

from gviz.app.baseline_overlay import VERDICT_WORDS, node_times, node_verdicts, node_words
from gviz.app.graph_tree import TreeNode
from gviz.app.graph_view import GraphView
from gviz.app.quantity import dimensions
from gviz.app.theme import GRID_THEME
from gviz.app.tree_comparison import TreeComparison
from gviz.node_type import node_type_name

_NUMBER = {"type": "numericColumn", "filter": "agNumberColumnFilter"}


def table_payload(view: GraphView, against: TreeComparison | None = None) -> bytes:
    """Return the table's values as JSON, a list a column: all nodes, nested ones too.

    Sent apart from the page, so that the canvases need not wait for thousands of rows.
    Times are in nanoseconds; null: no time. ``key`` is a node's number on the page. With a
    baseline those of :func:`_changes`.
    """
    tree, times = view.tree, view.tree.times
    nodes = tree.nodes
    if not nodes:
        return b"{}"
    keys = tree.key.tolist()
    paths = [tree.path_of(at) or None for at in range(len(tree.levels))]
    kernels = {i: f.name for i, f in view.functions.items()}
    columns = {
        "id": [str(key) for key in keys],
        "key": keys,
        "node": [n.node_id for n in nodes],
        "name": [n.name for n in nodes],
        "kernel": [kernels.get(n.function_id or 0, n.name) for n in nodes],
        "body": [paths[at] for at in tree.level.tolist()],
        "kind": [node_type_name(n.type) for n in nodes],
        "median_ns": _nulls(times.median_ns),
        "p95_ns": _nulls(times.p95_ns),
        # In a launch: all turns of a loop; of a node that holds bodies all that is inside.
        "launch_ns": _nulls(times.typical_ns),
        "holder": [keys[at] if at >= 0 else None for at in tree.holder.tolist()],
        "share": _nulls(times.share),
        "grid": [_grid(n) for n in nodes],
        "block": [_block(n) for n in nodes],
        "stream": [n.capture_stream_id for n in nodes],
        "nvtx": [tree.nvtx.get(n.nvtx_path_id or 0) for n in nodes],
    }
    if against is not None:
        columns |= _changes(against)
    return json.dumps(columns, separators=(",", ":")).encode()


def _changes(against: TreeComparison) -> dict[str, list[Any]]:
    """Return the columns that a baseline adds, over all levels of the tree.

    baseline_ns, change_ns and change (a fraction of the baseline); verdict, and difference: what
    else changed, as text.
    """
    count = len(against.tree.nodes)
    before, change = np.full(count, np.nan), np.full(count, np.nan)
    verdicts = [VERDICT_WORDS["uncompared"]] * count
    words = [""] * count
    for at, level in enumerate(against.tree.levels):
        found = against.level(at)
        if found is not None:
            part = slice(level.first, level.end)
            before[part], change[part] = node_times(found)
            verdicts[part] = [VERDICT_WORDS[verdict] for verdict in node_verdicts(found)]
            words[part] = node_words(found)
    fraction = np.divide(change, before, out=np.full(count, np.nan), where=before > 0)
    return {
        "baseline_ns": _nulls(before),
        "change_ns": _nulls(change),
        "change": _nulls(fraction),
        "verdict": verdicts,
        "difference": words,
    }


def render_table(view: GraphView, baseline: str | None = None) -> Component:
    """Return the grid of a graph's nodes, with columns against a baseline of this name."""
    grid: Component = dag.AgGrid(
        id="nodes",
        className="gv-grid",
        columnDefs=table_columns(view, baseline),
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


def table_columns(view: GraphView, baseline: str | None = None) -> list[dict[str, Any]]:
    """Return the columns as AG Grid describes them; ``field`` is the name in the payload."""
    nodes = view.tree.nodes
    kinds = {node_type_name(n.type) for n in nodes}
    grids = {_grid(n) or "" for n in nodes}
    blocks = {_block(n) or "" for n in nodes}
    levels = view.tree.levels
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
        {
            "field": "body",
            "headerName": "Body",
            "minWidth": 90,
            "flex": 1,
            "tooltipField": "body",
            "hide": len(levels) == 1,
            "headerTooltip": "The body it is in; empty: the graph itself",
        },
        *_time_columns(view.is_timed, baseline),
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


def _time_columns(timed: bool, baseline: str | None) -> list[dict[str, Any]]:
    """Return the columns of times; a baseline stands beside the median, and change sorts then."""
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
            "sort": "desc" if timed and baseline is None else None,
        },
        *([] if baseline is None else _baseline_columns(timed, baseline)),
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


def _baseline_columns(timed: bool, baseline: str) -> list[dict[str, Any]]:
    number = {**_NUMBER, "hide": not timed}
    return [
        {
            "field": "baseline_ns",
            "headerName": "Baseline µs",
            **number,
            "valueFormatter": {"function": "gvizMicroseconds(params.value)"},
            "width": 100,
            "headerTooltip": f"Median duration of the counterpart in {baseline}; of nodes that "
            "hold bodies the mean of a launch inside",
        },
        {
            "field": "change_ns",
            "headerName": "Change µs",
            **number,
            "valueFormatter": {"function": "gvizSignedMicroseconds(params.value)"},
            "width": 118,
            "headerTooltip": "Here less there; derived",
            "sort": "desc" if timed else None,
        },
        {
            "field": "change",
            "headerName": "Change",
            **number,
            "valueFormatter": {"function": "gvizSignedPercent(params.value)"},
            "width": 90,
            "headerTooltip": "Change over the baseline; derived",
        },
        {
            "field": "verdict",
            "headerName": "Verdict",
            "width": 110,
            "headerTooltip": "Slower and faster: by more than noise, tested by rank over "
            "launches; of these about 5 % at most are not",
        },
        {
            "field": "difference",
            "headerName": "Changed",
            "minWidth": 110,
            "flex": 2,
            "tooltipField": "difference",
            "headerTooltip": "What else changed: launch shape, arguments, kernel, lane",
        },
    ]


def _text_width(texts: Iterable[str], least: int) -> int:
    """Return a column width (px) that shows the longest text in full, up to 140."""
    # Capitals of 13 px take 9 px each; digits take less.
    letters = max((sum(9 if c.isupper() else 7 for c in text) for text in texts), default=0)
    return min(140, max(least, 26 + letters))


def _nulls(values: npt.NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


def _grid(node: TreeNode) -> str | None:
    return dimensions(node.grid_x, node.grid_y, node.grid_z) if node.grid_x else None


def _block(node: TreeNode) -> str | None:
    return dimensions(node.block_x, node.block_y, node.block_z) if node.block_x else None
