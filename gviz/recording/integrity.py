"""Values of a recording: what the schema says of each, checked as they are read and written.

What a file lacks, or has damaged, is left out when it is opened (:mod:`gviz.recording.salvage`);
gviz writes nothing that it would leave out.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gviz.errors import RecordingError
from gviz.recording.rows import Column, Table, all_tables, value_range

_TYPES = {"INTEGER": (int,), "REAL": (float, int), "TEXT": (str,), "BLOB": (bytes,)}
_WORDS = {"INTEGER": "whole number", "REAL": "number", "TEXT": "text", "BLOB": "bytes"}


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
