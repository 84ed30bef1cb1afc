"""The HTML text of a file: styles, scripts and data in one document that asks for nothing.

A Content-Security-Policy in the document allows the scripts and the style in it, by their
hashes, and no connection whatever. The data are gzip in base64, in script elements that are no
scripts: no name in a recording can end an element.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import re
from collections.abc import Iterable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

#: Of the application's scripts these, and those of its pages but two, need Dash or a server.
_WITH_SERVER = ("component.js", "dash_props.js", "grid_rows.js", "miniature.js", "runs_table.js")
_OF_ANY_PAGE = ("page_keys.js", "page_split.js")
#: Those of a file alone, a script after those it needs.
_OWN = ("store", "address", "folds", "nodes", "inspector", "table", "page")
_STYLES = ("page.css", "canvas.css", "file/file.css")
#: A quarter of the scripts: lines that are comments from their beginning.
_COMMENTS = re.compile(r"^ *(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)\n", re.DOTALL | re.MULTILINE)

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


def scripts() -> list[str]:
    """Return the names of the scripts in a file, in order: the application's, then the file's."""
    # As Dash orders them.
    shared = sorted(path.name for path in _web().iterdir() if path.name.endswith(".js"))
    views = [n for n in shared if not n.startswith("page_") and n not in _WITH_SERVER]
    return [*views, *_OF_ANY_PAGE] + [f"file/{name}.js" for name in _OWN]


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
    style = "\n".join(_read(name) for name in _STYLES)
    early, script = (_script(names) for names in (["early/theme.js"], scripts()))
    icon = base64.b64encode(_read("icons/gviz.svg").encode()).decode()
    yield _DOCUMENT.format(
        policy=_policy([early, script], style),
        version=html.escape(version),
        title=html.escape(title),
        icon=f"data:image/svg+xml;base64,{icon}",
        style=style,
        early=early,
    )
    for name, data in blobs:
        text = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
        yield f'<script type="application/gzip" id="blob-{name}">{text}</script>\n'
    yield f"<script>{script}</script>\n</body>\n</html>\n"


def _policy(texts: Iterable[str], style: str) -> str:
    """Return the policy: these scripts, this style, images made in the page, nothing else."""
    directives = {
        "default-src": "'none'",
        "script-src": " ".join(map(_hash, texts)),
        "style-src": _hash(style),
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _script(names: Iterable[str]) -> str:
    return _COMMENTS.sub("", "\n".join(map(_read, names)))


def _read(name: str) -> str:
    """Return a file of assets/web, with the line ends that the browser hashes.

    That none of them ends the element it stands in is tested, not repaired here.
    """
    return (_web() / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _web() -> Traversable:
    return files("gviz.assets") / "web"
