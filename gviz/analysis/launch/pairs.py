"""Places of many ranges, a bounded number at a time: to compare pairs in arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gviz.stats import IntArray

#: Places of a part: arrays of a megabyte, which stay in the processor's cache.
_AT_ONCE = 1 << 17


def places_in_parts(first: IntArray, size: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield, part by part, the range that each place is of, and the place (int64 arrays).

    Ranges follow each other, each with its places in order; none is in two parts.

    Parameters
    ----------
    first, size
        int64, one a range: where it begins, and how many places it has.
    """
    before = np.cumsum(size) - size
    parts = np.flatnonzero(np.diff(before // _AT_ONCE)) + 1
    for part in np.split(np.arange(len(size)), parts):
        of = np.repeat(part, size[part])
        yield of, np.arange(len(of)) + before[part[:1]] + (first - before)[of]
