"""About how many rows tables have: weights of work on them, for its progress."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence

from gviz.recording.rows import Table


def row_counts(
    database: sqlite3.Connection, tables: Sequence[Table], schema: str = "main"
) -> list[float]:
    """Return about how many rows tables have, as counted when the file was written; at least 1.

    Counts that are missing or damaged make no file unsound: they are for the progress alone.
    """
    names = ", ".join(f"'{table.name}'" for table in tables)
    # UnicodeDecodeError: SQLite's message may quote what is no text.
    with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
        counted = dict(
            database.execute(
                "SELECT tbl, max(1.0, min(1e12, max(CAST(stat AS INTEGER)))) "
                f"FROM {schema}.sqlite_stat1 WHERE tbl IN ({names}) GROUP BY tbl"
            ).fetchall()
        )
        return [counted.get(table.name) or 1.0 for table in tables]
    return [1.0] * len(tables)
