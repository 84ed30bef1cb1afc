"""Waiting for what a page does in its own time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

#: A page is waited for this long; on a busy machine the first one takes seconds.
PATIENCE_S = 30.0


def _sleep() -> None:
    time.sleep(0.02)


def eventually(
    question: Callable[[], Any],
    what: str,
    patience_s: float = PATIENCE_S,
    rest: Callable[[], object] = _sleep,
) -> Any:
    """Wait until a question has a true answer and return it; ``rest`` after each other answer.

    Playwright's own wait_for_function evaluates strings in the page, which the pages'
    Content-Security-Policy forbids. A question that asks the page nothing, as for page.url, needs
    a rest that does: Playwright takes in what the browser tells only meanwhile.
    """
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if answer := question():
            return answer
        rest()
    raise AssertionError(f"{what} did not happen within {patience_s:.0f} s; last: {question()!r}")
