"""Columns of text that fit a terminal."""

from __future__ import annotations

from collections.abc import Sequence

#: Between two columns.
_GAP = "  "
#: The elastic column is never made narrower than this.
_NARROWEST = 8


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
        fits: kernel names differ at both ends.
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
    widths[elastic] = min(widths[elastic], max(_NARROWEST, width - others))
    lines = []
    for row in table:
        row[elastic] = shorten(row[elastic], widths[elastic])
        cells = (
            cell.ljust(size) if i == elastic or i in left else cell.rjust(size)
            for i, (cell, size) in enumerate(zip(row, widths, strict=True))
        )
        lines.append((" " * indent + _GAP.join(cells)).rstrip())
    return "\n".join(lines)


def shorten(text: str, width: int) -> str:
    """Return ``text`` in at most ``width`` characters, its middle replaced by ``...``."""
    if len(text) <= width:
        return text
    kept = max(0, width - 3)
    return text[: kept - kept // 3] + "..." + text[len(text) - kept // 3 :]
