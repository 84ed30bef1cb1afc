"""The SQLite file of a recording, opened for reading: one connection, and one beside it."""

from __future__ import annotations

import sqlite3
import urllib.parse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from gviz.errors import RecordingError
from gviz.recording.identity import check_header, check_identity
from gviz.recording.integrity import DamagedError, check_integrity, file_version

#: Runs a statement and returns its rows.
Execute = Callable[..., list[tuple[Any, ...]]]


class Database:
    """An SQLite file opened immutable, found to be a whole recording.

    Safe to use from one thread at a time.

    Parameters
    ----------
    path
        The ``.gviz`` file.

    Raises
    ------
    RecordingError
        If the file does not exist, is not a gviz recording, is damaged, or was
        written by a newer gviz.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        check_header(path)
        self._version = file_version(path)
        self.connection = _connect(path)
        self._second: sqlite3.Connection | None = None
        try:
            application = self.connection.execute("PRAGMA application_id").fetchone()[0]
            version = self.connection.execute("PRAGMA user_version").fetchone()[0]
            check_identity(path, application, version)
            check_integrity(path, self.connection)
        except DamagedError as error:
            self.close()
            raise RecordingError(
                f"{path} is damaged: {error.what}; copy it again from its origin, or record again"
            ) from error
        except RecordingError:
            self.close()
            raise
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self.close()
            raise RecordingError(
                f"{path} is damaged ({error}); if its spool is still beside it, "
                f"run 'gviz info' on the spool to fold it again"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
        if self._second is not None:
            self._second.close()

    def execute(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows.

        Raises
        ------
        RecordingError
            If the file is damaged.
        """
        return _rows(self._path, self.connection, sql, *parameters)

    def beside(self) -> Execute | None:
        """Return what runs statements on the same file at the same time, in another thread.

        One thread at a time. None: the path is no longer that of the file that was opened.
        """
        if self._second is None and self._is_still_there():
            second = _connect(self._path)
            # A file put in its place before it was opened again would be another one.
            if self._is_still_there():
                self._second = second
            else:
                second.close()
        second_or_none = self._second
        return None if second_or_none is None else partial(_rows, self._path, second_or_none)

    def _is_still_there(self) -> bool:
        try:
            return file_version(self._path) == self._version
        except OSError:
            return False


def _connect(path: Path) -> sqlite3.Connection:
    uri = "file:" + urllib.parse.quote(str(path.absolute())) + "?immutable=1"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    # What a schema says is run by no statement of ours: the file may be anybody's.
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def _rows(
    path: Path, connection: sqlite3.Connection, sql: str, *parameters: Any
) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(sql, parameters).fetchall()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise RecordingError(f"{path} is damaged: {error}") from error
