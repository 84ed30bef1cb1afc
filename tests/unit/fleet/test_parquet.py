"""Parquet files: rows as they come, in groups, with NULL and empty text apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fleets import needs_fleet

from gviz.fleet import write_rows
from gviz.fleet.parquet import _ROWS_AT_ONCE

pytestmark = needs_fleet

TYPES = {"id": "int64", "name": "string"}


def test_rows_are_written_as_they_come(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    target = tmp_path / "t.parquet"
    page, pages = 10_000, 20

    def rows() -> Iterator[list[tuple[int, str | None]]]:
        for at in range(pages):
            # What came before is in the file, but for one group and a page.
            if target.exists() and at * page > 2 * (_ROWS_AT_ONCE + page):
                assert target.stat().st_size > 4
            yield [(n, (None, "", "a")[n % 3]) for n in range(at * page, (at + 1) * page)]

    assert write_rows(target, TYPES, rows()) == page * pages
    groups = parquet.ParquetFile(target).metadata
    assert groups.num_row_groups > 2
    found = parquet.read_table(target)
    assert found["id"].to_pylist() == list(range(page * pages))
    assert found["name"].to_pylist()[:3] == [None, "", "a"]


def test_a_table_without_rows_has_its_columns(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert write_rows(tmp_path / "t.parquet", TYPES, []) == 0
    assert parquet.read_schema(tmp_path / "t.parquet").names == list(TYPES)
