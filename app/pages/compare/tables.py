"""The tables of the Compare page: one grid, whose rows a choice names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.components import Addresses, Sides, pane, select
from gviz.app.pages.compare.comparison import Comparison
from gviz.app.views import NAME_COLUMN, csv_button, filter_clear, node_grid
from gviz.text import integer

#: The table that is shown where the address names none.
FIRST = "nodes"
_NUMBER = {"type": "numericColumn", "filter": "agNumberColumnFilter"}
_MICROSECONDS = {**_NUMBER, "valueFormatter": {"function": "gvizMicroseconds(params.value)"}}
_SIGNED = {**_NUMBER, "valueFormatter": {"function": "gvizSignedMicroseconds(params.value)"}}
_NAME = {**NAME_COLUMN, "minWidth": 160, "tooltipField": "name"}
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
_CHANGE = {"field": "change_ns", "headerName": "Change µs", **_SIGNED, "width": 104,
           "headerTooltip": "B less A; derived"}  # fmt: skip
_TIMES = (
    {"field": "a_ns", "headerName": "A µs", **_MICROSECONDS, "width": 84,
     "headerTooltip": "Median over launches before; of groups of their sum"},
    {"field": "b_ns", "headerName": "B µs", **_MICROSECONDS, "width": 84,
     "headerTooltip": "Median over launches after"},
    _CHANGE,
    {"field": "verdict", "headerName": "Verdict", "width": 104,
     "headerTooltip": "Slower and faster: by more than noise, tested by rank over launches; of "
     "these about 5% at most are not"},
    {"field": "change", "headerName": "Change", **_NUMBER, "width": 86,
     "valueFormatter": {"function": "gvizSignedPercent(params.value)"},
     "headerTooltip": "Change over A; derived"},
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
    {"field": "nodes_a", "headerName": "Nodes A", **_NUMBER, "width": 86},
    {"field": "nodes_b", "headerName": "Nodes B", **_NUMBER, "width": 86},
)


def _columns(found: Comparison) -> dict[str, list[Mapping[str, Any]]]:
    """Return the columns of each table as AG Grid describes them."""
    body = {**_BODY, "hide": all(len(tree.levels) == 1 for tree in found.trees)}
    timed = any(level.nodes.changes.launches_before and level.nodes.changes.launches_after
                for level in found.pair.levels)  # fmt: skip
    times = [{**column, "hide": not timed and column["field"] != "verdict"} for column in _TIMES]
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
    groups: list[Mapping[str, Any]] = [_NAME, body, *_COUNTS, *times]
    return {
        "nodes": [*_NODES, _NAME, became, *times, difference, kind, body],
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


def _choices(found: Comparison) -> list[dict[str, str]]:
    levels = found.graph.levels

    def count(*fields: str) -> str:
        return integer(sum(len(getattr(level, f)) for level in levels for f in fields))

    return [
        {"value": "nodes", "label": "All nodes"},
        {"value": "changed", "label": f"Changed ({count('changed')} nodes)"},
        {"value": "moved", "label": f"Moved to another lane ({count('moved')})"},
        {
            "value": "edges",
            "label": f"Edges ({count('edges_added')} added, {count('edges_removed')} removed)",
        },
        {"value": "names", "label": f"By kernel name ({count('replaced', 'names')})"},
        {"value": "ranges", "label": f"By NVTX range ({count('ranges')})"},
        {"value": "addresses", "label": f"Only addresses ({count('only_addresses')} nodes)"},
    ]


def table_pane(
    found: Comparison, versioned: Sides, rows: str | None, addresses: Addresses
) -> Component:
    """Return the pane of the tables; assets/web/dash/compare.js fills it."""
    columns = _columns(found)
    shown = rows if rows in columns else FIRST
    about = {
        "source": addresses.compared("table", versioned),
        "columns": columns,
    }
    grid = node_grid(
        "compare-table",
        columns[shown],
        {"noRowsToShow": "None.", "noMatchingRows": "No row matches."},
        least_width=50,
    )
    names = (versioned_key.split("@")[0] for versioned_key in (versioned.before, versioned.after))
    save = csv_button("compare-csv", name="-".join(names))
    clear = filter_clear("compare-filter-clear")
    body = html.Div([dcc.Store(id="compare-tables", data=about), grid], className="gv-grid")
    choice = select("compare-rows", "Rows", _choices(found), shown, width=210)
    return pane("Changes", body, None, choice, save, clear)
