"""The number that a few bytes probably are: CUDA does not keep the types of arguments."""

from __future__ import annotations

import math
import struct

#: Integers up to here were probably meant as integers: above, bits of a float are likelier.
_LIKELY_INTEGER = 1 << 26
#: A float of this size was probably meant as one (not as an integer or half an address).
_LIKELY_FLOAT = (1e-7, 1e9)
_FLOATS = {2: "<e", 4: "<f", 8: "<d"}


def likely_number(value: bytes) -> int | float | None:
    """Return the number that little-endian bytes probably are; None where none is likely.

    Parameters
    ----------
    value
        1, 2, 4 or 8 bytes; others are no number.
    """
    if len(value) not in (1, 2, 4, 8):
        return None
    number = int.from_bytes(value, "little", signed=True)
    return number if abs(number) <= _LIKELY_INTEGER else _likely_float(value)


def _likely_float(value: bytes) -> float | None:
    form = _FLOATS.get(len(value))
    if form is None:
        return None
    (number,) = struct.unpack(form, value)
    low, high = _LIKELY_FLOAT
    return float(number) if math.isfinite(number) and low <= abs(number) <= high else None
