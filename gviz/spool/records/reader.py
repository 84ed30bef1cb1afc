"""Reading a spool's records, also while the watched process still appends to it."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gviz.dataclass import dataclass
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

    What is damaged is left out: in its place stands one record of type DAMAGED, and reading goes on
    with the next record that can be found.

    Raises
    ------
    SpoolError
        If the directory holds no spool, or a segment is none of this format.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._index = 0
        self._offset = SEGMENT_HEADER.size
        self.bytes_read = 0
        if not self.directory.is_dir():
            raise SpoolError(f"there is no spool {self.directory}")

    def share_read(self) -> float:
        """Return the share of what is there that was read, from 0 to 1."""
        sizes = [path.stat().st_size for path in self.directory.glob(f"*{f.SEGMENT_SUFFIX}")]
        return min(1.0, self.bytes_read / max(1, sum(sizes)))

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
                end = min(header.committed, size)
                if header.magic != f.MAGIC:
                    if not _is_chain(memory, SEGMENT_HEADER.size, end):
                        raise SpoolError(f"{path} is not a spool segment; remove it")
                    if self._offset == SEGMENT_HEADER.size:
                        yield Record(f.DAMAGED, b"")
                if header.version != f.VERSION:
                    raise SpoolError(
                        f"{path} has spool format {header.version}, this gviz reads {f.VERSION}; "
                        "fold it with the gviz that wrote it"
                    )
                while self._offset + RECORD_HEADER.size <= end:
                    kind, length = RECORD_HEADER.unpack_from(memory, self._offset)
                    start = self._offset + RECORD_HEADER.size
                    if not 0 < kind < f.TYPES_END or start + length > header.committed:
                        self._offset = _next_record(memory, self._offset + 8, end)
                        yield Record(f.DAMAGED, b"")
                        continue
                    if start + length > size:
                        return  # the file was cut short: what is before the cut is whole
                    payload = memory[start : start + length]
                    self._offset += (RECORD_HEADER.size + length + 7) & ~7
                    self.bytes_read += len(payload)
                    yield Record(kind, payload)


#: Headers in a row that make it certain that a place is the beginning of a record.
_CERTAIN = 4


def _next_record(memory: mmap.mmap, start: int, end: int) -> int:
    """Return the place of the first record from ``start`` on; ``end`` where there is none."""
    words = np.frombuffer(memory[start:end], np.uint32, (end - start) // 8 * 2).reshape(-1, 2)
    kinds, lengths = words[:, 0], words[:, 1].astype(np.int64)
    places = start + 8 * np.arange(len(words), dtype=np.int64)
    fits = (kinds > 0) & (kinds < f.TYPES_END) & (places + RECORD_HEADER.size + lengths <= end)
    return next((at for at in places[fits].tolist() if _is_chain(memory, at, end)), end)


def _is_chain(memory: mmap.mmap, at: int, end: int) -> bool:
    """Return whether records stand one after another from a place on, some or up to the end."""
    for _ in range(_CERTAIN):
        if at + RECORD_HEADER.size > end:
            return at == end
        kind, length = RECORD_HEADER.unpack_from(memory, at)
        if not 0 < kind < f.TYPES_END:
            return False
        at += (RECORD_HEADER.size + length + 7) & ~7
    return at <= end
