"""Integrity of a file that says it is a recording: tables, references, values.

A file is checked when it is opened, so that what reads it may rely on it: every table is there
with its columns and is no view (whose statement could run for ever), what is referred to by number
is there, and bodies and ranges do not contain themselves. Values are checked as they are read, and
before a written file gets its name: gviz writes nothing that it refuses.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gviz.errors import RecordingError
from gviz.recording.rows import Column, Table, all_tables, value_range

_TYPES = {"INTEGER": (int,), "REAL": (float, int), "TEXT": (str,), "BLOB": (bytes,)}
_WORDS = {"INTEGER": "whole number", "REAL": "number", "TEXT": "text", "BLOB": "bytes"}
#: Rows of these are looked for by what they refer to, so one that refers to nothing is not found;
#: they may have millions, which would have to be read.
_LOOKED_UP = frozenset({"span", "argument", "stream_operation", "launch_bin", "node_statistics"})
#: Stacks, lines and ranges may be missing of a program that was killed: then they are not shown,
#: and the analysis reports it.
_MAY_BE_MISSING = frozenset({"stack", "location", "nvtx_path"})
#: Tables of few rows, which are looked for by their number: SQLite keeps it unique, unless the file
#: is damaged or something else wrote it.
_NUMBERED = (("run", "run_id"), ("graph", "graph_id"))
#: Tables whose rows stand under others of the same table.
_TREES = (("graph", "graph_id", "parent_graph_id"), ("nvtx_path", "nvtx_path_id", "parent_id"))
#: Versions of files found whole: the viewer opens a file in each thread.
_MOST_KNOWN = 256
_known: dict[tuple[int, ...], None] = {}


class DamagedError(RecordingError):
    """A recording holds what gviz does not write.

    Parameters
    ----------
    what
        What is wrong, in words.
    """

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the recording is damaged: {what}; copy it again from its origin, or record again"
        )
        self.what = what


def file_version(path: Path) -> tuple[int, ...]:
    """Return what identifies a file and its state; OSError: it is gone.

    Device, inode, size in bytes, times of change of content and of entry (ns).
    """
    status = path.stat()
    return (
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
    )  # fmt: skip


def check_integrity(path: Path, database: sqlite3.Connection) -> None:
    """Raise DamagedError (or sqlite3.Error) unless a file's tables and references are whole."""
    version = file_version(path)
    if version in _known:
        return
    _check_tables(database)
    for table, column, target in _references():
        _check_reference(database, table, column, target)
    for name, own in _NUMBERED:
        _check_numbers(database, name, own)
    for name, own, parent in _TREES:
        _check_tree(database, name, own, parent)
    while len(_known) >= _MOST_KNOWN:
        _known.pop(next(iter(_known)), None)
    _known[version] = None


def check_rows(table: Table, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Raise DamagedError unless the values of some columns are what the schema says.

    Parameters
    ----------
    table
        Whose rows they are.
    names
        Its columns, in the order of the values of each row.
    rows
        The rows.
    """
    known = {c.name: c for c in table.columns}
    for name, values in zip(names, zip(*rows, strict=True), strict=False):
        check_values(table, known[name], values)


def check_values(table: Table, column: Column, values: Sequence[Any]) -> None:
    """Raise DamagedError unless the values of a column are what the schema says."""
    kinds = set(map(type, values))
    has_nulls = column.nullable and type(None) in kinds
    if has_nulls:
        kinds.discard(type(None))
    if not kinds <= {*_TYPES[column.sql_type]}:
        odd = next(v for v in values if type(v) in kinds - {*_TYPES[column.sql_type]})
        raise _odd(table, column, odd)
    limits = value_range(column)
    if not kinds or (limits is None and column.sql_type != "REAL"):
        return
    known = [value for value in values if value is not None] if has_nulls else values
    if column.sql_type == "REAL" and not all(map(math.isfinite, known)):
        raise _odd(table, column, next(v for v in known if not math.isfinite(v)))
    if limits is not None:
        check_extremes(table, column, min(known), max(known))


def check_extremes(table: Table, column: Column, least: float, most: float) -> None:
    """Raise DamagedError if a column of numbers cannot hold these, its extremes."""
    limits = value_range(column)
    if limits is not None and not limits[0] <= least <= most <= limits[1]:
        raise _odd(table, column, most if most > limits[1] else least)


def check_written(database: sqlite3.Connection) -> None:
    """Raise DamagedError if a file that is being written holds numbers that its reader refuses.

    Spans are left out: there may be millions, and what they are made of was checked.
    """
    for table in all_tables():
        columns = [c for c in table.columns if value_range(c) is not None]
        if table.name == "span" or not columns:
            continue
        aggregates = ", ".join(f"min({c.name}), max({c.name})" for c in columns)
        (found,) = database.execute(f"SELECT {aggregates} FROM {table.name}").fetchall()
        for column, least, most in zip(columns, found[::2], found[1::2], strict=True):
            check_values(table, column, [v for v in (least, most) if v is not None])


# -- inner -------------------------------------------------------------------------------


def _odd(table: Table, column: Column, value: object) -> DamagedError:
    shown = repr(value)
    shown = shown if len(shown) <= 40 else shown[:40] + "…"
    if value is None:
        return DamagedError(f"{table.name}.{column.name} has a row without a value")
    is_right = type(value) in _TYPES[column.sql_type]
    no = "cannot be" if is_right else f"is no {_WORDS[column.sql_type]}"
    return DamagedError(f"{table.name}.{column.name} holds {shown}, which {no}")


def _check_tables(database: sqlite3.Connection) -> None:
    found = database.execute(
        "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c "
        "WHERE m.type = 'table'"
    ).fetchall()
    had: dict[str, set[str]] = {}
    for table, column in found:
        had.setdefault(table, set()).add(column)
    for wanted in all_tables():
        if wanted.name not in had:
            raise DamagedError(f"it has no table {wanted.name}")
        missing = [c.name for c in wanted.columns if c.name not in had[wanted.name]]
        if missing:
            raise DamagedError(f"table {wanted.name} has no {', '.join(missing)}")


def _references() -> Iterator[tuple[Table, Column, Table]]:
    """Yield the columns whose numbers are rows of another table, with that table."""
    by_name = {table.name: table for table in all_tables()}
    for table in all_tables():
        for column in table.columns:
            target = by_name.get(column.key) if column.key is not None else None
            is_own = table is target and table.primary_key == (column.name,)
            if target is None or is_own or target.name in _MAY_BE_MISSING:
                continue
            if table.name not in _LOOKED_UP:
                yield table, column, target


def _check_reference(
    database: sqlite3.Connection, table: Table, column: Column, target: Table
) -> None:
    key = target.primary_key[0]
    found = database.execute(
        f"SELECT {column.name} FROM {table.name} WHERE {column.name} IS NOT NULL "
        f"AND {column.name} NOT IN (SELECT {key} FROM {target.name}) LIMIT 1"
    ).fetchone()
    if found is not None:
        raise DamagedError(
            f"a row of {table.name} refers to {target.name} {found[0]!r:.40}, which is not there"
        )


def _check_numbers(database: sqlite3.Connection, name: str, own: str) -> None:
    seen = set()
    # An index would give its own entries.
    for (number,) in database.execute(f"SELECT {own} FROM {name} NOT INDEXED"):
        if number in seen:
            raise DamagedError(f"{name} {number!r:.40} is there twice")
        seen.add(number)


def _check_tree(database: sqlite3.Connection, name: str, own: str, parent: str) -> None:
    found = database.execute(
        f"WITH RECURSIVE reached(id) AS (SELECT {own} FROM {name} WHERE {parent} IS NULL UNION ALL "
        f"SELECT {own} FROM {name} JOIN reached ON {parent} = reached.id) "
        f"SELECT {own} FROM {name} WHERE {own} NOT IN (SELECT id FROM reached) LIMIT 1"
    ).fetchone()
    if found is not None:
        raise DamagedError(
            f"{name} {found[0]!r:.40} contains itself, or lies in one that is not there"
        )
