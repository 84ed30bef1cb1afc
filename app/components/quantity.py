"""Numbers as the pages show them: three significant digits, unit chosen by size."""

from __future__ import annotations

import math
from datetime import UTC, datetime

#: Shown where a value is missing; the reason stands in the tooltip or beside it.
MISSING = "–"

_TIME_STEPS = ((1e3, "ns", 1.0), (1e6, "µs", 1e3), (1e9, "ms", 1e6), (math.inf, "s", 1e9))
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def three_digits(value: float) -> str:
    """Return a number with three significant digits and no exponent."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = float(f"{value:.3g}")
    digits = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{digits}f}".replace(",", "\u202f")


def microseconds(ns: float | None) -> str:
    """Return nanoseconds as microseconds with three significant digits and the unit."""
    return MISSING if ns is None else f"{three_digits(ns / 1e3)} µs"


def duration(ns: float | None) -> str:
    """Return nanoseconds with three significant digits in the unit that suits their size."""
    if ns is None:
        return MISSING
    for limit, unit, divisor in _TIME_STEPS:
        if abs(ns) < limit:
            return f"{three_digits(ns / divisor)} {unit}"
    return MISSING


def byte_size(count: int | None) -> str:
    """Return bytes in binary units; exact below 1 KiB."""
    if count is None:
        return MISSING
    value, unit = float(count), 0
    while value >= 1024 and unit < len(_BYTE_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{count} B" if unit == 0 else f"{three_digits(value)} {_BYTE_UNITS[unit]}"


def integer(count: int | None) -> str:
    """Return an integer with thin spaces between groups of three digits."""
    return MISSING if count is None else f"{count:,}".replace(",", "\u202f")


def percent(fraction: float | None) -> str:
    """Return a fraction (0..1) as a percentage with three significant digits."""
    return MISSING if fraction is None else f"{three_digits(fraction * 100)} %"


def signed_percent(fraction: float | None) -> str:
    """Return a change (0: none) as a percentage with its sign."""
    return MISSING if fraction is None else f"{_sign(fraction)}{percent(abs(fraction))}"


def signed_duration(ns: float | None) -> str:
    """Return a change in time (ns) with its sign, in the unit that suits its size."""
    return MISSING if ns is None else f"{_sign(ns)}{duration(abs(ns))}"


def _sign(value: float) -> str:
    return "+" if value > 0 else "−" if value < 0 else "±"


def sentence(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun: ``1 node``, ``12 nodes``."""
    return f"{integer(count)} {noun if count == 1 else plural or noun + 's'}"


def moment(ns: int | None) -> str:
    """Return a point in time (ns since 1970) as local date and time, to the minute."""
    if ns is None:
        return MISSING
    return datetime.fromtimestamp(ns / 1e9, tz=UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def address(value: int | None) -> str:
    """Return a device address in hexadecimal."""
    return MISSING if value is None else f"0x{value:x}"


def dimensions(x: int | None, y: int | None, z: int | None) -> str:
    """Return gridDim or blockDim without trailing ones: ``128``, ``16 × 16``."""
    if x is None:
        return MISSING
    sizes = [x, y or 1, z or 1]
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return " × ".join(integer(s) for s in sizes)
