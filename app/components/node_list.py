"""Selected nodes in an address: ``3,10-4999``, in the order of the selection.

The pages write and read them too (assets/web/core/node_list.js).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Characters of a list. Web servers and proxies refuse longer requests: nginx and Apache take lines
#: of 8 KB unless they are configured otherwise.
MOST_CHARACTERS = 6000
#: Ids of a list that is read; more is no selection but a mistake, or worse.
_MOST_IDS = 1_000_000
_PART = re.compile(r"(\d{1,15})(?:-(\d{1,15}))?", re.ASCII)


def write_ids(ids: Sequence[int]) -> tuple[str, int]:
    """Write as many of the first ids as an address has room for.

    Returns
    -------
    text
        The list; empty for no ids.
    kept
        How many ids it holds.
    """
    parts: list[str] = []
    room, kept = MOST_CHARACTERS, 0
    while kept < len(ids):
        end = kept
        while end + 1 < len(ids) and ids[end + 1] == ids[end] + 1:
            end += 1
        # Two in a row are as short by themselves.
        end = end if end - kept > 1 else kept
        part = f"{ids[kept]}-{ids[end]}" if end > kept else f"{ids[kept]}"
        room -= len(part) + bool(parts)
        if room < 0:
            break
        parts.append(part)
        kept = end + 1
    return ",".join(parts), kept


def parse_ids(text: str) -> tuple[int, ...]:
    """Return the ids of a list; what is malformed or too much is left out."""
    found: list[int] = []
    for part in text.split(","):
        if (match := _PART.fullmatch(part)) is None:
            continue
        first, last = int(match[1]), int(match[2] or match[1])
        if last - first < _MOST_IDS - len(found):
            found += range(first, last + 1)
    return tuple(found)
