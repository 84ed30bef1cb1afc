"""Significance of changed durations, beyond the noise of launches, for thousands of nodes at once.

Each node has a few durations before and a few after, one a launch. They are compared by rank:
CUPTI's durations come in steps of 32 ns, have outliers that no normal distribution has, and many
ties. A change counts only beyond a least one, which takes in what differs between two processes
that do the same (where their memory lies) and cannot be seen inside either. The p values of all
nodes are then adjusted so that of the nodes called changed only a stated share is not.

Measured on recordings of one program in two processes (H200; a decode step of 320 nodes, a
training step of 2,307): none called changed. Without the least change 0 and 2 were, by 48 ns.

References
----------
H. Mann and D. Whitney, On a test of whether one of two random variables is stochastically larger
than the other (1947); E. Lehmann, Nonparametrics (1975), chapter 1, for ties and the continuity
correction. D. McCarthy and G. Smyth, Testing significance relative to a fold-change threshold is
a TREAT (2009), for the least change. Y. Benjamini and Y. Hochberg, Controlling the false
discovery rate (1995); Y. Benjamini and D. Yekutieli (2001): it holds under positive dependence,
as where all nodes of a launch are slow together. J. Hodges and E. Lehmann, Estimates of location
based on rank tests (1963).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb, erfc, sqrt
from statistics import NormalDist

import numpy as np

from gviz.stats.arrays import FloatArray

#: Share of the nodes called changed that may not be.
FALSE_DISCOVERIES = 0.05
#: Least change: a step of CUPTI's clock on an H100 or H200 (measured: durations are multiples of
#: it within 2 ns), or this share of the duration before, whichever is more.
CLOCK_STEP_NS, LEAST_FRACTION = 32.0, 0.01
#: Fewer launches on a side say nothing about noise.
LEAST_LAUNCHES = 3
#: Up to so many ways to choose one side's launches, all are counted; else ranks are taken for
#: normally distributed (which makes p values of a few launches too large, not too small).
_COUNTED_WAYS = 12_870
#: Durations a side whose differences are all taken.
_DIFFERENCED = 1_000
#: Values ranked at once.
_CHUNK = 2_000_000


def least_change_ns(before_ns: FloatArray) -> FloatArray:
    """Return the change that durations must exceed to count, given their medians before."""
    return np.maximum(CLOCK_STEP_NS, LEAST_FRACTION * before_ns)


def change_probability(before: FloatArray, after: FloatArray, least: FloatArray) -> FloatArray:
    """Return for each node the p value of "its duration changed by ``least`` at most".

    Two-sided: twice the smaller p value of slower and of faster.

    Parameters
    ----------
    before, after
        float64, a row a launch and a column a node, NaN where a launch has no time of it.
    least
        float64, one a node (ns).

    Returns
    -------
    numpy.ndarray
        float64, 0..1; NaN where a side has fewer than :data:`LEAST_LAUNCHES` durations.
    """
    found = np.full(before.shape[1], np.nan)
    for at in _chunks(before, after):
        slower = _larger(before[:, at] + least[at], after[:, at])
        faster = _larger(after[:, at] + least[at], before[:, at])
        found[at] = np.minimum(1.0, 2 * np.minimum(slower, faster))
    return found


def growth_probability(before: FloatArray, after: FloatArray, least: FloatArray) -> FloatArray:
    """Return for each node the p value of "it takes at most ``least`` longer"; one-sided.

    Parameters and result are those of :func:`change_probability`.
    """
    found = np.full(before.shape[1], np.nan)
    for at in _chunks(before, after):
        found[at] = _larger(before[:, at] + least[at], after[:, at])
    return found


def adjusted(probability: FloatArray) -> FloatArray:
    """Return p values adjusted for their number: the rate of false discoveries at each (q).

    NaN stays NaN and does not count.
    """
    found = np.full(len(probability), np.nan)
    known = np.flatnonzero(~np.isnan(probability))
    order = known[np.argsort(probability[known], kind="stable")]
    rank = np.arange(1, len(order) + 1)
    rates = probability[order] * (len(order) / rank)
    found[order] = np.minimum.accumulate(rates[::-1])[::-1]
    return found


def shift_interval(
    before: FloatArray, after: FloatArray, level: float = 0.95
) -> tuple[float, float]:
    """Return an interval for how much longer one node took, from all differences of launches.

    Parameters
    ----------
    before, after
        float64 durations of one node, without NaN, at least one each, in order of time; of more
        than 1,000 a side, 1,000 evenly spaced ones count.
    level
        Share of experiments in which such an interval holds the shift, about.
    """
    before, after = _spaced(before), _spaced(after)
    n, m = len(before), len(after)
    differences = np.sort(np.subtract.outer(after, before).reshape(-1))
    # The quantile of the normal distribution, as the statistic is nearly normal.
    spread = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(n * m * (n + m + 1) / 12)
    low = int(np.clip(np.floor(n * m / 2 - spread), 0, n * m - 1))
    return float(differences[low]), float(differences[n * m - 1 - low])


def _chunks(before: FloatArray, after: FloatArray) -> Iterator[slice]:
    """Yield the columns to be ranked at once."""
    width = max(1, _CHUNK // max(1, len(before) + len(after)))
    for start in range(0, before.shape[1], width):
        yield slice(start, start + width)


def _spaced(values: FloatArray) -> FloatArray:
    if len(values) <= _DIFFERENCED:
        return values
    return values[np.linspace(0, len(values) - 1, _DIFFERENCED).round().astype(np.int64)]


def _larger(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the one-sided p value, a column each: ``high`` is larger than ``low``."""
    values = np.concatenate([low, high])
    n, m = (~np.isnan(low)).sum(axis=0), (~np.isnan(high)).sum(axis=0)
    ranks, ties = _ranks(values)
    sums = np.nansum(ranks[len(low) :], axis=0)
    found = np.full(values.shape[1], np.nan)
    for key in set(zip(n.tolist(), m.tolist(), strict=True)):
        columns = np.flatnonzero((n == key[0]) & (m == key[1]))
        if min(key) < LEAST_LAUNCHES:
            continue
        if comb(sum(key), key[1]) <= _COUNTED_WAYS:
            mine = ranks[:, columns]
            held = np.sort(mine, axis=0)[: sum(key)]  # NaN last
            found[columns] = _counted(held, key[1], sums[columns])
        else:
            found[columns] = _normal(*key, ties[columns], sums[columns])
    return found


def _ranks(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ranks within each column, equal values sharing theirs, and its sum of t^3 - t."""
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    rows = np.broadcast_to(np.arange(len(values))[:, None], values.shape)
    new = np.ones(values.shape, bool)
    new[1:] = ordered[1:] != ordered[:-1]  # NaN differs from NaN
    first = np.maximum.accumulate(np.where(new, rows, 0), axis=0)
    last_rows = np.where(
        np.vstack([new[1:], np.ones((1, values.shape[1]), bool)]), rows, len(values)
    )
    last = np.minimum.accumulate(last_rows[::-1], axis=0)[::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=0)
    ranks[np.isnan(values)] = np.nan
    length = np.where(new, last - first + 1, 0).astype(np.float64)
    return ranks, (length**3 - length).sum(axis=0)


def _counted(ranks: FloatArray, m: int, sums: FloatArray) -> FloatArray:
    """Return the share of choices of m ranks a column whose sum is at least that found."""
    chosen = np.array(list(combinations(range(len(ranks)), m)))
    choice = np.zeros((len(chosen), len(ranks)), np.float32)
    np.put_along_axis(choice, chosen, 1, axis=1)
    found = np.empty(len(sums))
    width = max(1, _CHUNK // len(choice))
    for start in range(0, len(sums), width):
        at = slice(start, start + width)
        # Ranks are halves below 2^20: sums of float32 are exact.
        all_sums = choice @ ranks[:, at].astype(np.float32)
        found[at] = (all_sums >= sums[at].astype(np.float32)).mean(axis=0)
    return found


def _normal(n: int, m: int, ties: FloatArray, sums: FloatArray) -> FloatArray:
    total = n + m
    mean = m * (total + 1) / 2
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (sums - mean - 0.5) / np.sqrt(variance)
    return np.where(variance > 0, _upper_tail(z), 1.0)


def _upper_tail(z: FloatArray) -> FloatArray:
    """Return the probability that a standard normal variable is above z.

    References
    ----------
    W. Cody, Rational Chebyshev approximations for the error function (1969) is what the C
    library's erfc does; it is called for each distinct value.
    """
    values, inverse = np.unique(z, return_inverse=True)
    tails = np.array([0.5 * erfc(v / sqrt(2)) for v in values.tolist()])
    found: FloatArray = tails[inverse].reshape(z.shape)
    return found
