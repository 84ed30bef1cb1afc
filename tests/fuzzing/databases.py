"""SQLite files that are valid and hold what no honest program writes."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random

#: Values of columns: extremes, wrong types, nothing.
VALUES = (
    None, 0, 1, -1, 2, 3, 7, 100, 255, 1 << 31, (1 << 31) - 1, -(1 << 31), 1 << 32, 1 << 53,
    (1 << 63) - 1, -(1 << 63), 1_790_000_000_000_000_000, 0.5, -0.5, 1e308, -1e308, float("inf"),
    float("-inf"), "", "1",
    "12abc", "NaN", "x" * 5_000, "\x00", "a\x00b", "\u202e<b>", "{", "[1,2", b"", b"\x00\xff\xfe",
    bytes(40),
)  # fmt: skip


class Database:
    """The tables of an open file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        found = connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        self.tables = [name for (name,) in found if not name.startswith("sqlite_")]
        self.full = [t for t in self.tables if self._has_rows(t)]

    def _has_rows(self, table: str) -> bool:
        return bool(self.connection.execute(f"SELECT EXISTS (SELECT 1 FROM {table})").fetchone()[0])

    def columns(self, table: str) -> list[str]:
        return [row[1] for row in self.connection.execute(f"PRAGMA table_info({table})")]

    def some_rows(self, random: Random, table: str) -> str:
        """Return a condition that one row or all meet."""
        ((count,),) = self.connection.execute(f"SELECT count(*) FROM {table}")
        columns = ", ".join(self.columns(table))
        one = f"SELECT {columns} FROM {table} LIMIT 1 OFFSET {random.randrange(count)}"
        return random.choice((f"({columns}) IN ({one})", f"({columns}) IN ({one})", "1"))


def set_value(random: Random, db: Database) -> None:
    """Set a column to an odd value."""
    table = random.choice(db.full)
    column, value = random.choice(db.columns(table)), random.choice(VALUES)
    where = db.some_rows(random, table)
    db.connection.execute(f"UPDATE OR REPLACE {table} SET {column}=? WHERE {where}", (value,))


def set_from_other(random: Random, db: Database) -> None:
    """Set a column to the value of another one, so that ids mean other rows or none."""
    table = random.choice(db.full)
    columns = db.columns(table)
    ids = [c for c in columns if c.endswith(("_id", "_node", "_ns"))] or columns
    column = random.choice(ids)
    value = random.choice(
        (random.choice(ids), f"{column} + 1", f"{column} - 1", f"-{column}", f"{column} * 1000003")
    )
    where = db.some_rows(random, table)
    db.connection.execute(f"UPDATE OR REPLACE {table} SET {column}={value} WHERE {where}")


def delete_rows(random: Random, db: Database) -> None:
    """Delete rows that others refer to."""
    table = random.choice(db.full)
    where = db.some_rows(random, table)
    db.connection.execute(f"DELETE FROM {table} WHERE {where}")


def add_rows(random: Random, db: Database) -> None:
    """Add rows that are like others but for one column."""
    table = random.choice(db.full)
    columns = db.columns(table)
    column = random.choice(columns)
    value = random.choice(("?", f"{column} + 1", f"{column} + 1000"))
    chosen = ", ".join(value if c == column else c for c in columns)
    parameters = (random.choice(VALUES),) if value == "?" else ()
    db.connection.execute(
        f"INSERT OR IGNORE INTO {table} SELECT {chosen} FROM {table} LIMIT 50", parameters
    )


def add_cycle(random: Random, db: Database) -> None:
    """Make graphs, ranges or dependencies contain themselves."""
    statement = random.choice(
        (
            "UPDATE graph SET parent_graph_id = graph_id, parent_node_id = 1001",
            "UPDATE graph SET parent_graph_id = (SELECT max(graph_id) FROM graph)",
            "UPDATE nvtx_path SET parent_id = nvtx_path_id",
            "UPDATE nvtx_path SET parent_id = (SELECT max(nvtx_path_id) FROM nvtx_path)",
            "INSERT OR IGNORE INTO edge SELECT topology_id, to_node, from_node, 0, 0, 0 FROM edge",
            "UPDATE OR IGNORE edge SET to_node = from_node",
        )
    )
    db.connection.execute(statement)


def change_schema(random: Random, db: Database) -> None:
    """Drop or rename a table or column, or put a view in a table's place."""
    table = random.choice(db.tables)
    column = random.choice(db.columns(table))
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
    named = ", ".join(f"x AS {c}" for c in db.columns(table))
    statements = random.choice(
        (
            (f"DROP TABLE {table}",),
            (f"ALTER TABLE {table} RENAME TO other",),
            (f"ALTER TABLE {table} DROP COLUMN {column}",),
            (f"ALTER TABLE {table} RENAME COLUMN {column} TO other",),
            (f"ALTER TABLE {table} RENAME TO other", f"CREATE VIEW {table} AS SELECT * FROM other"),
            (f"DROP TABLE {table}", f"CREATE VIEW {table} AS {endless} SELECT {named} FROM n"),
            (
                f"CREATE TABLE copy AS SELECT * FROM {table}",
                f"DROP TABLE {table}",
                f"ALTER TABLE copy RENAME TO {table}",
            ),
            (f"PRAGMA user_version = {random.choice((-1, 0, 1, 3, 5, 1 << 30))}",),
            ("PRAGMA application_id = 1",),
            ("PRAGMA journal_mode = WAL",),
        )
    )  # fmt: skip
    for statement in statements:
        db.connection.execute(statement)


CHANGES: tuple[Callable[[Random, Database], None], ...] = (
    set_value, set_value, set_value, set_value, set_from_other, set_from_other, delete_rows,
    add_rows, add_cycle, change_schema,
)  # fmt: skip


def mutate_database(random: Random, path: Path) -> None:
    """Change rows or tables of a file in place, one to four times."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA legacy_alter_table = ON")  # whatever views name
        for _ in range(random.choice((1, 1, 2, 4))):
            # A change that cannot be made is left out, the others are made.
            with contextlib.suppress(sqlite3.Error, OverflowError, IndexError):
                random.choice(CHANGES)(random, Database(connection))
    finally:
        connection.close()
