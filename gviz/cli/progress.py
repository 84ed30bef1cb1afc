"""A bar on stderr for work that takes seconds."""

from __future__ import annotations

import sys
import time

_BAR = 30
#: A bar that is gone at once tells nothing.
_DELAY_S = 0.5
_EVERY_S = 0.1


class ProgressBar:
    """Draws how much is done where stderr is a terminal; nothing elsewhere.

    Parameters
    ----------
    title
        What is being done.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._live = sys.stderr.isatty()
        self._begun = time.monotonic()
        self._next = self._begun + _DELAY_S
        self._drawn = False

    def tell(self, share: float) -> None:
        """Draw the share that is done, from 0 to 1."""
        now = time.monotonic()
        if not self._live or now < self._next:
            return
        self._next = now + _EVERY_S
        self._drawn = True
        filled = round(_BAR * share)
        bar = "#" * filled + "." * (_BAR - filled)
        left = (now - self._begun) * (1 - share) / share if share else 0.0
        print(f"\r[{bar}] {share:4.0%} {self._title}, {left:3.0f} s left ", end="", file=sys.stderr)

    def end(self) -> None:
        """Take the bar away."""
        if self._drawn:
            print("\r" + " " * (_BAR + len(self._title) + 30) + "\r", end="", file=sys.stderr)
