"""The schema: what SQLite made of it is what the row classes say."""

from __future__ import annotations

import dataclasses
import sqlite3

import pytest

from gviz.recording.rows.schema import all_tables, create_sql
from gviz.recording.rows.tables import Table
from gviz.recording.rows.versions import APPLICATION_ID, SUFFIX


@pytest.fixture(scope="module")
def database() -> sqlite3.Connection:
    """An empty database with the schema."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(create_sql())
    yield connection
    connection.close()


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.name)
def test_table_has_the_columns_of_its_row_class(database: sqlite3.Connection, table: Table) -> None:
    found = database.execute(f"PRAGMA table_info({table.name})").fetchall()
    assert [column[1] for column in found] == [f.name for f in dataclasses.fields(table.row)]
    keys = sorted((column[5], column[1]) for column in found if column[5])
    assert tuple(name for _, name in keys) == table.primary_key
    for column, described in zip(found, table.columns, strict=True):
        assert column[2] == described.sql_type
        if column[1] not in table.primary_key:
            assert bool(column[3]) is not described.nullable


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.name)
def test_table_and_columns_are_documented(table: Table) -> None:
    assert table.doc.endswith(".")
    for column in table.columns:
        assert len(column.doc) > 2, f"{table.name}.{column.name} needs its meaning"
        assert "|" not in column.doc, "it would break the documentation's table"


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.name)
def test_indexes_name_columns_of_the_table(table: Table) -> None:
    names = {column.name for column in table.columns}
    assert set(table.primary_key) <= names
    assert {column for index in table.indexes for column in index} <= names


def test_table_names_are_singular_and_unique() -> None:
    names = [table.name for table in all_tables()]
    assert len(set(names)) == len(names) >= 20
    assert [n for n in names if n.endswith("s") and n[-2:] != "ss"] == ["node_statistics"]


def test_columns_carry_their_unit() -> None:
    for table in all_tables():
        for column in table.columns:
            if column.name.endswith("_ns"):
                assert column.sql_type in ("INTEGER", "REAL")
            assert not column.name.endswith(("_us", "_ms", "_s")), f"{column.name}: times are in ns"


def test_application_id_spells_gviz() -> None:
    assert APPLICATION_ID.to_bytes(4, "big") == b"gviz"
    assert SUFFIX == ".gviz"
