"""Recordings without rows or values: every reader takes them as missing, or refuses in words."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from fuzzing.reading import look_at_everything
from recordings import write_loop_recording

from gviz.errors import GvizError
from gviz.recording.rows import all_tables

#: Of the columns, so many: each takes a second.
_SAMPLED_COLUMNS = 24
_DELETED = [f"DELETE FROM {table.name}" for table in all_tables()]
_NULLED = [
    f"UPDATE {table.name} SET {column.name} = NULL"
    for table in all_tables()
    for column in table.columns
    if column.nullable
]
#: What a program that was killed may lack.
_OFTEN_MISSING = "".join(f"DELETE FROM {name};" for name in ("stack", "location", "nvtx_path"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_loop_recording(tmp_path_factory.mktemp("whole") / "x.gviz")


def _look_without(whole: Path, folder: Path, statements: Sequence[str]) -> None:
    """Look at everything of copies, each changed by one statement; only refusals in words pass."""
    for number, statement in enumerate(statements):
        path = folder / f"{number}.gviz"
        shutil.copy(whole, path)
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.executescript(statement)
        try:
            with contextlib.suppress(GvizError):
                look_at_everything(path)
        except Exception as error:
            raise AssertionError(f"{statement}: {type(error).__name__}: {error}") from error
        path.unlink()


@pytest.mark.quick
def test_rows_that_are_often_missing_are_missing_to_every_reader(
    whole: Path, tmp_path: Path
) -> None:
    _look_without(whole, tmp_path, [_OFTEN_MISSING])


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(3))
def test_table_without_rows_is_missing_to_every_reader(
    whole: Path, tmp_path: Path, part: int
) -> None:
    _look_without(whole, tmp_path, _DELETED[part::3])


@pytest.mark.thorough
def test_column_without_values_is_missing_to_every_reader(whole: Path, tmp_path: Path) -> None:
    _look_without(whole, tmp_path, random.Random(24).sample(_NULLED, _SAMPLED_COLUMNS))
