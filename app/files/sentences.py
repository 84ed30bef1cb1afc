"""Errors as sentences, never as tracebacks."""

from __future__ import annotations

from gviz.app.files.failure_log import FAILURES
from gviz.errors import GvizError

_FAULT = (
    "gviz failed here ({name}); the terminal in which gviz runs shows where. If the recording "
    "is whole ('gviz info' reads it), please report that.\n"
)


def sentence_of(error: Exception) -> str:
    """Return the sentence for an error; one that is not gviz's own is logged."""
    if isinstance(error, GvizError):
        return f"{error}\n"
    FAILURES.fault(error)
    return _FAULT.format(name=type(error).__name__)
