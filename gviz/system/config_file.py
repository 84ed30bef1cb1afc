"""The configuration, in ``gviz.toml`` or ``pyproject.toml``: which file, and its tables.

Who uses a table reads it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from gviz.errors import UsageError
from gviz.system.permissions import MODE_VARIABLE, parse_mode
from gviz.text import likely_meant

#: Read where it is there, unless another file is named.
DEFAULT_NAME = "gviz.toml"
#: Read where there is no such file: the tables stand below ``[tool.gviz]`` there.
PROJECT_NAME = "pyproject.toml"
_DOCS = "docs/configuration.md"
#: A project file without it says nothing about gviz, and is not looked at further.
_PROJECT_MARK = "tool.gviz"
#: What it may hold: of :mod:`gviz.checks.ignored`, of ``gviz check``, of all that writes files, and
#: of the command line.
TABLES = ("ignore", "check", "files", "options")


def read_config(path: Path | None) -> tuple[Path, dict[str, Any]]:
    """Return the file that is read and its content; empty if none is named and none is here.

    Without a name that is ``gviz.toml``, else ``[tool.gviz]`` of ``pyproject.toml``.

    Raises
    ------
    UsageError
        If the file cannot be read, is no TOML, or holds anything else.
    """
    if path is None:
        path = Path(DEFAULT_NAME)
        if not path.exists():
            project = Path(PROJECT_NAME)
            if not _speaks_of_gviz(project):
                return path, {}
            path = project
    import tomllib  # most programs are started where there is no such file

    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; check the name") from error
    except (ValueError, RecursionError) as error:  # also numbers of 5,000 digits
        raise UsageError(f"{path} is no TOML: {error}; {_DOCS} has an example") from error
    if path.name == PROJECT_NAME:
        content = _table(path, _table(path, content, "tool"), "gviz")
    unknown = sorted(set(content) - set(TABLES))
    if unknown:
        near = likely_meant(unknown[0], TABLES) or f"; there are only {', '.join(TABLES)}."
        line = _line_of(text, unknown[0])
        raise UsageError(
            f"{path}{line}: {unknown[0]!r} is not known{near} Options of a command stand "
            f"in a table such as [options.info]; {_DOCS} has examples"
        )
    return path, content


def _line_of(text: str, name: str) -> str:
    """Return ``, line N`` where a key or table stands first, "" where it is not found.

    Of what TOML read the library does not say where it stood.
    """
    own = rf"""\[*\s*(?:tool\s*\.\s*gviz\s*\.\s*)?["']?{re.escape(name)}["']?\s*[\].=]"""
    for number, line in enumerate(text.splitlines(), start=1):
        if re.match(own, line.strip()):
            return f", line {number}"
    return ""


def _table(path: Path, content: dict[str, Any], name: str) -> dict[str, Any]:
    found = content.get(name, {})
    if not isinstance(found, dict):
        raise UsageError(f"{path}: {name!r} must be a table, not {found!r}; {_DOCS} has examples")
    return found


def _speaks_of_gviz(project: Path) -> bool:
    try:
        return _PROJECT_MARK in project.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def use_mode(wished: str | None) -> None:
    """Have this process, and those of gviz that it starts, write files with some permissions.

    Parameters
    ----------
    wished
        Octal digits; None: those of the variable GVIZ_MODE, else of ``[files]`` in ``gviz.toml``.

    Raises
    ------
    UsageError
        If the permissions cannot be understood.
    UsageError
        If ``gviz.toml`` cannot be read.
    """
    wished = wished or os.environ.get(MODE_VARIABLE) or _configured_mode()
    if wished:
        parse_mode(wished)
        os.environ[MODE_VARIABLE] = wished


def _configured_mode() -> str | None:
    file, content = read_config(None)
    table = content.get("files", {})
    mode = table.get("mode") if isinstance(table, dict) else table
    if not (mode is None or isinstance(mode, str)) or set(table or ()) - {"mode"}:
        raise UsageError(f'{file}: [files] may hold mode = "0640" and nothing else')
    return mode
