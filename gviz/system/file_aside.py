"""Files written aside: a reader finds the old file at the place or the whole new one, no part."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gviz.system.permissions import create_file, mode_for

#: Of a file that is not whole, behind its name.
UNFINISHED = ".part"


class FileAside:
    """A file that is written beside its place, and moved there when it is whole.

    State: NEW -> MADE (empty, at ``path``) -> PLACED | REMOVED (nothing is left of it).

    A link is followed: it stays, and what it leads to is replaced. What is no regular file, such as
    a pipe at ``/dev/stdout``, is written as it is.

    Parameters
    ----------
    target
        Its place.
    """

    def __init__(self, target: Path) -> None:
        self._is_in_place = target.exists() and not target.is_file()
        self._target = target if self._is_in_place else Path(os.path.realpath(target))
        #: Where it is written.
        self.path = self._target
        if not self._is_in_place:
            self.path = self._target.with_name(self._target.name + UNFINISHED)

    def make(self) -> int:
        """Make the file, empty, with the permissions that it will have; return a descriptor.

        Raises
        ------
        OSError
            If it cannot be made.
        """
        self.remove()  # what a process that was killed left
        return create_file(self.path, mode_for(self._target))

    def place(self, *, is_durable: bool = False) -> None:
        """Move the file to its place.

        Parameters
        ----------
        is_durable
            Write it to the disk first, as is always done where a file is replaced: that may be the
            only copy.

        Raises
        ------
        OSError
            If it cannot be moved: the old file stays.
        """
        if self._is_in_place:
            return
        if is_durable or self._target.exists():
            _sync(self.path)
        os.replace(self.path, self._target)

    def remove(self) -> None:
        """Remove the file unless it is at its place."""
        if not self._is_in_place:
            self.path.unlink(missing_ok=True)


@contextmanager
def written_aside(target: Path, *, is_durable: bool = False) -> Iterator[Path]:
    """Yield the path of an empty file, which is moved to its place at the end of the block.

    Where the block raises, the place is as it was.

    Raises
    ------
    OSError
        If the file cannot be made or moved.
    """
    aside = FileAside(target)
    try:
        os.close(aside.make())
        yield aside.path
        aside.place(is_durable=is_durable)
    finally:
        aside.remove()


def _sync(path: Path) -> None:
    """Wait until a file's content would outlast a power failure."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
