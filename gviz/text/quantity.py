"""Durations, sizes, counts and shares as a person reads them.

``assets/web/core/format.js`` writes the same text in the browser; ``tests/quantities.json`` is the
table of cases that both are held against. Halves are rounded away from zero, as JavaScript's
``toFixed`` does and Python's formatting does not.

References
----------
ECMAScript 2024, Number.prototype.toFixed, step 9.a (of two nearest numbers the larger):
https://tc39.es/ecma262/2024/#sec-number.prototype.tofixed
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

#: Stands where there is no value; the reason is beside it.
MISSING = "–"

_TIMES = (("s", 1e9), ("ms", 1e6), ("µs", 1e3))
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")
#: A number with its unit.
_UNITS = "|".join([*(unit for unit, _ in _TIMES), "ns", *_SIZES])
_QUANTITY = re.compile(rf"([<>]?[+−±]?\d[\d.,]* (?:{_UNITS})(?!\w))")


def rounded(value: float | None, digits: int = 3) -> str:
    """Return a number with ``digits`` significant digits, all of those before the point."""
    if value is None or not math.isfinite(value):
        return MISSING
    if not value:
        return "0"
    exponent = int(f"{abs(value):.{digits - 1}e}".partition("e")[2])
    return _fixed(value, max(0, digits - 1 - exponent))


def integer(count: int | None) -> str:
    """Return an integer with commas between groups of three digits."""
    return MISSING if count is None else f"{count:,}".replace("-", "−")


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun: ``1 node``, ``2,503 nodes``."""
    return f"{integer(count)} {noun if count == 1 else plural or noun + 's'}"


def duration(ns: float | None, digits: int = 3) -> str:
    """Return nanoseconds with ``digits`` significant digits, in the unit that suits their size."""
    if ns is None or not math.isfinite(ns):
        return MISSING
    # What rounds up to a thousand of a unit is one of the next.
    least = 1 - 0.5 * 10.0**-digits
    for unit, scale in _TIMES:
        if abs(ns) >= scale * least:
            return f"{rounded(ns / scale, digits)} {unit}"
    return f"{_fixed(ns, 0 if float(ns).is_integer() else digits - 3)} ns"


def microseconds(ns: float | None) -> str:
    """Return nanoseconds as microseconds, without the unit: a cell of a column that names it."""
    return MISSING if ns is None else rounded(ns / 1e3)


@lru_cache(1024)  # arguments of 100,000 nodes have few sizes
def byte_size(count: float | None, digits: int = 3) -> str:
    """Return bytes in binary units (1 KiB = 1,024 B); exact below 1 KiB."""
    if count is None or not math.isfinite(count):
        return MISSING
    value, unit = float(count), 0
    while value >= 1024 and unit < len(_SIZES) - 1:
        value, unit = value / 1024, unit + 1
    return f"{rounded(value, digits) if unit else _fixed(value, 0)} {_SIZES[unit]}"


def percent(fraction: float | None, places: int = 1) -> str:
    """Return a fraction (1: all) in percent, ``places`` digits behind the point below 100."""
    if fraction is None or not math.isfinite(fraction):
        return MISSING
    value = 100 * fraction
    if not value:
        return "0%"
    least = 10.0**-places
    if abs(value) < least / 2:
        return f"<{least:g}%" if value > 0 else f">−{least:g}%"
    return f"{_fixed(value, places if abs(value) < 100 - least / 2 else 0)}%"


def multiple(value: float | None, digits: int = 3) -> str:
    """Return how many times as much something is: ``2.62×``."""
    return MISSING if value is None or not math.isfinite(value) else f"{rounded(value, digits)}×"


def with_unit(value: float | None, unit: str, digits: int = 3) -> str:
    """Return a value with its unit, whatever that is.

    Parameters
    ----------
    unit
        ``ns``, ``bytes``, ``fraction``, or a noun in plural that stands behind the number;
        ``number`` and ``""`` have none.
    digits
        Significant digits: more than three distinguish what nearly meets. Whole numbers have all.
    """
    if value is None or not math.isfinite(value):
        return MISSING
    if unit == "ns":
        return duration(value, digits)
    if unit == "bytes":
        return byte_size(value, digits)
    if unit == "fraction":
        return percent(value, digits - 2)
    is_whole = float(value).is_integer()
    text = integer(int(value)) if is_whole else rounded(value, digits)
    return text if unit in ("", "number") else f"{text} {unit}"


def signed_duration(ns: float | None, digits: int = 3) -> str:
    """Return a change of a duration (ns) with its sign."""
    if ns is None or not math.isfinite(ns):
        return MISSING
    text = duration(abs(ns), digits)
    return f"±{text}" if text == "0 ns" else _sign(ns) + text


def signed_percent(fraction: float | None) -> str:
    """Return a change (0: none) in percent with its sign."""
    if fraction is None or not math.isfinite(fraction):
        return MISSING
    tiny = abs(100 * fraction) < 0.05
    return "±0%" if tiny else _sign(fraction) + percent(abs(fraction))


def at_quantities(text: str) -> list[str]:
    """Return a text in parts: every other one, from the second on, is a number with its unit.

    Lines are not broken inside those.
    """
    return _QUANTITY.split(text)


def _sign(value: float) -> str:
    return "−" if value < 0 else "+"


def _fixed(value: float, places: int) -> str:
    """Return a number with ``places`` digits behind the point, halves away from zero."""
    exact = Decimal(float(value)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return f"{abs(exact):,f}" if not exact else f"{exact:,f}".replace("-", "−")
