"""Rows of a table as columns: hundreds of thousands of them without an object a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gviz.dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from gviz.stats import BoolArray, FloatArray, IntArray


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
class Integers:
    """A column of integers in as few bytes as hold them; ``known`` None: none is NULL."""

    values: npt.NDArray[np.signedinteger[Any]]
    known: BoolArray | None


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of floating point numbers, NaN for NULL (SQLite has no NaN of its own)."""

    values: FloatArray


Column = Integers | Numbers | Texts | Blobs
#: Columns of some rows, by name.
Page = Mapping[str, Column]


class Columns:
    """Columns of the rows of one table, all of one length.

    Parameters
    ----------
    columns
        By name.
    """

    def __init__(self, columns: Page) -> None:
        self._columns = columns
        self._length = page_length(columns)

    def __len__(self) -> int:
        return self._length

    def integers(self, name: str, missing: int | None = None) -> IntArray:
        """Return a column of integers (int64).

        ``missing`` stands for NULL; None: there may be none (ValueError).
        """
        import numpy as np

        column = self._columns[name]
        assert isinstance(column, Integers)
        if column.known is None:
            return column.values.astype(np.int64)
        if missing is None:
            raise ValueError(f"{name} has rows without a value")
        return np.where(column.known, column.values.astype(np.int64), missing)

    def numbers(self, name: str) -> FloatArray:
        """Return a column of numbers, integers too, as float64; NaN for NULL."""
        import numpy as np

        column = self._columns[name]
        if isinstance(column, Numbers):
            return column.values
        assert isinstance(column, Integers)
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
        if isinstance(column, Numbers):
            return [None if value != value else value for value in values]
        if column.known is None:
            return values
        return [v if known else None for v, known in zip(values, column.known, strict=True)]

    def value(self, name: str, row: int) -> Any:
        """Return one value of a column as Python's, None for NULL; not of bytes."""
        column = self._columns[name]
        assert not isinstance(column, Blobs)
        if isinstance(column, Texts):
            code = int(column.codes[row])
            return None if code < 0 else column.values[code]
        if isinstance(column, Integers) and column.known is not None and not column.known[row]:
            return None
        value = column.values[row].item()
        return None if value != value else value

    def cut(self, part: slice) -> Columns:
        """Return some rows that follow each other; numbers are not copied."""
        return Columns({name: _cut(column, part) for name, column in self._columns.items()})

    def filled(self, name: str, values: IntArray, missing: int) -> Columns:
        """Return the columns with values in place of NULL in one of integers.

        Parameters
        ----------
        values
            One a row; ``missing`` where NULL stays.
        """
        import numpy as np

        own = self.integers(name, missing)
        whole = np.where(own == missing, values, own)
        column = Integers(narrow(whole), None if (whole != missing).all() else whole != missing)
        return Columns({**self._columns, name: column})

    def any_known(self, name: str) -> bool:
        """Return whether a row has a value in a column of numbers or texts."""
        import numpy as np

        column = self._columns[name]
        assert not isinstance(column, Blobs)
        if isinstance(column, Texts):
            return bool((column.codes >= 0).any())
        if isinstance(column, Numbers):
            return not np.isnan(column.values).all()
        return self._length > 0 if column.known is None else bool(column.known.any())


def as_page(names: Sequence[str], pages: Sequence[Page]) -> Page:
    """Return columns of pages that follow each other as one page."""
    return {name: _join([page[name] for page in pages]) for name in names}


def join_pages(names: Sequence[str], pages: Sequence[Page]) -> Columns:
    """Return columns of pages that follow each other."""
    return Columns(as_page(names, pages))


def join_columns(parts: Sequence[Columns]) -> Columns:
    """Return columns of the same names, one part behind the other; at least one part."""
    pages = [part._columns for part in parts]
    return join_pages(list(pages[0]), pages)


def narrow(values: IntArray) -> npt.NDArray[np.signedinteger[Any]]:
    """Return integers in as few bytes as hold them."""
    import numpy as np

    if not len(values):
        return values.astype(np.int8)
    least, most = int(values.min()), int(values.max())
    kinds = (np.int8, np.int16, np.int32)
    kind = next((k for k in kinds if np.iinfo(k).min <= least and most <= np.iinfo(k).max), None)
    return values if kind is None else values.astype(kind)


def page_length(page: Page) -> int:
    """Return how many rows a page has; it must have a column."""
    column = next(iter(page.values()))
    if isinstance(column, Blobs):
        return len(column.offset) - 1
    return len(column.codes if isinstance(column, Texts) else column.values)


# -- inner -------------------------------------------------------------------------------


def _cut(column: Column, part: slice) -> Column:
    if isinstance(column, Texts):
        return Texts(column.codes[part], column.values)
    if isinstance(column, Numbers):
        return Numbers(column.values[part])
    if isinstance(column, Blobs):
        return column.cut(part)
    return Integers(column.values[part], None if column.known is None else column.known[part])


def _join(parts: Sequence[Column]) -> Column:
    """Return columns of one kind as one, one behind the other."""
    import numpy as np

    first = parts[0]
    if isinstance(first, Texts):
        return _join_texts([part for part in parts if isinstance(part, Texts)])
    if isinstance(first, Blobs):
        return join_blobs([part for part in parts if isinstance(part, Blobs)])
    if isinstance(first, Numbers):
        numbers = [part.values for part in parts if isinstance(part, Numbers)]
        return Numbers(np.concatenate(numbers))
    return _join_integers([part for part in parts if isinstance(part, Integers)])


def _join_integers(parts: Sequence[Integers]) -> Integers:
    import numpy as np

    values = np.concatenate([part.values for part in parts])
    if all(part.known is None for part in parts):
        return Integers(values, None)
    known = [
        np.ones(len(part.values), np.bool_) if part.known is None else part.known for part in parts
    ]
    return Integers(values, np.concatenate(known))


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
