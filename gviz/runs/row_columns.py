"""Rows of a table as columns: structured arrays with the names of a row class's fields.

A column of integers is int64, UNKNOWN where the row has None; one of floats has NaN there; texts
and bytes are Python's objects.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.errors import RecordingError
from gviz.recording import table_of
from gviz.stats import UNKNOWN, BoolArray, IntArray

#: A structured array of :func:`row_dtype`.
Rows = npt.NDArray[np.void]

#: CUDA counts priorities down from 0, so that -1 is one: integers of Python, or None.
_SIGNED = frozenset({"priority"})
_CODES = {"INTEGER": "<i8", "REAL": "<f8", "TEXT": "O", "BLOB": "O"}
#: Rows that are Python objects at one time.
_PIECE = 16_384


@cache
def row_dtype(row: type) -> np.dtype[np.void]:
    """Return the columns of a row class of gviz.recording.rows."""
    return np.dtype(
        [
            (column.name, "O" if column.name in _SIGNED else _CODES[column.sql_type])
            for column in table_of(row).columns
        ]
    )


def blank_rows(row: type, count: int, /, **columns: Any) -> Rows:
    """Return ``count`` rows with these columns; the others have their default, or are not known."""
    found = np.empty(count, row_dtype(row))
    for field in dataclasses.fields(row):
        given = columns.pop(field.name, None)
        if given is None and field.default is not dataclasses.MISSING:
            given = field.default
        found[field.name] = _missing(found.dtype[field.name]) if given is None else given
    if columns:
        raise TypeError(f"no such column: {', '.join(columns)}")
    return found


def text_where(chosen: BoolArray, text: str) -> npt.NDArray[np.object_]:
    """Return a column that has a text in the chosen rows, and nothing in the others."""
    found = np.full(len(chosen), None, object)
    found[chosen] = text
    return found


def shape_columns(grid: IntArray, block: IntArray) -> dict[str, IntArray]:
    """Return the columns of launch shapes, ``grid_x`` and so on; grid and block are (n, 3)."""
    return {
        f"{name}_{axis}": column
        for name, shape in (("grid", grid), ("block", block))
        for axis, column in zip("xyz", shape.T, strict=True)
    }


def integers(values: Iterable[int]) -> IntArray:
    """Return numbers of Python as a column.

    Raises
    ------
    RecordingError
        If one has more than 63 bits, which no record of a sound driver has.
    """
    try:
        return np.fromiter(values, np.int64)
    except OverflowError as error:
        raise RecordingError(
            f"a number cannot be stored ({error}); what it was read from is damaged"
        ) from error


def _missing(dtype: np.dtype[Any]) -> Any:
    return {"i": UNKNOWN, "f": np.nan, "O": None}[dtype.kind]


def row_values(row: type, rows: Rows) -> Iterator[tuple[Any, ...]]:
    """Yield the values of rows that are columns, for RecordingWriter.insert_tuples."""
    columns = table_of(row).columns
    nullable = {column.name: column.nullable for column in columns}
    for first in range(0, len(rows), _PIECE):
        piece = rows[first : first + _PIECE]
        yield from zip(
            *(
                _nullable_values(piece[name]) if can_be_null else piece[name].tolist()
                for name, can_be_null in nullable.items()
            ),
            strict=True,
        )


def _nullable_values(column: npt.NDArray[Any]) -> list[Any]:
    """Return a column's values, None for those that are not known."""
    values: list[Any] = column.tolist()
    if column.dtype.kind == "O":
        return values
    missing = np.isnan(column) if column.dtype.kind == "f" else column == UNKNOWN
    if missing.any():
        for at in np.flatnonzero(missing).tolist():
            values[at] = None
    return values
