"""Selected nodes in an address: ``3,10-4999``, in the order of the selection.

Where these are many and in no row it is a bit for each id from the lowest on, in base64url after
that id: ``7.5Q``. The pages write and read them too (assets/web/core/node_list.js).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

#: Characters of a list. Web servers and proxies refuse longer requests: nginx and Apache take lines
#: of 8 KB unless they are configured otherwise.
MOST_CHARACTERS = 6000
#: Ids of a list that is read; more is no selection but a mistake, or worse.
_MOST_IDS = 1_000_000
_PART = re.compile(r"(\d{1,15})(?:-(\d{1,15}))?", re.ASCII)
_BITS = re.compile(r"(\d{1,15})\.([\w-]+)", re.ASCII)
#: A list so long is written as bits if these are shorter, and loses the order of the selection.
_LONG = 600
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
#: Bits of a letter.
_SIX = 6


def write_ids(ids: Sequence[int]) -> tuple[str, int]:
    """Write ids, or as many of the first of them as an address has room for.

    Returns
    -------
    text
        The list; empty for no ids.
    kept
        How many ids it holds.
    """
    text, kept = _write_list(ids)
    if kept == len(ids) and len(text) <= _LONG:
        return text, kept
    bits = _write_bits(ids, len(text) if kept == len(ids) else MOST_CHARACTERS)
    return (text, kept) if bits is None else (bits, len(ids))


def _write_bits(ids: Sequence[int], most: int) -> str | None:
    """Return ids as bits; None where that takes more characters."""
    first = min(ids)
    count = (max(ids) - first) // _SIX + 1
    if len(str(first)) + 1 + count > most:
        return None
    letters = [0] * count
    for node in ids:
        place, bit = divmod(node - first, _SIX)
        letters[place] |= 1 << bit
    return f"{first}." + "".join(_LETTERS[six] for six in letters)


def _write_list(ids: Sequence[int]) -> tuple[str, int]:
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
        bits = _BITS.fullmatch(part)
        if bits is not None and len(bits[2]) * _SIX < _MOST_IDS - len(found):
            found += _read_bits(int(bits[1]), bits[2])
        if (match := _PART.fullmatch(part)) is None:
            continue
        first, last = int(match[1]), int(match[2] or match[1])
        if last - first < _MOST_IDS - len(found):
            found += range(first, last + 1)
    return tuple(found)


def _read_bits(first: int, letters: str) -> Iterator[int]:
    for place, letter in enumerate(letters):
        six = _LETTERS.index(letter)
        yield from (first + _SIX * place + bit for bit in range(_SIX) if six >> bit & 1)
