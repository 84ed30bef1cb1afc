"""The log of failures: each kind with its traceback once, and no more lines than a person reads."""

from __future__ import annotations

import logging
import os
import threading
import time
import traceback
from collections.abc import Callable

_LOG = logging.getLogger("gviz.app")
_MOST_LINES = 20
_PERIOD_S = 60.0
#: Kinds of failures whose traceback was logged are remembered up to so many.
_MOST_KINDS = 1000


class FailureLog:
    """Logs failures of requests; any thread may use it.

    Parameters
    ----------
    clock
        Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: set[str] = set()
        self._since = -_PERIOD_S
        self._lines = 0
        self._left_out = 0

    def fault(self, error: Exception) -> None:
        """Log a failure of gviz: with a traceback when it is the first of its kind."""
        place = _place(error)
        with self._lock:
            is_new = place not in self._seen and len(self._seen) < _MOST_KINDS
            self._seen.add(place) if is_new else None
        if is_new:
            _LOG.error("a request failed: %s", place, exc_info=error)
        else:
            self._line(f"a request failed again: {place}", error)

    def malformed(self, error: Exception) -> None:
        """Log, in a line, a request that could not be understood."""
        self._line(f"a request could not be understood: {_place(error)}")

    def _line(self, line: str, fault: Exception | None = None) -> None:
        with self._lock:
            now = self._clock()
            if now - self._since >= _PERIOD_S:
                if self._left_out:
                    _LOG.error("%d more lines were left out", self._left_out)
                self._since, self._lines, self._left_out = now, 0, 0
            self._lines += 1
            if self._lines > _MOST_LINES:
                self._left_out += 1
                return
        # For who listens to faults, and needs each.
        _LOG.error("%s", line, extra={"fault": fault})


def _place(error: Exception) -> str:
    """Return an error and where it came up, in a line of bounded length."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}{where}".encode("ascii", "backslashreplace").decode()


#: The log of this process.
FAILURES = FailureLog()
