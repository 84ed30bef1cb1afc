"""Clocks of machines: how far each is from the others, found where ranks leave collectives.

A collective ends on all its ranks at about the same time, whatever their clocks say. Numpy in,
numpy out; times in ns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gviz.stats import FloatArray, IntArray

#: Fewer executions than this say nothing of a clock.
LEAST_EXECUTIONS = 3
#: Half of the ends are nearer (ns) to the others', or they are not of one communicator and say
#: nothing of a clock.
MOST_APART_NS = 5_000.0
#: In a shorter time (ns) no drift can be distinguished from the scatter of ends.
LEAST_SPAN_NS = 5e9
#: Rounds in which the time of each execution and the clocks are found from each other.
_ROUNDS = 3
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
    hosts = ends.shape[1]
    count = (~np.isnan(ends)).sum(axis=0).astype(np.int64)
    when = ends[:, 0]
    first = float(np.nanmin(when)) if (~np.isnan(when)).any() else 0.0
    lines = np.zeros((hosts, 2))
    reached, more = 0, _ROUNDS
    while more:
        more -= 1
        for host in range(hosts):
            lines[host] = _line(when - first, ends[:, host] - when)
        lines -= lines[0]  # the first host's clock is the one that others are beside
        corrected = ends - lines[:, 0] - lines[:, 1] * (ends - first)
        when = _middle(corrected)
        # Through a machine that has been put on the first one's clock others can be.
        if (now := int((~np.isnan(lines[:, 0])).sum())) > reached:
            reached, more = now, _ROUNDS
    apart = np.abs(corrected - when[:, None])
    residual = np.array([_percentile(apart[:, host]) for host in range(hosts)])
    # The median: outliers are no reason.
    middle = _middle(apart.T)
    known = (count >= LEAST_EXECUTIONS) & (np.nan_to_num(middle, nan=np.inf) <= MOST_APART_NS)
    return FittedClocks(
        offset_ns=np.where(known, lines[:, 0], np.nan),
        drift=np.where(known, lines[:, 1], np.nan),
        residual_ns=np.where(known, residual, np.nan),
        count=count,
    )


def _line(when: FloatArray, apart: FloatArray) -> FloatArray:
    """Return offset and drift of what one clock is ahead, outliers left out; NaN: too few."""
    known = ~np.isnan(apart)
    when, apart = when[known], apart[known]
    if len(when) < LEAST_EXECUTIONS:
        return np.full(2, np.nan)
    kept = np.ones(len(when), bool)
    found = np.array([np.median(apart), 0.0])
    for _ in range(2):
        if np.ptp(when[kept]) < LEAST_SPAN_NS:
            found = np.array([np.median(apart[kept]), 0.0])
        else:
            middle = when[kept].mean()
            slope, height = np.polyfit(when[kept] - middle, apart[kept], 1)
            found = np.array([height - slope * middle, slope])
        rest = np.abs(apart - found[0] - found[1] * when)
        scale = 1.4826 * float(np.median(rest))
        kept = rest <= max(_FAR * scale, 1.0)
    return found


def _middle(values: FloatArray) -> FloatArray:
    """Return the median of each row without NaN; NaN where there is nothing else."""
    found = np.full(len(values), np.nan)
    some = ~np.isnan(values).all(axis=1)
    found[some] = np.nanmedian(values[some], axis=1)
    return found


def _percentile(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(np.percentile(known, 95)) if len(known) else np.nan
