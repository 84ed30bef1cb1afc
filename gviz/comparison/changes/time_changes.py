"""Changes of the durations of nodes, and which of them are more than noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gviz.comparison.changes.durations import NodeDurations
from gviz.dataclass import dataclass
from gviz.stats import (
    FALSE_DISCOVERIES,
    LEAST_LAUNCHES,
    FloatArray,
    IntArray,
    adjusted,
    change_probability,
    least_change_ns,
)


@dataclass(frozen=True, slots=True)
class TimeChanges:
    """Durations before and after; one value a pair of nodes, groups or whatever was timed.

    Attributes
    ----------
    before_ns, after_ns
        float64: medians; NaN: not timed.
    probability
        float64: p value of "changed by the least change at most"; NaN: not tested.
    rate
        float64: of the pairs with a rate up to this one, about this share did not change (p
        values adjusted for their number).
    launches_before, launches_after
        Launches that were compared.
    untested
        Why nothing was tested; empty when something was.
    """

    before_ns: FloatArray
    after_ns: FloatArray
    probability: FloatArray
    rate: FloatArray
    launches_before: int
    launches_after: int
    untested: str

    @property
    def change_ns(self) -> FloatArray:
        """After less before."""
        return self.after_ns - self.before_ns

    @property
    def significant(self) -> npt.NDArray[np.bool_]:
        """Return which pairs changed, with the stated rate of false discoveries."""
        return self.rate <= FALSE_DISCOVERIES


def compare_durations(
    before: NodeDurations, after: NodeDurations, first: IntArray, second: IntArray
) -> TimeChanges:
    """Return how durations changed.

    Parameters
    ----------
    before, after
        Durations of the two levels.
    first, second
        int64 node indices: the pairs.
    """
    typical = before.typical[first], after.typical[second]
    counts = len(before.launches), len(after.launches)
    untested = _why_not(before, after, counts)
    probability = np.full(len(first), np.nan)
    if not untested:
        least = least_change_ns(np.nan_to_num(typical[0]))
        sides = before.launches[:, first], after.launches[:, second]
        probability = change_probability(*sides, least)
    return TimeChanges(*typical, probability, adjusted(probability), *counts, untested)


def adjust_together(families: Sequence[TimeChanges]) -> list[TimeChanges]:
    """Return changes whose rates take in the tests of all of them, such as of several graphs."""
    rates = adjusted(np.concatenate([np.zeros(0), *(f.probability for f in families)]))
    ends = np.cumsum([len(f.probability) for f in families])
    parts = np.split(rates, ends[:-1]) if families else []
    return [replace(f, rate=rate) for f, rate in zip(families, parts, strict=True)]


def _why_not(before: NodeDurations, after: NodeDurations, counts: tuple[int, int]) -> str:
    if 0 in counts:
        side = "the first" if counts[0] == 0 else "the second"
        return f"no launch of {side} was timed"
    if min(counts) < LEAST_LAUNCHES:
        return (
            f"{counts[0]} and {counts[1]} launches were timed; a test takes {LEAST_LAUNCHES} on "
            "each side"
        )
    if before.methods != after.methods:
        ways = " and ".join(" + ".join(sorted(m)) for m in (before.methods, after.methods))
        return f"measured in two ways, which cannot be compared: {ways}"
    return ""
