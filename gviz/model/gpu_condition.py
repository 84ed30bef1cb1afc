"""The condition of a run's GPUs: clock, temperature and power while they were busy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from gviz.dataclass import dataclass
from gviz.recording import Recording, rows
from gviz.text import percent, with_unit

#: A clock that falls by less is not worth a word.
_LEAST_FALL = 0.05
#: Nor one that is low in a single sample: it may be rising from idle.
_LEAST_SAMPLES = 2


@dataclass(frozen=True, slots=True)
class GpuCondition:
    """A GPU in a run, from samples; None: it was never busy, or does not report it.

    Attributes
    ----------
    sample_count, busy_count
        Samples, and those in which it was busy.
    sm_clock_mhz, sm_clock_low_mhz, sm_clock_high_mhz
        Clock of the multiprocessors while busy: median, least and greatest of intervals.
    temperature_celsius
        The highest.
    power_watts
        Mean while busy.
    slowed_fraction
        Share of busy samples in which its clock was lowered.
    slowed_by
        Why.
    """

    device_id: int
    sample_count: int
    busy_count: int
    sm_clock_mhz: float | None
    sm_clock_low_mhz: float | None
    sm_clock_high_mhz: float | None
    temperature_celsius: float | None
    power_watts: float | None
    slowed_fraction: float
    slowed_by: tuple[str, ...]

    @property
    def has_fallen(self) -> bool:
        """Its clock changed while it was busy, beyond what is usual."""
        low, high = self.sm_clock_low_mhz, self.sm_clock_high_mhz
        return low is not None and high is not None and low < (1 - _LEAST_FALL) * high

    def caveat(self) -> str:
        """Return what its clock means for the run's times, in a sentence; "": nothing."""
        if not (self.slowed_by or self.has_fallen):
            return ""
        clock = ""
        if self.sm_clock_low_mhz is not None and self.sm_clock_high_mhz is not None:
            low = with_unit(self.sm_clock_low_mhz, "MHz")
            high = with_unit(self.sm_clock_high_mhz, "MHz")
            clock = f" at {low}" if low == high else f" at {low} to {high}"
        why = f", its clock lowered in {percent(self.slowed_fraction)} of samples by "
        why = f"{why}{', '.join(self.slowed_by)}" if self.slowed_by else ""
        hot = self.temperature_celsius
        heat = "" if hot is None else f", up to {with_unit(hot, '°C')}"
        return (
            f"GPU {self.device_id} ran{clock}{why}{heat}: times of nodes and launches vary with "
            "its clock; compare them with runs at the same one"
        )

    def to_text(self) -> str:
        """Return it in a few words."""
        parts = [
            "" if self.sm_clock_mhz is None else f"{with_unit(self.sm_clock_mhz, 'MHz')}",
            _reading("up to ", self.temperature_celsius, "°C"),
            _reading("", self.power_watts, "W"),
            f"lowered by {', '.join(self.slowed_by)}" if self.slowed_by else "",
        ]
        when = "while busy" if self.busy_count else "never seen busy"
        return f"{', '.join(filter(None, parts))} ({when})"


def _reading(before: str, value: float | None, unit: str) -> str:
    return "" if value is None else f"{before}{with_unit(value, unit)}"


def read_gpu_conditions(recording: Recording, run_id: int) -> tuple[GpuCondition, ...]:
    """Return the condition of each GPU of a run that was sampled."""
    found: dict[int, list[rows.GpuInterval]] = {}
    for interval in recording.fetch_gpu_intervals(run_id):
        found.setdefault(interval.device_id, []).append(interval)
    return tuple(summarize_gpu(device_id, mine) for device_id, mine in found.items())


def summarize_gpu(device_id: int, intervals: Sequence[rows.GpuInterval]) -> GpuCondition:
    """Return the condition of a GPU, from at least one interval."""
    busy = [one for one in intervals if one.busy_count]
    clocks = [(x.sm_clock_mhz, x.busy_count) for x in busy if x.sm_clock_mhz is not None]
    watts = [(x.power_watts, x.busy_count) for x in busy if x.power_watts is not None]
    heats = [one.temperature_celsius for one in intervals if one.temperature_celsius is not None]
    reasons = [x for one in busy if one.slowed_by for x in one.slowed_by.split(", ")]
    busy_count = sum(one.busy_count for one in busy)
    return GpuCondition(
        device_id=device_id,
        sample_count=sum(one.count for one in intervals),
        busy_count=busy_count,
        sm_clock_mhz=_sample_at(clocks, sum(count for _, count in clocks) / 2),
        sm_clock_low_mhz=_sample_at(clocks, _LEAST_SAMPLES),
        sm_clock_high_mhz=max((clock for clock, _ in clocks), default=None),
        temperature_celsius=max(heats, default=None),
        power_watts=sum(w * n for w, n in watts) / sum(n for _, n in watts) if watts else None,
        slowed_fraction=sum(one.slowed_count for one in busy) / max(busy_count, 1),
        slowed_by=tuple(dict.fromkeys(reasons)),
    )


def _sample_at(counted: Sequence[tuple[float, int]], place: float) -> float | None:
    """Return the value of the sample at a place, from 1 for the least; None: there is none."""
    ordered = sorted(counted)
    seen = accumulate(count for _, count in ordered)
    reached = (value for (value, _), until in zip(ordered, seen, strict=True) if until >= place)
    return next(reached, ordered[-1][0] if ordered else None)
