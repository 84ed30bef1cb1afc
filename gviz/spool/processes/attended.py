"""Presence of a gviz that will make a recording of a spool, known by a lock on its folder.

A spool names the processes that write it only once they have used CUDA; before, and while the
recording is made, only this lock distinguishes it from one that was left behind.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def attend(spool: Path) -> Iterator[None]:
    """Hold the lock; the system releases it when this process ends in any way.

    Where the file system has no locks (some of the network) nothing is held: then a spool may be
    taken for one that was left behind, as before.
    """
    folder = os.open(spool, os.O_RDONLY)  # not inherited by programs started meanwhile
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


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
