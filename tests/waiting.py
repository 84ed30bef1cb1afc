"""Waiting for what a page does in its own time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

#: A page is waited for this long; on a busy machine the first one takes seconds.
PATIENCE_S = 60.0


#: Seconds between two answers: at first, and at last. What takes longer need not be known so soon,
#: and each question takes time from what it waits for.
_FIRST_REST_S = 0.01
_LONGEST_REST_S = 0.1


def eventually(
    question: Callable[[], Any],
    what: str,
    patience_s: float = PATIENCE_S,
    rest: Callable[[float], object] = time.sleep,
) -> Any:
    """Wait until a question has a true answer and return it; ``rest`` for seconds after others.

    Playwright's own wait_for_function evaluates strings in the page, which the pages'
    Content-Security-Policy forbids. A question that asks the page nothing, as for page.url, needs
    a rest that does: Playwright takes in what the browser tells only meanwhile.
    """
    end = time.monotonic() + patience_s
    pause_s = _FIRST_REST_S
    while time.monotonic() < end:
        if answer := question():
            return answer
        rest(pause_s)
        pause_s = min(1.5 * pause_s, _LONGEST_REST_S)
    raise AssertionError(f"{what} did not happen within {patience_s:.0f} s; last: {question()!r}")
