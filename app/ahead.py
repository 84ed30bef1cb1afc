"""Pages made before anybody asks for them: the first look at a recording need not wait.

From the server's start to the click that opens a graph a person takes seconds, in which the server
can read that graph. What it makes is kept with the file, as what a request makes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from threading import Event, Thread

from dash.development.base_component import Component
from flask import Flask

from gviz.app.address import Addresses
from gviz.app.address_page import render_page
from gviz.app.graph_view import graph_view
from gviz.app.inspector import render_inspector
from gviz.app.kept import KEPT_BYTES
from gviz.app.library import Library
from gviz.app.open_recording import OpenRecording
from gviz.app.run_view import run_files

#: What is made ahead fills at most this part of what is kept, so that it displaces nothing.
_MOST_BYTES = KEPT_BYTES // 2


def canvas_sources(page: Component) -> list[str]:
    """Return the addresses of the data of a page's canvases, in the order of the page."""
    views = [p for p in page._traverse() if getattr(p, "_namespace", "") == "gviz_canvas"]
    return [source for view in views if (source := getattr(view, "source", None))]


def ask(server: Flask, address: str) -> None:
    """Have a server make, and keep, what it answers at an address; what fails is left to requests.

    Parameters
    ----------
    server
        The server.
    address
        Path and query of a payload or a script, with the server's prefix.
    """
    try:
        # Compressed, as it is kept; without the token, which is a matter of who asks.
        with server.test_request_context(address, headers={"Accept-Encoding": "gzip"}):
            server.process_response(server.make_response(server.dispatch_request())).close()
    except Exception:  # the request that asks for it is told what is wrong, in a sentence
        logging.getLogger(__name__).debug("%s was not made ahead", address, exc_info=True)


def prepare_click(
    library: Library, opened: OpenRecording, graph_id: int, addresses: Addresses
) -> None:
    """Read, once for each version of a file, what the inspector asks for at the first click.

    Returns at once. That is a second for 100,000 nodes: who uses which memory, and in which
    ranges the eager side was called.
    """

    def read() -> None:
        try:
            with opened.at():
                view = graph_view(library, opened.key, graph_id)
                render_inspector(library, opened.key, view, view.tree.key[:1].tolist(), addresses)
        except Exception:  # the click that asks for it is told what is wrong, in a sentence
            logging.getLogger(__name__).debug("no click was prepared", exc_info=True)

    def begin() -> bool:
        Thread(target=read, name="first click", daemon=True).start()
        return True

    if not opened.is_followed:  # one that grows is another one before somebody clicks
        opened.derive(("first click", graph_id), begin)


class Ahead:
    """Makes the page of each file's main graph in a thread; IDLE -> (start) RUNNING -> DONE.

    Parameters
    ----------
    server, library, addresses
        Who answers, of what, and where.
    scripts
        Returns the addresses of what every page loads: compressed first, which takes 0.1 s.
    """

    def __init__(
        self,
        server: Flask,
        library: Library,
        addresses: Addresses,
        scripts: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._server = server
        self._scripts = scripts
        self._library = library
        self._addresses = addresses
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="pages ahead", daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Begin nothing more; returns at once. Before start: there will be nothing."""
        self._stopped.set()

    def wait(self, timeout_s: float) -> bool:
        """Wait until all is made, or nothing more after :meth:`stop`; return whether it is."""
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            for script in self._scripts():
                ask(self._server, script)
            for address in self._pages():
                self._make(address)
        except Exception:  # as for requests: a file that changed, or is gone
            logging.getLogger(__name__).debug("no more pages are made ahead", exc_info=True)

    def _pages(self) -> Iterator[str]:
        for file in run_files(self._library):
            main = file.runs[0].main_graph if file.runs and not file.is_live else None
            if main is not None and not self._is_enough():
                yield self._addresses.graph(file.key, main.graph.graph_id)

    def _make(self, address: str) -> None:
        path, _, query = address.partition("?")
        page, *_ = render_page(self._library, self._addresses, path, f"?{query}")
        for source in canvas_sources(page):
            if not self._is_enough():
                ask(self._server, source)

    def _is_enough(self) -> bool:
        return self._stopped.is_set() or self._library.kept_bytes > _MOST_BYTES
