"""The table of nodes by kernel name: what nodes of one name take together.

The rows are made in the browser (assets/web/table/kernels.js) of those rows of the table of nodes
that its search and the brush leave.
"""

from __future__ import annotations

from typing import Any

from gviz.app.views.table.table import NAME_COLUMN

_NUMBER = {"type": "numericColumn"}
_TIME = {**_NUMBER, "width": 96, "valueFormatter": {"function": "gvizMicroseconds(params.value)"}}

#: As assets/web/table/table.js has columns.
KERNEL_COLUMNS: list[dict[str, Any]] = [
    {
        **NAME_COLUMN,
        "tooltipField": "kernel",
    },
    {
        "field": "count",
        "headerName": "Nodes",
        **_NUMBER,
        "width": 96,
        "headerTooltip": "Nodes of this name; before it how many of them are selected",
    },
    {
        "field": "total_ns",
        "headerName": "Sum µs",
        **_TIME,
        "width": 104,
        "sort": "desc",
        "headerTooltip": "Sum of the nodes' medians, in loops of what a launch takes on "
        "average; derived. Overlapping nodes count in full",
    },
    {
        "field": "share",
        "headerName": "Share",
        **_NUMBER,
        "width": 86,
        "valueFormatter": {"function": "gvizPercent(params.value)"},
        "headerTooltip": "Node time over the launch's GPU time, summed over the nodes; derived",
    },
    {
        "field": "median_ns",
        "headerName": "Median µs",
        **_TIME,
        "width": 112,
        "headerTooltip": "Median of the nodes' medians; derived",
    },
    {"field": "min_ns", "headerName": "Min µs", **_TIME, "headerTooltip": "Least of the medians"},
    {"field": "max_ns", "headerName": "Max µs", **_TIME, "headerTooltip": "Greatest of them"},
    {
        "field": "open",
        "headerName": "Show",
        "headerTooltip": "The nodes one by one, and only they; also Enter or a double click",
        "width": 78,
    },
]
