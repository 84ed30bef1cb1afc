"""In which order a page runs scripts: what draws first, then Dash, tables later."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from flask import Flask, Response

from gviz.app.components import join_modules

_TAG = re.compile(r"<script\b.*?</script>", re.DOTALL)
_SOURCE = re.compile(r'src="([^"]*)"')
#: Component libraries of tables: AG Grid's comes later, Dash's own is used nowhere.
_GRID = re.compile(r"/dash_ag_grid/dash_ag_grid[^/]*\.js$")
_OLD_TABLE = re.compile(r"/dash_table/[^/]*\.js$")
#: What draws nothing leaves the line to what does.
_LATER = ' fetchpriority="low"'
#: The address names its content, so it never changes (s: a year).
_AGE_S = 31_536_000


class PageScripts(NamedTuple):
    """Dash's script tags in a page, rewritten.

    Attributes
    ----------
    head
        For the page's head: gviz's own, fetched at once.
    fetched
        For the page's body: has the browser fetch Dash's before they are run.
    body
        For its end: gviz's own script, and Dash's in a template, which that script runs.
    """

    head: str
    fetched: str
    body: str


class Scripts:
    """The scripts of pages: gviz's own modules as one, before Dash's.

    The modules stay what is edited: a changed one is in the next page's script.

    Parameters
    ----------
    folder
        Of gviz's own modules, which need nothing of Dash to draw.
    entry
        The module that imports the others.
    """

    def __init__(self, folder: Path, entry: str) -> None:
        self._folder, self._entry = folder, entry
        self._lock = threading.Lock()
        self._made: tuple[Sequence[float], str, bytes] = ((), "", b"")

    def order(self, tags: str, address: str) -> PageScripts:
        """Return a page's scripts in the order they are to run.

        Parameters
        ----------
        tags
            Dash's own, those of its renderer last.
        address
            Where :meth:`answer` is served.
        """
        found = {tag: f[1] for tag in _TAG.findall(tags) if (f := _SOURCE.search(tag))}
        left_out = {tag for tag, s in found.items() if _GRID.search(s) or _OLD_TABLE.search(s)}
        others = [tag for tag in _TAG.findall(tags) if tag not in left_out]
        own = f"{address}?v={self._version()}"
        head = [_preload(own)]
        fetched = "".join(_preload(found[tag], _LATER) for tag in others if tag in found)
        grids = [source for source in found.values() if _GRID.search(source)]
        head += [f'<meta name="gviz-grid" content="{source}">' for source in grids]
        later = f'<template id="gviz-later">{"".join(others)}</template>'
        return PageScripts("\n".join(head), fetched, f'{later}<script src="{own}"></script>')

    def answer(self) -> Response:
        """Answer a request for gviz's own scripts."""
        response = Response(self._made[2], mimetype="text/javascript")
        response.cache_control.max_age = _AGE_S
        response.cache_control.immutable = True
        return response

    def _version(self) -> str:
        """Return what names the content of the script."""
        # All modules, imported or not: a stamp a file is read faster than their imports.
        changed = [path.stat().st_mtime for path in sorted(self._folder.rglob("*.js"))]
        with self._lock:
            if self._made[0] != changed:
                text = join_modules(self._folder, self._entry).encode()
                self._made = (changed, hashlib.sha256(text).hexdigest()[:16], text)
            return self._made[1]


def _preload(source: str, how: str = "") -> str:
    return f'<link rel="preload" as="script" href="{source}"{how}>'


def add_script_route(server: Flask, scripts: Scripts, address: str) -> None:
    """Serve gviz's own scripts."""
    server.add_url_rule(address, "gviz_scripts", scripts.answer)
