"""Progress on one line of the terminal, for work that takes seconds."""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType

from gviz.system.progress import Progress
from gviz.system.quiet import inform, is_quiet
from gviz.text import duration, percent

_BAR = 24
#: Longer lines would wrap, and could not be written over.
_LINE = 79
#: A line that is gone at once cannot be read.
_DELAY_S = 0.5
_EVERY_S = 0.2


class ProgressLine:
    """A line on stderr that is written over, where that is a terminal; elsewhere lines, if
    all is said, or nothing.

    As a context manager it draws the line anew until the end, also while nothing is reported, and
    takes it away.

    Parameters
    ----------
    doing
        What is being done until the first report.
    says_all
        Whether what is being done is said on lines of their own where it cannot be written over.

    Attributes
    ----------
    is_live
        Whether stderr is a terminal that can write over a line, and gviz is not to be quiet.
    progress
        What the work tells its progress to.
    """

    def __init__(self, doing: str = "", *, says_all: bool = False) -> None:
        can_go_back = os.environ.get("TERM") != "dumb"
        is_terminal = sys.stderr is not None and sys.stderr.isatty()  # None: closed
        self.is_live = is_terminal and can_go_back and not is_quiet()
        self.progress = Progress(self._report)
        self._says_all = says_all
        self._begun = self._reported = time.monotonic()
        self._share = 0.0
        self._text = doing
        self._width = 0
        self._over = threading.Event()
        self._drawing: threading.Thread | None = None

    def _report(self, share: float, text: str) -> None:
        if self._says_all and not self.is_live and text != self._text:
            inform(f"gviz: {text}")
        self._share, self._text, self._reported = share, text, time.monotonic()

    def draw(self) -> None:
        """Draw the share that is done, what is being done, and how long the rest takes.

        The rest is estimated at the pace until the last report, less the time since. Of nothing
        done, and where the work takes longer than that, the line has the time until now instead.
        """
        now = time.monotonic()
        if now - self._begun < _DELAY_S or not self._text:
            return
        filled = round(_BAR * self._share)
        bar = "#" * filled + "." * (_BAR - filled)
        left = -1.0
        if self._share:
            left = (self._reported - self._begun) * (1 / self._share - 1) - (now - self._reported)
        shown, means = (left, "left") if left > 0 else (now - self._begun, "so far")
        time_text = f"{duration(1e9 * shown):>7} {means}"
        self._write(f"[{bar}] {percent(self._share):>5} {time_text}, {self._text}"[:_LINE])

    def __enter__(self) -> ProgressLine:
        """Return the line, which is drawn from now on."""
        if self.is_live:
            self._drawing = threading.Thread(target=self._draw_on, daemon=True)
            self._drawing.start()
        return self

    def _draw_on(self) -> None:
        while not self._over.wait(_EVERY_S):
            self.draw()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the line away."""
        self._over.set()
        if self._drawing is not None:
            self._drawing.join()
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text:<{self._width}}")
        sys.stderr.flush()
        self._width = len(text)
