"""A file that may be packed with gzip, read as a stream whose length is bounded."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from types import TracebackType
from typing import IO

from gviz.errors import ImportingError

_GZIP = b"\x1f\x8b"


class SourceFile:
    """The content of a file, unpacked where it is packed.

    Parameters
    ----------
    path
        The file. It is asked for its content, not for its name's suffix.
    most_bytes
        Unpacked bytes that are given out at most; None: any number.

    Raises
    ------
    OSError
        If it cannot be opened.
    """

    def __init__(self, path: Path, *, most_bytes: int | None = None) -> None:
        self._path = path
        self._raw = path.open("rb")
        self._size = max(1, os.fstat(self._raw.fileno()).st_size)
        is_packed = self._raw.read(2) == _GZIP
        self._raw.seek(0)
        self._file: gzip.GzipFile | IO[bytes] = self._raw
        if is_packed:
            self._file = gzip.GzipFile(fileobj=self._raw)
        self._most = most_bytes
        self._given = 0

    @property
    def share(self) -> float:
        """Share of the file that was read, from 0 to 1."""
        return min(1.0, self._raw.tell() / self._size)

    def read(self, count: int) -> bytes:
        """Return the next bytes, at most ``count``; none at the end.

        Raises
        ------
        ImportingError
            If more than ``most_bytes`` come out of the file.
        OSError, EOFError, zlib.error
            If it cannot be read or unpacked.
        """
        piece = self._file.read(count)
        self._given += len(piece)
        if self._most is not None and self._given > self._most:
            raise ImportingError(
                f"{self._path.name} unpacks to more than {self._most >> 20} MiB, which is more "
                "than is taken here; use 'gviz import' on the machine where gviz runs"
            )
        return piece

    def __enter__(self) -> SourceFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self._raw.close()
