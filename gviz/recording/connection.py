"""Connections of SQLite to recordings that are only read."""

from __future__ import annotations

import sqlite3
import urllib.parse
from pathlib import Path


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
