"""Places of a table in which it stands how its numbers came about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from gviz.dataclass import dataclass
from gviz.report.document import Line, Quantity, TableBlock
from gviz.stats import How

_W = TypeVar("_W")


@dataclass(frozen=True, slots=True)
class HowPlaces(Generic[_W]):
    """The places of the words: once for the table, over its columns, or in a column of their own.

    Attributes
    ----------
    table
        For all numbers; None: they differ, or there are none.
    columns
        Over each column that is shown; None: there is none, or it stands elsewhere.
    rows
        Of each row; empty: it stands elsewhere.
    """

    table: _W | None
    columns: tuple[_W | None, ...]
    rows: tuple[tuple[_W, ...], ...]


def how_places(table: TableBlock, shown: Sequence[int], rows: int | None = None) -> HowPlaces[How]:
    """Return where it stands in a table how its numbers came about.

    Parameters
    ----------
    shown
        Indices of the columns that are shown.
    rows
        How many of its rows are shown, the first; None: all.
    """
    return word_places([[row[at] for at in shown] for row in table.rows[:rows]], _own_how)


def word_places(
    rows: Sequence[Sequence[Line]], word: Callable[[Quantity], _W | None]
) -> HowPlaces[_W]:
    """Return where words about the numbers of a table stand; ``rows``: the cells shown."""
    words = [[_words(cell, word) for cell in row] for row in rows]
    every = {one for row in words for cell in row for one in cell}
    nowhere: tuple[_W | None, ...] = (None,) * (len(rows[0]) if rows else 0)
    if len(every) < 2:
        return HowPlaces(next(iter(every), None), nowhere, ())
    by_column = [{one for cell in cells for one in cell} for cells in zip(*words, strict=True)]
    if all(len(found) < 2 for found in by_column):
        return HowPlaces(None, tuple(next(iter(found), None) for found in by_column), ())
    by_row = (dict.fromkeys(one for cell in row for one in cell) for row in words)
    return HowPlaces(None, nowhere, tuple(tuple(found) for found in by_row))


def _words(cell: Line, word: Callable[[Quantity], _W | None]) -> list[_W]:
    found = (word(part) for part in cell if isinstance(part, Quantity))
    return [one for one in found if one is not None]


def _own_how(found: Quantity) -> How | None:
    return found.own_how
