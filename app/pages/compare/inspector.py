"""The inspector of two graphs: what became of a node, or of the graph."""

from __future__ import annotations

from collections.abc import Sequence

from dash import dcc
from dash.development.base_component import Component

from gviz.app.components import Addresses, Sides, facts
from gviz.app.components import elements as html
from gviz.app.inspector import section
from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.compare.node_place import NodePlace, open_path, place_of
from gviz.app.pages.compare.page_levels import SIDES
from gviz.app.pages.compare.summary import change_summary
from gviz.comparison import Difference, GraphComparison, TimeChange
from gviz.cuda import node_type_name
from gviz.families import joined_labels, kernel_label
from gviz.report import change_verdict
from gviz.text import counted, duration, signed_duration, signed_percent

_WIDE = "gv-facts gv-facts-wide"
_TESTED = "95% interval of the change, by rank over launches (Hodges and Lehmann)"


def compared_inspector(
    found: Comparison, sides: Sides, selected: Sequence[int], addresses: Addresses
) -> Component:
    """Return what is known of a node; of none the summary of the comparison.

    Sums over several the browser makes: assets/web/stores/change_sums.js.

    Parameters
    ----------
    sides
        The files' keys.
    selected
        A node by its number on the page; unknown ones are ignored.
    """
    places = (place_of(found, key) for key in selected)
    place = next((place for place in places if place is not None), None)
    if place is None:
        return change_summary(found)
    return _one(found, sides, place, addresses)


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
    remarks = [html.P(text, className="gv-muted") for text in _remarks(comparison, pair)]
    table = _difference_table(comparison.differences[pair])
    if table is None and not remarks:
        return html.P("Nothing but its time.", className="gv-muted")
    return html.Div([table, *remarks])


def _remarks(found: GraphComparison, pair: int) -> list[str]:
    """Return what is to be known of partners besides values, in sentences."""
    kinds = [d.kind for d in found.differences[pair]]
    texts = []
    if found.moved[pair]:
        texts.append("Moved to another lane: it runs behind other nodes now, or beside them.")
    if "address" in kinds:
        texts.append(f"{counted(kinds.count('address'), 'address', 'addresses')} differ.")
    if "unknown" in kinds:
        count = counted(kinds.count("unknown"), "argument")
        texts.append(f"In {count} bytes differ that may be padding.")
    return texts


def _difference_table(differences: Sequence[Difference]) -> Component | None:
    """Return the values that differ between partners; None: none does."""
    values = [d for d in differences if d.kind == "value"]
    if not values:
        return None
    head = html.Tr([html.Th("Changed"), html.Th("Before"), html.Th("Now")])
    lines = [
        html.Tr(
            [
                html.Td(d.what),
                html.Td(d.before, className="gv-mono gv-break"),
                html.Td(d.after, className="gv-mono gv-break"),
            ]
        )
        for d in values
    ]
    return html.Table([html.Thead(head), html.Tbody(lines)], className="gv-table gv-table-tight")


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
