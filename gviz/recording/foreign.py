"""SQLite files of other programs: rows of their tables, whatever they claim to be."""

from __future__ import annotations

import contextlib
import sqlite3
import urllib.parse
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from gviz.errors import ImportingError

#: Bytes of a value; longer ones cannot be read. Kernel names have some ten thousand.
MOST_VALUE_BYTES = 16 << 20
#: What a damaged file makes the sqlite3 module raise; its messages may quote what is no UTF-8.
_FAILURES = (sqlite3.Error, OverflowError, UnicodeDecodeError)


class ForeignTables:
    """The tables of an SQLite file, read-only.

    Only plain tables are read: views, virtual tables and generated columns may run
    whatever the file's author liked.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ImportingError
        If it cannot be opened as an SQLite file.
    """

    def __init__(self, path: Path) -> None:
        self._shown = path.name
        try:
            self._db = sqlite3.connect(
                f"file:{urllib.parse.quote(str(path.absolute()))}?mode=ro&immutable=1", uri=True
            )
        except _FAILURES as error:
            raise self._damaged(error) from error
        try:
            self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES)
            self._db.text_factory = lambda raw: raw.decode("utf-8", "replace")
            self._db.execute("PRAGMA trusted_schema=OFF")
            self.columns = dict(self._read_columns())
        except _FAILURES as error:
            self._db.close()
            raise self._damaged(error) from error

    def _read_columns(self) -> Iterator[tuple[str, frozenset[str]]]:
        found = self._db.execute(
            "SELECT name FROM sqlite_master WHERE type='table' "
            "AND sql NOT LIKE 'CREATE VIRTUAL%' AND rootpage > 0"
        ).fetchall()
        for (name,) in found:
            if isinstance(name, str):
                columns = self._db.execute(f"PRAGMA table_info({_quoted(name)})")
                yield name, frozenset(row[1] for row in columns)

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield a table's rows; None for each column that it lacks. No table: no rows.

        Raises
        ------
        ImportingError
            If the file is damaged.
        """
        has = self.columns.get(table)
        if has is None:
            return
        chosen = ", ".join(_quoted(c) if c in has else "NULL" for c in columns)
        try:
            yield from self._db.execute(f"SELECT {chosen} FROM {_quoted(table)}")
        except _FAILURES as error:
            raise self._damaged(error) from error

    def count(self, table: str) -> int:
        """Return about how many rows a table has."""
        if table not in self.columns:
            return 0
        with contextlib.suppress(*_FAILURES):
            found = self._db.execute(f"SELECT max(rowid) FROM {_quoted(table)}").fetchone()
            return found[0] if isinstance(found[0], int) else 0
        return 0

    def _damaged(self, error: Exception) -> ImportingError:
        return ImportingError(
            f"{self._shown} cannot be read as SQLite: {_words(error)}; export or copy it again"
        )

    def __enter__(self) -> ForeignTables:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()


def _words(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return error.object.decode("utf-8", "replace")
    return str(error)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
