"""Prefetched pages: the first look at a recording need not wait.

From the server's start to the click that opens a graph a person takes seconds, in which the server
can read that graph. What it makes is kept with the file, as what a request makes.

Measured on 2 shared cores, 3 s from start to click: the page of the bundled training step has its
rows after 0.46 and 0.81 s, without what is made ahead after 0.55 and 1.2 s; that of 100,000 nodes
after 5.1 and 5.4 s, not 7.9 and 8.5 s.
"""

from __future__ import annotations

import logging
from threading import Thread

from flask import Flask

from gviz.app.components import Addresses, Query
from gviz.app.files import Library, OpenRecording
from gviz.app.inspector import NodeRecords
from gviz.app.pages import find_folds, first_folds
from gviz.app.server.ahead_thread import AheadThread
from gviz.app.views import first_launch, graph_view, kept_memory, typical_launch
from gviz.system import lower_priority


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


def prepare_next(
    library: Library, opened: OpenRecording, graph_id: int, addresses: Addresses
) -> None:
    """Read, once for each version of a file, what a page that is drawn is asked for next.

    Returns at once. First comes what the inspector needs at the first click, a second for 100,000
    nodes: who uses which memory, and in which ranges the eager side was called. Without it the
    first click on a node of the bundled training step shows the inspector after 250 and 313 ms,
    with it after 83 and 108 ms (2 shared cores); clicks after it take 25 to 60 ms either way. Then
    come the folds of each way of folding: to find the repeats of 100,000 nodes takes 0.35 s of
    processor time, all else of a folded DAG 0.04 s.
    """

    def read() -> None:
        lower_priority()
        try:
            with opened.at():
                view = graph_view(library, opened.key, graph_id)
                if len(view.tree):
                    NodeRecords(library, opened.key, view, addresses).one(0)
                    kept_memory(library, opened.key, view)
                find_folds(opened.recording, view, opened.keep)
        except Exception:  # the next request answers with a sentence
            logging.getLogger(__name__).debug("nothing was prepared", exc_info=True)

    def begin() -> bool:
        Thread(target=read, name="what is asked for next", daemon=True).start()
        return True

    if not opened.is_followed:  # one that grows is another one before somebody clicks
        opened.derive(("asked for next", graph_id), begin)


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
            for source in first_sources(self._library, self._addresses, file, graph_id):
                if not self._is_enough():
                    prefetch(self._server, source)


def first_sources(library: Library, addresses: Addresses, file: str, graph_id: int) -> list[str]:
    """Return the addresses of what a graph's page shows first, in the order it is wanted in."""
    with library.file(file).at() as opened:
        view = graph_view(library, file, graph_id)
        key = opened.versioned_key
    launch, eager = first_launch(view), typical_launch(view.stream_launches)
    timeline = addresses.graph_payload(
        "timeline",
        key,
        graph_id,
        launch=launch,
        stream=None if eager is None else eager.launch_id,
    )
    with library.file(file).at() as opened:
        first = first_folds(opened.recording, view, opened.keep)
    fold = None if first.fold == "none" else first.fold
    opened_folds = ",".join(first.open) or None
    dag = addresses.graph_payload("dag", key, graph_id, fold=fold, open=opened_folds)
    table = addresses.graph_payload("table", key, graph_id)
    drawn = [dag] if view.nodes else []
    drawn += [timeline] if launch is not None or eager is not None else []
    return [addresses.page_payload(key, graph_id, Query()), *drawn, table]
