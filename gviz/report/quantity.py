"""Durations, sizes and counts as a person reads them."""

from __future__ import annotations


def format_ns(ns: float | None) -> str:
    """Return a duration with a unit and three significant digits; ``-`` for None."""
    if ns is None:
        return "-"
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        # From 999.5 on, three digits would round up into the next unit.
        if abs(ns) >= scale * 0.9995:
            return f"{_three_digits(ns / scale)} {unit}"
    return f"{ns:.0f} ns"


def format_bytes(size: float) -> str:
    """Return a size in decimal units (1 MB = 1,000,000 bytes)."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale * 0.9995:
            return f"{_three_digits(size / scale)} {unit}"
    return f"{size:.0f} bytes"


def format_count(count: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun: ``1 node``, ``2,503 nodes``."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def _three_digits(value: float) -> str:
    magnitude = abs(value)
    digits = 2 if magnitude < 9.995 else 1 if magnitude < 99.95 else 0
    return f"{value:,.{digits}f}"
