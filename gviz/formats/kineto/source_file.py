"""A file that may be packed with gzip, read as a stream whose length is bounded."""

from __future__ import annotations

import gzip
import os
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import IO

from gviz.errors import ImportingError

_GZIP = b"\x1f\x8b"
#: What is unpacked at a time. The thread that does so waits for Python's lock a few times a piece,
#: up to 5 ms each, in which a large piece lets it keep ahead of who parses.
_UNPACKED_BYTES = 2 << 20


class SourceFile:
    """The content of a file, unpacked where it is packed.

    Parameters
    ----------
    path
        The file. Its content decides, not its name's suffix.
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
        self._file: _Unpacked | IO[bytes] = _Unpacked(self._raw) if is_packed else self._raw
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


class _Unpacked:
    """Gzip data, unpacked a piece ahead on the other core: zlib needs no Python.

    Parameters
    ----------
    raw
        The packed file; nobody else may read it until :meth:`close`.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self._file = gzip.GzipFile(fileobj=raw)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="unpack")
        self._ahead = self._unpack()
        self._piece = b""
        self._at = 0

    def read(self, count: int) -> bytes:
        """Return the next bytes, at most ``count``; none at the end."""
        if self._at == len(self._piece):
            self._piece, self._at = self._ahead.result(), 0
            # At the end, too: it is found again, and so is what was wrong there.
            self._ahead = self._unpack()
        found = self._piece[self._at : self._at + count]
        self._at += len(found)
        return found

    def close(self) -> None:
        """End; what is being unpacked is finished before."""
        self._thread.shutdown()
        self._file.close()

    def _unpack(self) -> Future[bytes]:
        return self._thread.submit(self._file.read, _UNPACKED_BYTES)
