"""Assumptions of computed gains, fitted on trials: edits of the graph that were measured."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gviz.analysis.launch.constraints import LaunchChange
from gviz.analysis.launch.gains import Assumptions, GainModel
from gviz.analysis.launch.side_by_side import Setting
from gviz.dataclass import dataclass
from gviz.stats import BoolArray, FloatArray

#: With fewer trials a fit says nothing.
LEAST_TRIALS = 4
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Shares of the memory's bandwidth and of the multiprocessors, those that are nearest to what is
#: assumed without trials first. A share of the latter that is no greater than that of the former
#: makes no difference: 0 stands for it.
_SHARED = sorted(
    ((memory, fill) for memory in _SHARES for fill in _SHARES if fill > memory or not fill),
    key=lambda shares: abs(shares[0] - 0.5) + 1.0 - shares[1],
)
#: A gain from recorded times is off by less than this, whatever recording lengthened.
_LEAST_SCALE, _MOST_SCALE = 0.25, 2.0
#: Share of trials that a range should hold.
_HELD = 0.9


@dataclass(frozen=True, slots=True)
class TriedChange:
    """A change of a launch, and the gain that a trial of it measured (ns)."""

    change: LaunchChange
    gain_ns: float


def fit(gains: GainModel, tried: Sequence[TriedChange]) -> Assumptions:
    """Return assumptions under which computed gains come nearest to measured ones.

    The error is that of each trial computed by a fit on the others. With too few trials the
    assumptions stay as they are. Of gaps delays tell nothing.
    """
    if len(tried) < LEAST_TRIALS:
        return gains.assumed
    gap = gains.assumed.likely.gap_share
    settings = [Setting(memory, gap, fill) for memory, fill in _SHARED]
    measured = np.array([one.gain_ns for one in tried], np.float64)
    computed = np.array(
        [[gains.gain_under(setting, one.change) for one in tried] for setting in settings]
    )
    everything = np.ones(len(tried), bool)
    others = ~np.eye(len(tried), dtype=bool)
    predicted = np.array(
        [_best(computed, measured, kept)[1][at] for at, kept in enumerate(others)], np.float64
    )
    setting, _, scale = _best(computed, measured, everything)
    size = np.maximum(np.abs(predicted), 1.0)
    off = (measured - predicted) / size
    error = np.abs(measured - predicted) / np.maximum(np.abs(measured), 1.0)
    reach = _reach(off)
    return Assumptions(
        likely=settings[setting],
        others=gains.assumed.others,
        scale=scale,
        # Trials are of delays: how far savings are off they do not show to be less than assumed.
        short_fraction=max(gains.assumed.short_fraction, reach),
        over_fraction=max(gains.assumed.over_fraction, reach),
        trial_count=len(tried),
        trial_error=float(np.median(error)),
    )


def _reach(off: FloatArray) -> float:
    """Return how far gains may be off: further than that are few of those that were left out.

    The rank is the one that holds for a further one of the same kind, whatever the errors'
    distribution; with fewer than nine it is the largest. Reference: Lei, G'Sell, Rinaldo,
    Tibshirani and Wasserman (2018), Distribution-free predictive inference for regression.
    """
    rank = min(math.ceil((len(off) + 1) * _HELD), len(off))
    return float(np.sort(np.abs(off))[rank - 1])


def _scale(computed: FloatArray, measured: FloatArray) -> float:
    """Return the factor of computed gains with the least sum of errors: a weighted median.

    Some gains are missed by all of themselves, as where another branch takes over: these must not
    scale the others.
    """
    is_known = np.abs(computed) > 1.0
    if not is_known.any():
        return 1.0
    ratio, weight = measured[is_known] / computed[is_known], np.abs(computed[is_known])
    order = np.argsort(ratio, kind="stable")
    reached = np.cumsum(weight[order])
    return float(ratio[order][np.searchsorted(reached, reached[-1] / 2)])


def _best(
    computed: FloatArray, measured: FloatArray, kept: BoolArray
) -> tuple[int, FloatArray, float]:
    """Return the setting that is nearest on some trials, its gains of all, and their scale."""
    found = []
    for at, gains in enumerate(computed):
        scale = min(max(_scale(gains[kept], measured[kept]), _LEAST_SCALE), _MOST_SCALE)
        missed = float(np.abs(scale * gains[kept] - measured[kept]).sum())
        found.append((missed, at, scale))
    _, at, scale = min(found)
    return at, scale * computed[at], scale
