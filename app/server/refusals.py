"""Answers to requests that fail: a sentence, never a traceback."""

from __future__ import annotations

from collections.abc import Mapping

from dash.exceptions import DependencyException
from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from gviz.app.components import PAYLOAD
from gviz.app.files import FAILURES, ChangedError, GoneError, sentence_of
from gviz.errors import GvizError, RecordingError

_NOTHING = "There is nothing at this address; the Runs page lists what is open.\n"
_MALFORMED = "This request cannot be understood; reload the page.\n"


def add_refusals(server: Flask, prefix: str) -> None:
    """Answer errors of a Flask server in sentences, as plain text."""

    def known(error: GvizError) -> Response:
        return _plain(f"{error}\n", status_of(error))

    def refused(error: HTTPException) -> Response:
        code = error.code or 500
        return _plain(_NOTHING if code == 404 else f"{error.description}\n", code)

    def fault(error: Exception) -> Response:
        # What a callback is given was made by our own scripts, or by somebody else.
        if request.method == "POST":
            FAILURES.malformed(error)
            return _plain(_MALFORMED, 400)
        return _plain(sentence_of(error), 500)

    def nothing(rest: str) -> Response:
        return _plain(_NOTHING, 404)

    server.register_error_handler(GvizError, known)
    server.register_error_handler(HTTPException, refused)
    server.register_error_handler(DependencyException, lambda _: _plain(_NOTHING, 404))
    server.register_error_handler(Exception, fault)
    # Else Dash answers with its page, which a view that requested data cannot read.
    server.add_url_rule(f"{prefix.rstrip('/')}{PAYLOAD}/<path:rest>", "gviz_nothing", nothing)


def check_given(given: object, kinds: Mapping[str, type]) -> None:
    """Raise ValueError unless a callback was given what its page holds for it.

    Parameters
    ----------
    given
        By name.
    kinds
        The types of what it must hold.
    """
    if not isinstance(given, dict):
        raise ValueError("a page holds a dictionary")
    for name, kind in kinds.items():
        if not isinstance(given.get(name), kind):
            raise ValueError(f"a page holds {name}, of type {kind.__name__}")


def status_of(error: GvizError) -> int:
    """Return the HTTP status of an error's kind."""
    if isinstance(error, ChangedError):
        return 409
    if isinstance(error, GoneError):
        return 410
    return 404 if isinstance(error, RecordingError) else 400


def _plain(text: str, status: int) -> Response:
    return Response(text, status=status, mimetype="text/plain")
