"""A thread that prefetches: it does work of requests to come, as far as there is room."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator
from threading import Event, Thread

from gviz.app.files import KEPT_BYTES, Library
from gviz.app.views import run_files

#: What is prefetched fills at most this part of what is kept, so that it displaces nothing.
MOST_BYTES = KEPT_BYTES // 2


class AheadThread(ABC):
    """IDLE -> (start) RUNNING -> DONE.

    Parameters
    ----------
    name
        Of the thread.
    library
        What it works on.
    """

    def __init__(self, name: str, library: Library) -> None:
        self._library = library
        self._stopped = Event()
        self._thread = Thread(target=self._run_quietly, name=name, daemon=True)

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

    @abstractmethod
    def _run(self) -> None:
        """Do the work; look at :meth:`_is_enough` before each part of it."""

    def _run_quietly(self) -> None:
        try:
            self._run()
        except Exception:  # as for requests: a file that changed, or is gone
            logging.getLogger(__name__).debug("%s ended early", self._thread.name, exc_info=True)

    def _main_graphs(self) -> Iterator[tuple[str, int]]:
        """Yield each file's key and its main graph's id, while there is room."""
        for file in run_files(self._library):
            main = file.runs[0].main_graph if file.runs and not file.is_live else None
            if main is not None and not self._is_enough():
                yield file.key, main.graph.graph_id

    def _is_enough(self) -> bool:
        return self._stopped.is_set() or self._library.kept_bytes > MOST_BYTES
