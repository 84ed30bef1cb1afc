"""Identity of a file: a recording or not, of which schema, and whole."""

from __future__ import annotations

import stat
from pathlib import Path

from gviz.errors import RecordingError, no_file
from gviz.recording.rows import APPLICATION_ID, OLDEST_ALIKE, SCHEMA_VERSION

_SQLITE_MAGIC = b"SQLite format 3\x00"


def read_version(path: Path) -> int:
    """Return the schema version of a recording, also of one too old to be read.

    Raises
    ------
    RecordingError
        If it is no recording, is cut short, or was written by a newer gviz.
    """
    application, version = _ids(_whole_header(path))
    check_identity(path, application, version, old_is_fine=True)
    return version


def check_no_directory(path: Path) -> None:
    """Raise RecordingError if a path is that of a directory, or cannot be looked at."""
    try:
        is_directory = stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise RecordingError(f"cannot read {path}: {error.strerror}") from error
    if is_directory:
        raise RecordingError(f"{path} is a directory; name a file in it")


def _whole_header(path: Path) -> bytes:
    """Return the header of a file; RecordingError: it is not SQLite's, or the file is cut short."""
    header = _read_header(path)
    if not header.startswith(_SQLITE_MAGIC):
        raise _no_recording(path)
    page = int.from_bytes(header[16:18], "big") or 65536
    pages = int.from_bytes(header[28:32], "big")
    if len(header) < 100 or path.stat().st_size < (65536 if page == 1 else page) * pages:
        size = path.stat().st_size
        raise RecordingError(f"{path} is cut short ({size} bytes); {remedy(path, _ids(header)[1])}")
    return header


def remedy(path: Path, version: int) -> str:
    """Return what to do about a damaged recording of a schema."""
    if version < OLDEST_ALIKE:
        return "copy it again"
    return f"copy it again, or write what can be read of it: gviz recover {path}"


def _ids(header: bytes) -> tuple[int, int]:
    """Return application_id and user_version of SQLite's header (sqlite.org/fileformat.html)."""
    return int.from_bytes(header[68:72], "big"), int.from_bytes(header[60:64], "big")


def check_kind(path: Path, *, oldest: int = SCHEMA_VERSION) -> int:
    """Return the schema version of a recording, damaged or not.

    Raises
    ------
    RecordingError
        If it is no recording, or one of a schema older than ``oldest`` or newer than this gviz's.
    """
    header = _read_header(path)
    application, version = _ids(header)
    if not header.startswith(_SQLITE_MAGIC) and application != APPLICATION_ID:
        raise _no_recording(path)
    if len(header) < 100:
        raise RecordingError(
            f"{path} is cut short ({len(header)} bytes); copy it again from its origin"
        )
    check_identity(path, application, version, old_is_fine=version >= oldest)
    return version


def _read_header(path: Path) -> bytes:
    check_no_directory(path)
    if path.is_fifo():  # opening one waits for who writes into it
        raise RecordingError(f"{path} is a pipe; write what comes out of it to a file, name that")
    try:
        with path.open("rb") as file:
            return file.read(100)
    except (FileNotFoundError, NotADirectoryError):
        raise RecordingError(no_file(path)) from None
    except OSError as error:
        raise RecordingError(f"cannot read {path}: {error.strerror}") from error


def _no_recording(path: Path) -> RecordingError:
    if not path.stat().st_size and path.is_file():
        return RecordingError(f"{path} is empty, not a gviz recording; copy or record it again")
    return RecordingError(
        f"{path} is not a gviz recording; 'gviz import' makes one of another profiler's trace, "
        "or of a DOT dump"
    )


def check_identity(
    path: Path, application: int, version: int, *, old_is_fine: bool = False
) -> None:
    """Raise RecordingError unless application id and schema version are those of a recording."""
    if application != APPLICATION_ID:
        raise RecordingError(f"{path} is an SQLite file of another program, not a gviz recording")
    if version > SCHEMA_VERSION:
        raise RecordingError(
            f"{path} has schema {version}, this gviz reads up to {SCHEMA_VERSION}; "
            "install a newer one: pip install --upgrade WHEEL (or the folder of its source)"
        )
    if version < SCHEMA_VERSION and not old_is_fine:
        raise RecordingError(
            f"{path} has schema {version}, this gviz reads {SCHEMA_VERSION}; "
            f"bring it up to date: gviz upgrade {path}"
        )


def is_recording(path: Path) -> bool:
    """Return whether a file's header is that of a recording, of whatever schema."""
    with path.open("rb") as file:
        header = file.read(100)
    return header.startswith(_SQLITE_MAGIC) and _ids(header)[0] == APPLICATION_ID
