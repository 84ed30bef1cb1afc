"""Rows of a table as columns: hundreds of thousands of them without an object a value.

SQLite itself writes each column of some thousand rows as one text, which numpy parses: about three
times as fast as a tuple a row, without Python's lock, and in the memory of the arrays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from gviz.recording.integrity import DamagedError, check_extremes, check_rows, check_values
from gviz.recording.table import Column, Table, table_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    IntArray = npt.NDArray[np.int64]
    FloatArray = npt.NDArray[np.float64]
    BoolArray = npt.NDArray[np.bool_]

#: Texts of so many rows stay in the processor's cache: 0.8 s for a million where one page
#: of all takes 1.0 s.
ROWS_AT_ONCE = 16_384
#: Of rows with bytes fewer: a structure of 4 KiB among the arguments of a kernel is no rarity.
_WITH_BYTES = 8
#: Stands for NULL in the text of a column of numbers; no number contains it.
_NULL = "n"

#: Runs a statement and returns its rows.
Execute = Callable[..., list[tuple[Any, ...]]]


class Texts(NamedTuple):
    """A column of texts: an index into ``values`` for each row (int32; -1: NULL)."""

    codes: npt.NDArray[np.int32]
    values: Sequence[str]


class Blobs(NamedTuple):
    """A column of bytes: row i has ``data[offset[i]:offset[i + 1]]`` (int64, uint8)."""

    offset: IntArray
    data: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, values: Sequence[bytes]) -> Blobs:
        """Return some values as a column."""
        import numpy as np

        lengths = np.array([0, *map(len, values)], np.int64)
        return cls(np.cumsum(lengths), np.frombuffer(b"".join(values), np.uint8))

    def take(self, chosen: BoolArray) -> Blobs:
        """Return the chosen rows (bool, one a row) as a column."""
        import numpy as np

        if chosen.all():
            return self
        lengths = np.diff(self.offset)
        offset = np.append(0, np.cumsum(lengths[chosen]))
        return Blobs(offset, self.data[np.repeat(chosen, lengths)])

    def cut(self, part: slice) -> Blobs:
        """Return rows that follow each other as a column."""
        first, last, _ = part.indices(len(self.offset) - 1)
        offset = self.offset[first : max(first, last) + 1]
        return Blobs(offset - offset[0], self.data[offset[0] : offset[-1]])

    def words(self) -> tuple[IntArray, IntArray, npt.NDArray[np.uint64]]:
        """Return the whole words of 8 bytes: the row of each, its place in there, its value.

        Little endian; what is left over at the end of a row is left out.
        """
        import numpy as np

        counts = np.diff(self.offset) // 8
        row = np.repeat(np.arange(len(counts)), counts)
        place = np.arange(len(row))
        place -= np.repeat(np.cumsum(counts) - counts, counts)
        if not len(row):
            return row, place, np.zeros(0, np.uint64)
        at = 8 * place
        at += self.offset[row]
        windows = np.lib.stride_tricks.sliding_window_view(self.data, 8)
        return row, place, windows[at].view("<u8").reshape(-1).astype(np.uint64, copy=False)


@dataclass(frozen=True, slots=True)
class _Integers:
    """A column of integers in as few bytes as hold them; ``known`` None: none is NULL."""

    values: npt.NDArray[np.signedinteger[Any]]
    known: BoolArray | None


@dataclass(frozen=True, slots=True)
class _Numbers:
    """A column of floating point numbers, NaN for NULL (SQLite has no NaN of its own)."""

    values: FloatArray


_Column = _Integers | _Numbers | Texts | Blobs
#: Columns of some rows, by name.
Page = Mapping[str, _Column]


class Columns:
    """Columns of the rows of one table, all of one length.

    Parameters
    ----------
    columns
        By name.
    """

    def __init__(self, columns: Page) -> None:
        self._columns = columns
        self._length = _length(columns)

    def __len__(self) -> int:
        return self._length

    def integers(self, name: str, missing: int | None = None) -> IntArray:
        """Return a column of integers (int64).

        ``missing`` stands for NULL; None: there may be none (ValueError).
        """
        import numpy as np

        column = self._columns[name]
        assert isinstance(column, _Integers)
        if column.known is None:
            return column.values.astype(np.int64)
        if missing is None:
            raise ValueError(f"{name} has rows without a value")
        return np.where(column.known, column.values.astype(np.int64), missing)

    def numbers(self, name: str) -> FloatArray:
        """Return a column of numbers, integers too, as float64; NaN for NULL."""
        import numpy as np

        column = self._columns[name]
        if isinstance(column, _Numbers):
            return column.values
        assert isinstance(column, _Integers)
        values = column.values.astype(np.float64)
        return values if column.known is None else np.where(column.known, values, np.nan)

    def texts(self, name: str) -> Texts:
        """Return a column of texts."""
        column = self._columns[name]
        assert isinstance(column, Texts)
        return column

    def blobs(self, name: str) -> Blobs:
        """Return a column of bytes."""
        column = self._columns[name]
        assert isinstance(column, Blobs)
        return column

    def listed(self, name: str) -> list[Any]:
        """Return a column as Python's values, None for NULL; not of bytes."""
        column = self._columns[name]
        assert not isinstance(column, Blobs)
        if isinstance(column, Texts):
            return [*map([*column.values, None].__getitem__, column.codes.tolist())]
        values: list[Any] = column.values.tolist()
        if isinstance(column, _Numbers):
            return [None if value != value else value for value in values]
        if column.known is None:
            return values
        return [v if known else None for v, known in zip(values, column.known, strict=True)]

    def cut(self, part: slice) -> Columns:
        """Return some rows that follow each other; numbers are not copied."""
        return Columns({name: _cut(column, part) for name, column in self._columns.items()})

    def any_known(self, name: str) -> bool:
        """Return whether a row has a value in a column of numbers or texts."""
        import numpy as np

        column = self._columns[name]
        assert not isinstance(column, Blobs)
        if isinstance(column, Texts):
            return bool((column.codes >= 0).any())
        if isinstance(column, _Numbers):
            return not np.isnan(column.values).all()
        return self._length > 0 if column.known is None else bool(column.known.any())


def read_columns(
    execute: Execute,
    row: type,
    names: Sequence[str],
    key: Mapping[str, object],
    since: Mapping[str, int] = MappingProxyType({}),
) -> Columns:
    """Return columns of the rows whose columns equal ``key``, by the rest of the primary key.

    Parameters
    ----------
    execute
        Runs a statement.
    row
        The class of the rows; the rest of its table's key are integers.
    names
        The columns wanted; those of bytes only where none can be NULL.
    key
        Values of columns; empty: of all rows.
    since
        Numbers to subtract from columns that are not of the key: short numbers are read faster.
    """
    table = table_of(row)
    order = [name for name in table.primary_key if name not in key]
    read = list(dict.fromkeys((*order, *(name for name in names if name not in key))))
    chosen = ", ".join(f"{n} - {since[n]} AS {n}" if n in since else n for n in read)
    equal, by = [f"{name}=?" for name in key], ", ".join(order)
    has_bytes = any(c.sql_type == "BLOB" for c in table.columns if c.name in read)
    most = -(-ROWS_AT_ONCE // _WITH_BYTES) if has_bytes else ROWS_AT_ONCE
    after: tuple[int, ...] = ()
    pages: list[Page] = []
    while not pages or _length(pages[-1]) == most:
        beyond = [f"({by}) > ({', '.join('?' * len(order))})"] if after else []
        source = (
            f"SELECT {chosen} FROM {table.name} "
            f"WHERE {' AND '.join([*equal, *beyond]) or '1'} ORDER BY {by} LIMIT {most}"
        )
        pages.append(read_page(execute, row, read, source, (*key.values(), *after)))
        after = _last(pages[-1], order)
    found = {name: _join([page[name] for page in pages]) for name in names if name not in key}
    count = sum(map(_length, pages))
    return Columns({n: found[n] if n in found else _repeated(key[n], count) for n in names})


def read_page(
    execute: Execute,
    row: type,
    names: Sequence[str],
    source: str,
    parameters: Sequence[object],
) -> Page:
    """Return what a SELECT of these columns finds, in its order; for some ten thousand rows."""
    known = {c.name: c for c in table_of(row).columns}
    as_text = [known[name] for name in names if known[name].sql_type != "REAL"]
    aggregates = ", ".join(_aggregate(c) for c in as_text)
    ((count, *texts),) = execute(f"SELECT count(*), {aggregates} FROM ({source})", *parameters)
    page = {}
    for column, text in zip(as_text, texts, strict=True):
        page[column.name] = _decode(table_of(row), column, text or "", count)
    real = [name for name in names if known[name].sql_type == "REAL"]
    if real:
        # As text they would lose their last bits.
        found = execute(f"SELECT {', '.join(real)} FROM ({source})", *parameters)
        page |= _numbers(table_of(row), real, found)
    return page


def join_pages(names: Sequence[str], pages: Sequence[Page]) -> Columns:
    """Return columns of pages that follow each other."""
    return Columns({name: _join([page[name] for page in pages]) for name in names})


def join_columns(parts: Sequence[Columns]) -> Columns:
    """Return columns of the same names, one part behind the other; at least one part."""
    pages = [part._columns for part in parts]
    return join_pages(list(pages[0]), pages)


# -- inner -------------------------------------------------------------------------------


def _aggregate(column: Column) -> str:
    if column.sql_type == "TEXT":
        return f"json_group_array({column.name})"
    if column.sql_type == "BLOB":
        assert not column.nullable, f"{column.name} may be NULL"
        return f"group_concat(hex({column.name}))"
    assert column.sql_type == "INTEGER", f"{column.name} is {column.sql_type}"
    value = f"ifnull({column.name}, '{_NULL}')" if column.nullable else column.name
    return f"group_concat({value})"


def _decode(table: Table, column: Column, text: str, count: int) -> _Column:
    import numpy as np

    if column.sql_type == "TEXT":
        return _texts(table, column, json.loads(text or "[]"))
    if column.sql_type == "BLOB":
        return _blobs(text, count)
    known: BoolArray | None = None
    if _NULL in text:
        characters = np.frombuffer(text.encode(), np.uint8)
        null = np.flatnonzero(characters == ord(_NULL))
        known = np.ones(count, bool)
        known[np.cumsum(characters == ord(","))[null]] = False
        text = text.replace(_NULL, "0")
    values = _parse(table, column, text, count)
    if count:
        check_extremes(table, column, int(values.min()), int(values.max()))
    return _Integers(narrow(values), known)


def _parse(table: Table, column: Column, text: str, count: int) -> IntArray:
    import numpy as np

    try:
        found = np.fromstring(text, np.int64, sep=",") if count else np.zeros(0, np.int64)
    except ValueError:
        found = np.zeros(0, np.int64)
    if len(found) != count:
        raise DamagedError(f"{table.name}.{column.name} holds something that is no whole number")
    return found


def narrow(values: IntArray) -> npt.NDArray[np.signedinteger[Any]]:
    """Return integers in as few bytes as hold them."""
    import numpy as np

    if not len(values):
        return values.astype(np.int8)
    least, most = int(values.min()), int(values.max())
    kinds = (np.int8, np.int16, np.int32)
    kind = next((k for k in kinds if np.iinfo(k).min <= least and most <= np.iinfo(k).max), None)
    return values if kind is None else values.astype(kind)


def _texts(table: Table, column: Column, texts: Sequence[str | None]) -> Texts:
    import numpy as np

    different = dict.fromkeys(texts)
    check_values(table, column, [*different])
    values = [text for text in different if text is not None]
    index: dict[str | None, int] = {text: code for code, text in enumerate(values)}
    index[None] = -1
    return Texts(np.fromiter(map(index.__getitem__, texts), np.int32, len(texts)), values)


def _blobs(text: str, count: int) -> Blobs:
    import numpy as np

    commas = np.flatnonzero(np.frombuffer(text.encode(), np.uint8) == ord(","))
    ends = np.append(commas, len(text))[:count]
    starts = np.append(0, commas + 1)[:count]
    offset = np.append(0, np.cumsum((ends - starts) // 2))
    return Blobs(offset, np.frombuffer(bytes.fromhex(text.replace(",", "")), np.uint8))


def _numbers(
    table: Table, names: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> dict[str, _Column]:
    import numpy as np

    if not set(map(type, chain.from_iterable(rows))) <= {float, int, type(None)}:
        check_rows(table, names, rows)
    values = np.array(rows, np.float64).reshape(len(rows), len(names))
    known = {column.name: column for column in table.columns}
    for at, name in enumerate(names):
        null, column = np.isnan(values[:, at]), known[name]
        given = values[~null, at]
        # Value by value only where there is something to tell of.
        if not np.isfinite(given).all() or (null.any() and not column.nullable):
            check_rows(table, names, rows)
        if len(given):
            check_extremes(table, column, float(given.min()), float(given.max()))
    return {name: _Numbers(np.ascontiguousarray(values[:, i])) for i, name in enumerate(names)}


def _length(page: Mapping[str, _Column]) -> int:
    column = next(iter(page.values()))
    if isinstance(column, Blobs):
        return len(column.offset) - 1
    return len(column.codes if isinstance(column, Texts) else column.values)


def _last(page: Page, order: Sequence[str]) -> tuple[int, ...]:
    """Return the key of the last row of a page; its rows must be in the order of the key."""
    import numpy as np

    if not _length(page):
        return ()
    keys = [column.values for name in order if isinstance(column := page[name], _Integers)]
    # SQLite promises aggregates no order, but gives them that of the subquery.
    if not (np.lexsort(keys[::-1]) == np.arange(_length(page))).all():
        raise DamagedError("the rows of a table are not in the order of its key")
    return tuple(int(key[-1]) for key in keys)


def _repeated(value: object, count: int) -> _Integers:
    """Return a column of the same number in every row."""
    import numpy as np

    assert isinstance(value, int)
    return _Integers(narrow(np.full(count, value, np.int64)), None)


def _cut(column: _Column, part: slice) -> _Column:
    if isinstance(column, Texts):
        return Texts(column.codes[part], column.values)
    if isinstance(column, _Numbers):
        return _Numbers(column.values[part])
    if isinstance(column, Blobs):
        return column.cut(part)
    return _Integers(column.values[part], None if column.known is None else column.known[part])


def _join(parts: Sequence[_Column]) -> _Column:
    """Return columns of one kind as one, one behind the other."""
    import numpy as np

    first = parts[0]
    if isinstance(first, Texts):
        return _join_texts([part for part in parts if isinstance(part, Texts)])
    if isinstance(first, Blobs):
        return join_blobs([part for part in parts if isinstance(part, Blobs)])
    if isinstance(first, _Numbers):
        numbers = [part.values for part in parts if isinstance(part, _Numbers)]
        return _Numbers(np.concatenate(numbers))
    return _join_integers([part for part in parts if isinstance(part, _Integers)])


def _join_integers(parts: Sequence[_Integers]) -> _Integers:
    import numpy as np

    values = np.concatenate([part.values for part in parts])
    if all(part.known is None for part in parts):
        return _Integers(values, None)
    known = [
        np.ones(len(part.values), np.bool_) if part.known is None else part.known for part in parts
    ]
    return _Integers(values, np.concatenate(known))


def join_blobs(parts: Sequence[Blobs]) -> Blobs:
    """Return columns of bytes as one, one behind the other."""
    import numpy as np

    lengths = np.concatenate([np.diff(part.offset) for part in parts])
    data = np.concatenate([part.data for part in parts])
    return Blobs(np.append(0, np.cumsum(lengths)), data)


def _join_texts(parts: Sequence[Texts]) -> Texts:
    import numpy as np

    index: dict[str, int] = {}
    codes = []
    for part in parts:
        own = [index.setdefault(text, len(index)) for text in part.values]
        # The last entry is what -1 becomes.
        codes.append(np.array([*own, -1], np.int32)[part.codes])
    return Texts(np.concatenate(codes), list(index))
