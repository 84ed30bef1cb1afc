"""Faults of an overlay's text, and what its columns have to be called.

assets/web/overlay/read says the same of files that are dropped on a page; tests/overlays.json
holds both against each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gviz.errors import GvizError

#: Rows of a file.
MOST_ROWS = 1_000_000
#: Names of columns that say what a row is about, in letters and digits alone.
_KEYS = frozenset(
    (
        "node", "nodeid", "graphnodeid", "name", "kernel", "kernelname", "function", "functionname",
        "range", "nvtx", "nvtxrange", "nvtxpath", "layer", "module",
    )
)  # fmt: skip
_WANTED = (
    "wanted a column that says what a row is about: node (an id), name or kernel, range (NVTX), or "
    "layer"
)
#: Names of columns that a sentence lists.
_LISTED = 8
EMPTY = "there is nothing in it"


class OverlayFault(GvizError):
    """A fault of an overlay's file: where it is, and what was wanted."""


def fault_at(line: int, words: str) -> OverlayFault:
    """Return a fault in a line, the first one is 1."""
    return OverlayFault(f"line {line:,}: {words}")


def has_key(names: Sequence[str]) -> bool:
    """Return whether one of some columns says what a row is about."""
    return any(re.sub("[^a-z0-9]", "", name.lower()) in _KEYS for name in names)


def no_key(line: int, names: Sequence[str]) -> OverlayFault:
    """Return what is wrong with columns of which none does."""
    known = [name.strip() for name in names if name.strip()]
    more = len(known) - _LISTED
    listed = ", ".join(known[:_LISTED]) + (f" and {more:,} more" if more > 0 else "")
    return fault_at(line, f"{_WANTED}; found {listed or 'nothing'}")


def check_count(count: int) -> None:
    """Raise OverlayFault if there are more rows than are taken."""
    if count > MOST_ROWS:
        raise OverlayFault(f"more than {MOST_ROWS:,} rows, the most that are taken")
