"""Recordings of one transformer that differ by noise, and SQL that makes them differ by more."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from recordings import Shape, transformer_shape, write_recording

SHAPE = transformer_shape(layers=3)
Write = Callable[..., Path]


def writer_into(folder: Path) -> Write:
    """Return what writes recordings of shapes to an empty folder, each of other noise."""

    def write_one(shape: Shape = SHAPE, launches: int = 12) -> Path:
        seed = len(list(folder.iterdir()))
        path = folder / f"{seed}.gviz"
        return write_recording(path, shape, launches=launches, eager=False, seed=seed)

    return write_one


def alter(path: Path, *statements: str) -> Path:
    """Change a recording; return its path."""
    database = sqlite3.connect(path)
    with database:
        for statement in statements:
            database.execute(statement)
    database.close()
    return path
