"""Saying less: what ``--quiet`` means to gviz and to the processes that it starts."""

from __future__ import annotations

import os

from gviz.system.saying import say

#: Set to 1 by ``--quiet``, for this process and those of gviz that it starts.
QUIET_VARIABLE = "GVIZ_QUIET"


def be_quiet() -> None:
    """Have this process, and those of gviz that it starts, say what went wrong and nothing else."""
    os.environ[QUIET_VARIABLE] = "1"


def is_quiet() -> bool:
    """Return whether only what went wrong is said."""
    return os.environ.get(QUIET_VARIABLE) == "1"


def inform(sentence: str) -> None:
    """Say what went as it should on a line of standard error, unless gviz is to be quiet."""
    if not is_quiet():
        say(sentence)
