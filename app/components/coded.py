"""Columns as JSON has them: values that repeat stand once, and numbers stay exact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

#: Integers beyond are no exact numbers in JavaScript.
_EXACT = 1 << 53
#: A value has to stand so often, on average, before it stands once and is pointed to.
_REPEATED = 4

#: ``{"same": value}``, ``{"values": [...], "codes": [...]}`` or ``{"values": [...]}``; with
#: ``"large": true`` integers are texts of digits.
Coded = dict[str, Any]


def coded_column(values: Sequence[Any]) -> Coded:
    """Return a column of texts, numbers and None; assets/web/table/coded.js reads it."""
    different = dict.fromkeys(values)
    large = any(isinstance(value, int) and abs(value) > _EXACT for value in different)
    found: Coded = {"large": True} if large else {}
    if len(different) == 1:
        return found | {"same": _plain(different, large=large)[0]}
    if len(different) * _REPEATED > len(values):
        return found | {"values": _plain(values, large=large)}
    code = {value: at for at, value in enumerate(different)}
    return found | {"values": _plain(different, large=large), "codes": [code[v] for v in values]}


def _plain(values: Iterable[Any], *, large: bool) -> list[Any]:
    if not large:
        return list(values)
    return [str(value) if isinstance(value, int) else value for value in values]


def coded_rows(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, Coded]:
    """Return the columns of rows; those in which nothing is known are left out."""
    columns = zip(names, zip(*rows, strict=True), strict=True) if rows else ()
    return {
        name: coded_column(values) for name, values in columns if any(v is not None for v in values)
    }
