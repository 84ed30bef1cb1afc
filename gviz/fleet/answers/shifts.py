"""The launch from which a rank is slow; numpy in, numpy out."""

from __future__ import annotations

import numpy as np

from gviz.stats import FloatArray, growth_probability

#: Groups of launches on each side of a shift, at least.
LEAST_GROUPS = 3
#: A shift is stated where chance would make one in so many series without one.
_FALSE_ALARMS = 0.01
#: Before it, a rank that became slow has at most this share of its excess after it.
_MOST_BEFORE = 0.5


def find_onset(excess: FloatArray) -> int | None:
    """Return the group of launches from which a rank is slow; None: from the first, or unknown.

    The place that divides the series into two with the least squares around their means, where what
    is after it exceeds what is before it beyond chance (rank sums, each place counted).

    Parameters
    ----------
    excess
        Of each group of launches, in order of time: how much longer than usual the rank takes, as a
        share.
    """
    count = len(excess)
    places = np.arange(LEAST_GROUPS, count - LEAST_GROUPS + 1)
    if not len(places):
        return None
    sums = np.cumsum(excess)
    before, after = sums[places - 1] / places, (sums[-1] - sums[places - 1]) / (count - places)
    gained = places * (count - places) * (after - before) ** 2
    gained[after <= before] = -1.0
    best = int(gained.argmax())
    if gained[best] < 0 or before[best] > _MOST_BEFORE * after[best]:
        return None
    place = int(places[best])
    chance = growth_probability(excess[:place, None], excess[place:, None], np.zeros(1))[0]
    return place if chance * len(places) < _FALSE_ALARMS else None
