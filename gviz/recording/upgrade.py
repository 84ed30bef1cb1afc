"""Bring a recording of an older schema up to the current one."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
from pathlib import Path

from gviz.errors import RecordingError
from gviz.recording import rows
from gviz.recording.identity import read_version
from gviz.recording.rows import SCHEMA_VERSION, Column, Table, all_tables, table_of
from gviz.recording.writer import SOURCE, RecordingWriter


def upgrade_recording(path: str | os.PathLike[str], output: str | os.PathLike[str]) -> int:
    """Write ``path``'s content in the current schema to ``output``; return the old version.

    Tables that the old schema lacks are empty, and new columns have their rows' defaults:
    every reader takes both for "not known". Nothing changes at ``output`` when it fails.

    Parameters
    ----------
    path
        A recording of an older schema.
    output
        Where the upgraded one goes, in one step; an existing file is replaced. May be
        ``path`` itself, or a link to it: then the file keeps its permissions.

    Raises
    ------
    RecordingError
        If ``path`` is no recording, is damaged, is of the current or a newer schema, or
        ``output`` cannot be written.
    """
    source, target = Path(path), Path(output)
    version = read_version(source)
    if version == SCHEMA_VERSION:
        raise RecordingError(f"{source} has schema {version} already; nothing is to be done")
    in_place = target.exists() and target.samefile(source)
    if in_place:
        target = target.resolve()  # a link must not be what is replaced
    mode = source.stat().st_mode & 0o777
    with RecordingWriter(target, overwrite=True) as writer:
        _copy_all(writer, source)
        if in_place:
            writer.set_mode(mode)
    return version


def _copy_all(writer: RecordingWriter, source: Path) -> None:
    try:
        with writer.reading(source) as database:
            had = {table.name: _columns(database, table) for table in all_tables()}
            if not had[table_of(rows.Run).name]:
                raise RecordingError(f"{source} is damaged: it has no runs; copy it again")
            for table in all_tables():
                if had[table.name]:
                    _copy(database, table, had[table.name])
    except sqlite3.OperationalError:
        raise  # the output cannot be written: the writer says it
    except sqlite3.DatabaseError as error:
        raise RecordingError(f"{source} is damaged: {error}; copy it again") from error


def _columns(database: sqlite3.Connection, table: Table) -> set[str]:
    """Return the columns that a table of the old recording has; none: there was no such table."""
    return {row[1] for row in database.execute(f"PRAGMA {SOURCE}.table_info({table.name})")}


def _copy(database: sqlite3.Connection, table: Table, had: set[str]) -> None:
    """Copy the columns that the table had; the others get their rows' defaults."""
    new = [column for column in table.columns if column.name not in had]
    values = ", ".join(c.name if c.name in had else f":{c.name}" for c in table.columns)
    database.execute(
        f"INSERT INTO main.{table.name} SELECT {values} FROM {SOURCE}.{table.name}",
        {column.name: default_of(table, column) for column in new},
    )


def default_of(table: Table, column: Column) -> object:
    """Return the value of a column in the rows of recordings made before it was added.

    Raises
    ------
    RecordingError
        If the row class gives the column no default.
    """
    (found,) = (f for f in dataclasses.fields(table.row) if f.name == column.name)
    if found.default is dataclasses.MISSING:
        raise RecordingError(
            f"{table.name}.{column.name} has no value in recordings made before it"
        )
    default: object = found.default
    return default
