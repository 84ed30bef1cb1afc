"""The table by kernel family: what the nodes of a family take together, and the nodes inside.

The rows are made in the browser (assets/web/table/families.js) of those rows of the table of nodes
that its search and the brush leave.
"""

from __future__ import annotations

from typing import Any

from gviz.app.views.graph_data import GraphView
from gviz.app.views.table.table import NAME_COLUMN

_NUMBER = {"type": "numericColumn"}


def family_columns(view: GraphView) -> list[dict[str, Any]]:
    """Return the columns as assets/web/table/table.js has them; a node's row has the same."""
    return [
        {**NAME_COLUMN, "headerName": "Kernel family", "minWidth": 180, "tooltipField": "kernel"},
        {
            "field": "count",
            "headerName": "Nodes",
            **_NUMBER,
            "width": _count_width(len(view.tree)),
            "sort": None if view.is_timed else "desc",
            "headerTooltip": "Nodes of the family; before it how many of them are selected",
        },
        {
            "field": "total_ns",
            "headerName": "Sum µs",
            **_NUMBER,
            "width": 96,
            "sort": "desc" if view.is_timed else None,
            "hide": not view.is_timed,
            "valueFormatter": {"function": "gvizMicroseconds(params.value)"},
            "headerTooltip": "Sum of the nodes' medians, in loops of what a launch takes on "
            "average; derived. Overlapping nodes count in full. The breakdown above has the times "
            "of the median launch",
        },
        {
            "field": "share",
            "headerName": "Share",
            **_NUMBER,
            "width": 132,
            "bar": True,
            "hide": not view.is_timed,
            "valueFormatter": {"function": "gvizPercent(params.value)"},
            "headerTooltip": "Node time over the launch's GPU time, summed over the nodes; derived",
        },
        {
            "field": "each",
            "by": "max_ns",
            "saved": ["min_ns", "max_ns"],
            "headerName": "Each µs",
            **_NUMBER,
            "width": 112,
            "hide": not view.is_timed,
            "headerTooltip": "Least and greatest of the nodes' medians; of a node its median",
        },
        {
            "field": "ranges",
            "headerName": "NVTX",
            "minWidth": 78,
            "flex": 1,
            "tooltipField": "ranges",
            "hide": not view.nvtx,
            "headerTooltip": "The outermost ranges of the nodes; of a node all around it",
        },
    ]


def _count_width(nodes: int) -> int:
    """Return the width in which no count of nodes is cut, with how many of them are selected."""
    return max(92, 24 + 8 * len(f"{nodes:,} of {nodes:,}"))
