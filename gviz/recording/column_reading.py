"""Reading columns: SQLite writes each of some thousand rows as one text, which numpy parses.

About three times as fast as a tuple a row, without Python's lock, and in the memory of the arrays.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.recording.columns import (
    Blobs,
    Column,
    Columns,
    Integers,
    Numbers,
    Page,
    Texts,
    as_page,
    narrow,
    page_length,
)
from gviz.recording.integrity import DamagedError, check_extremes, check_rows, check_values
from gviz.recording.rows import Column as Described
from gviz.recording.rows import Table, table_of
from gviz.stats import is_ascending

if TYPE_CHECKING:
    from gviz.recording.database import Database, Execute
    from gviz.stats import BoolArray, IntArray

#: Values of a page. Texts of fewer stay in the processor's cache, but each page begins with a
#: search for its end: 100,000 spans take 38 ms in one page of 5 columns and 47 ms in seven, nodes
#: of 26 columns 190 ms in pages of 16,384 rows and 208 ms in one.
VALUES_AT_ONCE = 1 << 19
#: Threads that read pages: the cores that a small machine has.
_READERS = 2
#: Of rows with bytes fewer: a structure of 4 KiB among the arguments of a kernel is no rarity.
_WITH_BYTES = 32
#: Stands for NULL in the text of a column of numbers; no number contains it.
_NULL = "n"
#: A whole number that surely has 64 bits.
_SHORT_NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
#: Numbers of 2^-8 and more are multiples of one such part (IEEE 754: 52 bits behind the first), so
#: what is left of them behind the point is a whole number of parts, below 2^60.
_PARTS = 2.0**60

#: What typeof() says of a column's values, where SQLite could store others.
_STORED_AS = {"TEXT": "text", "INTEGER": "integer"}

#: Values of the first columns of a key.
_Place = tuple[int, ...]


def read_columns(
    database: Database,
    row: type,
    names: Sequence[str],
    key: Mapping[str, object],
    since: Mapping[str, int] = MappingProxyType({}),
    count: int | None = None,
) -> Columns:
    """Return columns of the rows whose columns equal ``key``, by the rest of the primary key.

    Parameters
    ----------
    database
        The open file.
    row
        The class of the rows; the rest of its table's key are integers.
    names
        The columns wanted; those of bytes only where none can be NULL.
    key
        Values of columns; empty: of all rows.
    since
        Numbers to subtract from columns that are not of the key: short numbers are read faster.
    count
        How many rows another table says there are; None: not known. Where these are one page it
        is read without a search for its end.
    """
    selection = _Selection.of(database.execute, row, names, key, since)
    pages = database.attempt(lambda: list(_pages(database, selection, count)))
    return selection.columns(names, as_page(selection.names, pages))


def read_in_pages(
    database: Database,
    row: type,
    names: Sequence[str],
    key: Mapping[str, object],
    since: Mapping[str, int],
) -> Iterator[Columns]:
    """Yield what :func:`read_columns` returns, some ten thousand rows at a time; at least once."""
    selection = _Selection.of(database.execute, row, names, key, since)
    for page in _pages(database, selection, None):
        yield selection.columns(names, page)


def read_page(
    execute: Execute,
    row: type,
    names: Sequence[str],
    source: str,
    parameters: Sequence[object],
) -> Page:
    """Return what a SELECT of these columns finds, in its order; for some ten thousand rows."""
    table = table_of(row)
    known = {c.name: c for c in table.columns}
    wanted = {name: _aggregates(known[name]) for name in names}
    aggregates = ", ".join(chain.from_iterable(wanted.values()))
    try:
        ((count, *found),) = execute(f"SELECT count(*), {aggregates} FROM ({source})", *parameters)
        parts_of = iter(found)
        page = {
            name: _decode(table, known[name], [*islice(parts_of, len(parts))], count)
            for name, parts in wanted.items()
        }
    except RecordingError:  # SQLite's words, or the column's name alone
        for name in names:
            _refuse_other_types(execute, table, known[name], source, parameters)
        raise
    left = [name for name in names if page[name] is None]
    if left:
        values = execute(f"SELECT {', '.join(left)} FROM ({source})", *parameters)
        page |= _numbers(table, left, values)
    return {name: column for name, column in page.items() if column is not None}


def rows_of_page(row: type, names: Sequence[str]) -> int:
    """Return how many rows a page of some columns has at most."""
    has_bytes = any(c.sql_type == "BLOB" for c in table_of(row).columns if c.name in names)
    return -(-VALUES_AT_ONCE // len(names) // (_WITH_BYTES if has_bytes else 1))


# -- inner -------------------------------------------------------------------------------


def _pages(database: Database, selection: _Selection, count: int | None) -> Iterator[Page]:
    """Yield the rows, some thousand at a time; ``count``: how many there are, if known.

    Several pages are read by threads, for SQLite needs no lock of Python's while it makes one.
    """
    is_one_page = count is not None and count <= selection.rows_at_once
    end = None if is_one_page else selection.end_of_page(database.execute, ())
    if end is None:
        yield selection.page(database.execute, (), ())
        return
    with database.open_beside(1 + _READERS) as beside:
        if beside:
            yield from _pages_of_threads(selection, end, *beside)
        else:
            for after, up_to in selection.places(database.execute, end):
                yield selection.page(database.execute, after, up_to)


def _pages_of_threads(
    selection: _Selection, end: _Place, search: Execute, *connections: Execute
) -> Iterator[Page]:
    """Yield the rows, read by a thread a connection but the first, which finds where pages end."""
    from concurrent.futures import Future, ThreadPoolExecutor

    free = deque(connections)

    def read(after: _Place, up_to: _Place) -> Page:
        execute = free.popleft()
        try:
            return selection.page(execute, after, up_to)
        finally:
            free.append(execute)

    with ThreadPoolExecutor(len(connections), "pages of rows") as pool:
        read_next: deque[Future[Page]] = deque()
        for after, up_to in selection.places(search, end):
            read_next.append(pool.submit(read, after, up_to))
            if len(read_next) > len(connections):
                yield read_next.popleft().result()
        while read_next:
            yield read_next.popleft().result()


def _common(execute: Execute, row: type, key: Mapping[str, object]) -> dict[str, int]:
    """Return the next column of the primary key, if it has one value in all rows of ``key``.

    Most launches run nodes of one graph: SQLite need not write its number for each of them.
    """
    table = table_of(row)
    order = [name for name in table.primary_key if name not in key]
    if len(order) < 2:
        return {}
    where = " AND ".join(f"{name}=?" for name in key) or "1"
    ends = [
        execute(
            f"SELECT {order[0]} FROM {table.name} WHERE {where} ORDER BY {by} LIMIT 1",
            *key.values(),
        )
        for by in (order[0], f"{order[0]} DESC")
    ]
    check_rows(table, order[:1], [*ends[0], *ends[1]])
    return {order[0]: ends[0][0][0]} if ends[0] and ends[0] == ends[1] else {}


@dataclass(frozen=True, slots=True)
class _Selection:
    """Some columns of the rows of one key.

    Attributes
    ----------
    row
        The class of the rows.
    order
        The rest of the primary key.
    names
        What is read: ``order``, and what is wanted.
    key
        The columns that are given, with their values.
    chosen
        ``names`` as SQL.
    rows_at_once
        Most rows of a page.
    """

    row: type
    order: Sequence[str]
    names: Sequence[str]
    key: Mapping[str, object]
    chosen: str
    rows_at_once: int

    @classmethod
    def of(
        cls,
        execute: Execute,
        row: type,
        names: Sequence[str],
        key: Mapping[str, object],
        since: Mapping[str, int],
    ) -> _Selection:
        table = table_of(row)
        key = {**key, **_common(execute, row, key)}
        order = [name for name in table.primary_key if name not in key]
        read = list(dict.fromkeys((*order, *(name for name in names if name not in key))))
        chosen = ", ".join(f"{n} - {since[n]} AS {n}" if n in since else n for n in read)
        return cls(row, order, read, key, chosen, rows_of_page(row, read))

    def places(self, execute: Execute, end: _Place | None) -> Iterator[tuple[_Place, _Place]]:
        """Yield between which places of the key each page is; the first and last are open.

        ``end`` is that of the first page.
        """
        begin: _Place = ()
        while end is not None:
            yield begin, end
            begin, end = end, self.end_of_page(execute, end)
        yield begin, ()

    def columns(self, names: Sequence[str], page: Page) -> Columns:
        """Return columns of rows that were read; those of the key have its values."""
        length = page_length(page)
        return Columns({n: page[n] if n in page else _repeated(self.key[n], length) for n in names})

    def page(self, execute: Execute, after: _Place, up_to: _Place) -> Page:
        """Return the rows behind one place of the key, up to another; empty: no such end."""
        conditions, parameters = self._between(after, up_to)
        source = f"SELECT {self.chosen} FROM {table_of(self.row).name} WHERE {conditions}"
        page = read_page(execute, self.row, self.names, source, parameters)
        # SQLite promises aggregates no order, but gives them that of the index that it searches by:
        # by time, which in upgraded recordings is not the order of launch_id.
        if not self._is_ordered(page):
            ordered = f"{source} ORDER BY {', '.join(self.order)}"
            page = read_page(execute, self.row, self.names, ordered, parameters)
        if not self._is_ordered(page):
            raise _disordered()
        return page

    def _is_ordered(self, page: Page) -> bool:
        found = (page[name] for name in self.order)
        return is_ascending([column.values for column in found if isinstance(column, Integers)])

    def end_of_page(self, execute: Execute, after: _Place) -> _Place | None:
        """Return the place up to which a page's rows go; None: these are not more than a page.

        A LIMIT of the page itself would have SQLite copy every value, each text into memory of
        its own under a lock of the process: twice the time.
        """
        conditions, parameters = self._between(after, ())
        order = ", ".join(self.order)
        found = execute(
            f"SELECT {order} FROM {table_of(self.row).name} WHERE {conditions} "
            f"ORDER BY {order} LIMIT 1 OFFSET {self.rows_at_once - 1}",
            *parameters,
        )
        check_rows(table_of(self.row), self.order, found)
        if found and found[0] <= after:
            raise _disordered()
        return found[0] if found else None

    def _between(self, after: _Place, up_to: _Place) -> tuple[str, Sequence[object]]:
        """Return the condition of being in there, and its parameters."""
        conditions = [f"{name}=?" for name in self.key]
        for place, relation in ((after, ">"), (up_to, "<=")):
            if place:
                columns = ", ".join(self.order[: len(place)])
                conditions.append(f"({columns}) {relation} ({', '.join('?' * len(place))})")
        return " AND ".join(conditions) or "1", (*self.key.values(), *after, *up_to)


def _disordered() -> DamagedError:
    return DamagedError("the rows of a table are not in the order of its key")


def _aggregates(column: Described) -> tuple[str, ...]:
    """Return what SQLite is to make of the values of a column: texts, or aggregates of them."""
    name = column.name
    if column.sql_type == "TEXT":
        return (f"json_group_array({name})",)
    if column.sql_type == "BLOB":
        assert not column.nullable, f"{name} may be NULL"
        return (f"group_concat(hex({name}))",)
    if column.sql_type == "INTEGER":
        return (f"group_concat({_or_null(name) if column.nullable else name})",)
    # As text a number would lose its last bits, but not as its whole part and the rest.
    whole = f"CAST({name} AS INTEGER)"
    rest = f"({name} - {whole}) * {_PARTS}"
    is_exact = f"{name} = {name} + 0 AND CAST({rest} AS INTEGER) = {rest}"
    return (
        f"group_concat({_or_null(whole)})",
        f"group_concat(ifnull(CAST({rest} AS INTEGER), 0))",
        f"min({name} IS NULL OR ({is_exact}))",
    )


def _refuse_other_types(
    execute: Execute, table: Table, column: Described, source: str, parameters: Sequence[object]
) -> None:
    """Raise DamagedError, which names the value, if the column has one of another type."""
    name, kind = column.name, _STORED_AS.get(column.sql_type)
    if kind is not None:
        where = f"typeof({name}) NOT IN ('{kind}', 'null')"
        odd = execute(f"SELECT {name} FROM ({source}) WHERE {where} LIMIT 1", *parameters)
        check_values(table, column, [value for (value,) in odd])


def _or_null(expression: str) -> str:
    return f"ifnull({expression}, '{_NULL}')"


def _decode(table: Table, column: Described, found: Sequence[Any], count: int) -> Column | None:
    """Return the column that :func:`_aggregates` described; None: value by value is left."""
    text = found[0] or ""
    if column.sql_type == "TEXT":
        return _texts(table, column, json.loads(text or "[]"))
    if column.sql_type == "BLOB":
        return _blobs(text, count)
    if column.sql_type == "REAL":
        return _exact_numbers(table, column, found, count)
    known, text = _known(text, count)
    values = _parse(table, column, text, count)
    if count:
        check_extremes(table, column, int(values.min()), int(values.max()))
    return Integers(narrow(values), known)


def _exact_numbers(
    table: Table, column: Described, found: Sequence[Any], count: int
) -> Numbers | None:
    import numpy as np

    whole, rest, is_exact = found
    if not count:
        return Numbers(np.zeros(0, np.float64))
    if not is_exact or (_NULL in whole and not column.nullable):
        return None
    known, whole = _known(whole, count)
    parts = (_parse(table, column, text, count).astype(np.float64) for text in (whole, rest))
    values = next(parts) + next(parts) / _PARTS
    given = values if known is None else values[known]
    if len(given):
        check_extremes(table, column, float(given.min()), float(given.max()))
    return Numbers(values if known is None else np.where(known, values, np.nan))


def _known(text: str, count: int) -> tuple[BoolArray | None, str]:
    """Return which of some values are not NULL (None: all), and their text with 0 for NULL."""
    import numpy as np

    if _NULL not in text:
        return None, text
    if _is_repeated(_NULL, text, count):
        return np.zeros(count, bool), text.replace(_NULL, "0")
    characters = np.frombuffer(text.encode(), np.uint8)
    null = np.flatnonzero(characters == ord(_NULL))
    known = np.ones(count, bool)
    at = np.cumsum(characters == ord(","))[null]
    # Beyond: a text with commas stands among the numbers, which who reads them finds.
    known[at[at < count]] = False
    return known, text.replace(_NULL, "0")


def _parse(table: Table, column: Described, text: str, count: int) -> IntArray:
    import numpy as np

    one = text.partition(",")[0]
    # Many columns hold one value: a comparison of texts takes a fiftieth of the time of parsing.
    if _SHORT_NUMBER.fullmatch(one) and _is_repeated(one, text, count):
        return np.full(count, int(one), np.int64)
    try:
        found = np.fromstring(text, np.int64, sep=",") if count else np.zeros(0, np.int64)
    except ValueError:
        found = np.zeros(0, np.int64)
    if len(found) != count:
        raise DamagedError(f"{table.name}.{column.name} holds something that is no whole number")
    return found


def _is_repeated(one: str, text: str, count: int) -> bool:
    """Return whether a text is so often one value and a comma, without the last comma."""
    return len(text) == (len(one) + 1) * count - 1 and text == f"{one}," * (count - 1) + one


def _texts(table: Table, column: Described, texts: Sequence[str | None]) -> Texts:
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
) -> dict[str, Column]:
    import numpy as np

    if not set(map(type, chain.from_iterable(rows))) <= {float, int, type(None)}:
        check_rows(table, names, rows)
    values = np.array(rows, np.float64).reshape(len(rows), len(names))
    known = {column.name: column for column in table.columns}
    for at, name in enumerate(names):
        null, column = np.isnan(values[:, at]), known[name]
        given = values[~null, at]
        # Value by value only where there is something to report.
        if not np.isfinite(given).all() or (null.any() and not column.nullable):
            check_rows(table, names, rows)
        if len(given):
            check_extremes(table, column, float(given.min()), float(given.max()))
    return {name: Numbers(np.ascontiguousarray(values[:, i])) for i, name in enumerate(names)}


def _repeated(value: object, count: int) -> Integers:
    """Return a column of the same number in every row."""
    import numpy as np

    assert isinstance(value, int)
    return Integers(narrow(np.full(count, value, np.int64)), None)
