"""The HTML of a page: what is shown before Dash is loaded, and in which order scripts run."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from html import escape
from threading import Event, Thread

import dash
from dash.development.base_component import Component
from flask import request

from gviz.app.ahead import ask, canvas_sources
from gviz.app.plain_html import to_html
from gviz.app.scripts import PageScripts

#: A page that takes longer (s) to make is shown when Dash has built it.
_PATIENCE_S = 1.0


class Application(dash.Dash):  # type: ignore[misc]
    """A Dash application whose pages show something before Dash is loaded.

    Attributes
    ----------
    first_page
        Returns what a path and a query show in front of Dash's page, and the title; None: nothing.
    order_scripts
        Returns what is to become of Dash's script tags.
    """

    first_page: Callable[[str, str], tuple[Component, str] | None]
    order_scripts: Callable[[str], PageScripts]

    def interpolate_index(self, **parts: str) -> str:
        """Return the page's HTML: Dash's own, its content in front, and what draws before Dash."""
        scripts = self.order_scripts(parts["scripts"] + parts["renderer"])
        changed = {"metas": parts["metas"] + scripts.head, "scripts": scripts.body, "renderer": ""}
        path, query = request.path, request.query_string.decode(errors="replace")
        found = _in_time(lambda: self.first_page(path, query), lambda at: ask(self.server, at))
        if found is not None:
            page, title = found
            changed |= {"app_entry": to_html(page) + parts["app_entry"], "title": escape(title)}
            # First, so that the data come before scripts that are not needed to draw them.
            changed["metas"] = parts["metas"] + _fetched(page) + scripts.head
        html: str = super().interpolate_index(**(parts | changed))
        return html


def _fetched(page: Component) -> str:
    """Return what lets the browser fetch the data of a page's views at once, as they ask for it."""
    return "".join(
        f'<link rel="preload" as="fetch" crossorigin="anonymous" href="{escape(source)}">'
        for source in canvas_sources(page)
    )


def _in_time(
    make: Callable[[], tuple[Component, str] | None], ask_for: Callable[[str], None]
) -> tuple[Component, str] | None:
    """Return what is made, if that does not take too long; it is made to its end all the same.

    What takes long is kept by the file (:meth:`OpenRecording.derive`): Dash's page is made of it,
    and finds the data that it asks for as soon as it is loaded.
    """
    made: Future[tuple[Component, str] | None] = Future()
    is_late = Event()

    def run() -> None:
        try:
            made.set_result(make())
        except Exception:  # Dash's page says what is wrong, in a sentence
            logging.getLogger(__name__).debug("no first page", exc_info=True)
            made.set_result(None)
        if is_late.is_set() and (found := made.result()) is not None:
            for source in canvas_sources(found[0]):
                ask_for(source)

    Thread(target=run, name="first page", daemon=True).start()
    try:
        return made.result(_PATIENCE_S)
    except TimeoutError:
        is_late.set()
        return None
