"""Recordings without rows or values: every reader takes them as missing.

Each table is emptied and each column cleared, two columns at a time that lie far apart; then all
commands that read a recording, all pages, payloads and exports are made. Where nothing is left to
show they say so, and never that the file is damaged.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from fuzzing.reading import look_at_everything
from life_recordings import write_life_recording
from memory_recordings import write_memory_recording
from recordings import fork_join_shape, write_loop_recording, write_recording

from gviz.errors import GvizError
from gviz.recording.rows import all_tables

_DELETED = [f"DELETE FROM {table.name}" for table in all_tables()]
_NULLED = [
    f"UPDATE {table.name} SET {column.name} = NULL"
    for table in all_tables()
    for column in table.columns
    if column.nullable
]
#: Two at a time: each takes a third of a second.
_PAIRS = [
    "; ".join(_NULLED[at :: (len(_NULLED) + 1) // 2]) for at in range((len(_NULLED) + 1) // 2)
]
#: What a program that was killed may lack.
_OFTEN_MISSING = "".join(f"DELETE FROM {name};" for name in ("stack", "location", "nvtx_path"))
_PARTS = 4


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Small recordings, which together have rows of most tables."""
    folder = tmp_path_factory.mktemp("whole")
    return [
        write_loop_recording(folder / "loop.gviz"),
        write_memory_recording(folder / "memory.gviz"),
        write_recording(folder / "fork.gviz", fork_join_shape(1, 2, 1), arguments=True),
        write_life_recording(folder / "life.gviz"),
    ]


def _change(recordings: Sequence[Path], path: Path, statement: str) -> None:
    """Make a copy of the first recording that a statement changes, so changed."""
    for recording in recordings:
        shutil.copy(recording, path)
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.executescript(statement)
            if database.total_changes:
                return


def _look_without(recordings: Sequence[Path], folder: Path, statements: Sequence[str]) -> None:
    """Look at everything of copies, each changed by one statement."""
    wrong = []
    for number, statement in enumerate(statements):
        path = folder / f"{number}.gviz"
        _change(recordings, path, statement)
        try:
            look_at_everything(path)
        except GvizError as error:
            if "damaged" in str(error):
                wrong.append(f"{statement}: {error}")
        except Exception as error:
            wrong.append(f"{statement}: {type(error).__name__}: {error}")
        path.unlink()
    assert not wrong, "\n".join(wrong)


@pytest.mark.quick
def test_rows_that_are_often_missing_are_missing_to_every_reader(
    recordings: list[Path], tmp_path: Path
) -> None:
    _look_without(recordings, tmp_path, [_OFTEN_MISSING])


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(_PARTS))
def test_what_is_missing_is_missing_to_every_reader(
    recordings: list[Path], tmp_path: Path, part: int
) -> None:
    _look_without(recordings, tmp_path, [*_DELETED, *_PAIRS][part::_PARTS])
