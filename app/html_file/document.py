"""The HTML text of a file: styles, scripts and data in one document that requests nothing.

A Content-Security-Policy in the document allows the scripts and the style in it, by their
hashes, and no connection whatever. The data are gzip in base64, in script elements that are no
scripts: no name in a recording can end an element.
"""

from __future__ import annotations

import base64
import gzip
import html
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from gviz.app.components import join_modules, join_styles, read_source, source_hash

#: The module that imports all of a file, and that of the worker which lays DAGs out.
_ENTRY = "file/main.js"
_WORKER = "layout/main.js"
#: gzip's highest level takes four times as long and saves less than a hundredth.
_LEVEL = 6

_DOCUMENT = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="gviz {version}">
<title>{title}</title>
<link rel="icon" type="image/svg+xml" href="{icon}">
<style>{style}</style>
<script>{early}</script>
</head>
<body>
<div id="file" class="gv-file"><p class="gv-message">Opening…</p></div>
<noscript>gviz draws graphs with JavaScript: allow it for this file.</noscript>
"""


def document(title: str, version: str, blobs: Iterable[tuple[str, bytes]]) -> Iterator[str]:
    """Yield the text of a file, piece by piece.

    Parameters
    ----------
    title
        Of the page, as text.
    version
        Of gviz.
    blobs
        Names and bytes of the data; a name is letters, digits and dashes.
    """
    style = join_styles(_web(), "file")
    early, script = _read("early/theme.js"), _joined(_ENTRY)
    icon = base64.b64encode(_read("icons/gviz.svg").encode()).decode()
    yield _DOCUMENT.format(
        policy=_policy([early, script], style),
        version=html.escape(version),
        title=html.escape(title),
        icon=f"data:image/svg+xml;base64,{icon}",
        style=style,
        early=early,
    )
    for name, data in _packed(blobs):
        text = base64.b64encode(data).decode()
        yield f'<script type="application/gzip" id="blob-{name}">{text}</script>\n'
    # No script of the document: the page makes a worker of it.
    yield f'<script type="text/plain" id="layout-worker">{_joined(_WORKER)}</script>\n'
    yield f"<script>{script}</script>\n</body>\n</html>\n"


def compress(data: bytes) -> bytes:
    """Return data compressed: equal data are equal bytes."""
    return gzip.compress(data, _LEVEL, mtime=0)


def _packed(blobs: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield the data compressed, each while the next are made: zlib lets other threads run."""
    with ThreadPoolExecutor(1) as packer:
        before: tuple[str, Future[bytes]] | None = None
        for name, data in blobs:
            packed = name, packer.submit(compress, data)
            if before is not None:
                yield before[0], before[1].result()
            before = packed
        if before is not None:
            yield before[0], before[1].result()


def _policy(texts: Iterable[str], style: str) -> str:
    """Return the policy: these scripts, this style, images and workers made in the page, nothing
    else.
    """
    directives = {
        "default-src": "'none'",
        "script-src": " ".join(map(source_hash, texts)),
        "style-src": source_hash(style),
        "img-src": "data: blob:",
        "worker-src": "blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in directives.items())


@cache
def _joined(entry: str) -> str:
    """Return a script that is the same in each file."""
    return join_modules(_web(), entry)


def _read(name: str) -> str:
    # That no file ends the element it stands in is tested, not repaired here.
    return read_source(_web(), name)


def _web() -> Traversable:
    return files("gviz.assets") / "web"
