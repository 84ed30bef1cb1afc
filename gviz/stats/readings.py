"""Statistics of the readings behind one figure."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from gviz.stats.arrays import FloatArray


class ReadingStatistics(TypedDict):
    """Statistics by the names that table cost_figure has for them, in the unit of the readings.

    Percentiles interpolate linearly: ``low`` and ``high`` are the 25th and the 75th. ``deviation``
    is that of a sample (n - 1); 0 for one reading.
    """

    median: float
    low: float
    high: float
    minimum: float
    maximum: float
    p99: float
    mean: float
    deviation: float
    reading_count: int


def describe_readings(values: FloatArray) -> ReadingStatistics:
    """Return the statistics of at least one reading (float64)."""
    low, median, high, p99 = np.percentile(values, [25, 50, 75, 99]).tolist()
    return ReadingStatistics(
        median=median,
        low=low,
        high=high,
        minimum=float(values.min()),
        maximum=float(values.max()),
        p99=p99,
        mean=float(values.mean()),
        deviation=float(values.std(ddof=1)) if len(values) > 1 else 0.0,
        reading_count=len(values),
    )
