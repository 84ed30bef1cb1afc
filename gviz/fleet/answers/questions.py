"""Questions to a data set, by SQL: read only, bounded, and without a way out of it.

DuckDB opens no file: pyarrow reads those that the manifest names, and hands columns over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Timer
from typing import Any

from gviz.errors import RecordingError, UsageError
from gviz.fleet.answers.view_columns import COMPUTED
from gviz.fleet.answers.views import VIEWS
from gviz.fleet.extra import load
from gviz.fleet.manifest import Manifest
from gviz.fleet.store import Store
from gviz.fleet.tables import TABLES
from gviz.recording import QueryResult, described_columns
from gviz.text import words

#: What a question may hold in memory; it spills nothing to disk.
MOST_MEMORY = "2GB"
_SETTINGS = {
    "memory_limit": MOST_MEMORY,
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
}
#: Last, after the views are made: from then on nothing of this can be changed.
_LOCKS = ("SET enable_external_access = false", "SET lock_configuration = true")
_CODE = re.compile(r"^[\w ]*Error: ")


def open_manifest(url: str) -> tuple[Store, Manifest]:
    """Return the folder of a data set and its manifest.

    Raises
    ------
    RecordingError
        If there is no data set.
    """
    store = Store(url)
    manifest = store.read_manifest()
    if manifest is None:
        raise RecordingError(
            f"{url} is no data set of a fleet; 'gviz fleet build FILES -o {url}' makes one"
        )
    return store, manifest


def read_version(url: str) -> str:
    """Return what changes with each build of a data set; RecordingError where it is gone."""
    return Store(url).read_version()


@contextmanager
def open_questions(url: str) -> Iterator[tuple[Any, Manifest]]:
    """Open a data set; yield a DuckDB connection that has its tables and views, and nothing else;
    and its manifest.

    Raises
    ------
    RecordingError
        If there is no data set.
    GvizError
        If DuckDB or pyarrow are not installed.
    """
    store, manifest = open_manifest(url)
    with open_tables(store, manifest) as connection:
        yield connection, manifest


@contextmanager
def open_tables(store: Store, manifest: Manifest) -> Iterator[Any]:
    """Yield a DuckDB connection that has the tables and views of a manifest, and nothing else.

    Raises
    ------
    GvizError
        If DuckDB or pyarrow are not installed.
    """
    duckdb, arrow, dataset = load("duckdb"), load("pyarrow"), load("pyarrow.dataset")
    with duckdb.connect(":memory:", config=_SETTINGS) as connection:
        for table in TABLES.values():
            paths = [store.path(name) for name in manifest.files.get(table.name, ())]
            schema = table.arrow_schema()
            rows = (
                dataset.dataset(paths, schema=schema, format="parquet", filesystem=store.system)
                if paths
                else arrow.Table.from_batches([], schema)
            )
            connection.register(table.name, rows)
        for view in VIEWS:
            connection.execute(f"CREATE TEMP VIEW {view.name} AS {view.sql}")
        for lock in _LOCKS:
            connection.execute(lock)
        yield connection


def ask(url: str, sql: str, *, most_rows: int | None, seconds: float) -> QueryResult:
    """Return the rows of one SELECT on the tables and views of a data set.

    Parameters
    ----------
    most_rows
        So many rows at most; None: all.
    seconds
        After so long the query is given up.

    Raises
    ------
    UsageError
        If the statement is no query, is wrong, takes longer, or needs more memory.
    RecordingError
        If there is no data set, or it cannot be read.
    """
    with open_questions(url) as (connection, _):
        duckdb = load("duckdb")
        timer = Timer(seconds, connection.interrupt)
        try:
            _check_statement(duckdb, connection, sql)
            timer.start()
            found = connection.execute(sql)
            rows = found.fetchall() if most_rows is None else found.fetchmany(most_rows + 1)
            columns = tuple(column[0] for column in found.description)
        except duckdb.InterruptException as error:
            raise UsageError(
                f"the question took longer than {seconds:g} s; give --seconds, or ask for less"
            ) from error
        except duckdb.IOException as error:
            raise RecordingError(f"cannot read {url}: {error}") from error
        except duckdb.Error as error:
            raise _wrong(str(error)) from error
        finally:
            timer.cancel()
    shown = rows if most_rows is None else rows[:most_rows]
    return QueryResult(columns, tuple(shown), len(shown) < len(rows))


def fleet_columns() -> dict[str, tuple[str, ...]]:
    """Return the columns of everything that can be queried: first the views, then the tables."""
    views = {view.name: view.columns for view in VIEWS}
    return views | {table.name: tuple(table.columns) for table in TABLES.values()}


def named_meanings(sql: str) -> dict[str, str]:
    """Return what a row is of each view and table that a query names."""
    named = words(sql)
    views = {view.name: view.meaning for view in VIEWS}
    known = views | {table.name: table.meaning for table in TABLES.values()}
    return {name: meaning for name, meaning in known.items() if name in named}


def column_meanings(sql: str, columns: Sequence[str]) -> dict[str, str]:
    """Return what a query's columns hold: those of the tables and views that it names.

    Parameters
    ----------
    columns
        Of its result. One that none of them has is missing: the query computes or renames it.
    """
    tables = {
        table.name: {name: column.meaning for name, column in table.columns.items()}
        for table in TABLES.values()
    }
    recorded = {name: meaning for table in tables.values() for name, meaning in table.items()}
    views = {
        view.name: {name: {**recorded, **COMPUTED[view.name]}[name] for name in view.columns}
        for view in VIEWS
    }
    return described_columns(views | tables, sql, columns)


def _check_statement(duckdb: Any, connection: Any, sql: str) -> None:
    statements = connection.extract_statements(sql)
    if not statements:
        raise _wrong("it is empty")
    if len(statements) > 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise _wrong("a data set is only read: it may be one SELECT and nothing else")


def _wrong(why: str) -> UsageError:
    # DuckDB goes on with the statement and a mark below the place.
    text = " ".join(line.strip() for line in why.partition("\n\nLINE")[0].splitlines() if line)
    return UsageError(
        f"the question cannot be answered: {_CODE.sub('', text)}; without SQL, 'gviz fleet query' "
        "lists what there is"
    )
