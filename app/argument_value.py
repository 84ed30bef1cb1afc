"""What the bytes of a kernel argument may mean: hexadecimal always, guesses said to be guesses."""

from __future__ import annotations

import math
import struct

from gviz.app.quantity import address, byte_size, integer
from gviz.recording import rows

#: Longest argument shown in full; a struct passed by value may have up to 32,764 bytes.
_SHOWN_BYTES = 32
#: A float of this size was probably meant as one (not as an integer or half an address).
_LIKELY_FLOAT = (1e-7, 1e9)
#: Integers up to here were probably meant as integers: above, bits of a float are likelier.
_LIKELY_INTEGER = 1 << 26


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
    if len(value) not in (1, 2, 4, 8):
        return None
    number = int.from_bytes(value, "little", signed=True)
    as_float = _float(value)
    if abs(number) <= _LIKELY_INTEGER or as_float is None:
        return integer(number) if abs(number) < 1 << 40 else None
    return f"{as_float:.6g} ({8 * len(value)}-bit float)"


def allocation(argument: rows.Argument) -> str | None:
    """Return the allocation a pointer falls in, or None when it points into none."""
    base = argument.allocation_address
    if base is None:
        return None
    offset = int.from_bytes(argument.value[:8], "little") - base
    size = byte_size(argument.allocation_bytes)
    where = "start of" if offset == 0 else f"{byte_size(offset)} into"
    return f"{where} {size} at {address(base)}"


def _float(value: bytes) -> float | None:
    form = {2: "<e", 4: "<f", 8: "<d"}.get(len(value))
    if form is None:
        return None
    (number,) = struct.unpack(form, value)
    low, high = _LIKELY_FLOAT
    return float(number) if math.isfinite(number) and low <= abs(number) <= high else None
