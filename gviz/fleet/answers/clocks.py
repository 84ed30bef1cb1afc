"""Clocks of machines: how far each is from the others, found where ranks leave collectives.

A collective ends on all its ranks at about the same time, whatever their clocks say. Numpy in,
numpy out; times in ns.
"""

from __future__ import annotations

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats import FloatArray, IntArray, known_quantiles

#: Fewer executions than this say nothing of a clock.
LEAST_EXECUTIONS = 3
#: Half of the ends are nearer (ns) to the others', or they are not of one communicator and say
#: nothing of a clock.
MOST_APART_NS = 5_000.0
#: In a shorter time (ns) no drift can be distinguished from the scatter of ends.
LEAST_SPAN_NS = 5e9
#: Rounds in which the time of each execution and the clocks are found from each other.
_ROUNDS = 3
#: The share of ends that are nearer to the others' than the error that is stated.
_RESIDUAL = 0.95
#: Deviations beyond which an execution is left out of a fit.
_FAR = 5.0


@dataclass(frozen=True, slots=True)
class FittedClocks:
    """Clocks beside that of the first host; one value a host, NaN: not known.

    Attributes
    ----------
    offset_ns
        How far it is ahead at the first execution.
    drift
        How much faster it runs: ns per ns.
    residual_ns
        The 95th percentile of how far ends are from those of the others, both on the first host's
        clock: the error of every figure across hosts.
    count
        Executions behind it (int64).
    """

    offset_ns: FloatArray
    drift: FloatArray
    residual_ns: FloatArray
    count: IntArray


def fit_clocks(ends: FloatArray) -> FittedClocks:
    """Return clocks from the ends of collectives.

    Parameters
    ----------
    ends
        float64 (execution, host), after any common origin; NaN: the host was not in it. Differences
        must be exact: subtract the origin as integers.
    """
    count = (~np.isnan(ends)).sum(axis=0).astype(np.int64)
    when = ends[:, 0]
    first = float(np.nanmin(when)) if (~np.isnan(when)).any() else 0.0
    reached, more = 0, _ROUNDS
    while more:
        more -= 1
        lines = _lines(when - first, ends - when[:, None])
        lines -= lines[:, :1]  # the first host's clock is the one that others are beside
        corrected = ends - lines[0] - lines[1] * (ends - first)
        when = known_quantiles(corrected.T)
        # Through a machine that has been put on the first one's clock others can be.
        if (now := int((~np.isnan(lines[0])).sum())) > reached:
            reached, more = now, _ROUNDS
    apart = np.abs(corrected - when[:, None])
    residual = known_quantiles(apart, _RESIDUAL)
    # The median: outliers are no reason.
    middle = known_quantiles(apart)
    known = (count >= LEAST_EXECUTIONS) & (np.nan_to_num(middle, nan=np.inf) <= MOST_APART_NS)
    return FittedClocks(
        offset_ns=np.where(known, lines[0], np.nan),
        drift=np.where(known, lines[1], np.nan),
        residual_ns=np.where(known, residual, np.nan),
        count=count,
    )


def _lines(when: FloatArray, apart: FloatArray) -> FloatArray:
    """Return offsets and drifts (2, host) of what clocks are ahead, outliers left out.

    NaN: too few executions.

    Parameters
    ----------
    when
        Of each execution.
    apart
        float64 (execution, host).
    """
    known = ~np.isnan(apart)
    at = np.where(known, when[:, None], np.nan)
    kept = known
    for _ in range(2):
        offset, drift = _fit(np.where(kept, at, np.nan), np.where(kept, apart, np.nan))
        rest = np.abs(apart - offset - drift * at)
        far = np.maximum(_FAR * 1.4826 * known_quantiles(rest), 1.0)
        kept = known & (rest <= far)
    enough = known.sum(axis=0) >= LEAST_EXECUTIONS
    return np.where(enough, np.stack([offset, drift]), np.nan)


def _fit(when: FloatArray, apart: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the line through each column: its height where time is 0, and its slope.

    Least squares; in a short time the median.
    """
    count = np.maximum((~np.isnan(when)).sum(axis=0), 1)
    middle, height = np.nansum(when, axis=0) / count, np.nansum(apart, axis=0) / count
    beside = when - middle
    squares = np.nansum(beside**2, axis=0)
    ends = known_quantiles(when, 0.0), known_quantiles(when, 1.0)
    is_long = ends[1] - ends[0] >= LEAST_SPAN_NS
    products = np.nansum(beside * (apart - height), axis=0)
    slope = np.where(is_long, products / np.where(is_long, squares, 1.0), 0.0)
    return np.where(is_long, height - slope * middle, known_quantiles(apart)), slope
