"""The Compare page: that of a graph with two sources, and the one on which these are chosen."""

from __future__ import annotations

from collections.abc import Sequence

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from gviz.app.components import aria, pane, panes, select
from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.compare.page_levels import SIDES, PageLevel
from gviz.app.pages.compare.summary import change_verdicts
from gviz.app.pages.compare.tables import changes_pane, first_colour, has_changes
from gviz.app.pages.head import GRAPH_PICTURE, TIMELINE_PICTURE, share_menu

#: The scripts of the page put canvases into elements of this class.
_CANVAS = "gviz-canvas-box"
#: Of the upper row and of the inspector: what changed, part by part and in a layer, is to be read
#: without scrolling.
_SHARES = (41, 51)
_LAYOUTS = (("structure", "Structure"), ("lanes", "Lanes"))
_COLOURS = (
    ("change", "Change"),
    ("ratio", "Relative change"),
    ("family", "Kernel family"),
    ("kind", "Kind"),
)
#: Colours without a change.
_PLAIN = _COLOURS[2:]


def render_compared(
    found: Comparison, choices: Sequence[Component], *, can_share: bool
) -> Component:
    """Return the page of two graphs, for a server and for a file; ``choices`` are of its head.

    ``can_share``: a server is there that can write the page as a file.
    """
    share = share_menu([GRAPH_PICTURE, TIMELINE_PICTURE], can_share, SIDES)
    return html.Div(
        className="gv-graph-page gv-compare",
        children=[
            # What is selected, in a sentence: assets/web/core/announce.js.
            html.Div(id="said", role="status", className="gv-unseen"),
            _head([*choices, *share]),
            *change_verdicts(found.run),
            panes(_dag(found), _timeline(), changes_pane(found), *_SHARES),
        ],
    )


def _head(choices: Sequence[Component]) -> Component:
    return html.Div(
        [
            html.Div([html.H1("Compare")], className="gv-graph-title"),
            html.Div(choices, className="gv-graph-ways"),
        ],
        className="gv-graph-head",
    )


def _dag(found: Comparison) -> Component:
    layout: Component = dmc.SegmentedControl(
        id="layout",
        size="xs",
        value="structure",
        data=[{"value": name, "label": label} for name, label in _LAYOUTS],
        **aria(label="Layout"),
    )
    offered = _COLOURS if has_changes(found) else _PLAIN
    colours = [{"value": name, "label": label} for name, label in offered]
    colour = select("colour", "Colour", colours, first_colour(found), width=150, named=False)
    levels = [select("level", "Level", _levels(found), "0", width=126)]
    tools = [*(levels if len(found.page) > 1 else []), layout, colour]
    drawn = html.Div(id="dag", className=_CANVAS)
    return pane("Both graphs", drawn, None, *tools, name="graph")


def _timeline() -> Component:
    return pane("Launches", html.Div(id="timeline", className=_CANVAS), None, name="timeline")


def _levels(found: Comparison) -> list[dict[str, str]]:
    """Return the graph and the bodies in it."""
    return [
        {"value": str(at), "label": _path(found, level)}
        for at, level in enumerate(found.page.levels)
    ]


def _path(found: Comparison, level: PageLevel) -> str:
    path = found.trees[level.side].path_of(level.place) or "the graph itself"
    return f"{path} (only in {SIDES[level.side]})" if level.alone else path


# -- the choice ----------------------------------------------------------------------------


def render_choice(
    choices: Sequence[Component], sentences: Sequence[str], offered: Sequence[Component]
) -> Component:
    """Return the page on which two graphs are chosen: why there are none yet, and pairs offered."""
    items = [html.Li(link) for link in offered]
    return html.Div(
        className="gv-graph-page gv-compare",
        children=[
            _head(choices),
            *(html.P(text, className="gv-compare-message", role="status") for text in sentences),
            *([html.Ul(items, className="gv-compare-offers")] if items else []),
        ],
    )
