"""Data of a file, compressed: equal data are equal bytes."""

from __future__ import annotations

import gzip


class Packed(bytes):
    """Bytes that are compressed already."""


def pack(data: bytes) -> Packed:
    """Return data compressed; what is already stays."""
    return data if isinstance(data, Packed) else Packed(gzip.compress(data, 9, mtime=0))
