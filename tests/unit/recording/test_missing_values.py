"""Recordings without rows or values: every reader takes them as missing.

Each table is emptied and each column cleared, in the first recording that has rows or values there,
a few tables or columns at a time that lie far apart; then all commands that read a recording, all
pages, payloads and exports are made. Where nothing is left to show they say so, and never that the
file is damaged.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from fuzzing.reading import refusals
from life_recordings import write_life_recording
from memory_recordings import write_memory_recording
from noisy_recordings import alter
from recordings import fork_join_shape, write_loop_recording, write_recording
from whole_recording import write_whole_recording

from gviz.recording.rows import all_tables

#: Columns cleared and tables emptied at once: a look takes two seconds.
_COLUMNS_AT_ONCE = 32
_TABLES_AT_ONCE = 3
#: What a program that was killed may lack.
_OFTEN_MISSING = tuple(f"DELETE FROM {name}" for name in ("stack", "location", "nvtx_path"))
_PARTS = 4
#: Without these something has nothing left to show, in words: looked at alone, not found by halves.
_ALONE = (
    *("topology", "graph", "node", "launch", "span", "value_reading"),
    *("graph.parent_graph_id", "graph.topology_id"),
    *("value_reading.graph_exec_id", "value_reading.refusal"),
)


@dataclass(frozen=True, slots=True)
class Change:
    """Statements that take something away from a copy of a recording."""

    recording: Path
    statements: tuple[str, ...] = ()


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Small recordings, which together have rows of every table and values of every column."""
    folder = tmp_path_factory.mktemp("whole")
    return [
        alter(
            write_loop_recording(folder / "loop.gviz"),
            "UPDATE node SET conditional_type = 'while' WHERE node_id = 1002",
        ),
        write_memory_recording(folder / "memory.gviz"),
        write_recording(folder / "fork.gviz", fork_join_shape(1, 2, 1), arguments=True),
        write_life_recording(folder / "life.gviz"),
        write_whole_recording(folder / "whole.gviz"),
    ]


@pytest.fixture(scope="module")
def changes(recordings: list[Path]) -> list[Change]:
    """All changes, each of the first recording that has what is taken away."""
    alone: list[Change] = []
    emptied: list[tuple[Path, str]] = []
    cleared: list[tuple[Path, str]] = []

    def take(name: str, found: Path, statement: str, others: list[tuple[Path, str]]) -> None:
        if name in _ALONE:
            alone.append(Change(found, (statement,)))
        else:
            others.append((found, statement))

    for table in all_tables():
        found = _first_with(recordings, f"SELECT 1 FROM {table.name}")
        take(table.name, found, f"DELETE FROM {table.name}", emptied)
        for column in filter(lambda column: column.nullable, table.columns):
            named = f"{column.name} IS NOT NULL"
            found = _first_with(recordings, f"SELECT 1 FROM {table.name} WHERE {named}")
            statement = f"UPDATE {table.name} SET {column.name} = NULL"
            take(f"{table.name}.{column.name}", found, statement, cleared)
    together = _far_apart(emptied, _TABLES_AT_ONCE), _far_apart(cleared, _COLUMNS_AT_ONCE)
    return [*alone, *together[0], *together[1]]


def _first_with(recordings: Sequence[Path], query: str) -> Path:
    """Return the first recording in which a query finds a row."""
    for path in recordings:
        with contextlib.closing(sqlite3.connect(path)) as database:
            if database.execute(query).fetchone():
                return path
    # Where there is nothing to take away, no reader would be held against its absence.
    raise AssertionError(f"write_whole_recording has to write something for {query!r}")


def _far_apart(statements: Sequence[tuple[Path, str]], at_once: int) -> list[Change]:
    """Join statements on one recording that lie far apart."""
    found = []
    for path in dict.fromkeys(path for path, _ in statements):
        mine = [statement for of, statement in statements if of == path]
        count = -(-len(mine) // at_once)
        found += [Change(path, tuple(mine[at::count])) for at in range(count)]
    return found


#: Returns the refusals of a recording as it is.
Plain = Callable[[Path], set[str]]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Plain:
    """Refusals of a recording as it is, looked for when it is first asked for."""
    folder = tmp_path_factory.mktemp("plain")
    return cache(lambda path: _refused(Change(path), folder))


def _look_without(changes: Sequence[Change], plain: Plain, folder: Path) -> None:
    """Look at everything of changed copies; where more is refused, at each half of the changes."""
    wrong, left = [], list(changes)
    while left:
        change = left.pop()
        try:
            refused = _refused(change, folder) - plain(change.recording)
        except Exception as error:
            wrong.append(f"{change}: {type(error).__name__}: {error}")
            continue
        wrong += [f"{change}: {said}" for said in refused if "damaged" in said]
        if refused and (half := len(change.statements) // 2):
            # What was refused was not looked at.
            halves = change.statements[:half], change.statements[half:]
            left += [Change(change.recording, statements) for statements in halves]
    assert not wrong, "\n".join(wrong)


def _refused(change: Change, folder: Path) -> set[str]:
    """Return what commands and pages say that refuse a changed copy."""
    path = shutil.copy(change.recording, folder / "changed.gviz")
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript("; ".join(change.statements))
    said = [str(error) for error in refusals(path)]
    path.unlink()
    return {sentence.replace(str(path), path.name) for sentence in said}


@pytest.mark.quick
def test_rows_that_are_often_missing_are_missing_to_every_reader(
    recordings: list[Path], plain: Plain, tmp_path: Path
) -> None:
    _look_without([Change(recordings[0], _OFTEN_MISSING)], plain, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(_PARTS))
def test_what_is_missing_is_missing_to_every_reader(
    changes: list[Change], plain: Plain, tmp_path: Path, part: int
) -> None:
    _look_without(changes[part::_PARTS], plain, tmp_path)
