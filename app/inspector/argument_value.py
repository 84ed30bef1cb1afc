"""Bytes of a kernel argument: hexadecimal always, guesses at their meaning marked as such."""

from __future__ import annotations

from gviz.app.components import address
from gviz.cuda import likely_number
from gviz.recording import rows
from gviz.text import byte_size, integer

#: Longest argument shown in full; a struct passed by value may have up to 32,764 bytes.
_SHOWN_BYTES = 32


def hexadecimal(argument: rows.Argument) -> str:
    """Return the value in hexadecimal: a number up to 8 bytes, else its first bytes in order."""
    if argument.size_bytes <= 8 and argument.value:
        return f"0x{int.from_bytes(argument.value, 'little'):0{2 * len(argument.value)}x}"
    shown = argument.value[:_SHOWN_BYTES].hex(" ", 4)
    return shown + (" …" if len(argument.value) > _SHOWN_BYTES else "")


def guess(argument: rows.Argument) -> str | None:
    """Return what the value probably is (derived from its bytes), or None without a guess."""
    if argument.allocation_address is not None:
        return None
    value = argument.value
    number = likely_number(value)
    if isinstance(number, float):
        return f"{number:.6g} ({8 * len(value)}-bit float)"
    if number is None and len(value) in (1, 2, 4, 8):
        number = int.from_bytes(value, "little", signed=True)
    return integer(number) if number is not None and abs(number) < 1 << 40 else None


def allocation(argument: rows.Argument) -> str | None:
    """Return the allocation a pointer falls in, or None when it points into none."""
    base = argument.allocation_address
    if base is None:
        return None
    offset = int.from_bytes(argument.value[:8], "little") - base
    size = byte_size(argument.allocation_bytes)
    where = "start of" if offset == 0 else f"{byte_size(offset)} into"
    return f"{where} {size} at {address(base)}"
