"""Output where the terminal's encoding lacks characters that gviz writes."""

from __future__ import annotations

import codecs
import io
from typing import TextIO

_NAME = "gviz.nearest"
#: What stands for signs that ASCII and Latin 1 lack.
_NEAREST = {"µ": "u", "−": "-", "–": "-", "×": "x", "±": "+-", "›": ">", "Σ": "sum", "…": "..."}


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_NEAREST.get(sign, "?") for sign in missing), error.end


codecs.register_error(_NAME, _nearest)


def take_any_encoding(*streams: TextIO) -> None:
    """Let streams write the nearest text where their encoding lacks a character."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_NAME)
