"""Sound values, rows and references, as conditions of SQL; and whether a file has only such.

A row is sound if its values are what the schema says, and the rows that it refers to are there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import sqlite3
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from gviz.recording import rows
from gviz.recording.connection import open_immutable
from gviz.recording.row_counts import row_counts
from gviz.recording.rows import Column, Table, all_tables, table_of, value_range
from gviz.system import NO_PROGRESS, Progress

_STORED_AS = {
    "INTEGER": ("integer",), "REAL": ("real", "integer"), "TEXT": ("text",), "BLOB": ("blob",),
}  # fmt: skip
#: Stacks, lines and ranges may be missing of a program that was killed: then they are not shown,
#: and the analysis reports it.
_MAY_BE_MISSING = frozenset({"stack", "location", "nvtx_path"})
#: Tables whose rows stand under others of the same table, by the column that names these.
TREES: Mapping[str, str] = MappingProxyType({"graph": "parent_graph_id", "nvtx_path": "parent_id"})
#: Rows of these are looked for by what they refer to, so one that refers to nothing is not found;
#: they may have millions, which would have to be read.
_LOOKED_UP = frozenset({"span", "argument", "stream_operation", "launch_bin", "node_statistics"})
#: The most rows of table span that are looked at when a file is opened: half a second of work. Of
#: more they are checked as they are read.
_MOST_SPANS = 2_000_000
_LARGEST = 2**63 - 1


def sound_value(column: Column) -> str:
    """Return the condition that a value, not NULL, is one that a column can hold."""
    name = column.name
    kinds = ", ".join(f"'{kind}'" for kind in _STORED_AS[column.sql_type])
    parts = [f"typeof({name}) IN ({kinds})"]
    limits = value_range(column)
    if limits is not None:
        parts.append(f"{name} BETWEEN {limits[0]} AND {limits[1]}")
    elif column.sql_type == "REAL":
        parts.append(f"abs({name}) <= 1.7976931348623157e308")
    return f"({' AND '.join(parts)})"


def default_sql(table: Table, column: Column) -> str | None:
    """Return what stands for a value that is not known, in SQL; None: the row needs its value."""
    if column.nullable:
        return "NULL"
    default = table.default_of(column)
    if default is dataclasses.MISSING:
        return None
    return f"'{default}'" if isinstance(default, str) else str(default)


def references(table: Table) -> Iterator[tuple[Column, Table]]:
    """Yield the columns whose numbers are rows of a table that must be there, with that table."""
    by_name = _by_name()
    for column in table.columns:
        target = by_name.get(column.key) if column.key is not None else None
        if target is None or target.name in _MAY_BE_MISSING:
            continue
        if not (table is target and table.primary_key == (column.name,)):
            yield column, target


def refers_to_nodes(table: Table) -> bool:
    """Return whether each row of a table is of a node: that of its graph_id and node_id."""
    needed = {column.name for column in table.columns if not column.nullable}
    return table is not table_of(rows.Node) and {"graph_id", "node_id"} <= needed


def node_there(schema: str) -> str:
    """Return the condition that the node of a row is in a database.

    Recordings of older schemas have negative numbers for nodes that nobody knew.
    """
    found = f"SELECT graph_id, node_id FROM {schema}.{table_of(rows.Node).name}"
    return f"(node_id < 0 OR (graph_id, node_id) IN ({found}))"


@cache
def _by_name() -> Mapping[str, Table]:
    return {each.name: each for each in all_tables()}


def is_sound_file(path: Path, progress: Progress = NO_PROGRESS) -> bool:
    """Return whether a file has every table, and sound rows only.

    A file with very many spans is sound whatever their values are: those are checked as they are
    read.

    Parameters
    ----------
    progress
        Told the share of the rows that was looked at.
    """
    progress.at(0.0, path.name)
    try:
        with contextlib.closing(open_immutable(path)) as database:
            return _is_sound(database, progress, path.name)
    except (sqlite3.Error, UnicodeDecodeError):
        return False


def has_unchecked_spans(database: sqlite3.Connection) -> bool:
    """Return whether a file has so many spans that they were not looked at when it was opened."""
    looked_for = f"SELECT 1 FROM {table_of(rows.Span).name} LIMIT 1 OFFSET {_MOST_SPANS}"
    return database.execute(looked_for).fetchone() is not None


def _is_sound(database: sqlite3.Connection, progress: Progress, name: str) -> bool:
    had: dict[str, set[str]] = {}
    for has, column in database.execute(
        "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c "
        "WHERE m.type = 'table'"
    ).fetchall():
        had.setdefault(has, set()).add(column)
    # A view, whose statement could run for ever, is no table.
    if not all({c.name for c in t.columns} <= had.get(t.name, set()) for t in all_tables()):
        return False
    tables = list(_filled_tables(database))
    if not tables:
        return True
    steps = progress.steps(row_counts(database, tables), name)
    return all(steps.run(_is_table_sound, database, table) for table in tables)


def _filled_tables(database: sqlite3.Connection) -> Iterator[Table]:
    """Yield the tables that have rows: of most recordings they are a third.

    To look for a row in all takes one statement; to find an empty table sound takes several, which
    SQLite has to compile, longer than reading a small recording.
    """
    (found,) = database.execute(_any_rows()).fetchall()
    yield from itertools.compress(all_tables(), found)


@cache
def _any_rows() -> str:
    looks = (f"EXISTS (SELECT 1 FROM {table.name} NOT INDEXED)" for table in all_tables())
    return f"SELECT {', '.join(looks)}"


def _is_table_sound(database: sqlite3.Connection, table: Table) -> bool:
    if table is table_of(rows.Span) and _count(database, table, "1") > _MOST_SPANS:
        return True
    # An index would give its own entries.
    if _count(database, table, _is_unsound(table.row)):
        return False
    if not _is_text_readable(database, table):
        return False
    if table.name not in _LOOKED_UP:
        for column, target in references(table):
            there = f"SELECT {target.primary_key[0]} FROM {target.name}"
            name = column.name
            if _count(database, table, f"{name} IS NOT NULL AND {name} NOT IN ({there})"):
                return False
        if refers_to_nodes(table) and _count(database, table, f"NOT {node_there('main')}"):
            return False
    if len(table.primary_key) == 1:
        # Unique, unless the file is damaged or something else wrote it.
        key = table.primary_key[0]
        ((count, different),) = database.execute(
            f"SELECT count(*), count(DISTINCT {key}) FROM {table.name} NOT INDEXED"
        )
        if count != different:
            return False
    return table.name not in TREES or not unrooted(database, table)


@cache
def _is_unsound(row: type) -> str:
    """Return the condition of rows of a table that are not sound."""
    return f"({' AND '.join(_quick_conditions(table_of(row)))}) IS NOT 1"


def _quick_conditions(table: Table) -> Iterator[str]:
    """Yield conditions of sound rows; a few sound ones may not meet them.

    The type of a sum takes a fifth of the time of the types of its parts. A number too large for
    its sum makes that no integer: such a file is looked at row by row.
    """
    whole = [c for c in table.columns if c.sql_type == "INTEGER" and not c.nullable]
    if whole:
        yield f"typeof({' + '.join(c.name for c in whole)}) = 'integer'"
    for column in table.columns:
        name = column.name
        if column in whole:
            # What is larger than any number is text or bytes.
            least, most = value_range(column) or (-_LARGEST - 1, _LARGEST)
            yield f"{name} BETWEEN {least} AND {most}"
        elif column.nullable:
            yield f"({name} IS NULL OR {sound_value(column)})"
        else:
            yield sound_value(column)


def _count(database: sqlite3.Connection, table: Table, condition: str) -> int:
    found = database.execute(f"SELECT count(*) FROM {table.name} NOT INDEXED WHERE {condition}")
    return int(found.fetchone()[0])


def _is_text_readable(database: sqlite3.Connection, table: Table) -> bool:
    """Return whether all text of a table is UTF-8."""
    texts = [c.name for c in table.columns if c.sql_type == "TEXT"]
    if not texts:
        return True
    joined = ", ".join(f"group_concat({name}, '')" for name in texts)
    try:
        database.execute(f"SELECT {joined} FROM {table.name} NOT INDEXED").fetchone()
    except (sqlite3.OperationalError, UnicodeDecodeError):
        return False
    return True


def unrooted(database: sqlite3.Connection, table: Table) -> list[int]:
    """Return the rows of a tree that contain themselves, or lie in one that is not there."""
    name, own, parent = f"main.{table.name}", table.primary_key[0], TREES[table.name]
    found = database.execute(
        f"WITH RECURSIVE reached(id) AS (SELECT {own} FROM {name} WHERE {parent} IS NULL UNION "
        f"SELECT {own} FROM {name} JOIN reached ON {parent} = reached.id) "
        f"SELECT {own} FROM {name} WHERE {own} NOT IN (SELECT id FROM reached)"
    )
    return [number for (number,) in found.fetchall()]
