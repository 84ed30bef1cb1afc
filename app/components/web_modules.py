"""The ES modules of assets/web as one script, its styles as one sheet.

Fetched one by one, seventy modules would be as many requests, a round trip for each step down
their imports; and a saved file, opened from disk, may fetch none. So both the application and the
file get one classic script: each module a function that runs once, behind those it imports, and
returns what it exports. The forms of import and export are few (:data:`_IMPORT`,
:data:`_EXPORT`); others, and circles, are refused.
"""

from __future__ import annotations

import base64
import hashlib
import posixpath
import re
from importlib.resources.abc import Traversable

#: The style sheets of graphs' pages, as they follow each other.
_STYLES = ("page", "canvas", "table", "breakdown", "report", "compare", "overlay")
_IMPORT = re.compile(
    r'^import (?:\* as (?P<all>\w+)|\{(?P<some>[^}]*)\}) from "(?P<source>\.[^"]+)";\n',
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export (?=(?:async function|function|class|const) (?P<name>\w+))", re.MULTILINE
)
#: What begins as one of the two and is none of their forms.
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
#: A third of the text: lines that are comments from their beginning.
_COMMENTS = re.compile(r"^ *(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)\n", re.DOTALL | re.MULTILINE)


def list_modules(web: Traversable, entry: str) -> list[str]:
    """Return the names of a module and of all that it imports, each behind those it imports.

    Parameters
    ----------
    web
        The folder of the modules.
    entry
        The name of the module, such as ``"file/main.js"``.

    Raises
    ------
    ValueError
        If modules import each other in a circle.
    """
    found: dict[str, None] = {}

    def add(name: str, around: tuple[str, ...]) -> None:
        if name in around:
            raise ValueError("modules import each other: " + " > ".join((*around, name)))
        for match in _IMPORT.finditer(read_source(web, name)):
            source = _resolve(name, match["source"])
            if source not in found:
                add(source, (*around, name))
        found[name] = None

    add(entry, ())
    return list(found)


def join_modules(web: Traversable, entry: str) -> str:
    """Return a script that runs a module and all that it imports; without their comments.

    Raises
    ------
    ValueError
        If modules import each other in a circle, or in another form than is known here.
    """
    parts = [_function(name, read_source(web, name)) for name in list_modules(web, entry)]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "\n})();\n"


def _function(name: str, text: str) -> str:
    """Return a module as a constant: what its function returns."""

    def bind(match: re.Match[str]) -> str:
        bound = match["all"] or "{ " + " ".join(match["some"].replace(" as ", ": ").split()) + " }"
        return f"const {bound} = {_constant(_resolve(name, match['source']))};\n"

    exported = [match["name"] for match in _EXPORT.finditer(text)]
    code = _COMMENTS.sub("", _EXPORT.sub("", _IMPORT.sub(bind, text)))
    if other := _OTHER.search(code):
        raise ValueError(f"{name}: cannot be joined to others: {other[0]}")
    returned = f"return {{ {', '.join(exported)} }};\n" if exported else ""
    return f"const {_constant(name)} = (() => {{ // {name}\n{code}{returned}}})();"


def _constant(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _resolve(name: str, source: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), source))


def join_styles(web: Traversable, *more: str) -> str:
    """Return the styles of graphs' pages with others, by their names, as one sheet."""
    return "\n".join(read_source(web, f"styles/{name}.css") for name in (*_STYLES, *more))


def source_hash(text: str) -> str:
    """Return what a Content-Security-Policy calls a script or style that stands in the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def read_source(web: Traversable, name: str) -> str:
    """Return a file's text, with the line ends that a browser hashes."""
    return web.joinpath(*name.split("/")).read_text(encoding="utf-8").replace("\r\n", "\n")
