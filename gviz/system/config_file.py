"""The configuration, in ``gviz.toml`` or ``pyproject.toml``: which file, and its tables.

Who uses a table reads it.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from gviz.errors import GvizError
from gviz.system.permissions import MODE_VARIABLE, parse_mode

#: Read where it is there, unless another file is named.
DEFAULT_NAME = "gviz.toml"
#: Read where there is no such file: the tables stand below ``[tool.gviz]`` there.
PROJECT_NAME = "pyproject.toml"
#: A project file without it says nothing about gviz, and is not looked at further.
_PROJECT_MARK = "tool.gviz"
#: What it may hold: of :mod:`gviz.checks.ignored`, of ``gviz check``, and of all that writes files.
TABLES = ("ignore", "check", "files")


def read_config(path: Path | None) -> tuple[Path, dict[str, Any]]:
    """Return the file that is read and its content; empty if none is named and none is here.

    Without a name that is ``gviz.toml``, else ``[tool.gviz]`` of ``pyproject.toml``.

    Raises
    ------
    GvizError
        If the file cannot be read, is no TOML, or holds anything else.
    """
    if path is None:
        path = Path(DEFAULT_NAME)
        if not path.exists():
            project = Path(PROJECT_NAME)
            if not _speaks_of_gviz(project):
                return path, {}
            path = project
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise GvizError(f"cannot read {path}: {error.strerror}; check the name") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GvizError(f"{path} is no TOML: {error}; docs/analysis.md has an example") from error
    if path.name == PROJECT_NAME:
        content = content.get("tool", {}).get("gviz", {})
    unknown = sorted(set(content) - set(TABLES))
    if unknown:
        raise GvizError(
            f"{path}: {unknown[0]!r} is not known; there are only {', '.join(TABLES)}; "
            "docs/analysis.md and docs/check.md have examples"
        )
    return path, content


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
    GvizError
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
        raise GvizError(f'{file}: [files] may hold mode = "0640" and nothing else')
    return mode
