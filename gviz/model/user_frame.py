"""The frame of a Python stack that its reader wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gviz.recording import rows

#: Files of the interpreter and of installed packages: not the user's own code.
_FOREIGN = re.compile(r"(site|dist)-packages[/\\]|[/\\]lib[/\\]python\d|^<")


def own_frame(stack: Sequence[rows.Location]) -> int | None:
    """Return the depth of the innermost frame of the user's own code; None without one."""
    for depth, location in enumerate(stack):
        if not _FOREIGN.search(location.file):
            return depth
    return None
