"""A check of an overlay in CSV: a header with a key, and as many cells in each row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from gviz.overlay.fault import EMPTY, OverlayFault, check_count, fault_at, has_key, no_key

#: Lines before the header: programs print there, and so does ncu.
_MOST_BEFORE = 10_000
_DELIMITERS = ",;\t"
#: What ncu begins lines of its own with.
_NO_ROW = "=="


def check_csv(text: str) -> None:
    """Check a text: OverlayFault says which line is wrong.

    References
    ----------
    RFC 4180.
    """
    # Characters are as they are: quoted cells may have line ends in them.
    lines = io.StringIO(text, newline="")
    line, names, delimiter = _find_header(lines)
    count = 0
    for start, cells in _records(lines, delimiter, line):
        if len(cells) != len(names):
            raise fault_at(
                start,
                f"{len(cells):,} cells, where the header in line {line:,} has {len(names):,}",
            )
        count += 1
        check_count(count)
    if not count:
        raise OverlayFault("there is a header and no row")


def _find_header(lines: io.StringIO) -> tuple[int, Sequence[str], str]:
    """Return the line of the header, its names and the delimiter; the lines stand behind it."""
    first: tuple[int, Sequence[str]] | None = None
    for number, line in enumerate(lines, 1):
        for delimiter in _DELIMITERS:
            names = _cells(line, delimiter)
            if has_key(names):
                return number, names, delimiter
        if first is None and line.strip():
            first = number, _cells(line, ",")
        if number > _MOST_BEFORE:
            break
    if first is None:
        raise OverlayFault(EMPTY)
    raise no_key(*first)


def _cells(line: str, delimiter: str) -> Sequence[str]:
    """Return the cells of one line; none where its quotes do not close."""
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []


def _records(
    lines: io.StringIO, delimiter: str, before: int
) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the records behind a header, each with the line it begins in."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        start = before + reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            closed = "unexpected end" not in str(error)
            words = (
                "there is text behind a closing quote"
                if closed
                else "a quote opens here that nothing closes"
            )
            raise fault_at(start, words) from error
        if cells is None:
            return
        if len(cells) > 1 or (cells and cells[0] and not cells[0].startswith(_NO_ROW)):
            yield start, cells
