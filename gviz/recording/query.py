"""Queries of a reader's own on a recording: read only, bounded, and without a way out of it."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from gviz.dataclass import dataclass
from gviz.errors import UsageError
from gviz.recording.connection import open_to_read
from gviz.recording.identity import check_kind
from gviz.recording.integrity import DamagedError
from gviz.recording.rows import VIEWS, Span, all_tables, table_of
from gviz.recording.salvage import has_unchecked_spans, mark_damaged, sound_file
from gviz.text import nearest, words

#: What a statement may do; functions that load code or files are not among those of Python's SQLite
#: unless they are enabled, and are refused by name besides.
_ALLOWED = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    }
)
_REFUSED_FUNCTION = "load_extension"
#: Longest text or blob that a query may make, in bytes.
_MOST_BYTES = 100_000_000
#: Steps of SQLite's machine between two looks at the clock: some milliseconds.
_STEPS = 100_000
_UNKNOWN = re.compile(r"no such (?:table|column): (?:\w+\.)?(\w+)")


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows that a query found.

    Attributes
    ----------
    columns
        Their names, as the query has them.
    rows
        Values as SQLite has them: None, int, float, str or bytes.
    is_cut
        Whether there are more rows than were wanted.
    reads_unchecked
        Whether it read spans of a file that has too many to look at all when it is opened: what is
        damaged of them is among what the query read.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    is_cut: bool
    reads_unchecked: bool = False


def run_query(
    path: Path,
    sql: str,
    *,
    most_rows: int | None,
    seconds: float,
) -> QueryResult:
    """Return the rows of one SELECT on the tables and views of a recording.

    Parameters
    ----------
    most_rows
        So many rows at most; None: all.
    seconds
        After so long the query is given up.

    Raises
    ------
    UsageError
        If the statement is no query, is wrong, or takes longer.
    RecordingError
        If the file is no recording, or cannot be read.
    """
    check_kind(path)
    try:
        return _run(path, sql, most_rows, seconds)
    except DamagedError:
        mark_damaged(path)
    try:
        return _run(path, sql, most_rows, seconds)
    except DamagedError as error:
        raise _wrong(str(error)) from error


def _run(path: Path, sql: str, most_rows: int | None, seconds: float) -> QueryResult:
    sound, read = sound_file(path), set[str | None]()

    def authorize(action: int, first: str | None, second: str | None, *where: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            read.add(first)
        return _authorize(action, second)

    with closing(open_to_read(sound, path)) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
        connection.set_authorizer(authorize)
        end = time.monotonic() + seconds

        connection.set_progress_handler(lambda: time.monotonic() >= end, _STEPS)
        try:
            found = connection.execute(sql)
            rows = found.fetchall() if most_rows is None else found.fetchmany(most_rows + 1)
        except sqlite3.OperationalError as error:
            if time.monotonic() > end:
                raise UsageError(
                    f"the query took longer than {seconds:g} s; give --seconds, or ask for less"
                ) from error
            raise _wrong(str(error)) from error
        except sqlite3.DatabaseError as error:
            if type(error) is sqlite3.DatabaseError and "malformed" in str(error):
                raise DamagedError(str(error)) from error
            raise _wrong(str(error)) from error
        except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as error:
            raise _wrong(str(error)) from error
        columns = tuple(column[0] for column in found.description or ())
        connection.set_progress_handler(None, 0)
        reads_spans = table_of(Span).name in read and sound == path
        reads_unchecked = reads_spans and has_unchecked_spans(connection)
    if not columns:
        raise _wrong("it is empty")
    shown = rows if most_rows is None else rows[:most_rows]
    return QueryResult(columns, tuple(shown), len(shown) < len(rows), reads_unchecked)


def queried_columns() -> dict[str, tuple[str, ...]]:
    """Return the columns of everything that can be queried: first the views, then the tables."""
    views = {view.name: tuple(name for name, _ in view.columns) for view in VIEWS}
    tables = {table.name: tuple(column.name for column in table.columns) for table in all_tables()}
    return views | tables


def column_meanings(sql: str, columns: Sequence[str]) -> dict[str, str]:
    """Return what the schema says of a query's columns: of those of tables and views that it names.

    Parameters
    ----------
    columns
        Of its result. One that none of them has is missing: the query computes or renames it.
    """
    views = {view.name: dict(view.columns) for view in VIEWS}
    tables = {
        table.name: {column.name: column.doc for column in table.columns} for table in all_tables()
    }
    return described_columns(views | tables, sql, columns)


def described_columns(
    described: Mapping[str, Mapping[str, str]], sql: str, columns: Sequence[str]
) -> dict[str, str]:
    """Return the meanings of a query's columns in the first view or table it names that has each.

    Parameters
    ----------
    described
        Meanings of columns, by the name of a view or table.
    """
    named = words(sql)
    found: dict[str, str] = {}
    for name, meanings in described.items():
        for column in columns if name in named else ():
            if column in meanings:
                found.setdefault(column, f"{name}: {meanings[column]}")
    return found


def _authorize(action: int, second: str | None) -> int:
    refused = action not in _ALLOWED or (second or "").lower() == _REFUSED_FUNCTION
    return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK


def _wrong(why: str) -> UsageError:
    if any(word in why for word in ("not authorized", "authorization", "prohibited")):
        why = "recordings are only read: it may be one SELECT and nothing else"
    unknown = _UNKNOWN.match(why)
    if unknown:
        known = queried_columns()
        columns = () if "no such table" in why else (c for table in known.values() for c in table)
        names = [*known, *columns]
        near = nearest(unknown[1], names)
        # It may be there, and not in what the query names.
        why += f" (did you mean {near}?)" if near and near != unknown[1] else ""
    return UsageError(
        f"the query cannot be run: {why}; without SQL, 'gviz query' lists what there is"
    )
