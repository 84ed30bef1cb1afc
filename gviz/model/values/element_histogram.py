"""Histogram of the elements of memory, of contents that were kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gviz.errors import RecordingError
from gviz.recording import load_contents

#: Parts of equal width from the least finite element to the greatest: as wide as a table's cell.
HISTOGRAM_PARTS = 16


def read_histogram(kept: Path) -> tuple[int, ...] | None:
    """Return the numbers of finite elements in HISTOGRAM_PARTS equal parts, from least to greatest.

    None: there are none, or the file cannot be read. Equal elements are all in the first part.
    """
    try:
        elements = load_contents(kept).astype(np.float64, copy=False)
    except RecordingError:
        return None
    finite = elements[np.isfinite(elements)]
    if not len(finite):
        return None
    least, greatest = finite.min(), finite.max()
    # Half of each: the difference of two doubles may be no double.
    width = greatest / 2 - least / 2
    share = (finite / 2 - least / 2) / width if width > 0 else np.zeros(len(finite))
    parts = np.minimum((share * HISTOGRAM_PARTS).astype(np.int64), HISTOGRAM_PARTS - 1)
    return tuple(np.bincount(parts, minlength=HISTOGRAM_PARTS).tolist())
