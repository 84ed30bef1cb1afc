"""Durations of both sides with what became of them, as results have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gviz.comparison.changes import (
    NodeDurations,
    TimeChanges,
    adjust_together,
    compare_durations,
)
from gviz.comparison.diff_result import TimeChange
from gviz.dataclass import dataclass
from gviz.stats import FloatArray, IntArray, shift_interval


@dataclass(frozen=True, slots=True)
class TimedPairs:
    """Pairs of nodes, groups or whole launches.

    Attributes
    ----------
    before, after
        Their durations.
    first, second
        int64: which columns of these are partners.
    changes
        What became of them, one value a pair.
    """

    before: NodeDurations
    after: NodeDurations
    first: IntArray
    second: IntArray
    changes: TimeChanges

    def __len__(self) -> int:
        return len(self.first)

    def at(self, pair: int) -> TimeChange:
        """Return one pair as a result."""
        found = self.changes
        rate = _known(found.rate[pair])
        low, high = self.interval(pair) if rate is not None else (None, None)
        return TimeChange(
            before_ns=_known(found.before_ns[pair]),
            after_ns=_known(found.after_ns[pair]),
            change_ns=_known(found.change_ns[pair]),
            low_ns=low,
            high_ns=high,
            rate=rate,
            significant=bool(found.significant[pair]),
            launches_before=found.launches_before,
            launches_after=found.launches_after,
            untested=self._why_not(pair, rate),
            methods=tuple(sorted(self.before.methods | self.after.methods)),
        )

    def interval(self, pair: int) -> tuple[float, float]:
        """Return the 95% interval of a pair's change (ns)."""
        before = self.before.launches[:, self.first[pair]]
        after = self.after.launches[:, self.second[pair]]
        return shift_interval(before[~np.isnan(before)], after[~np.isnan(after)])

    def _why_not(self, pair: int, rate: float | None) -> str | None:
        if rate is not None:
            return None
        if self.changes.untested:
            return self.changes.untested
        missing = np.isnan([self.changes.before_ns[pair], self.changes.after_ns[pair]])
        if missing.any():
            return "not there, or not timed, " + ("before" if missing[0] else "after")
        return "timed in too few launches"


def pair_up(
    before: NodeDurations, after: NodeDurations, first: IntArray, second: IntArray
) -> TimedPairs:
    """Return pairs with what became of them; noise is judged for these alone."""
    changes = compare_durations(before, after, first, second)
    return TimedPairs(before, after, first, second, changes)


def pair_all(before: NodeDurations, after: NodeDurations) -> TimedPairs:
    """Return the pairs of equal columns: of groups, or of whole launches."""
    columns = np.arange(before.launches.shape[1])
    return pair_up(before, after, columns, columns)


def judge_together(families: Sequence[TimedPairs]) -> list[TimedPairs]:
    """Return pairs whose noise is judged over all of them, such as those of several graphs."""
    judged = adjust_together([family.changes for family in families])
    return [replace(f, changes=changes) for f, changes in zip(families, judged, strict=True)]


def _known(value: float | FloatArray) -> float | None:
    return None if np.isnan(value) else float(value)
