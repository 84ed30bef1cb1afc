"""Tables of an older recording, as upgrade steps have changed them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from gviz.recording.integrity import DamagedError
from gviz.recording.rows import all_tables
from gviz.recording.writer import SOURCE


class OldTables:
    """The tables of a recording that is being upgraded; single use.

    A step puts a temporary table or view in the place of a table. The step after it finds that
    there, and what has gone through all steps is copied.

    Parameters
    ----------
    database
        A connection with the recording attached as ``source``.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        self._places: dict[str, str] = {}
        self._made: list[tuple[str, str]] = []
        self._counts: dict[str, int] = {}
        # A view, whose statement could run for ever, is no table, nor is a virtual one.
        plain = f"SELECT name FROM {SOURCE}.sqlite_master WHERE type = 'table' AND rootpage > 0"
        for (name,) in database.execute(plain):
            self._places[name] = f"{SOURCE}.{name}"

    def has(self, table: str) -> bool:
        """Return whether there is such a table."""
        return table in self._places

    def place(self, table: str) -> str:
        """Return the name in SQL of a table as the steps so far have left it.

        Raises
        ------
        DamagedError
            If there is no such table.
        """
        if table not in self._places:
            raise DamagedError(f"its table {table} is missing")
        return self._places[table]

    def columns(self, table: str) -> set[str]:
        """Return the columns of a table; none: there is no such table."""
        if table not in self._places:
            return set()
        schema, name = self._places[table].split(".")
        return {row[1] for row in self.database.execute(f"PRAGMA {schema}.table_info({name})")}

    def count(self, table: str) -> int:
        """Return how many rows the upgraded table must have."""
        if table in self._counts:
            return self._counts[table]
        found = self.database.execute(f"SELECT count(*) FROM {self.place(table)}").fetchone()
        return int(found[0])

    def make(self, kind: str, name: str, definition: str) -> str:
        """Create a temporary TABLE or VIEW and return its name in SQL; it goes with the upgrade."""
        self.database.execute(f"CREATE TEMP {kind} {name} {definition}")
        self._made.append((kind, name))
        return f"temp.{name}"

    def replace(self, table: str, place: str, count: int) -> None:
        """Put a temporary table or view of ``count`` rows in the place of a table."""
        self._places[table] = place
        self._counts[table] = count

    def counts(self) -> Iterator[tuple[str, int]]:
        """Yield every table of the current schema that there is, with its rows to be."""
        for table in all_tables():
            if self.has(table.name):
                yield table.name, self.count(table.name)

    def drop(self) -> None:
        """Remove what was created."""
        for kind, name in reversed(self._made):
            self.database.execute(f"DROP {kind} temp.{name}")
        self._made.clear()
