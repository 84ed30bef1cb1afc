"""The inspector of the Compare page: what became of a node, of several, or of the graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from dash import dcc
from dash.development.base_component import Component

from gviz.app.components import Addresses, Sides, facts
from gviz.app.components import elements as html
from gviz.app.inspector import difference_table, pair_remarks, section
from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.compare.node_place import NodePlace, open_path, place_of
from gviz.app.pages.compare.page_levels import SIDES
from gviz.app.pages.compare.summary import change_summary
from gviz.comparison import TimeChange
from gviz.cuda import node_type_name
from gviz.families import joined_labels, kernel_label
from gviz.report import change_verdict
from gviz.text import counted, duration, signed_duration, signed_percent

_WIDE = "gv-facts gv-facts-wide"
_TESTED = "95% interval of the change, by rank over launches (Hodges and Lehmann)"


def compared_inspector(
    found: Comparison, sides: Sides, selected: Sequence[int], addresses: Addresses
) -> Component:
    """Return what is known of a selection; of none the summary of the comparison.

    Parameters
    ----------
    sides
        The files' keys.
    selected
        Nodes by their numbers on the page; unknown ones are ignored.
    """
    places = [place for key in dict.fromkeys(selected) if (place := place_of(found, key))]
    if not places:
        return change_summary(found.run)
    if len(places) > 1:
        return _several(places)
    return _one(found, sides, places[0], addresses)


# -- one node ------------------------------------------------------------------------------


def _one(found: Comparison, sides: Sides, place: NodePlace, addresses: Addresses) -> Component:
    links = [
        dcc.Link(
            f"node {place.node_id(side)} of {SIDES[side]}, {file}",
            href=addresses.graph(file, found.trees[side].graph.graph_id, [place.own_number(side)]),
        )
        for side, file in enumerate((sides.before, sides.after))
        if place.index[side] is not None
    ]
    return html.Div(
        [
            _heading(found, place),
            _bodies(found, place),
            section("Before and after", _times(place)),
            section("What differs", _differences(place)),
            section("Recorded", html.Ul([html.Li(link) for link in links])),
        ]
    )


def _heading(found: Comparison, place: NodePlace) -> Component:
    names = place.name.split(" → ")
    whole = place.name
    label = joined_labels(whole) if len(names) > 1 else kernel_label(whole)
    body = found.trees[place.side].path_of(place.level_of(place.side))
    return html.Div(
        [
            html.Div(
                [
                    html.Span(node_type_name(place.row.type), className="gv-kind"),
                    html.Span(place.ids_text, className="gv-muted"),
                    html.Span(f"in {body}", className="gv-muted gv-ellipsis") if body else None,
                ],
                className="gv-inspector-line",
            ),
            html.H2(label, className="gv-clamp"),
            html.P(whole, className="gv-mono gv-muted gv-break gv-full-name")
            if whole != label
            else None,
        ],
        className="gv-inspector-head",
    )


def _times(place: NodePlace) -> Component:
    if place.became is None:
        word = "Added: A has no such node." if place.side else "Removed: B has no such node."
        own_ns = place.own_ns
        taken = [("Time", "not timed" if own_ns is None else duration(own_ns), "Median")]
        note = html.P(f"It is part of {joined_labels(place.replacement)}.")
        return html.Div(
            [html.P(word), facts(taken, className=_WIDE), note if place.replacement else None]
        )
    return facts(_change_facts(place.became), className=_WIDE)


def _change_facts(time: TimeChange) -> list[tuple[str, str, str | None]]:
    given: list[tuple[str, str, str | None]] = []
    for side, ns, count in (
        ("A", time.before_ns, time.launches_before),
        ("B", time.after_ns, time.launches_after),
    ):
        method = f"Median of {counted(count, 'launch', 'launches')}"
        given.append((side, "not timed" if ns is None else duration(ns), method))
    if time.change_ns is not None:
        share = f", {signed_percent(time.change_ns / time.before_ns)}" if time.before_ns else ""
        given.append(("Change", signed_duration(time.change_ns) + share, "Derived: B less A"))
    why = f"Not tested: {time.untested}" if time.untested else "By rank over launches"
    given.append(("Verdict", change_verdict(time), why))
    if time.low_ns is not None and time.high_ns is not None:
        interval = f"{signed_duration(time.low_ns)} to {signed_duration(time.high_ns)}"
        given.append(("95% interval", interval, _TESTED))
    return given


def _differences(place: NodePlace) -> Component | None:
    if place.pair is None:
        return None
    comparison, pair = place.pair
    remarks = [html.P(text, className="gv-muted") for text in pair_remarks(comparison, pair)]
    table = difference_table(comparison.differences[pair])
    if table is None and not remarks:
        return html.P("Nothing but its time.", className="gv-muted")
    return html.Div([table, *remarks])


def _bodies(found: Comparison, place: NodePlace) -> Component | None:
    """Return buttons that show the node where it is, and open or close the bodies in it.

    assets/web/page/page.js follows them.
    """
    around = open_path(found, place)
    inside = found.page.bodies.get(place.number, ())
    buttons = [_way("Show it where it is", around, 0)] if around else []
    if inside:
        buttons.append(_way("Open or close its bodies", [*around, place.number], 0))
    for at in inside:
        level = found.page.levels[at]
        label = found.trees[level.side].levels[level.place].label
        buttons.append(_way(f"Only {label}", [], at))
    return html.Div(buttons, className="gv-compare-bodies") if buttons else None


def _way(text: str, nodes: Sequence[int], level: int) -> Component:
    return html.Button(
        text,
        type="button",
        className="gv-button",
        **{"data-open": ",".join(f"n{node}" for node in nodes), "data-level": str(level)},
    )


# -- several -------------------------------------------------------------------------------


def _several(places: Sequence[NodePlace]) -> Component:
    """Return sums over nodes: what partners changed, and what one side only has."""
    both = [p.became for p in places if p.became is not None]
    timed = [(t.before_ns, t.change_ns) for t in both if t.change_ns is not None]
    lone = [p for p in places if p.became is None]
    before = float(sum(b or 0.0 for b, _ in timed))
    change = float(sum(c or 0.0 for _, c in timed))
    given: list[tuple[str, str, str | None]] = []
    if timed:
        share = f", {signed_percent(change / before)}" if before else ""
        method = f"Derived: medians of {counted(len(timed), 'node')} timed on both sides"
        given.append(("Change of both", signed_duration(change) + share, method))
    for side, word in ((0, "Removed"), (1, "Added")):
        nodes = [p for p in lone if p.side == side]
        if nodes:
            known = [p.own_ns for p in nodes if p.own_ns is not None]
            text = f"{counted(len(nodes), 'node')}, {duration(float(np.sum(known)))}"
            given.append((word, text, "Sum of medians; part of replacements where they are in one"))
    head = html.Div(
        html.H2(f"{counted(len(places), 'node')} selected"), className="gv-inspector-head"
    )
    return html.Div([head, section("Sums", facts(given, className=_WIDE)) if given else None])
