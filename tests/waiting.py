"""Waiting for what a page does in its own time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

#: A page is waited for this long; on a busy machine the first one takes seconds.
PATIENCE_S = 30.0


def eventually(question: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
    """Wait until a question has a true answer and return it.

    Playwright's own wait_for_function evaluates strings in the page, which the pages'
    Content-Security-Policy forbids.
    """
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if answer := question():
            return answer
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {patience_s:.0f} s; last: {question()!r}")
