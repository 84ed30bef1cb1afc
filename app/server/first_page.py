"""The HTML of a page: what is shown before Dash is loaded, sent as soon as it is made."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from html import escape
from threading import Event, Thread
from time import perf_counter

import dash
from dash.development.base_component import Component
from flask import Response, request

from gviz.app.server.ahead import canvas_sources, has_long_data, prefetch
from gviz.app.server.compression import streamed
from gviz.app.server.plain_html import to_html
from gviz.app.server.scripts import PageScripts

#: A page that takes longer (s) to make is shown when Dash has built it; until then one waits for
#: it with the scripts loaded and a sign that it comes.
_PATIENCE_S = 10.0
#: Where the page comes in the HTML; between it and the other stands what has Dash fetched early.
_PLACE = "<!-- first page -->"
_FETCHED_END = "<!-- fetched -->"
#: Of a page that takes longer (s) to make the data take long, too: the server is left to them, and
#: Dash fetched when it is run.
_QUICK_S = 0.15
_WAITING = """<div class="gv-first-wait" role="status"><div class="gv-progress"></div>
<p>Loading…</p></div>
"""

#: Makes a page and its title; None: there is nothing to show before Dash.
Make = Callable[[], tuple[Component, str] | None]


class Application(dash.Dash):  # type: ignore[misc]
    """A Dash application whose pages show something before Dash is loaded.

    Attributes
    ----------
    first_page
        Returns what makes what a path and a query show in front of Dash's page; None: nothing.
    order_scripts
        Returns what is to become of Dash's script tags.
    """

    first_page: Callable[[str, str], Make | None]
    order_scripts: Callable[[str], PageScripts]

    def interpolate_index(self, **parts: str) -> str:
        """Return the page's HTML: Dash's own, and what draws before Dash."""
        scripts = self.order_scripts(parts["scripts"] + parts["renderer"])
        changed = {"metas": parts["metas"] + scripts.head, "scripts": scripts.body, "renderer": ""}
        changed["app_entry"] = _PLACE + scripts.fetched + _FETCHED_END + parts["app_entry"]
        html: str = super().interpolate_index(**(parts | changed))
        return html

    def index(self, *arguments: object, **named: object) -> Response:
        """Answer with a page's HTML.

        What comes before Dash's page is sent when it is made: the browser has what is above by
        then, and loads the scripts.
        """
        before, _, behind = super().index(*arguments, **named).partition(_PLACE)
        fetched, _, after = behind.partition(_FETCHED_END)
        make = self.first_page(request.path, request.query_string.decode(errors="replace"))
        if make is None:
            return Response(before + fetched + after, mimetype="text/html")
        return streamed(self._parts(before + _WAITING, make, fetched, after))

    def _parts(self, before: str, make: Make, fetched: str, after: str) -> Iterator[str]:
        yield before
        begin = perf_counter()
        found = _in_time(make, lambda address: prefetch(self.server, address))
        if found is not None:
            page, title = found
            # Its data first: they take longest.
            yield _data_of(page) + f'<div hidden data-title="{escape(title)}"></div>'
            yield to_html(page)
        takes_long = perf_counter() - begin > _QUICK_S or (found and has_long_data(found[0]))
        yield after if takes_long else fetched + after


def _data_of(page: Component) -> str:
    """Return what lets the browser fetch the data of a page's first view at once.

    The server makes one view's data after the other's; requested together, any might come first.
    """
    for source in canvas_sources(page):
        return f'<link rel="preload" as="fetch" crossorigin="anonymous" href="{escape(source)}">'
    return ""


def _in_time(make: Make, prefetch: Callable[[str], None]) -> tuple[Component, str] | None:
    """Return what is made, if that does not take too long; it is made to its end all the same.

    What takes long is kept by the file (:meth:`OpenRecording.derive`): Dash's page is made of it,
    and finds its data there as soon as it is loaded.
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
                prefetch(source)

    Thread(target=run, name="first page", daemon=True).start()
    try:
        return made.result(_PATIENCE_S)
    except TimeoutError:
        is_late.set()
        return None
