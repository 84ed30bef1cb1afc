"""Labels of the driver's DOT dialect: kind of a node, and its (name, value) fields.

A record label is a table of nested braces. Its rows pair names with values in several
ways: ``{name | value}``, ``{{names} | {values}}``, ``{title | {names} | {values}}``,
``{{titles} | {names} | {values}}`` and ``{title | {{name | value} | ...}}``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypeAlias

Cell: TypeAlias = "str | list[Cell]"
Field = tuple[str, str]

_SEPARATOR = re.compile(r"(?<!\\)([{}|])")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z]\w*(?: \w+)*(?:\[\d+\])?")
_TOPO = re.compile(r"\s*(\d+)(?:\s*\(topoId:\s*(\d+)\))?\s*")
#: Deepest nesting of braces read; the driver uses 6.
_DEPTH_LIMIT = 40
#: Rows of a record repeat from node to node (policies, priorities).
_ROW_CACHE = 4096


def parse_label(label: str) -> tuple[str, tuple[Field, ...]]:
    """Return what a label names first (a kind, or a plain kernel's symbol) and its fields.

    The node's number is the field ``ID``; a kernel's symbol and launch shape in a record is
    the field ``launch``; what stands in brackets in a plain label is the field ``plain``.
    """
    if label.lstrip().startswith("{"):
        return _parse_record(label)
    return _parse_lines(label)


def topo_id(value: str) -> int | None:
    """Return the topological number of an ``ID`` field, None where it is not printed."""
    match = _TOPO.fullmatch(value)
    return int(match[2][:18]) if match and match[2] else None


def _parse_lines(label: str) -> tuple[str, tuple[Field, ...]]:
    lines = [unescape(line).strip() for line in label.split("\n")]
    fields: list[Field] = [("ID", lines[0])]
    for line in filter(None, lines[2:]):
        name, colon, value = line.partition(":")
        fields.append((name, value.strip()) if colon else ("plain", line.strip("()")))
    return (lines[1] if len(lines) > 1 else ""), tuple(fields)


def _parse_record(label: str) -> tuple[str, tuple[Field, ...]]:
    kind, bar, rest = label.strip().removeprefix("{").partition("|")
    if not bar:
        return unescape(kind.removesuffix("}")).strip(), ()
    fields: list[Field] = []
    for row in _split_rows(rest):
        fields += _row_fields(row)
    return unescape(kind).strip(), tuple(fields)


def _split_rows(text: str) -> list[str]:
    """Split the inside of a record at its top-level bars."""
    rows: list[str] = []
    depth = begin = 0
    for match in _SEPARATOR.finditer(text):
        separator = match[0]
        if separator == "{":
            depth += 1
        elif separator == "}":
            depth -= 1
            if depth < 0:  # the end of the record
                return [*rows, text[begin : match.start()]]
        elif depth == 0:
            rows.append(text[begin : match.start()])
            begin = match.end()
    return [*rows, text[begin:]]


@lru_cache(maxsize=_ROW_CACHE)
def _row_fields(row: str) -> tuple[Field, ...]:
    return tuple(_pairs(_tree(row), ""))


def _tree(text: str) -> Cell:
    """Parse nested braces into nested lists of stripped texts."""
    stack: list[list[Cell]] = [[]]
    parts = ["|", *_SEPARATOR.split(text), "|"]  # texts at odd places, separators between
    for i in range(1, len(parts) - 1):
        part = parts[i]
        if i % 2 == 1:
            between = parts[i - 1] + parts[i + 1]
            is_empty_cell = between in ("{|", "||", "|}") and len(stack) > 1
            if part.strip() or is_empty_cell:
                stack[-1].append(unescape(part.strip()))
        elif part == "{" and len(stack) < _DEPTH_LIMIT:
            stack.append([])
        elif part == "}" and len(stack) > 1:
            closed = stack.pop()
            stack[-1].append(closed)
    while len(stack) > 1:
        closed = stack.pop()
        stack[-1].append(closed)
    return stack[0]


def _pairs(cell: Cell, prefix: str) -> list[Field]:
    """Flatten a row into (name, value), names prefixed by their titles."""
    if isinstance(cell, str):
        return [(prefix + cell, "")] if cell else []
    while len(cell) == 1 and isinstance(cell[0], list):
        cell = cell[0]
    if cell and all(isinstance(c, str) for c in cell):
        return _text_row([c for c in cell if isinstance(c, str)], prefix)
    if len(cell) in (2, 3) and isinstance(cell[0], str) and isinstance(cell[1], list):
        inner = cell[1] if len(cell) == 2 else cell[1:]
        return _pairs(inner, f"{prefix}{cell[0]}.")
    names, values = (_names(cell[-2], prefix), _leaves(cell[-1])) if len(cell) > 1 else ([], [])
    if len(cell) in (2, 3) and names and len(names) == len(values):
        titles = _names(cell[0], "") if len(cell) == 3 else [""]
        if titles and len(names) % len(titles) == 0:
            share = len(names) // len(titles)
            titled = [f"{t}." if t else "" for t in titles for _ in range(share)]
            return [(t + n, v) for t, n, v in zip(titled, names, values, strict=True)]
    return [pair for c in cell for pair in _pairs(c, prefix)]


def _text_row(texts: list[str], prefix: str) -> list[Field]:
    if texts[0] == "ID" and len(texts) == 3:
        return [("ID", texts[1]), ("launch", texts[2])]
    return [(prefix + texts[0], " | ".join(texts[1:]))]


def _names(cell: Cell, prefix: str) -> list[str]:
    """Return the names of a heading, nested ones after their title; empty if it is none."""
    if isinstance(cell, str):
        return [prefix + cell] if _NAME.fullmatch(cell) else []
    found: list[str] = []
    title = prefix
    for i, c in enumerate(cell):
        if isinstance(c, str) and i + 1 < len(cell) and _is_untitled(cell[i + 1]):
            title = f"{prefix}{c}."
            continue
        inner = _names(c, title)
        if not inner:
            return []
        found += inner
        title = prefix
    return found


def _is_untitled(cell: Cell) -> bool:
    """Return whether a cell is a list that does not begin with its own title."""
    return isinstance(cell, list) and not (
        len(cell) == 2 and isinstance(cell[0], str) and isinstance(cell[1], list)
    )


def _leaves(cell: Cell) -> list[str]:
    if isinstance(cell, str):
        return [cell]
    return [leaf for c in cell for leaf in _leaves(c)]


def unescape(text: str) -> str:
    """Return a label's text without its backslashes."""
    return "".join(_ESCAPE.split(text)) if "\\" in text else text
