"""Sentences broken into indented lines that fit a terminal."""

from __future__ import annotations

import textwrap

#: Lines are never made narrower than this.
_NARROWEST = 40


def wrapped(text: str, width: int, indent: int = 4) -> list[str]:
    """Return ``text`` in lines of at most ``width`` characters; later ones two further in."""
    space = " " * indent
    return textwrap.wrap(
        text,
        max(width, _NARROWEST),
        initial_indent=space,
        subsequent_indent=space + "  ",
        break_long_words=True,
        break_on_hyphens=False,
    )
