"""Bring a recording of an older schema up to the current one."""

from __future__ import annotations

import os
import sqlite3
import urllib.parse
from pathlib import Path

from gviz.errors import RecordingError
from gviz.recording.reader import read_version
from gviz.recording.schema import SCHEMA_VERSION
from gviz.recording.table import Table, all_tables
from gviz.recording.writer import RecordingWriter


def upgrade_recording(path: str | os.PathLike[str], output: str | os.PathLike[str]) -> int:
    """Write ``path``'s content in the current schema to ``output``; return the old version.

    Tables and columns that the old schema lacks are empty, which every reader takes for
    "not known". Nothing is left at ``output`` when it fails.

    Parameters
    ----------
    path
        A recording of an older schema.
    output
        Where the upgraded one goes; may be ``path`` itself, which is then replaced in one step.

    Raises
    ------
    RecordingError
        If ``path`` is no recording, is damaged, is of the current or a newer schema, or
        ``output`` cannot be written.
    """
    source = Path(path)
    version = read_version(source)
    if version == SCHEMA_VERSION:
        raise RecordingError(f"{source} has schema {version} already; nothing is to be done")
    with RecordingWriter(output, overwrite=True) as writer:
        uri = "file:" + urllib.parse.quote(str(source.absolute())) + "?immutable=1"
        old = sqlite3.connect(uri, uri=True)
        try:
            for table in all_tables():
                _copy(old, table, writer)
        except sqlite3.DatabaseError as error:
            raise RecordingError(f"{source} is damaged: {error}") from error
        finally:
            old.close()
    return version


def _copy(old: sqlite3.Connection, table: Table, writer: RecordingWriter) -> None:
    """Copy the columns that the table had; the others get their rows' defaults."""
    had = {row[1] for row in old.execute(f"PRAGMA table_info({table.name})")}
    if not had:
        return
    names = [c.name if c.name in had else _default(table, c.name) for c in table.columns]
    writer.insert_tuples(table.row, old.execute(f"SELECT {', '.join(names)} FROM {table.name}"))


def _default(table: Table, name: str) -> str:
    """Return the SQL of a new column's value in old rows."""
    import dataclasses

    (field,) = (f for f in dataclasses.fields(table.row) if f.name == name)
    if field.default is dataclasses.MISSING:
        raise RecordingError(f"{table.name}.{name} has no value in recordings made before it")
    return "NULL" if field.default is None else repr(field.default)
