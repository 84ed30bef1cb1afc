"""Folders of spools, and the presence of a gviz that will make a recording of one, by its lock.

A spool names the processes that write it only once they have used CUDA; before, and while the
recording is made, only this lock distinguishes it from one that was left behind.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from gviz.errors import RecordingError

#: Looking whether the lock is held holds it for an instant.
_LOCK_SECONDS = 2.0
#: The lock is taken so long after the folder was made at the latest: a writer starts meanwhile.
_START_SECONDS = 1.0
_POLL_SECONDS = 0.02


def make_spool(spool: Path) -> None:
    """Make the directory of a spool, for this user only.

    Raises
    ------
    RecordingError
        If it is there already, of a gviz that still records or left over from an earlier run, or
        cannot be made.
    """
    try:
        spool.mkdir(mode=0o700)
    except FileExistsError:
        raise RecordingError(_why_taken(spool)) from None
    except OSError as error:
        raise RecordingError(f"cannot write {spool}: {error.strerror}") from error


def _why_taken(spool: Path) -> str:
    until = time.monotonic() + _START_SECONDS
    while not is_attended(spool):
        if time.monotonic() > until:
            return (
                f"{spool} is left over from an earlier run; 'gviz info {spool}' folds it into "
                "a recording, or remove it"
            )
        time.sleep(_POLL_SECONDS)
    return f"another gviz is recording into {spool} now; choose another output, or wait for its end"


@contextlib.contextmanager
def attend(spool: Path) -> Iterator[int]:
    """Hold the lock, as an open file; the system releases it when this process ends in any way.

    A process that inherits the file (``pass_fds``) holds the lock as well.

    Where the file system has no locks (some of the network) nothing is held: then a spool may be
    taken for one that was left behind, as before.
    """
    folder = _open_above_standard(spool)  # not inherited by programs started meanwhile
    try:
        with contextlib.suppress(OSError):
            _lock(folder)
        yield folder
    finally:
        os.close(folder)


def _open_above_standard(folder: Path) -> int:
    """Open a folder under no number of a standard stream, one of which may be closed.

    A Python that inherits a folder as its standard error does not start.
    """
    opened = os.open(folder, os.O_RDONLY)
    try:
        return fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(opened)


def _lock(folder: int) -> None:
    """Take the lock, but wait no longer than a look whether it is held takes."""
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            return fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
        time.sleep(_POLL_SECONDS)


def is_attended(spool: Path) -> bool:
    """Return whether another process holds the lock."""
    try:
        folder = os.open(spool, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(folder, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(folder)
    return False
