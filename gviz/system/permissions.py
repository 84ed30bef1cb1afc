"""Permissions of the files that gviz writes: for their owner alone, unless others are wished.

Recordings and what is exported of them hold command lines, source lines and arguments of kernels.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from gviz.errors import UsageError

#: Permission bits of new files, in octal digits such as 0640.
MODE_VARIABLE = "GVIZ_MODE"
_PRIVATE = 0o600


def parse_mode(text: str) -> int:
    """Return permission bits given as octal digits.

    Raises
    ------
    UsageError
        If they are none, or their owner could not read and write.
    """
    if not re.fullmatch("0?[0-7]{3}", text) or int(text, 8) & _PRIVATE != _PRIVATE:
        raise UsageError(f"{text!r} are no permissions of a file; give octal digits such as 0640")
    return int(text, 8)


def mode_for(path: Path) -> int:
    """Return the permission bits of a file that is about to be written.

    Those of the file that it replaces; of a new one what GVIZ_MODE says, or 0600.

    Raises
    ------
    UsageError
        If GVIZ_MODE cannot be understood.
    """
    wished = os.environ.get(MODE_VARIABLE)
    if wished:
        return parse_mode(wished)
    try:
        found = path.stat()
    except OSError:
        return _PRIVATE
    return stat.S_IMODE(found.st_mode) & 0o777 if stat.S_ISREG(found.st_mode) else _PRIVATE


def create_folder(path: Path) -> None:
    """Make a folder unless it is there; who may read a new file may enter it.

    Raises
    ------
    OSError
        If it cannot be made.
    UsageError
        If GVIZ_MODE cannot be understood.
    """
    mode = mode_for(path)
    try:
        path.mkdir(0o700)
    except FileExistsError:
        if not path.is_dir():
            raise
        return
    path.chmod(mode | (mode & 0o444) >> 2)


def create_file(path: Path, mode: int = _PRIVATE) -> int:
    """Make a file, empty where it was there, and open it for writing.

    It never has other permissions than these for an instant; what is no regular file, such as
    ``/dev/stdout``, is opened and stays as it is.

    Returns
    -------
    int
        The descriptor.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode & 0o700)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.fchmod(descriptor, mode)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
