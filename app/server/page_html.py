"""The HTML of a page: Dash's own, and of a graph's page what begins before Dash is loaded."""

from __future__ import annotations

from collections.abc import Callable

import dash
from flask import request

from gviz.app.components import early_page
from gviz.app.server.scripts import name_library, order_scripts, preload


class Application(dash.Dash):  # type: ignore[misc]
    """A Dash application whose graph pages begin before Dash is loaded.

    Attributes
    ----------
    early_source
        Returns the address of what the page at a path and a query is made of; None: Dash makes it.
    has_charts
        Returns whether the page at a path is one of charts.
    script, style, plotly
        Return the addresses of gviz's own script and styles, and of what draws charts.
    """

    early_source: Callable[[str, str], str | None]
    has_charts: Callable[[str], bool]
    plotly: Callable[[], str]
    script: Callable[[], str]
    style: Callable[[], str]

    def interpolate_index(self, **parts: str) -> str:
        """Return the page's HTML."""
        scripts = order_scripts(parts["scripts"] + parts["renderer"], self.script())
        source = self.early_source(request.path, request.query_string.decode(errors="replace"))
        # A page that begins at once has the server to itself: Dash is fetched when it is run.
        before = scripts.fetched if source is None else early_page(source)
        if self.has_charts(request.path):
            before = preload(self.plotly()) + before
        changed = {
            "metas": parts["metas"] + scripts.head + name_library("plotly", self.plotly()),
            "css": f'{parts["css"]}<link rel="stylesheet" href="{self.style()}">',
            "app_entry": before + parts["app_entry"],
            "scripts": scripts.body,
            "renderer": "",
        }
        html: str = super().interpolate_index(**(parts | changed))
        return html
