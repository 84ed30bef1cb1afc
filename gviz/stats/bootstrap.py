"""Confidence intervals of means and medians by resampling, the same every time for the same values.

References
----------
Efron (1979), Bootstrap methods: another look at the jackknife; percentile intervals as in Efron
and Tibshirani (1993), An Introduction to the Bootstrap, 13.3.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.stats.arrays import FloatArray
from gviz.stats.figure_fields import figure

#: Resamples of each interval, and the seed they start from: results are the same every time.
RESAMPLES = 2_000
SEED = 1979
#: Of more values the interval is that of a normal distribution (central limit theorem): there
#: the two do not differ, and resampling would take seconds.
MOST_RESAMPLED = 10_000
_Z = 1.959964


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% confidence interval.

    Of a mean of fewer than five values it is too narrow, of two their range; of a median of fewer
    than six there is none.
    """

    low: float | None = figure("derived", "lower end; null with too few values")
    high: float | None = figure("derived", "upper end; null with too few values")


@dataclass(frozen=True, slots=True)
class Spread:
    """Values of one measure over launches or iterations."""

    count: int = figure("measured", "how many there are")
    mean: float = figure("derived", "their mean")
    interval: Interval = figure("derived", "of the mean, by bootstrap")
    median: float = figure("derived", "their median")
    sd: float | None = figure("derived", "their standard deviation; null with one value")
    p99: float = figure("derived", "their 99th percentile, interpolated; with few near the most")


def spread(values: npt.ArrayLike) -> Spread:
    """Return the spread of at least one value."""
    found = np.asarray(values, np.float64)
    return Spread(
        count=len(found),
        mean=float(found.mean()),
        interval=mean_interval(found),
        median=float(np.median(found)),
        sd=float(found.std(ddof=1)) if len(found) > 1 else None,
        p99=float(np.percentile(found, 99)),
    )


def mean_interval(values: npt.ArrayLike) -> Interval:
    """Return the 95% interval of the mean of values (float64, at least one)."""
    found = np.asarray(values, np.float64)
    if len(found) < 2:
        return Interval(None, None)
    if len(found) > MOST_RESAMPLED:
        reach = _Z * float(found.std(ddof=1)) / float(np.sqrt(len(found)))
        return Interval(float(found.mean()) - reach, float(found.mean()) + reach)
    return percentiles(_resampled_means(found, np.random.default_rng(SEED)))


def median_interval(values: npt.ArrayLike) -> Interval:
    """Return the 95% interval of the median of values (float64, at least one)."""
    found = np.asarray(values, np.float64)
    if len(found) < 2:
        return Interval(None, None)
    rng = np.random.default_rng(SEED)
    return percentiles(
        np.median(found[rng.integers(0, len(found), (RESAMPLES, len(found)))], axis=1)
    )


def interval_of(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    function: Callable[[FloatArray, FloatArray], FloatArray],
) -> Interval:
    """Return the 95% interval of a function of two means that are resampled independently.

    Parameters
    ----------
    first, second
        At least one value each; with one on either side there is no interval.
    function
        Of arrays of means, such as ``lambda a, b: a - b``.
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if len(a) < 2 or len(b) < 2:
        return Interval(None, None)
    rng = np.random.default_rng(SEED)
    return percentiles(function(_resampled_means(a, rng), _resampled_means(b, rng)))


def _resampled_means(values: FloatArray, rng: np.random.Generator) -> FloatArray:
    if len(values) > MOST_RESAMPLED:
        error = float(values.std(ddof=1)) / float(np.sqrt(len(values)))
        normal: FloatArray = rng.normal(float(values.mean()), error, RESAMPLES)
        return normal
    # In parts, so that ten thousand values do not take 160 MB.
    step = max(1, 1_000_000 // len(values))
    parts = [
        values[rng.integers(0, len(values), (min(step, RESAMPLES - at), len(values)))].mean(axis=1)
        for at in range(0, RESAMPLES, step)
    ]
    return np.concatenate(parts)


def percentiles(found: FloatArray) -> Interval:
    """Return the middle 95% of resampled values."""
    low, high = np.percentile(found, [2.5, 97.5])
    return Interval(float(low), float(high))
