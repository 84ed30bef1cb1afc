"""Places of a table in which it stands how its numbers came about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gviz.report.document import Line, Quantity, TableBlock
from gviz.stats import How


@dataclass(frozen=True, slots=True)
class HowPlaces:
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

    table: How | None
    columns: tuple[How | None, ...]
    rows: tuple[tuple[How, ...], ...]


def how_places(table: TableBlock, shown: Sequence[int], rows: int | None = None) -> HowPlaces:
    """Return where it stands in a table how its numbers came about.

    Parameters
    ----------
    shown
        Indices of the columns that are shown.
    rows
        How many of its rows are shown, the first; None: all.
    """
    cells = [[row[at] for at in shown] for row in table.rows[:rows]]
    every = {how for row in cells for cell in row for how in _hows(cell)}
    nowhere: tuple[How | None, ...] = (None,) * len(shown)
    if len(every) < 2:
        return HowPlaces(next(iter(every), None), nowhere, ())
    by_column = [{how for row in cells for how in _hows(row[at])} for at in range(len(shown))]
    if all(len(hows) < 2 for hows in by_column):
        return HowPlaces(None, tuple(next(iter(hows), None) for hows in by_column), ())
    by_row = (dict.fromkeys(how for cell in row for how in _hows(cell)) for row in cells)
    return HowPlaces(None, nowhere, tuple(tuple(found) for found in by_row))


def _hows(cell: Line) -> list[How]:
    return [
        part.how
        for part in cell
        if isinstance(part, Quantity) and part.how != "stated" and part.value is not None
    ]
