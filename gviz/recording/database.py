"""The SQLite file of a recording, opened for reading."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from gviz.errors import RecordingError
from gviz.recording.connection import open_to_read
from gviz.recording.identity import check_kind
from gviz.recording.integrity import DamagedError
from gviz.recording.salvage import DAMAGE, mark_damaged, sound_file
from gviz.system import Progress

_T = TypeVar("_T")

#: Runs a statement and returns its rows.
Execute = Callable[..., list[tuple[Any, ...]]]


def look_through(path: Path, progress: Progress) -> list[str]:
    """Look whether a file is sound, once in a process: then it is opened at once.

    Returns what of it could not be read, in sentences: now, or when what is read was recovered.

    Parameters
    ----------
    progress
        Told the share of the file that was looked at; of a damaged one, that was copied.

    Raises
    ------
    RecordingError
        As :class:`Database` does.
    """
    check_kind(path)
    with closing(open_to_read(sound_file(path, progress), path)) as connection:
        try:
            found = connection.execute("SELECT DISTINCT text FROM note WHERE kind=?", (DAMAGE,))
            return [text for (text,) in found]
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise DamagedError(str(error)) from error


class Database:
    """An SQLite file opened immutable; of a damaged one, what is sound of it.

    Safe to use from one thread at a time.

    Parameters
    ----------
    path
        The ``.gviz`` file.

    Raises
    ------
    RecordingError
        If the file does not exist, is not a gviz recording, was written by a newer gviz, or is so
        damaged that nothing of it can be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        check_kind(path)
        self._open()

    def _open(self) -> None:
        #: The file that is read: a copy of what is sound, where it is damaged.
        self.file = sound_file(self._path)
        before = _identity(self.file)
        self.connection = open_to_read(self.file, self._path, any_thread=True)
        #: What the file is; None: another was put in its place just then.
        self._identity = before if _identity(self.file) == before else None

    @property
    def is_whole(self) -> bool:
        """Return whether no damage was met so far."""
        return self.file == self._path

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def execute(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows.

        Raises
        ------
        RecordingError
            If the file is damaged beyond what was left out.
        """
        return self.attempt(lambda: self._execute(sql, parameters))

    def attempt(self, read: Callable[[], _T]) -> _T:
        """Return what is read; where that meets damage, anew from what is sound of the file.

        What was read before stays true: damage that shows so late is in times of nodes, to which
        nothing else refers, or in SQLite's indexes.
        """
        try:
            return read()
        except DamagedError:
            if not self.is_whole:
                raise
            mark_damaged(self._path)
            self.connection.close()
            self._open()
            return read()

    @contextmanager
    def open_beside(self, count: int) -> Iterator[list[Execute]]:
        """Open connections for threads: each runs statements of one at a time, in the block.

        None where the file that is read was removed, or another put in its place. Damage is raised
        at once, as DamagedError: who reads with them does so in :meth:`attempt`.
        """
        with ExitStack() as opened:
            # Before, for SQLite makes a file where there is none; behind, for it may come between.
            beside = []
            if self._is_in_place():
                beside = [self._open_once_more(opened) for _ in range(count)]
            yield beside if self._is_in_place() else []

    def _is_in_place(self) -> bool:
        # What is open keeps its number: no other file can have got that meanwhile.
        return self._identity is not None and _identity(self.file) == self._identity

    def _open_once_more(self, opened: ExitStack) -> Execute:
        connection = open_to_read(self.file, self._path, any_thread=True)
        opened.callback(connection.close)
        return lambda sql, *parameters: _execute(connection, sql, parameters)

    def _execute(self, sql: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return _execute(self.connection, sql, parameters)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what a file is, whatever it is called; None: there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _execute(
    connection: sqlite3.Connection, sql: str, parameters: tuple[Any, ...]
) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(sql, parameters).fetchall()
    except sqlite3.ProgrammingError as error:  # such as a connection that is closed
        raise RecordingError(str(error)) from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise DamagedError(str(error)) from error
