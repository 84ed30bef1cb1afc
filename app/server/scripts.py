"""In which order a page runs scripts: what draws first, then Dash, tables and charts later."""

from __future__ import annotations

import re
from typing import NamedTuple

_TAG = re.compile(r"<script\b.*?</script>", re.DOTALL)
_SOURCE = re.compile(r'src="([^"]*)"')
#: Component libraries of tables: AG Grid's comes later, Dash's own is used nowhere.
_GRID = re.compile(r"/dash_ag_grid/dash_ag_grid[^/]*\.js$")
_OLD_TABLE = re.compile(r"/dash_table/[^/]*\.js$")
#: What draws nothing leaves the line to what does.
_LATER = ' fetchpriority="low"'


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


def order_scripts(tags: str, own: str) -> PageScripts:
    """Return a page's scripts in the order they are to run.

    Parameters
    ----------
    tags
        Dash's own, those of its renderer last.
    own
        The address of gviz's, which needs nothing of Dash to draw.
    """
    found = {tag: f[1] for tag in _TAG.findall(tags) if (f := _SOURCE.search(tag))}
    left_out = {tag for tag, s in found.items() if _GRID.search(s) or _OLD_TABLE.search(s)}
    others = [tag for tag in _TAG.findall(tags) if tag not in left_out]
    head = [preload(own)]
    fetched = "".join(preload(found[tag], _LATER) for tag in others if tag in found)
    grids = [source for source in found.values() if _GRID.search(source)]
    head += [name_library("grid", source) for source in grids]
    later = f'<template id="gviz-later">{"".join(others)}</template>'
    return PageScripts("\n".join(head), fetched, f'{later}<script src="{own}"></script>')


def name_library(name: str, source: str) -> str:
    """Return the element from which assets/web/dash/libraries.js has the address of a library."""
    return f'<meta name="gviz-{name}" content="{source}">'


def preload(source: str, how: str = "") -> str:
    """Return what has the browser fetch a script before it is run."""
    return f'<link rel="preload" as="script" href="{source}"{how}>'
