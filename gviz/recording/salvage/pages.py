"""Rows of an SQLite file that SQLite gives up on: read page by page, past those that are damaged.

The format is described at sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from typing import NamedTuple

#: Kinds of pages, by their first byte.
_INDEX_INNER, _TABLE_INNER, _INDEX_LEAF, _TABLE_LEAF = 2, 5, 10, 13
_PAGE_SIZES = {1 << bits for bits in range(9, 17)}
#: Bytes of a value beyond which a length is damage.
_MOST_BYTES = 1 << 30
_DAMAGE = (struct.error, IndexError, ValueError, OverflowError)
#: A value as SQLite stores it; text that is no UTF-8 stays bytes.
Value = int | float | str | bytes | None


class StoredRow(NamedTuple):
    """A row as it stands in its page: rowid (0: of a table without), and values in their order."""

    rowid: int
    values: list[Value]


class Pages:
    """The pages of an SQLite file.

    Attributes
    ----------
    unreadable
        The numbers of pages that should have held rows, and do not.

    Parameters
    ----------
    data
        The file.
    """

    def __init__(self, data: bytes | mmap.mmap) -> None:
        self._data = data
        size = int.from_bytes(data[16:18], "big")
        size = 65536 if size == 1 else size
        self._size = size if size in _PAGE_SIZES else 4096
        reserved = data[20] if len(data) > 20 else 0
        self._usable = self._size - (reserved if reserved <= 32 else 0)
        self._seen: set[int] = set()
        self.unreadable: set[int] = set()

    def rows(self, root: int, column_count: int, *, has_rowid: bool) -> Iterator[StoredRow]:
        """Yield the rows of a table that can be read.

        Parameters
        ----------
        root
            The number of its first page.
        column_count
            Its columns; rows with another number of values are not its own.
        has_rowid
            Whether it has rowids.
        """
        left, lost = [root], False
        while left:
            number = left.pop()
            if number in self._seen:
                continue
            self._seen.add(number)
            kinds = (_TABLE_INNER, _TABLE_LEAF) if has_rowid else (_INDEX_INNER, _INDEX_LEAF)
            page = self._page(number)
            if self._kind(number) not in kinds or len(page) < self._size:
                self.unreadable.add(number)
                lost = True
                continue
            children, found = self._read(number, has_rowid=has_rowid)
            left += reversed(children)
            yield from (row for row in found if len(row.values) == column_count)
        if lost:
            yield from self._orphans(column_count, has_rowid=has_rowid)

    def _orphans(self, column_count: int, *, has_rowid: bool) -> Iterator[StoredRow]:
        """Yield the rows of leaves that no readable page leads to, and that fit a table."""
        wanted = _TABLE_LEAF if has_rowid else _INDEX_LEAF
        for number in range(2, len(self._data) // self._size + 1):
            if number in self._seen or self._kind(number) != wanted:
                continue
            _, found = self._read(number, has_rowid=has_rowid)
            if found and all(len(row.values) == column_count for row in found):
                self._seen.add(number)
                yield from found

    # -- pages ---------------------------------------------------------------------------

    def _page(self, number: int) -> bytes:
        return self._data[(number - 1) * self._size : number * self._size] if number > 0 else b""

    def _kind(self, number: int) -> int:
        page = self._page(number)
        start = 100 if number == 1 else 0
        return page[start] if len(page) > start else 0

    def _read(self, number: int, *, has_rowid: bool) -> tuple[list[int], list[StoredRow]]:
        """Return the pages below a page, and its rows; cells that are damaged are left out."""
        page, start = self._page(number), 100 if number == 1 else 0
        kind = page[start]
        is_inner = kind in (_TABLE_INNER, _INDEX_INNER)
        head = start + (12 if is_inner else 8)
        count = int.from_bytes(page[start + 3 : start + 5], "big")
        children, found = [], []
        for at in range(head, min(head + 2 * count, len(page) - 1), 2):
            cell = int.from_bytes(page[at : at + 2], "big")
            try:
                if is_inner:
                    children.append(struct.unpack_from(">I", page, cell)[0])
                    cell += 4
                if kind != _TABLE_INNER:
                    found.append(self._cell(page, cell, has_rowid=has_rowid))
            except _DAMAGE:
                self.unreadable.add(number)
        if is_inner:
            children.append(struct.unpack_from(">I", page, start + 8)[0])
        return children, found

    def _cell(self, page: bytes, at: int, *, has_rowid: bool) -> StoredRow:
        size, at = _varint(page, at)
        rowid = 0
        if has_rowid:
            rowid, at = _varint(page, at)
        return StoredRow(rowid, _values(self._payload(page, at, size, has_rowid=has_rowid)))

    def _payload(self, page: bytes, at: int, size: int, *, has_rowid: bool) -> bytes:
        if not 0 <= size <= _MOST_BYTES:
            raise ValueError(size)
        usable = self._usable
        most = usable - 35 if has_rowid else (usable - 12) * 64 // 255 - 23
        if size <= most:
            local, following = size, 0
        else:
            least = (usable - 12) * 32 // 255 - 23
            local = least + (size - least) % (usable - 4)
            local = local if local <= most else least
            following = struct.unpack_from(">I", page, at + local)[0]
        parts, length = [page[at : at + local]], local
        while length < size:
            overflow = self._page(following)
            if len(overflow) < self._size or len(parts) * usable > size + 2 * usable:
                raise ValueError(following)
            parts.append(overflow[4:usable])
            length += usable - 4
            following = struct.unpack_from(">I", overflow)[0]
        payload = b"".join(parts)[:size]
        if len(payload) < size:
            raise ValueError(size)
        return payload


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at a place, signed, and the place behind it."""
    value = 0
    for i in range(8):
        byte = data[at + i]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + i + 1
    value = value << 8 | data[at + 8]
    return value - (1 << 64) if value >> 63 else value, at + 9


def _values(record: bytes) -> list[Value]:
    """Return the values of a record."""
    end, at = _varint(record, 0)
    if not at <= end <= len(record):
        raise ValueError(end)
    values: list[Value] = []
    place = end
    while at < end:
        kind, at = _varint(record, at)
        length = _length(kind)
        data = record[place : place + length]
        if len(data) < length:
            raise ValueError(kind)
        values.append(_value(kind, data))
        place += length
    if place != len(record):
        raise ValueError(place)
    return values


def _length(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    if kind in (10, 11) or kind < 0:
        raise ValueError(kind)
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind]


def _value(kind: int, data: bytes) -> Value:
    if kind == 0:
        return None
    if kind < 7:
        return int.from_bytes(data, "big", signed=True)
    if kind == 7:
        number: float = struct.unpack(">d", data)[0]
        return number
    if kind < 10:
        return kind - 8
    return data if kind % 2 == 0 else text_or_bytes(data)


def text_or_bytes(data: bytes) -> str | bytes:
    """Return text, or the bytes themselves where they are none."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
