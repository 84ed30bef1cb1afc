"""Moments, addresses and dimensions as the pages show them."""

from __future__ import annotations

from datetime import UTC, datetime

from gviz.text import MISSING, integer


def sentence(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


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
