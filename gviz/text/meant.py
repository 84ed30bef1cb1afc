"""Words: those of a text, and the one that was probably meant where a word is not known."""

from __future__ import annotations

import re
from collections.abc import Iterable


def words(text: str) -> frozenset[str]:
    """Return the words of a text, such as a query, in small letters."""
    return frozenset(word.lower() for word in re.findall(r"\w+", text))


def nearest(wrong: str, known: Iterable[str]) -> str | None:
    """Return the likeliest of the known words, or None where none is near."""
    from difflib import get_close_matches  # for errors, which are rare

    found = get_close_matches(wrong, list(known), n=1)
    return found[0] if found else None


def likely_meant(wrong: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that names the likeliest of the known words, or nothing."""
    near = nearest(wrong, known)
    return f"; did you mean {near}?" if near else ""
