"""Raw rows of a damaged recording: all that can be read of it, whatever it is."""

from __future__ import annotations

import contextlib
import dataclasses
import mmap
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from gviz.recording.connection import open_to_read
from gviz.recording.row_counts import row_counts
from gviz.recording.rows import Table, all_tables, create_sql
from gviz.recording.salvage.pages import Pages, Value, text_or_bytes
from gviz.recording.salvage.soundness import default_sql
from gviz.system import NO_PROGRESS, Progress

#: Rows written at once.
_AT_ONCE = 10_000
#: Share of a table's time in which SQLite reads it; where it cannot, the pages are read one by one.
_BY_SQLITE = 0.1
#: What SQLite, and Python's decoding of its values, raise for a damaged file.
_FAILURES = (sqlite3.Error, UnicodeDecodeError, OverflowError)


def write_raw_rows(
    path: Path, output: Path, *, is_older: bool = False, progress: Progress = NO_PROGRESS
) -> Counter[str]:
    """Write the tables of a recording, as far as they can be read, without types or keys.

    Parameters
    ----------
    path
        The recording.
    output
        Where an SQLite file with tables of the same names is made.
    is_older
        Whether it has an older schema: tables that it lacks are empty, columns have defaults.
    progress
        Told the share of the rows that were read.

    Returns
    -------
    Counter
        How many pages, tables and columns could not be read, by these nouns.

    Raises
    ------
    RecordingError
        If the recording cannot be opened.
    """
    unreadable: Counter[str] = Counter()
    source = open_to_read(path, path)
    # Text that is no UTF-8 is read as bytes.
    source.text_factory = text_or_bytes
    database = sqlite3.connect(output, isolation_level=None)
    with contextlib.closing(source), contextlib.closing(database), _mapped(path) as data:
        database.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;")
        pages = Pages(data)
        tables = list(all_tables())
        counts = row_counts(source, tables)
        each = progress.each(tables, lambda table: table.name, counts)
        for (table, part), count in zip(each, counts, strict=True):
            by_sqlite, by_pages = part.part(0.0, _BY_SQLITE), part.part(_BY_SQLITE, 1.0)
            columns = ", ".join(c.name for c in table.columns)
            database.execute(f"CREATE TABLE {table.name} ({columns})")
            if is_older and _columns_of(source, table) == []:
                continue
            database.execute("BEGIN")
            try:
                found = _rows_by_sqlite(source, table, unreadable, is_older)
                _insert(database, table, found, count, by_sqlite)
            except _FAILURES:
                database.execute("COMMIT")
                database.execute(f"DELETE FROM {table.name}")
                database.execute("BEGIN")
                found = _rows_by_pages(source, pages, table, unreadable, is_older)
                _insert(database, table, found, count, by_pages)
            database.execute("COMMIT")
        unreadable["page"] = len(pages.unreadable)
    return +unreadable


@contextlib.contextmanager
def _mapped(path: Path) -> Iterator[mmap.mmap]:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data


def _insert(
    database: sqlite3.Connection,
    table: Table,
    rows: Iterable[tuple[Value, ...]],
    count: float,
    progress: Progress,
) -> None:
    """Insert rows, of which there are about so many."""
    marks = ", ".join("?" * len(table.columns))
    iterator = iter(rows)
    done = 0
    while part := list(islice(iterator, _AT_ONCE)):
        database.executemany(f"INSERT INTO {table.name} VALUES ({marks})", part)
        done += len(part)
        progress.at(min(1.0, done / count), table.name)


def _rows_by_sqlite(
    source: sqlite3.Connection, table: Table, unreadable: Counter[str], is_older: bool
) -> Iterator[tuple[Value, ...]]:
    """Yield the rows of a table; columns that it lacks are NULL. sqlite3.Error: it is damaged."""
    found = _columns(source, table)
    missing = [c for c in table.columns if c.name not in found]
    if len(missing) == len(table.columns):
        raise sqlite3.DatabaseError(f"no table {table.name}")
    unreadable["column"] += 0 if is_older else len(missing)
    absent = {c.name: (default_sql(table, c) if is_older else None) or "NULL" for c in missing}
    chosen = ", ".join(absent.get(c.name, c.name) for c in table.columns)
    yield from source.execute(f"SELECT {chosen} FROM {table.name} NOT INDEXED")


def _rows_by_pages(
    source: sqlite3.Connection,
    pages: Pages,
    table: Table,
    unreadable: Counter[str],
    is_older: bool,
) -> Iterator[tuple[Value, ...]]:
    root = _root_page(source, table)
    # Of an older schema the file alone knows the order of columns.
    names = _columns_of(source, table) if is_older else [c.name for c in table.columns]
    if root is None or not names:
        unreadable["table"] += 1
        return
    has_rowid = not table.without_rowid
    key = table.primary_key
    # Tables without rowid are stored by their key.
    stored = names if has_rowid else [*key, *(name for name in names if name not in key)]
    defaults = {c.name: table.default_of(c) for c in table.columns}
    absent = {n: None if d is dataclasses.MISSING else d for n, d in defaults.items()}
    for row in pages.rows(root, len(names), has_rowid=has_rowid):
        values = absent | dict(zip(stored, row.values, strict=True))
        if has_rowid and len(key) == 1:
            values[key[0]] = row.rowid
        yield tuple(values[c.name] for c in table.columns)


def _columns_of(source: sqlite3.Connection, table: Table) -> list[str] | None:
    """Return a table's columns in a file; none: it has no such table; None: it cannot be told."""
    try:
        return _columns(source, table)
    except _FAILURES:
        return None


def _columns(source: sqlite3.Connection, table: Table) -> list[str]:
    found = source.execute(
        "SELECT c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c "
        "WHERE m.type = 'table' AND m.name = ? ORDER BY c.cid", (table.name,)
    ).fetchall()  # fmt: skip
    return [str(name) for (name,) in found]


def _root_page(source: sqlite3.Connection, table: Table) -> int | None:
    """Return a table's first page: as the file says, else as gviz lays new files out.

    None: the file has no such table.
    """
    sql = "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?"
    try:
        found = source.execute(sql, (table.name,)).fetchone()
    except _FAILURES:
        with contextlib.closing(sqlite3.connect(":memory:")) as database:
            database.executescript(create_sql())
            found = database.execute(sql, (table.name,)).fetchone()
    return found[0] if found is not None and isinstance(found[0], int) else None
