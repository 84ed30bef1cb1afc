"""Tables described by row classes: one source for the schema, its documentation and its rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

from gviz.dataclass import dataclass, deferred

_T = TypeVar("_T")

#: By the annotations of row classes, which are texts: to evaluate them takes a tenth of the import.
_SQL_TYPES = {"int": "INTEGER", "str": "TEXT", "float": "REAL", "bytes": "BLOB"}


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its SQL name and type, whether it may be NULL, and what it means."""

    name: str
    sql_type: str
    nullable: bool
    doc: str
    #: The table that numbers these ids ("graph": rows of table graph); None: no id of ours.
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the recording, derived from its row class."""

    name: str
    doc: str
    row: type
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...]
    without_rowid: bool
    indexes: tuple[tuple[str, ...], ...]

    def default_of(self, column: Column) -> Any:
        """Return what a row has in a column if nothing else is said; dataclasses.MISSING: it has to
        be said.
        """
        (found,) = (f for f in dataclasses.fields(self.row) if f.name == column.name)
        return found.default

    def create_sql(self) -> str:
        """Return the statements that create this table and its indexes."""
        lines = [
            f"  {c.name} {c.sql_type}{'' if c.nullable else ' NOT NULL'}" for c in self.columns
        ]
        if len(self.primary_key) == 1 and not self.without_rowid:
            key = self.primary_key[0]
            lines = [
                f"  {key} INTEGER PRIMARY KEY" if line.split()[0] == key else line for line in lines
            ]
        elif self.primary_key:
            lines.append(f"  PRIMARY KEY ({', '.join(self.primary_key)})")
        tail = " WITHOUT ROWID" if self.without_rowid else ""
        statements = [f"CREATE TABLE {self.name} (\n" + ",\n".join(lines) + f"\n){tail};"]
        statements += [
            f"CREATE INDEX {self.name}_by_{'_'.join(i)} ON {self.name} ({', '.join(i)});"
            for i in self.indexes
        ]
        return "\n".join(statements)

    def insert_sql(self, count: int = 1) -> str:
        """Return the INSERT statement of ``count`` rows: a placeholder a column, in their order."""
        marks = f"({', '.join('?' * len(self.columns))})"
        return f"INSERT INTO {self.name} VALUES {', '.join([marks] * count)}"


def column(doc: str, *, default: Any = dataclasses.MISSING, key: str | None = None) -> Any:
    """Describe one column of a row class (a dataclass field with its documentation).

    Parameters
    ----------
    doc
        What the column means.
    default
        Value in rows that do not give it, and in recordings made before the column was added.
    key
        The table whose rows this column's ids number: ids of ours, which are unique in a file
        and get other numbers when recordings are merged. None for CUDA's and the operating
        system's own ids, and for what is no id.
    """
    return dataclasses.field(default=default, metadata={"doc": doc, "key": key})


_TABLES: dict[type, Table] = {}


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(column,))
def table(
    name: str,
    *,
    primary_key: tuple[str, ...] = (),
    without_rowid: bool = False,
    indexes: tuple[tuple[str, ...], ...] = (),
) -> Callable[[type[_T]], type[_T]]:
    """Make a class the row of a table; its docstring is the table's documentation."""

    def register(cls: type[_T]) -> type[_T]:
        row = deferred(frozen=True, slots=True, kw_only=True)(cls)
        columns = tuple(
            Column(f.name, *_sql_type(str(f.type)), str(f.metadata["doc"]), f.metadata["key"])
            for f in dataclasses.fields(row)  # type: ignore[arg-type]
        )
        doc = " ".join((row.__doc__ or "").split())
        _TABLES[row] = Table(name, doc, row, columns, primary_key, without_rowid, indexes)
        return row

    return register


def _sql_type(annotation: str) -> tuple[str, bool]:
    """Return the type of a column in SQL, and whether it may be NULL."""
    kind = annotation.removesuffix(" | None")
    return _SQL_TYPES[kind], kind != annotation


def table_of(row: type) -> Table:
    """Return the table whose rows are instances of ``row``."""
    return _TABLES[row]


def tables_in(module: str) -> list[Table]:
    """Return the tables whose rows a module defines, in the order of definition."""
    return [table for row, table in _TABLES.items() if row.__module__ == module]
