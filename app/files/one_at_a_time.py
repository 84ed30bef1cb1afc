"""Work of one thread at a time, and of none behind one that does not come to its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class OneAtATime:
    """One thread works at a time, the others wait.

    They wait for so long at most, and work beside it then: a file on a disk that does not answer
    would hold up those on others.

    Parameters
    ----------
    patience_s
        So long; nothing while a thread works that one has waited for so long already.
    """

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._is_stuck = False

    @contextmanager
    def working(self) -> Iterator[None]:
        """Work within."""
        if self._lock.acquire(timeout=0.0 if self._is_stuck else self._patience_s):
            self._is_stuck = False
            try:
                yield
            finally:
                self._lock.release()
        else:
            self._is_stuck = True
            yield
