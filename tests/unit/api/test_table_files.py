"""Tables as CSV and Parquet: read back, they are the recording's own."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from places import ROOT
from recordings import fork_join_shape, write_recording

from gviz.api.opened import Opened
from gviz.api.table_files import write_tables
from gviz.recording import database
from gviz.recording.reader import Recording
from gviz.recording.rows.schema import all_tables
from gviz.recording.rows.tables import Column, Table
from gviz.recording.rows.value_ranges import value_range

BUNDLED = ROOT / "assets" / "recordings"


def rows_of(path: Path, table: Table) -> list[tuple[Any, ...]]:
    with Recording(path) as recording:
        return [row for page in recording.fetch_pages(table.row) for row in page]


FIELD = re.compile(r'("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)')
READ: dict[str, Callable[[str], Any]] = {
    "INTEGER": int,
    "REAL": float,
    "TEXT": lambda text: text[1:-1].replace('""', '"'),
    "BLOB": lambda text: bytes.fromhex(text[1:-1]),
}


def read_csv(path: Path, table: Table) -> list[tuple[Any, ...]]:
    """Read by RFC 4180, with quotes kept: no reader of CSV tells an empty text from NULL."""
    text, at = path.read_bytes().decode(), 0
    records: list[list[str]] = [[]]
    while at < len(text):
        match = FIELD.match(text, at)
        assert match is not None, text[at : at + 40]
        records[-1].append(match[1])
        at = match.end()
        if match[2] != ",":
            records.append([])
    head, *lines, end = records
    assert (head, end) == ([c.name for c in table.columns], [])
    return [
        tuple(
            None if field == "" else READ[c.sql_type](field)
            for c, field in zip(table.columns, line, strict=True)
        )
        for line in lines
    ]


def _end(column: Column, values: dict[str, Any], end: int) -> Any:
    """Return the least (0) or the most (1) that a column can hold; of texts the same."""
    limits = value_range(column)
    if limits is not None:
        return limits[end]
    value = values[column.sql_type]
    return value if end or column.sql_type != "INTEGER" else -value - 1


@pytest.fixture(scope="module")
def tricky(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every table with rows, of values that formats like to lose; no body is in itself."""
    path = write_recording(tmp_path_factory.mktemp("tables") / "r.gviz", fork_join_shape())
    database = sqlite3.connect(path)
    with database:
        for table in all_tables():
            for values in (_VALUES, _VALUES | {"TEXT": "", "BLOB": b""}):
                most, least = ([_end(c, values, e) for c in table.columns] for e in (1, 0))
                sparse = [
                    [None if c.nullable else v for c, v in zip(table.columns, row, strict=True)]
                    for row in (most, least)
                ]
                # Of rows with one key the first stays.
                for found in (most, *sparse):
                    marks = ", ".join("?" * len(found))
                    database.execute(f"INSERT OR IGNORE INTO {table.name} VALUES ({marks})", found)
        database.execute("UPDATE graph SET parent_graph_id=NULL")
        database.execute("UPDATE nvtx_path SET parent_id=NULL")
    database.close()
    return path


_VALUES: dict[str, Any] = {
    "INTEGER": 2**63 - 1,
    "REAL": 0.1 + 0.2,
    "TEXT": 'a "b",\r\nc\x01 \t é 漢 \U0001f600 =1+1',
    "BLOB": b'\x00\xff,\n"',
}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_read_back_are_the_recording(
    tmp_path: Path, tricky: Path, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its rows refer to what is not there: of this file all is read, not what is sound of it.
    monkeypatch.setattr(database, "sound_file", lambda path: path)
    write_tables(tricky, tmp_path / "out", form)
    for table in all_tables():
        path = tmp_path / "out" / f"{table.name}.{form}"
        found = read_csv(path, table) if form == "csv" else polars.read_parquet(path).rows()
        assert found == rows_of(tricky, table), table.name


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_of_a_real_recording_read_back(tmp_path: Path, form: Any) -> None:
    source = BUNDLED / "cupy_pipeline.gviz"
    written = write_tables(source, tmp_path / "out", form)
    rows = 0
    for table in all_tables():
        path = tmp_path / "out" / f"{table.name}.{form}"
        found = read_csv(path, table) if form == "csv" else polars.read_parquet(path).rows()
        assert found == rows_of(source, table), table.name
        rows += len(found)
    assert written.file_count == len(all_tables()) + 3
    assert written.row_count > rows


def test_views_are_the_tables_of_each_graph(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "r.gviz", fork_join_shape(), launches=3)
    write_tables(path, tmp_path / "out", "parquet")
    with Opened.at(path) as opened:
        (graph,) = opened.graphs
        for what in ("nodes", "edges", "launches"):
            view = polars.read_parquet(tmp_path / "out" / f"view_{what}.parquet")
            assert set(view["graph_id"]) == {graph.row.graph_id}
            assert set(view["graph_name"]) == {graph.name}
            frame = graph.to_polars(what)
            assert view.select(frame.columns).equals(frame)


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "r.gviz", fork_join_shape(), launches=1)
    program = (
        "import sys; sys.modules['pyarrow'] = None; from gviz.cli.command_line import main; "
        f"sys.exit(main(['export', {str(path)!r}, '--format', 'parquet']))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "pyarrow is not installed here; 'pip install pyarrow' brings it" in done.stderr
    assert not (tmp_path / "r-parquet").exists()
