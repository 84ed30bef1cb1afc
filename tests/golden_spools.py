"""The spools from a real GPU: where they are, and how two foldings are compared."""

from __future__ import annotations

import sqlite3
from pathlib import Path

FOLDER = Path(__file__).parent / "golden" / "spools"
SUFFIX = ".spool.tar.xz"
NAMES = sorted(path.name.removesuffix(SUFFIX) for path in FOLDER.glob("*" + SUFFIX))


def dump(path: Path) -> str:
    """Return every table of a recording as text."""
    with sqlite3.connect(path) as database:
        text = "\n".join(database.iterdump())
    database.close()
    return text
