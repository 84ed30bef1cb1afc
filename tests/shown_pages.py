"""The pages at addresses, those of graphs with what their component fetches."""

from __future__ import annotations

from dash.development.base_component import Component

from gviz.app.components.addresses import GRAPH, Addresses, parse_query
from gviz.app.components.canvases import GraphPage
from gviz.app.files.library import Library
from gviz.app.pages.graph import render_served_graph
from gviz.app.server import address_page
from gviz.app.views.graph_data import graph_view


def render_page(
    library: Library, addresses: Addresses, path: str, search: str | None
) -> tuple[Component, list[Component], str]:
    """Return the content, the trail and the title of the page at an address."""
    content, steps, title = address_page.render_page(library, addresses, path, search)
    given = parse_query(search)
    if not isinstance(content, GraphPage) or given.file is None:  # of the Compare page
        return content, steps, title
    query = address_page.completed(library, GRAPH, given, search or "")
    assert query.file is not None
    assert query.graph_id is not None
    view = graph_view(library, query.file, query.graph_id)
    page = render_served_graph(library, query.file, view, query, addresses)
    return page, steps, title
