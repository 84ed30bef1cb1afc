"""Columns of text that fit a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

#: Between two columns.
_GAP = "  "
#: A name shortened to less than this says nothing: it gets lines of its own.
_NARROWEST = 20
#: Before a name on lines of its own, below its row.
_BELOW = 4


def render_table(
    head: Sequence[str],
    body: Sequence[Sequence[str]],
    *,
    width: int,
    elastic: int,
    left: frozenset[int] = frozenset(),
    indent: int = 0,
) -> str:
    """Return a table as text.

    Parameters
    ----------
    head
        Column titles.
    body
        Rows of cells, as many as there are titles.
    width
        Characters a line may have.
    elastic
        Index of the column that is shortened (with ``...`` in its middle) until the table
        fits: kernel names differ at both ends. Where too little of it would be left, its cells
        stand whole below their rows.
    left
        Indices of columns aligned to the left besides the elastic one; numbers align right.
    indent
        Spaces before each line.

    Returns
    -------
    str
        Lines without trailing spaces.
    """
    table = [list(head), *(list(row) for row in body)]
    widths = [max(len(row[i]) for row in table) for i in range(len(head))]
    others = sum(widths) - widths[elastic] + len(_GAP) * (len(widths) - 1) + indent
    is_below = width - others < min(_NARROWEST, widths[elastic])
    widths[elastic] = 0 if is_below else min(widths[elastic], width - others)
    shown = [i for i in range(len(head)) if i != elastic or not is_below]
    lines = []
    for row in table:
        cells = (_fit(row[i], widths[i], to_left=i in left or i == elastic) for i in shown)
        lines.append((" " * indent + _GAP.join(cells)).rstrip())
        if is_below:
            lines += _lines_below(row[elastic], width, indent + _BELOW)
    return "\n".join(lines)


def _fit(cell: str, size: int, *, to_left: bool) -> str:
    return shorten(cell, size).ljust(size) if to_left else cell.rjust(size)


def _lines_below(cell: str, width: int, indent: int) -> Iterator[str]:
    room = max(_NARROWEST, width - indent)
    for line in textwrap.wrap(cell, room, break_on_hyphens=False):
        yield " " * indent + line


def shorten(text: str, width: int) -> str:
    """Return ``text`` in at most ``width`` characters, its middle replaced by ``...``."""
    if len(text) <= width:
        return text
    kept = max(0, width - 3)
    return text[: kept - kept // 3] + "..." + text[len(text) - kept // 3 :]
