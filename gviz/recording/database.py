"""The SQLite file of a recording, opened for reading."""

from __future__ import annotations

import sqlite3
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gviz.errors import RecordingError
from gviz.recording.identity import check_header, check_identity
from gviz.recording.integrity import DamagedError, check_integrity

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
        self.connection = _connect(path)
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

    def execute(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows.

        Raises
        ------
        RecordingError
            If the file is damaged.
        """
        try:
            return self.connection.execute(sql, parameters).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise RecordingError(f"{self._path} is damaged: {error}") from error


def _connect(path: Path) -> sqlite3.Connection:
    uri = "file:" + urllib.parse.quote(str(path.absolute())) + "?immutable=1"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    # What a schema says is run by no statement of ours: the file may be anybody's.
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection
