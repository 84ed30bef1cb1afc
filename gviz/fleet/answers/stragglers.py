"""Ranks that are slow beyond what ranks vary by; numpy in, numpy out."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from gviz.stats import BoolArray, FloatArray, least_change_ns

#: Ranks that are called slow though they are not, in a fleet of which none is: one in so many.
_FALSE_ALARMS = 0.01
#: A scale from few or long-tailed ranks is uncertain: so much more is wanted.
_ALLOWANCE = 1.5
#: Below this share of the usual time a difference is of no use to anyone.
_LEAST_FRACTION = 0.01
#: GPUs differ by so much at least, whatever the ranks at hand do.
_LEAST_SCALE = 0.001
#: Two ranks have no third one that shows what ranks vary by: one of them is to take so much longer.
_LEAST_FRACTION_OF_TWO = 0.03


def find_slow(own_ns: FloatArray, excess_ns: FloatArray) -> BoolArray:
    """Return which ranks are slow in a graph.

    Their work takes longer than usual by more than :func:`gviz.stats.least_change_ns` and 1%, and
    by so many deviations that among this many alike ranks one in a hundred fleets would have one.
    Of two, one is slow whose work takes 3% longer than the other's.

    Parameters
    ----------
    own_ns
        Of each rank: what its nodes take in a launch, collectives left out.
    excess_ns
        By how much that is more than on the middle rank; of two, than on the faster one.
    """
    if len(own_ns) < 2:
        return np.zeros(len(own_ns), bool)
    if len(own_ns) == 2:
        usual = float(own_ns.min())
        slower: BoolArray = own_ns - usual > _least_ns(usual, _LEAST_FRACTION_OF_TWO)
        return slower
    usual = float(np.median(own_ns - excess_ns))
    middle = float(np.median(excess_ns))
    scale = max(1.4826 * float(np.median(np.abs(excess_ns - middle))), _LEAST_SCALE * usual)
    deviations = _ALLOWANCE * NormalDist().inv_cdf(1 - _FALSE_ALARMS / len(own_ns))
    least = _least_ns(usual, _LEAST_FRACTION)
    found: BoolArray = excess_ns - middle > max(deviations * scale, least)
    return found


def _least_ns(usual: float, fraction: float) -> float:
    """Return the difference from a usual time from which on one is reported."""
    return max(float(least_change_ns(np.array([usual]))[0]), fraction * usual)
