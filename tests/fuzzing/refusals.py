"""Refusals of inputs: a GvizError that says something; and where the second of two files stands."""

from __future__ import annotations

from pathlib import Path

from gviz.errors import GvizError

#: The shortest that can say what happened and what to do.
_SENTENCE = 15


class NoSentenceError(Exception):
    """A refusal that tells nobody anything."""


def check_refusal(error: GvizError) -> None:
    """Raise NoSentenceError unless an error has something to say."""
    if len(str(error)) < _SENTENCE or "Traceback" in str(error):
        raise NoSentenceError(str(error)) from error


def beside(path: Path) -> Path:
    """Return the recording that one is compared with."""
    return path.with_name(f"other-{path.name}")
