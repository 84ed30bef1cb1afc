"""Quantiles of columns in which some values are not known."""

from __future__ import annotations

import numpy as np

from gviz.stats.arrays import FloatArray


def known_quantiles(values: FloatArray, share: float = 0.5) -> FloatArray:
    """Return a quantile of what is known in each column; NaN where nothing is.

    As ``numpy.nanquantile`` has it, which goes through the columns one by one.

    Parameters
    ----------
    values
        float64 (row, column); NaN: not known.
    share
        Of the values that are below; by default the median.
    """
    if not len(values):
        return np.full(values.shape[1], np.nan)
    ordered = np.sort(values, axis=0)  # NaN last
    place = share * np.maximum((~np.isnan(values)).sum(axis=0) - 1, 0)
    low = np.floor(place).astype(np.int64)
    column = np.arange(values.shape[1])
    below, above = ordered[low, column], ordered[np.ceil(place).astype(np.int64), column]
    found: FloatArray = below + (place - low) * (above - below)
    return found
