"""The state that pages poll every few seconds: whether the files shown are still the same."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from flask import Flask, Response

from gviz.app.components import PAGES, Addresses, Query, parse_query
from gviz.app.files import GoneError, Library, OpenRecording


def add_state_route(server: Flask, library: Library, addresses: Addresses) -> None:
    """Answer ``payload/state``: for each file its version, and what is the matter with it."""

    def state() -> Response:
        found = {opened.key: file_state(opened) for opened in library.files()}
        response = Response(json.dumps({"files": found}), mimetype="application/json")
        response.headers["Cache-Control"] = "no-store"
        return response

    server.add_url_rule(addresses.state(), "gviz_state", state)


def file_state(opened: OpenRecording) -> dict[str, Any]:
    """Return a file's version (None: gone), whether pages follow its changes, and why it is gone.

    Costs a look at the file's directory entry, no more: see :attr:`OpenRecording.version`.
    """
    opened.poll()
    try:
        version, gone = opened.version, ""
    except GoneError as error:
        version, gone = None, str(error)
    return {
        "name": opened.name,
        "version": version,
        "live": opened.is_live,
        "followed": opened.is_followed,
        "gone": gone,
    }


def shown_files(
    library: Library, addresses: Addresses, path: str, search: str | None
) -> dict[str, Any]:
    """Return which page an address is, and the state of the files it is made of."""
    page = PAGES.get(addresses.local(path), "")
    shown = _files_of(page, parse_query(search), [o.key for o in library.files()])
    wanted = [o for o in library.files() if page == "runs" or (page and o.key in shown)]
    return {"page": page, "files": {o.key: file_state(o) for o in wanted}}


def _files_of(page: str, query: Query, every: Iterable[str]) -> set[str | None]:
    """Return the files that a page is made of; ``every`` one that is open."""
    if page == "compare":
        return {query.before_file, query.after_file}
    if page == "trend":
        return {*(query.files or every)}
    return {query.file}
