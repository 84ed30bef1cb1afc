"""The table of all nodes of a graph: values sent once, sorted and filtered in the browser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.components import coded_column, dimensions
from gviz.app.views.graph_data import GraphView
from gviz.app.views.wire import by_lines
from gviz.cuda import node_type_name
from gviz.families import kernel_label
from gviz.model import TreeNodes, call_names, distinct
from gviz.recording import Texts, rows
from gviz.stats import distinct_values

#: Shows the label; a search finds the whole name too, and CSV files have it.
NAME_COLUMN: dict[str, Any] = {
    "field": "label",
    "colId": "name",
    "headerName": "Name",
    "minWidth": 210,
    "flex": 3,
}
_NUMBER = {"type": "numericColumn"}
#: Columns of texts, many of which are the same.
_TEXTS = ("name", "label", "kernel", "body", "kind", "grid", "block", "nvtx", "module")


def table_payload(view: GraphView) -> bytes:
    """Return the table's values as JSON, a list and a line a column: all nodes, nested ones too.

    Sent apart from the page, so that the canvases need not wait for thousands of rows. Columns of
    texts are :func:`gviz.app.components.coded.coded_column`'s.
    Times are in nanoseconds; null: no time. ``key`` is a node's number on the page; ``family``
    and ``stack`` are places in ``families`` and ``stacks``, ``slot`` is that of its family's
    colour.
    """
    tree, times = view.tree, view.tree.times
    families = view.families
    nodes = tree.nodes
    if not nodes:
        return b"{}"
    keys = tree.key.tolist()
    paths = [tree.path_of(at) or None for at in range(len(tree.levels))]
    names = nodes.listed("name")
    kernels: Mapping[object, str] = {i: f.name for i, f in view.functions.items()}
    labels = {name: kernel_label(name) for name in set(names)}
    functions = zip(nodes.listed("function_id"), names, strict=True)
    nvtx: Mapping[object, str] = dict(tree.nvtx.items())
    columns = {
        "key": keys,
        "node": nodes.listed("node_id"),
        "name": names,
        "label": [labels[name] for name in names],
        "kernel": [kernels.get(function, name) for function, name in functions],
        "body": [paths[at] for at in tree.level.tolist()],
        "kind": _kinds(nodes),
        "median_ns": _nulls(times.median_ns),
        "p95_ns": _nulls(times.p95_ns),
        # In a launch: all iterations of a loop; of a node that holds bodies all that is inside.
        "launch_ns": _nulls(view.nested.typical_ns),
        "parent": [keys[at] if at >= 0 else None for at in tree.parent.tolist()],
        "share": _nulls(times.share),
        "grid": _dimensions(nodes, "grid"),
        "block": _dimensions(nodes, "block"),
        "stream": nodes.listed("capture_stream_id"),
        "nvtx": [nvtx.get(path) for path in nodes.listed("nvtx_path_id")],
        "module": _listed(view.parts.module_paths()),
        "layer": view.parts.layer_names(),
        "family": families.code.tolist(),
        "families": list(families.labels),
        "slot": families.slots().tolist(),
    }
    columns |= {name: coded_column(columns[name]) for name in _TEXTS}
    columns |= _stacks(view)
    return by_lines(columns)


def _listed(column: Texts) -> list[str | None]:
    return [None if at < 0 else column.values[at] for at in column.codes.tolist()]


def _stacks(view: GraphView) -> dict[str, list[Any]]:
    """Return where nodes were made: places in a list of stacks, as a search looks in them.

    ``stacks`` have files, lines and functions, ``calls`` the functions alone. A node of autograd's
    without a stack has that of its forward operation, where that is known.
    """
    own = view.tree.nodes.listed("stack_id")
    forward = view.tree.operations.forward.tolist()
    stack_ids = [
        own[at] if stack_id is None and at >= 0 else stack_id
        for stack_id, at in zip(own, forward, strict=True)
    ]
    known = sorted({stack_id for stack_id in stack_ids if stack_id is not None})
    place = {stack_id: at for at, stack_id in enumerate(known)}
    stacks = [view.stack(stack_id) for stack_id in known]
    return {
        "stack": [None if stack_id is None else place[stack_id] for stack_id in stack_ids],
        "stacks": [" < ".join(map(_frame_words, stack)) for stack in stacks],
        "calls": [" < ".join(call_names(stack)) for stack in stacks],
    }


def _frame_words(frame: rows.Location) -> str:
    return f"{frame.file}:{frame.line} {frame.function}"


def table_columns(view: GraphView) -> list[dict[str, Any]]:
    """Return the columns of assets/web/table/table.js; ``field`` is the name in the payload."""
    nodes = view.tree.nodes
    kinds = [node_type_name(t) for t in distinct_values(nodes.integers("type")).tolist()]
    grids, blocks = ({d or "" for d in _shapes(nodes, name)[0]} for name in ("grid", "block"))
    levels = view.tree.levels
    columns: list[dict[str, Any]] = [
        {"field": "node", "headerName": "Id", **_NUMBER, "width": 66},
        {
            **NAME_COLUMN,
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
        *_time_columns(view.is_timed),
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
        {
            "field": "module",
            "headerName": "Module",
            "minWidth": 80,
            "flex": 1,
            "tooltipField": "module",
            "hide": view.parts.modules is None,
            "headerTooltip": "Modules of the model, the outermost first; of layers that only "
            "repeats tell, and of autograd's nodes, inferred",
        },
    ]
    return columns


def _time_columns(timed: bool) -> list[dict[str, Any]]:
    """Return the columns of times."""
    shown_us = {"function": "gvizMicroseconds(params.value)"}
    time = {**_NUMBER, "valueFormatter": shown_us, "width": 76}
    return [
        {
            "field": "median_ns",
            "headerName": "Median µs",
            **time,
            "width": 114,
            "hide": not timed,
            "headerTooltip": "Median duration over recorded launches",
            "sort": "desc" if timed else None,
        },
        {
            "field": "p95_ns",
            "headerName": "p95 µs",
            **time,
            "hide": not timed,
            "headerTooltip": "95th percentile over recorded launches",
        },
        {
            "field": "share",
            "headerName": "Share",
            **_NUMBER,
            "width": 86,
            "hide": not timed,
            "valueFormatter": {"function": "gvizPercent(params.value)"},
            "headerTooltip": "Node time over the launch's GPU time; derived. "
            "Overlapping nodes count in full, so shares may sum to over 100%",
        },
    ]


def _text_width(texts: Iterable[str], least: int) -> int:
    """Return a column width (px) that shows the longest text in full, up to 140."""
    # Capitals of 13 px take 9 px each; digits take less.
    letters = max((sum(9 if c.isupper() else 7 for c in text) for text in texts), default=0)
    return min(140, max(least, 26 + letters))


def _nulls(values: npt.NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


def _kinds(nodes: TreeNodes) -> list[str]:
    types, which = np.unique(nodes.integers("type"), return_inverse=True)
    names = [node_type_name(t) for t in types.tolist()]
    return [names[at] for at in which.reshape(-1).tolist()]


def _dimensions(nodes: TreeNodes, name: str) -> list[str | None]:
    """Return grid or block of each node as text; None: it has none."""
    texts, which = _shapes(nodes, name)
    return [texts[at] for at in which.tolist()]


def _shapes(nodes: TreeNodes, name: str) -> tuple[list[str | None], npt.NDArray[np.int64]]:
    """Return the different grids or blocks, and which of them each node has."""
    axes = [nodes.integers(f"{name}_{axis}", 0) for axis in "xyz"]
    first, which = distinct(axes)
    shapes = zip(*(axis[first].tolist() for axis in axes), strict=True)
    return [dimensions(x, y, z) if x else None for x, y, z in shapes], which
