"""Texts of a watched program, made fit to stand in a line of gviz's own."""

from __future__ import annotations

_QUOTES = str.maketrans("«»", "‹›")


def unquoted(text: str) -> str:
    """Return a text without the signs that mark data of the watched program."""
    return text.translate(_QUOTES)


def marked_data(text: str, most: int) -> str:
    """Return a name of the watched program on one line, between « and », which it cannot end."""
    return f"«{inert(unquoted(text), most)}»"


def inert(text: str, most: int | None = None) -> str:
    """Return a text on one line, without characters that act instead of being shown.

    Parameters
    ----------
    text
        A name, a range, a path or a line of source: whoever wrote the program chose it.
    most
        So many characters at most; None: all.

    Returns
    -------
    str
        White space is one space; other characters that cannot be printed, such as those of
        terminals, of zero width, or that turn the direction of writing, are ``?``.
    """
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    if most is not None and len(line) > most:
        return f"{line[: most - 1]}…"
    return line
