"""Confidence intervals of medians by the ranks of the values: exact for any distribution.

References
----------
Conover (1999), Practical Nonparametric Statistics, 3.2: how many values lie below the median is
binomial, so the median lies between two of the ordered values with a probability that is known.
"""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
import numpy.typing as npt

from gviz.stats.arrays import FloatArray
from gviz.stats.bootstrap import Interval
from gviz.stats.grouping import distinct_values

#: Of fewer values even the least and the greatest hold the median with less than 95%.
LEAST_VALUES = 6
#: Up to so many values probabilities are counted; beyond, the binomial distribution is normal.
_COUNTED = 1_000


@cache
def median_ranks(count: int) -> tuple[int, int] | None:
    """Return the places, from 0, of the two ordered values that hold the median with 95%.

    They are as close as they can be; None: there are fewer than :data:`LEAST_VALUES`.
    """
    if count < LEAST_VALUES:
        return None
    if count > _COUNTED:
        low = int((count - 1) / 2 - 0.98 * count**0.5)
        return low, count - 1 - low
    # Ways, of 2^count, in which at most ``low`` values lie below the median; 2.5% may.
    low, outside, ways = 0, 1, 2**count
    while 40 * (outside + comb(count, low + 1)) <= ways:
        low += 1
        outside += comb(count, low)
    high = count - 1 - low
    # Where one value more can go on one side alone, it does.
    return low + (20 * (2 * outside + comb(count, low + 1)) <= ways), high


def rank_interval(values: npt.ArrayLike) -> Interval:
    """Return the 95% interval of the median of values; of too few there is none."""
    (low,), (high,) = rank_intervals(np.asarray(values, np.float64).reshape(-1, 1))
    return interval_between(float(low), float(high))


def rank_intervals(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the 95% intervals of the medians of columns.

    Parameters
    ----------
    values
        float64, a row a launch; NaN where a launch has no value.

    Returns
    -------
    tuple of numpy.ndarray
        float64, one a column; NaN where it has fewer than :data:`LEAST_VALUES` values.
    """
    counts = (~np.isnan(values)).sum(axis=0)
    low, high = np.full(values.shape[1], np.nan), np.full(values.shape[1], np.nan)
    for count in distinct_values(counts).tolist():
        ranks = median_ranks(count)
        if ranks is not None:
            chosen = np.flatnonzero(counts == count)
            low[chosen], high[chosen] = np.sort(values[:, chosen], axis=0)[list(ranks)]
    return low, high


def interval_between(low: float, high: float) -> Interval:
    """Return an interval by its ends; NaN: there is none."""
    return Interval(None, None) if np.isnan(low) else Interval(low, high)
