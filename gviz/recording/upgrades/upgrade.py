"""Bring a recording of an older schema up to the current one."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from gviz.errors import RecordingError
from gviz.recording import rows
from gviz.recording.database import Database
from gviz.recording.identity import read_version, remedy
from gviz.recording.integrity import DamagedError
from gviz.recording.row_counts import row_counts
from gviz.recording.rows import SCHEMA_VERSION, Column, Table, all_tables, table_of
from gviz.recording.upgrades import from_3
from gviz.recording.upgrades.old_tables import OldTables
from gviz.recording.writer import SOURCE, RecordingWriter, attach_source
from gviz.system import NO_PROGRESS, Progress


class UpgradeStep(NamedTuple):
    """The way from one schema to the next, beyond new tables and columns with defaults."""

    upgrade: Callable[[OldTables], None]
    added_bytes: Callable[[OldTables], int]


#: By the version that each step starts from. Where there is none, defaults are all it takes.
STEPS: Mapping[int, UpgradeStep] = {3: UpgradeStep(from_3.upgrade, from_3.added_bytes)}
#: Of the size of the old file, for rows that lie less closely, and of every file.
_MARGIN_FRACTION, _MARGIN_BYTES = 0.1, 1 << 20


#: Share of the work that copies; the rest checks the copy.
_COPIED = 0.7


def upgrade_recording(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    progress: Progress = NO_PROGRESS,
) -> int:
    """Write ``path``'s content in the current schema to ``output``; return the old version.

    Tables that the old schema lacks are empty, and new columns have their rows' defaults:
    every reader takes both for "not known". What is at ``output`` stays until the new recording
    has been checked: it opens, SQLite finds it whole, and every table has its rows.

    Parameters
    ----------
    path
        A recording of an older schema.
    output
        Where the upgraded one goes, in one step; an existing file is replaced. May be
        ``path`` itself, or a link to it: then the file keeps its permissions.
    progress
        Told which table is copied, and the share that is done.

    Raises
    ------
    RecordingError
        If ``path`` is no recording, is damaged, is of the current or a newer schema, or
        ``output`` cannot be written or its disk has not room enough.
    """
    source, target = Path(path), Path(output)
    version = read_version(source)
    if version == SCHEMA_VERSION:
        raise RecordingError(f"{source} has schema {version} already; nothing is to be done")
    steps = [step for start, step in sorted(STEPS.items()) if start >= version]
    with _damage_named(source):
        check_room(target, _needed_bytes(source, steps))
    with RecordingWriter(target, overwrite=True) as writer:
        with _damage_named(source):
            counts = _copy_all(writer, source, steps, progress.part(0.0, _COPIED))
        progress.at(_COPIED, f"{target.name}, and checking it")
        writer.check_with(lambda part: _check(source, part, counts))
    return version


@contextlib.contextmanager
def _damage_named(source: Path) -> Iterator[None]:
    """Raise RecordingError for what no gviz writes in a recording."""
    try:
        yield
    except DamagedError as error:
        raise RecordingError(f"{source} is damaged: {error.what}; {_remedy(source)}") from error
    # ValueError: a number that is text, or SQLite's message, which may quote what is no text.
    except (sqlite3.DatabaseError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, sqlite3.OperationalError) and not _is_of_schema(error):
            raise  # the output cannot be written: the writer says it
        raise RecordingError(f"{source} is damaged: {error}; {_remedy(source)}") from error


def _is_of_schema(error: sqlite3.OperationalError) -> bool:
    """Return whether a statement failed as the file lacks a column, and not as a disk does."""
    # Python's own error, of text that is no UTF-8, has no code.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) == sqlite3.SQLITE_ERROR


def _remedy(source: Path) -> str:
    return remedy(source, read_version(source))


# -- room --------------------------------------------------------------------------------


def check_room(target: Path, needed: int) -> None:
    """Raise RecordingError unless the disk of a file has room for so many bytes more."""
    free = shutil.disk_usage(target.resolve().parent).free
    if free < needed:
        raise RecordingError(
            f"cannot write {target}: its disk has {free:,} bytes free and {needed:,} are needed "
            "beside the old recording; make room, or write to another disk with --output"
        )


def _needed_bytes(source: Path, steps: list[UpgradeStep]) -> int:
    size = source.stat().st_size
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        attach_source(database, source)
        added = sum(step.added_bytes(OldTables(database)) for step in steps)
    return int(size * (1 + _MARGIN_FRACTION)) + added + _MARGIN_BYTES


# -- rows --------------------------------------------------------------------------------


def _copy_all(
    writer: RecordingWriter, source: Path, steps: list[UpgradeStep], progress: Progress
) -> dict[str, int]:
    """Copy every table; return how many rows each must have."""
    with writer.reading(source) as database:
        old = OldTables(database)
        if not old.columns(table_of(rows.Run).name):
            raise DamagedError("it has no runs")
        for step in steps:
            step.upgrade(old)
        tables = list(all_tables())
        weights = row_counts(database, tables, SOURCE)
        for table, _ in progress.each(tables, lambda table: table.name, weights):
            if old.has(table.name):
                _copy(old, table)
        counts = dict(old.counts())
        old.drop()
    return counts


def _copy(old: OldTables, table: Table) -> None:
    """Copy the columns that the table had; the others get their rows' defaults."""
    had = old.columns(table.name)
    new = [column for column in table.columns if column.name not in had]
    values = ", ".join(c.name if c.name in had else f":{c.name}" for c in table.columns)
    old.database.execute(
        f"INSERT INTO main.{table.name} SELECT {values} FROM {old.place(table.name)} "
        f"ORDER BY {', '.join(table.primary_key)}",
        {column.name: default_of(table, column) for column in new},
    )


def default_of(table: Table, column: Column) -> object:
    """Return the value of a column in the rows of recordings made before it was added.

    Raises
    ------
    DamagedError
        If the row class gives the column no default: then each recording has it.
    """
    default: object = table.default_of(column)
    if default is dataclasses.MISSING:
        raise DamagedError(f"its table {table.name} has no column {column.name}")
    return default


# -- the new recording -------------------------------------------------------------------


def _check(source: Path, part: Path, counts: Mapping[str, int]) -> None:
    """Raise RecordingError unless a written recording is whole and has all rows."""
    database = Database(part)
    try:
        found = [row[0] for row in database.execute("PRAGMA integrity_check")]
        wrong = "" if found == ["ok"] else f"SQLite finds: {'; '.join(map(str, found[:3]))}"
        if database.file != part:
            wrong = wrong or "it has rows that refer to none, or values that cannot be"
        for table, count in counts.items():
            ((has,),) = database.execute(f"SELECT count(*) FROM {table}")
            if has != count:
                wrong = wrong or f"{table} has {has:,} rows of {count:,}"
    finally:
        database.close()
    if wrong:
        raise RecordingError(
            f"{source} is left as it is, for what was made of it is not whole ({wrong}); report it"
        )
