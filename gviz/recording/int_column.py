"""Columns of integers as small blobs: for numbers that would not pay a row each.

A blob is ``u8 flags, u8 width, u32 count`` (little endian) and zlib data. The values, or, with
flag 1, the differences from one to the next, are made non-negative (0, -1, 1, -2, ... become
0, 1, 2, 3, ...), cut to ``width`` bytes and stored byte by byte: all lowest bytes first.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

from gviz.errors import RecordingError

if TYPE_CHECKING:
    from gviz.stats import IntArray

_HEAD = struct.Struct("<BBI")
_DIFFERENCES = 1
#: Far more than a block holds; a damaged blob must not allocate all memory.
_MOST_VALUES = 2**24


def encode(values: IntArray, *, differences: bool = False) -> bytes:
    """Return a blob of int64 values; with ``differences``, better for values that rise."""
    import numpy as np

    stored = np.diff(values, prepend=np.int64(0)) if differences else values
    folded = ((stored << 1) ^ (stored >> 63)).view(np.uint64)
    most = int(folded.max()) if len(folded) else 0
    width = max(1, (most.bit_length() + 7) // 8)
    planes = folded.view(np.uint8).reshape(len(folded), 8)[:, :width].T
    data = zlib.compress(np.ascontiguousarray(planes).tobytes(), 6)
    return _HEAD.pack(_DIFFERENCES if differences else 0, width, len(values)) + data


def decode(blob: bytes) -> IntArray:
    """Return the values of a blob (int64).

    Raises
    ------
    RecordingError
        If it is none.
    """
    import numpy as np

    try:
        flags, width, count = _HEAD.unpack_from(blob)
        if not (1 <= width <= 8 and count <= _MOST_VALUES):
            raise ValueError(f"{count:,} values of {width} bytes")
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(blob[_HEAD.size :], width * count + 1)
        if not unpacker.eof:
            raise ValueError("it ends too early, or goes on too long")
        planes = np.frombuffer(data, np.uint8).reshape(width, count)
    except (struct.error, zlib.error, ValueError) as error:
        raise RecordingError(f"a column of the recording is damaged: {error}") from error
    whole = np.zeros((count, 8), np.uint8)
    whole[:, :width] = planes.T
    folded = whole.view("<u8").reshape(count)
    values = (folded >> np.uint64(1)).astype(np.int64) ^ -(folded & np.uint64(1)).astype(np.int64)
    return np.cumsum(values) if flags & _DIFFERENCES else values
