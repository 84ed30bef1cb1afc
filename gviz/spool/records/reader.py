"""Reading a spool's records, also while the watched process still appends to it."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gviz.errors import SpoolError
from gviz.spool.records import format as f
from gviz.spool.records.table import RECORD_HEADER, SEGMENT_HEADER


@dataclass(frozen=True, slots=True)
class Record:
    """One record: its type (a RecordType or an unknown number) and its payload."""

    type: int
    payload: bytes


class SpoolReader:
    """Follows a spool from its first record.

    :meth:`records` yields every whole record that was not yielded before, and can be
    called again for what was appended since.

    Raises
    ------
    SpoolError
        If the directory holds no spool, or a segment is damaged.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._index = 0
        self._offset = SEGMENT_HEADER.size
        self.bytes_read = 0
        if not self.directory.is_dir():
            raise SpoolError(f"there is no spool {self.directory}")

    def records(self) -> Iterator[Record]:
        """Yield the records appended since the last call, in order."""
        while True:
            path = self._path(self._index)
            if not path.exists():
                return
            # Checked before reading: once a next segment exists, this one no longer grows.
            complete = self._path(self._index + 1).exists()
            yield from self._segment(path)
            if not complete:
                return
            self._index += 1
            self._offset = SEGMENT_HEADER.size

    def _path(self, index: int) -> Path:
        return self.directory / f"{index:06d}{f.SEGMENT_SUFFIX}"

    def _segment(self, path: Path) -> Iterator[Record]:
        with path.open("rb") as file:
            size = path.stat().st_size
            if size < SEGMENT_HEADER.size:
                return  # just created
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
                header = SEGMENT_HEADER.unpack_from(memory)
                if header.magic == bytes(8):
                    return  # created, its header not yet written
                if header.magic != f.MAGIC:
                    raise SpoolError(f"{path} is not a spool segment; remove it")
                if header.version != f.VERSION:
                    raise SpoolError(
                        f"{path} has spool format {header.version}, this gviz reads {f.VERSION}; "
                        "fold it with the gviz that wrote it"
                    )
                end = min(header.committed, size)
                while self._offset + RECORD_HEADER.size <= end:
                    kind, length = RECORD_HEADER.unpack_from(memory, self._offset)
                    start = self._offset + RECORD_HEADER.size
                    if start + length > header.committed:
                        raise SpoolError(f"{path} is damaged at byte {self._offset}")
                    if start + length > size:
                        return  # the file was cut short: what is before the cut is whole
                    payload = memory[start : start + length]
                    self._offset += (RECORD_HEADER.size + length + 7) & ~7
                    self.bytes_read += len(payload)
                    yield Record(kind, payload)
