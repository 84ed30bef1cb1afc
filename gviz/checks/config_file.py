"""The configuration file ``gviz.toml``: which one, and its tables; commands read theirs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from gviz.errors import GvizError

#: Read where it is there, unless another file is named.
DEFAULT_NAME = "gviz.toml"
#: What it may hold: of :mod:`gviz.checks.ignored`, of ``gviz check``, and of commands that write.
TABLES = ("ignore", "check", "files")


def read_config(path: Path | None) -> tuple[Path, dict[str, Any]]:
    """Return the file that is read and its content; empty if none is named and none is here.

    Raises
    ------
    GvizError
        If the file cannot be read, is no TOML, or holds anything else.
    """
    if path is None:
        path = Path(DEFAULT_NAME)
        if not path.exists():
            return path, {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise GvizError(f"cannot read {path}: {error.strerror}; check the name") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GvizError(f"{path} is no TOML: {error}; docs/analysis.md has an example") from error
    unknown = sorted(set(content) - set(TABLES))
    if unknown:
        raise GvizError(
            f"{path}: {unknown[0]!r} is not known; there are only {', '.join(TABLES)}; "
            "docs/analysis.md and docs/check.md have examples"
        )
    return path, content
