"""Gains of changes of a launch, with the range that what no recording tells leaves open."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gviz.analysis.launch.constraints import LaunchChange, LaunchModel
from gviz.analysis.launch.side_by_side import Setting, SharedLaunch
from gviz.dag import most_at_once
from gviz.dataclass import dataclass
from gviz.stats import FloatArray
from gviz.system import NO_PROGRESS, Progress


@dataclass(frozen=True, slots=True)
class GainRange:
    """A computed gain (estimated); below 0: the launch gets longer.

    Attributes
    ----------
    gain_ns
        Under the likeliest assumptions.
    low_ns, high_ns
        Under all of them, widened by the model's error.
    """

    gain_ns: float
    low_ns: float
    high_ns: float


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Assumptions of computed gains.

    Attributes
    ----------
    likely
        The setting that a gain is computed under.
    others
        Further ones that its range covers.
    scale
        What a computed gain is multiplied by: recorded times are longer than plain ones.
    short_fraction, over_fraction
        The part of itself by which a gain may besides turn out smaller, or larger.
    trial_count
        Trials of this graph that they are fitted on; 0: none.
    trial_error
        Median error of the gains of these trials, as a part of the gain; None: there are none.
    """

    likely: Setting
    others: tuple[Setting, ...]
    scale: float
    short_fraction: float
    over_fraction: float
    trial_count: int
    trial_error: float | None


#: Where nothing has been tried. Gains that were measured besides were no larger than computed ones
#: (docs/benchmarks.md), and on one H200, of nodes off in a chain of 101, 12 to 23% smaller.
UNTRIED = Assumptions(
    likely=Setting(memory_share=0.5, gap_share=1.0),
    others=tuple(Setting(memory, gap) for memory in (0.0, 1.0) for gap in (0.0, 1.0)),
    scale=1.0,
    short_fraction=0.25,
    over_fraction=0.0,
    trial_count=0,
    trial_error=None,
)


class GainModel:
    """Gains of changes of one launch.

    Parameters
    ----------
    model
        The launch.
    filled
        float64, one a vertex: share of the multiprocessors that it fills; 0: not known.
    assumed
        What no recording tells.
    """

    def __init__(
        self, model: LaunchModel, filled: FloatArray, assumed: Assumptions = UNTRIED
    ) -> None:
        self.launch = model
        self.assumed = assumed
        self._filled = filled
        self._shared: dict[Setting, SharedLaunch] = {}

    def assuming(self, assumed: Assumptions) -> GainModel:
        """Return gains of the same launch under other assumptions."""
        other = GainModel(self.launch, self._filled, assumed)
        other._shared = self._shared
        return other

    def gain(self, change: LaunchChange, progress: Progress = NO_PROGRESS) -> GainRange:
        """Return the gain of a change.

        Parameters
        ----------
        progress
            Told the share of the settings that were tried.

        Raises
        ------
        CycleError
            If nodes would wait for each other.
        """
        assumed = self.assumed
        settings = [assumed.likely, *self._telling(change)]
        each = progress.each(settings, lambda _: "what may be assumed")
        found = [self.gain_under(setting, change) for setting, _ in each]
        likely, low, high = (x * assumed.scale for x in (found[0], min(found), max(found)))
        # Of a loss the smaller gain is the larger loss.
        short = assumed.short_fraction if low > 0 else assumed.over_fraction
        over = assumed.over_fraction if high > 0 else assumed.short_fraction
        return GainRange(
            gain_ns=likely,
            low_ns=low - short * abs(low),
            high_ns=high + over * abs(high),
        )

    def gain_under(self, setting: Setting, change: LaunchChange) -> float:
        """Return the gain of a change under one setting (ns)."""
        if self._is_plain(change):
            gap, duration = self.launch.changed_times(change, setting.gap_share)
            changed = LaunchChange(gap_ns=gap, duration_ns=duration, delay_ns=change.delay_ns)
            return self.launch.whole_ns - self.launch.length_ns(changed)
        if setting not in self._shared:
            self._shared[setting] = SharedLaunch(self.launch, self._filled, setting)
        return self._shared[setting].gain_ns(change)

    def _telling(self, change: LaunchChange) -> list[Setting]:
        """Return the settings that can make a difference to a change."""
        likely = self.assumed.likely
        kept = {likely: likely}
        for setting in self.assumed.others:
            sharing = likely if self._is_plain(change) else setting
            gap = likely if change.absent is None else setting
            found = Setting(sharing.memory_share, gap.gap_share, sharing.fill_share)
            kept.setdefault(found, found)
        return [setting for setting in kept if setting != likely]

    def _is_plain(self, change: LaunchChange) -> bool:
        """Return whether nothing runs side by side: then the longest path is what is played."""
        return change.dropped is None and not len(change.added) and self._is_row

    @cached_property
    def _is_row(self) -> bool:
        held = self.launch.held
        chosen = np.flatnonzero(held.timed)
        return most_at_once(held.start_ns[chosen], held.end_ns[chosen]) <= 1
