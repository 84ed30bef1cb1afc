"""``graph=``: which graphs get node times, decided by their names in the watched process."""

from __future__ import annotations

import sys

from gviz.collectors import native
from gviz.collectors.hooks import python_frames
from gviz.cuda import graph_name

_UNWANTED, _WANTED, _CANNOT_SAY = 0, 1, -1


class GraphChoice:
    """Has the native library time only graphs whose name matches, while installed.

    Parameters
    ----------
    pattern
        A shell pattern such as ``"decode*"``; None: every graph.
    """

    def __init__(self, pattern: str | None) -> None:
        self._pattern = pattern
        self._callback: object = None

    def install(self) -> None:
        """Tell the native library; before it attaches, so that no graph is missed."""
        decide = self._decide if self._pattern is not None else None
        self._callback = native.set_graph_choice(self._pattern, decide)

    def remove(self) -> None:
        """Take the pattern and the callback away."""
        native.set_graph_choice(None, None)

    def _decide(self, kind: int, name: bytes, nvtx: bytes) -> int:
        """Say whether the graph that the calling thread makes is wanted. Never raises."""
        try:
            found = graph_name.base_name(
                kind,
                name.decode(errors="replace"),
                nvtx.decode(errors="replace"),
                python_frames(sys._getframe(1)),
            )
            if found is None or self._pattern is None:
                return _CANNOT_SAY
            return _WANTED if graph_name.matches(found, self._pattern) else _UNWANTED
        except BaseException:  # an exception must not reach the C code that called us
            return _CANNOT_SAY
