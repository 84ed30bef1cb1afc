"""The tables of the Compare page: their columns, and the pane with the choice among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from dash.development.base_component import Component

from gviz.app.components import select
from gviz.app.pages.compare.comparison import Comparison
from gviz.app.views import NAME_COLUMN, table_pane
from gviz.stats import FALSE_DISCOVERIES
from gviz.text import integer

#: The table that is shown where the address names none.
_FIRST = "names"
#: Tables whose rows are about several nodes each.
_OF_SEVERAL = ("names", "ranges")
_NUMBER = {"type": "numericColumn"}
_MICROSECONDS = {**_NUMBER, "valueFormatter": {"function": "gvizMicroseconds(params.value)"}}
_SIGNED = {**_NUMBER, "valueFormatter": {"function": "gvizSignedMicroseconds(params.value)"}}
_NAME = {**NAME_COLUMN, "minWidth": 150, "tooltipField": "name"}
_BODY = {
    "field": "body",
    "headerName": "Body",
    "width": 96,
    "tooltipField": "body",
    "headerTooltip": "The body it is in; empty: the graph itself",
}
_NODES = (
    {"field": "node_a", "headerName": "A", **_NUMBER, "width": 62, "headerTooltip": "Node before"},
    {"field": "node_b", "headerName": "B", **_NUMBER, "width": 62, "headerTooltip": "Node after"},
)
_CHANGE = {"field": "change_ns", "headerName": "Change µs", **_SIGNED, "width": 110,
           "by": "size_ns", "sort": "desc",
           "headerTooltip": "B less A, derived; of what one side only has its whole time. "
           "Sorted by size"}  # fmt: skip
_TIMES = (
    _CHANGE,
    {"field": "change", "headerName": "Change", **_NUMBER, "width": 78,
     "valueFormatter": {"function": "gvizSignedPercent(params.value)"},
     "headerTooltip": "Change over A; derived"},
    {"field": "verdict", "headerName": "Verdict", "width": 100,
     "headerTooltip": "Slower and faster: by more than noise, tested by rank over launches; of "
     "these about 5% at most are not"},
    {"field": "a_ns", "headerName": "A µs", **_MICROSECONDS, "width": 72,
     "headerTooltip": "Median over launches before; of groups of their sum"},
    {"field": "b_ns", "headerName": "B µs", **_MICROSECONDS, "width": 72,
     "headerTooltip": "Median over launches after"},
)  # fmt: skip
_INTERVAL = (
    {"field": "low_ns", "headerName": "from µs", **_SIGNED, "width": 88,
     "headerTooltip": "Lower end of the 95% interval of the change"},
    {"field": "high_ns", "headerName": "to µs", **_SIGNED, "width": 88,
     "headerTooltip": "Upper end of the 95% interval of the change"},
)  # fmt: skip
_DIFFERENCE = (
    {"field": "what", "headerName": "What", "width": 150},
    {"field": "a", "headerName": "A", "minWidth": 90, "flex": 2, "tooltipField": "a"},
    {"field": "b", "headerName": "B", "minWidth": 90, "flex": 2, "tooltipField": "b"},
)
_EDGE = (
    {"field": "what", "headerName": "Edge", "width": 120},
    {"field": "from_node", "headerName": "From", **_NUMBER, "width": 70},
    {"field": "from", "headerName": "Name", "minWidth": 140, "flex": 2, "tooltipField": "from"},
    {"field": "to_node", "headerName": "To", **_NUMBER, "width": 70},
    {"field": "to", "headerName": "Name", "minWidth": 140, "flex": 2, "tooltipField": "to"},
)
_COUNTS = (
    {"field": "nodes_a", "headerName": "Nodes A", **_NUMBER, "width": 76},
    {"field": "nodes_b", "headerName": "Nodes B", **_NUMBER, "width": 76},
)


def _columns(found: Comparison) -> dict[str, list[Mapping[str, Any]]]:
    """Return the columns of each table as assets/web/table/table.js has them."""
    body = {**_BODY, "hide": all(len(tree.levels) == 1 for tree in found.trees)}
    timed = is_timed(found)
    times = [column for column in _TIMES if timed or column["field"] == "verdict"]
    interval = _INTERVAL if timed else ()
    became = {
        "field": "what",
        "headerName": "What",
        "width": 122,
        "headerTooltip": "Added, removed, changed, given other addresses only, or the same",
    }
    difference = {
        "field": "difference", "headerName": "What differs", "minWidth": 140, "flex": 3,
        "tooltipField": "difference",
        "headerTooltip": "Kernel, launch shape, arguments, sizes, lane",
    }  # fmt: skip
    kind = {"field": "kind", "headerName": "Kind", "width": 92}
    groups: list[Mapping[str, Any]] = [_NAME, body, *times, *_COUNTS, *interval]
    return {
        "nodes": [*_NODES, _NAME, became, *times, *interval, difference, kind, body],
        "changed": [*_NODES, _NAME, *_DIFFERENCE],
        "moved": [*_NODES, _NAME],
        "edges": [*_EDGE],
        "names": groups,
        "ranges": groups,
        "addresses": [
            *_NODES,
            _NAME,
            *_DIFFERENCE,
            {"field": "is", "headerName": "Kind of change", "width": 180},
        ],
    }


def is_timed(found: Comparison) -> bool:
    """Return whether nodes of both sides have times."""
    changes = [level.nodes.changes for level in found.pair.levels]
    return any(x.launches_before and x.launches_after for x in changes)


def has_changes(found: Comparison) -> bool:
    """Return whether a node of both sides has a time on each."""
    return any(not np.isnan(x.nodes.changes.change_ns).all() for x in found.pair.levels)


def first_colour(found: Comparison) -> str:
    """Return what nodes are coloured by at first: as on a graph's page where none changed."""
    changes = (level.nodes.changes for level in found.pair.levels)
    is_changed = any(((x.rate <= FALSE_DISCOVERIES) & (x.change_ns != 0)).any() for x in changes)
    return "change" if is_changed else "family"


def _labels(found: Comparison) -> dict[str, str]:
    levels = found.graph.levels

    def count(*fields: str) -> str:
        return integer(sum(len(getattr(level, f)) for level in levels for f in fields))

    return {
        _FIRST: f"By kernel name ({count('replaced', 'names')})",
        "nodes": "All nodes",
        "changed": f"Changed ({count('changed')} nodes)",
        "moved": f"Moved to another lane ({count('moved')})",
        "edges": f"Edges ({count('edges_added')} added, {count('edges_removed')} removed)",
        "ranges": f"By NVTX range ({count('ranges')})",
        "addresses": f"Only addresses ({count('only_addresses')} nodes)",
    }


def tables_of(found: Comparison) -> dict[str, dict[str, Any]]:
    """Return the tables as assets/web/page/store.js has them, the first the one to begin with."""
    columns, labels = _columns(found), _labels(found)
    return {
        name: {"columns": columns[name], "label": label, "opens": name in _OF_SEVERAL}
        for name, label in labels.items()
    }


def changes_pane(found: Comparison) -> Component:
    """Return the pane of the tables; assets/web/page/page.js fills it."""
    options = [{"value": name, "label": label} for name, label in _labels(found).items()]
    choice = select("table-view", "Rows", options, _FIRST, width=210, named=False)
    return table_pane("Changes", choice, "rows")
