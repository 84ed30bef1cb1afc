"""Connections of SQLite to recordings that are only read."""

from __future__ import annotations

import sqlite3
import urllib.parse
from pathlib import Path

from gviz.errors import RecordingError


def open_immutable(path: Path, *, any_thread: bool = False) -> sqlite3.Connection:
    """Return a connection to a file that is read and not locked.

    Parameters
    ----------
    path
        The file; nothing may write it meanwhile.
    any_thread
        Allow its use by threads other than this one, one at a time.

    Raises
    ------
    sqlite3.Error
        If it cannot be opened.
    """
    uri = "file:" + urllib.parse.quote(str(path.absolute())) + "?immutable=1"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=not any_thread)
    # What a schema says is run by no statement of ours: the file may be anybody's.
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def open_to_read(path: Path, name: Path, *, any_thread: bool = False) -> sqlite3.Connection:
    """Return a connection as :func:`open_immutable` does.

    Parameters
    ----------
    path
        The file.
    name
        The file to name, of which ``path`` may be a copy.
    any_thread
        Allow its use by threads other than this one, one at a time.

    Raises
    ------
    RecordingError
        If it cannot be opened.
    """
    try:
        return open_immutable(path, any_thread=any_thread)
    except sqlite3.Error as error:
        raise RecordingError(
            f"{name} cannot be read now: {error}; look whether its disk answers"
        ) from error
