"""Work that takes long, done in the background: none of the server's threads waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

from gviz.system import lower_priority

_T = TypeVar("_T")

#: Works made at the same time; further ones wait, so that pages keep most of the machine.
_AT_ONCE = 2
#: Seconds a request waits for a work: most take less, and others need its thread.
PATIENCE_S = 1.0


class Background(Generic[_T]):
    """Makes values in threads of its own.

    State of a value: absent -> being made -> made (or failed, which is raised once). ``build``
    keeps what it makes itself, if it is to be had again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(_AT_ONCE)
        self._made: dict[Hashable, Future[_T]] = {}

    def find(self, key: Hashable, build: Callable[[], _T], patience_s: float) -> _T | None:
        """Return the value of a key; None: it is being made. What ``build`` raises is raised."""
        with self._lock:
            found = self._made.get(key)
            if found is None:
                found = self._made[key] = Future()
                work = threading.Thread(target=self._make, args=(found, build), daemon=True)
                work.start()
        try:
            return found.result(patience_s)
        except TimeoutError:
            if not found.done():
                return None
            raise
        finally:
            if found.done():
                with self._lock:
                    self._made.pop(key, None)

    def _make(self, found: Future[_T], build: Callable[[], _T]) -> None:
        # The browser that shows the page runs on the same cores, as a rule, and is awaited now.
        lower_priority()
        with self._room:
            try:
                made = build()
            except Exception as error:  # raised where it is requested
                found.set_exception(error)
            else:
                found.set_result(made)
