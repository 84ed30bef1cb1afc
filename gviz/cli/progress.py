"""Progress on one line of the terminal, for work that takes seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from gviz.system import is_quiet
from gviz.text import duration, percent

_BAR = 24
#: Longer lines would wrap, and could not be written over.
_LINE = 79
#: A line that is gone at once cannot be read.
_DELAY_S = 0.5
_EVERY_S = 0.1


class ProgressLine:
    """A line on stderr that is written over, where that is a terminal; nothing elsewhere.

    As a context manager it takes the line away at the end.
    """

    def __init__(self) -> None:
        self.is_live = sys.stderr.isatty() and not is_quiet()
        self._begun = time.monotonic()
        self._next = self._begun + _DELAY_S
        self._width = 0

    def show(self, text: str) -> None:
        """Show what is being done, unless something was shown just before."""
        now = time.monotonic()
        if not self.is_live or now < self._next:
            return
        self._next = now + _EVERY_S
        self._write(text[:_LINE])

    def show_share(self, share: float, text: str) -> None:
        """Draw the share that is done, from 0 to 1, and how long the rest takes at this pace."""
        filled = round(_BAR * share)
        bar = "#" * filled + "." * (_BAR - filled)
        left = (time.monotonic() - self._begun) * (1 - share) / share if share else 0.0
        self.show(f"[{bar}] {percent(share):>5} {duration(1e9 * left):>7} left, {text}")

    def __enter__(self) -> ProgressLine:
        """Return the line."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the line away."""
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text:<{self._width}}")
        sys.stderr.flush()
        self._width = len(text)
