"""The two canvases of the Compare page."""

from __future__ import annotations

import json
from typing import Any

from dash import html
from dash.development.base_component import Component

from gviz.app.address import Addresses, Query, Sides
from gviz.app.choices import select
from gviz.app.compare.comparison import Comparison
from gviz.app.components import Dag, Timeline
from gviz.app.panes import pane

#: Views of one page share selection and hover; GROUP in assets/web/page_compare.js.
_GROUP = "compare-page"
_COLOURS = ({"value": "change", "label": "change"}, {"value": "ratio", "label": "relative change"},
            {"value": "kind", "label": "kind"})  # fmt: skip
_LAYOUTS = ({"value": "structure", "label": "structure"}, {"value": "lanes", "label": "lanes"})


def _look(query: Query) -> dict[str, Any]:
    return {
        "selected": list(query.node_ids),
        "colour": query.colour or "change",
        # The browser knows whether the page is dark; page_compare.js says it at once.
        "theme": "light",
        "group": _GROUP,
        "style": {"height": "100%", "width": "100%"},
    }


def timeline_pane(query: Query, editions: Sides, addresses: Addresses) -> Component:
    """Return the pane of both launches."""
    source = addresses.compared("timeline", editions)
    return pane("Launches", Timeline(id="compare-timeline", source=source, **_look(query)), None)


def dag_pane(found: Comparison, editions: Sides, query: Query, addresses: Addresses) -> Component:
    """Return the pane of the union of both graphs."""
    colours = [c["value"] for c in _COLOURS]
    colour = query.colour if query.colour in colours else "change"
    layout = query.layout if query.layout in ("structure", "lanes") else "structure"
    level = query.level if query.level < len(found.pair.levels) else 0
    opened = list(query.unfolded)
    source = addresses.compared("dag", editions, layout=layout, level=level, open=",".join(opened))
    tools = [
        select("compare-layout", "Layout", _LAYOUTS, layout, width=110),
        select("compare-colour", "Colour", _COLOURS, colour, width=140),
    ]
    offered = None
    if len(found.pair.levels) > 1:
        tools.insert(0, select("compare-level", "Level", _levels(found), str(level), width=126))
        ways = {"data-ways": body_ways(found)}
        offered = html.Div(id="compare-bodies", className="gv-compare-bodies", **ways)
    look = _look(query) | {"colour": colour}
    canvas = Dag(id="compare-dag", source=source, open=opened, **look)
    body = html.Div([canvas, offered], className="gv-compare-dag")
    return pane("Both graphs", body, None, *tools)


def body_ways(found: Comparison) -> str:
    """Return the ways from nodes to the compared bodies in them, and back, as JSON.

    ``inside`` has by node the levels that it holds, as [level, what it is to the node];
    ``around`` by level [the level around it, the node that holds it]; ``nodes`` by level the
    first and last number of its nodes, those aside that are gone.
    """
    tree = found.trees[1]
    places = {level.graph_ids[1]: at for at, level in enumerate(found.pair.levels)}
    level_of = [places.get(x.graph.graph_id) for x in tree.levels]
    inside: dict[int, list[tuple[int, str]]] = {}
    around: dict[int, tuple[int, int]] = {}
    for at, level in zip(level_of, tree.levels, strict=True):
        if at is None or level.holder < 0:
            continue
        outer, key = level_of[int(tree.level[level.holder])], int(found.keys.after[level.holder])
        inside.setdefault(key, []).append((at, level.label))
        if outer is not None:
            around[at] = outer, key
    nodes = {
        at: [int(found.keys.after[n]) for n in (level.first, level.end - 1)]
        for at, level in zip(level_of, tree.levels, strict=True)
        if at is not None and level.end > level.first
    }
    return json.dumps({"inside": inside, "around": around, "nodes": nodes})


def _levels(found: Comparison) -> list[dict[str, str]]:
    """Return the graph and the bodies in it that have a counterpart."""
    tree = found.trees[1]
    paths = {x.graph.graph_id: tree.path_of(at) for at, x in enumerate(tree.levels)}
    return [
        {"value": str(at), "label": paths[level.graph_ids[1]] or "the graph itself"}
        for at, level in enumerate(found.pair.levels)
    ]
