"""Prefetched pages: the first look at a recording need not wait.

From the server's start to the click that opens a graph a person takes seconds, in which the server
can read that graph. What it makes is kept with the file, as what a request makes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from threading import Thread

from dash.development.base_component import Component
from flask import Flask

from gviz.app.components import Addresses
from gviz.app.files import Library, OpenRecording
from gviz.app.inspector import render_inspector
from gviz.app.server.address_page import render_page
from gviz.app.server.ahead_thread import AheadThread
from gviz.app.views import graph_view


def canvas_sources(page: Component) -> list[str]:
    """Return the addresses of the data of a page's canvases: what is wanted first, first."""
    views = sorted(_canvases(page), key=lambda view: not getattr(view, "first", False))
    return [source for view in views if (source := getattr(view, "source", None))]


def has_long_data(page: Component) -> bool:
    """Return whether the data of a page's views take longer to make than the page."""
    return any(getattr(view, "long", False) for view in _canvases(page))


def _canvases(page: Component) -> Iterator[Component]:
    return (p for p in page._traverse() if getattr(p, "_namespace", "") == "gviz_canvas")


def prefetch(server: Flask, address: str) -> None:
    """Have a server make, and keep, its answer to an address; failures are left to the request.

    Parameters
    ----------
    server
        The server.
    address
        Path and query of a payload, with the server's prefix.
    """
    try:
        # Without the token, which is the requesting browser's matter.
        with server.test_request_context(address):
            server.make_response(server.dispatch_request()).close()
    except Exception:  # the request itself answers with a sentence
        logging.getLogger(__name__).debug("%s was not prefetched", address, exc_info=True)


def prepare_click(
    library: Library, opened: OpenRecording, graph_id: int, addresses: Addresses
) -> None:
    """Read, once for each version of a file, what the inspector needs at the first click.

    Returns at once. That is a second for 100,000 nodes: who uses which memory, and in which
    ranges the eager side was called.
    """

    def read() -> None:
        try:
            with opened.at():
                view = graph_view(library, opened.key, graph_id)
                render_inspector(library, opened.key, view, view.tree.key[:1].tolist(), addresses)
        except Exception:  # the click's request answers with a sentence
            logging.getLogger(__name__).debug("no click was prepared", exc_info=True)

    def begin() -> bool:
        Thread(target=read, name="first click", daemon=True).start()
        return True

    if not opened.is_followed:  # one that grows is another one before somebody clicks
        opened.derive(("first click", graph_id), begin)


class Ahead(AheadThread):
    """Makes the page of each file's main graph.

    Parameters
    ----------
    server, library, addresses
        The server, its recordings, and their addresses.
    """

    def __init__(self, server: Flask, library: Library, addresses: Addresses) -> None:
        super().__init__("pages ahead", library)
        self._server = server
        self._addresses = addresses

    def _run(self) -> None:
        for file, graph_id in self._main_graphs():
            self._make(self._addresses.graph(file, graph_id))

    def _make(self, address: str) -> None:
        path, _, query = address.partition("?")
        page, *_ = render_page(self._library, self._addresses, path, f"?{query}")
        for source in canvas_sources(page):
            if not self._is_enough():
                prefetch(self._server, source)
