"""The content of the Compare page, for the browser: what it is made of, and where its data are."""

from __future__ import annotations

import json
from typing import Any

from dash.development.base_component import Component

from gviz.app.components import Addresses, Parts, Query, Sides
from gviz.app.files import Library
from gviz.app.pages.compare.choice import (
    all_choices,
    choose_graph,
    file_choices,
    no_pair,
    nothing_to_compare,
    offer_graphs,
    offer_pairs,
)
from gviz.app.pages.compare.comparison import Comparison, Comparisons
from gviz.app.pages.compare.page import render_choice, render_compared
from gviz.app.pages.compare.page_levels import SIDES
from gviz.app.pages.compare.tables import first_colour, tables_of
from gviz.app.pages.overlay_list import laid_tables

_WAITING = "Comparing… Graphs of 20,000 nodes take ten seconds."


def compared_content(
    comparisons: Comparisons, library: Library, query: Query, addresses: Addresses
) -> bytes:
    """Return what the page is made of, as JSON that assets/web/stores/compared.js reads.

    ``{"waiting": words}`` while the graphs are compared; with ``chooses`` it is the page on which
    they are chosen.

    Raises
    ------
    RecordingError
        If a file is not open or damaged, or the graphs cannot be compared.
    """
    return json.dumps(_content(comparisons, library, query, addresses)).encode()


def _content(
    comparisons: Comparisons, library: Library, query: Query, addresses: Addresses
) -> dict[str, Any]:
    missing = nothing_to_compare(library, query)
    if missing:
        choices = file_choices(library, query, addresses)
        return _choosing(render_choice(choices, missing, offer_pairs(library, addresses)))
    assert query.before_file is not None
    assert query.after_file is not None
    first, second = library.file(query.before_file), library.file(query.after_file)
    with first.at(), second.at():
        graphs = query.graphs or (choose_graph(first, second), None)
        sides = Sides(first.key, second.key, *graphs)
        choices = all_choices(library, query, sides, addresses)
        if sides.before_graph is None:
            anyway = offer_graphs(first, second, addresses)
            return _choosing(render_choice(choices, [no_pair(sides)], anyway))
        versioned = Sides(first.versioned_key, second.versioned_key, *graphs)
        found = comparisons.find(versioned)
    if found is None:
        return {"waiting": _WAITING}
    after = found.trees[1].graph
    can_share = not (first.is_followed or second.is_followed)
    fixed = {"a": sides.before, "b": sides.after, "graph": query.graphs and sides.graphs}
    return {
        **comparison_content(found, sides, render_compared(found, choices, can_share=can_share)),
        "fixed": {name: value for name, value in fixed.items() if value},
        "sources": {
            kind: addresses.compared(kind, versioned)
            for kind in ("dag", "timeline", "table", "inspector")
        }
        | {
            "saved": addresses.graph_payload("saved", versioned.after, after.graph_id),
            "sides": _sides(found, versioned, addresses),
        },
        "overlays": laid_tables(library, _graphs(found, sides), addresses.overlay),
    }


def _graphs(found: Comparison, sides: Sides) -> dict[str, tuple[str, set[int]]]:
    """Return the file and the graph of each side."""
    return {
        side: (file, {tree.graph.graph_id})
        for side, file, tree in zip(SIDES, (sides.before, sides.after), found.trees, strict=True)
    }


def _sides(found: Comparison, sides: Sides, addresses: Addresses) -> dict[str, Any]:
    """Return where the nodes and layers of each side are, which tables can be about."""
    return {
        side: {
            kind: addresses.graph_payload(kind, file, tree.graph.graph_id)
            for kind in ("table", "breakdown")
        }
        for side, file, tree in zip(SIDES, (sides.before, sides.after), found.trees, strict=True)
    }


def comparison_content(
    found: Comparison, sides: Sides, page: Component, parts: Parts | None = None
) -> dict[str, Any]:
    """Return what the browser's page of two graphs is made of, alike for a server and for a file.

    It is that of a graph (:func:`gviz.app.pages.graph.graph_content`), but for ``fixed``.
    ``parts`` takes those of the page; None: new ones.
    """
    return {
        **_page(page, f"{sides.before} → {sides.after}", parts),
        "compares": True,
        "id": found.trees[1].graph.graph_id,
        "note": "",
        "colour": first_colour(found),
        "layout": "",
        "fold": "none",
        "open": [],
        "tables": tables_of(found),
        "has_breakdown": False,
        "launch": "",
        "first": ["dag", "timeline"],
    }


def _choosing(page: Component) -> dict[str, Any]:
    return {**_page(page, "Compare"), "chooses": True}


def _page(page: Component, name: str, parts: Parts | None = None) -> dict[str, Any]:
    parts = parts or Parts()
    place = parts.add(page)
    return {"name": name, "parts": parts.list, "page": place}
