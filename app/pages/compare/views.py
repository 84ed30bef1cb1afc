"""The two canvases of the Compare page."""

from __future__ import annotations

import json
from typing import Any

from dash import html
from dash.development.base_component import Component

from gviz.app.components import Addresses, Dag, Query, Sides, Timeline, pane, select
from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.compare.page_levels import SIDES, PageLevel

#: Views of one page share selection and hover; GROUP in assets/web/dash/compare.js.
_GROUP = "compare-page"
_COLOURS = ({"value": "change", "label": "change"}, {"value": "ratio", "label": "relative change"},
            {"value": "kind", "label": "kind"})  # fmt: skip
_LAYOUTS = ({"value": "structure", "label": "structure"}, {"value": "lanes", "label": "lanes"})


def _look(query: Query) -> dict[str, Any]:
    return {
        "selected": list(query.node_ids),
        "colour": query.colour or "change",
        # The browser knows whether the page is dark; assets/web/dash/compare.js sets it at once.
        "theme": "light",
        "group": _GROUP,
        "style": {"height": "100%", "width": "100%"},
    }


def timeline_pane(query: Query, versioned: Sides, addresses: Addresses) -> Component:
    """Return the pane of both launches."""
    source = addresses.compared("timeline", versioned)
    return pane("Launches", Timeline(id="compare-timeline", source=source, **_look(query)), None)


def dag_pane(found: Comparison, versioned: Sides, query: Query, addresses: Addresses) -> Component:
    """Return the pane of the union of both graphs."""
    colours = [c["value"] for c in _COLOURS]
    colour = query.colour if query.colour in colours else "change"
    layout = query.layout if query.layout in ("structure", "lanes") else "structure"
    level = query.level if query.level < len(found.page) else 0
    opened = list(query.unfolded)
    source = addresses.compared("dag", versioned, layout=layout, level=level, open=",".join(opened))
    tools = [
        select("compare-layout", "Layout", _LAYOUTS, layout, width=110),
        select("compare-colour", "Colour", _COLOURS, colour, width=140),
    ]
    offered = None
    if len(found.page) > 1:
        tools.insert(0, select("compare-level", "Level", _levels(found), str(level), width=126))
        ways = {"data-ways": body_ways(found)}
        offered = html.Div(id="compare-bodies", className="gv-compare-bodies", **ways)
    look = _look(query) | {"colour": colour}
    canvas = Dag(id="compare-dag", source=source, open=opened, **look)
    body = html.Div([canvas, offered], className="gv-compare-dag")
    return pane("Both graphs", body, None, *tools)


def body_ways(found: Comparison) -> str:
    """Return the ways from nodes to the bodies in them, and back, as JSON.

    ``inside`` has by parent node its levels, as [level, what it is to the node]; ``around`` by
    level [the level around it, its parent node]; ``nodes`` by level runs of
    its nodes' numbers, each as first and last.
    """
    page = found.page
    level_of = [{level.places[side]: at for at, level in enumerate(page.levels)} for side in (0, 1)]
    around: dict[int, tuple[int, int]] = {}
    for at, level in enumerate(page.levels):
        if level.parent is not None:
            tree = found.trees[level.side]
            outer = int(tree.level[tree.levels[level.place].parent])
            around[at] = level_of[level.side][outer], level.parent
    inside = {
        parent: [(at, _label(found, page.levels[at])) for at in levels]
        for parent, levels in page.bodies.items()
    }
    last = int(found.keys.after.max(initial=-1))
    nodes = {
        at: runs for at, level in enumerate(page.levels) if (runs := _runs(found, level, last))
    }
    return json.dumps({"inside": inside, "around": around, "nodes": nodes})


def _label(found: Comparison, level: PageLevel) -> str:
    return found.trees[level.side].levels[level.place].label


def _runs(found: Comparison, level: PageLevel, last: int) -> list[list[int]]:
    """Return the first and last number of a level's nodes: those after, then those gone.

    ``last`` is the last number of all nodes after.
    """
    runs: list[list[int]] = []
    for side in (1, 0):
        place = level.places[side]
        if place is None:
            continue
        own = found.trees[side].levels[place]
        numbers = found.keys.of_side(side)[own.first : own.end]
        if not side:
            # Numbers of nodes that are gone follow each other, level by level.
            numbers = numbers[numbers > last]
        if len(numbers):
            runs.append([int(numbers[0]), int(numbers[-1])])
    return runs


def _levels(found: Comparison) -> list[dict[str, str]]:
    """Return the graph and the bodies in it."""
    return [
        {"value": str(at), "label": _path(found, level)}
        for at, level in enumerate(found.page.levels)
    ]


def _path(found: Comparison, level: PageLevel) -> str:
    path = found.trees[level.side].path_of(level.place) or "the graph itself"
    return f"{path} (only in {SIDES[level.side]})" if level.alone else path
