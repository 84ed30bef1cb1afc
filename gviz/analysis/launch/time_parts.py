"""One launch, or one eager iteration of the same work, cut into the parts of its time.

From the call (or the end of the launch before, where it waited for that) to the end of the last
node the time is: until the first node starts, plus the time in which something runs, plus idle
time, which is the host's where the call of what ran next had not returned. What runs is the sum of
node times less what of it overlapped. These parts add up exactly on both sides, and so do their
differences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.stats import FloatArray, IntArray, union


@dataclass(frozen=True, slots=True)
class TimeParts:
    """The parts of the time of one launch or eager iteration, ns.

    Attributes
    ----------
    lead_ns
        From its beginning to its first node's start.
    host_idle_ns
        Nothing ran, and the call of what ran next had not returned.
    other_idle_ns
        Nothing ran, although the host had done its part.
    node_ns
        Sum of the times of nodes that both sides have.
    own_ns
        Sum of the times of nodes that only this side has.
    overlap_ns
        What of node times overlapped: their sum less the time in which anything ran.
    host_ns
        From the entry of the first call to the return of the last.
    """

    lead_ns: float
    host_idle_ns: float
    other_idle_ns: float
    node_ns: float
    own_ns: float
    overlap_ns: float
    host_ns: float

    @property
    def busy_ns(self) -> float:
        """Time in which anything ran."""
        return self.node_ns + self.own_ns - self.overlap_ns

    @property
    def gpu_ns(self) -> float:
        """From the first node's start to the last node's end."""
        return self.busy_ns + self.host_idle_ns + self.other_idle_ns

    @property
    def total_ns(self) -> float:
        """From its beginning to its last node's end."""
        return self.lead_ns + self.gpu_ns

    @property
    def idle_fraction(self) -> float:
        """Share of ``gpu_ns`` in which nothing ran, 0..1."""
        return 1 - self.busy_ns / self.gpu_ns if self.gpu_ns else 0.0


@dataclass(frozen=True, slots=True)
class PartSpans:
    """Spans of a launch or an eager iteration; arrays of one length, in any order.

    Attributes
    ----------
    start_ns, end_ns
        int64, on one clock.
    returned_ns
        int64: when the call that launched each had returned; 0 where it is not known.
    is_common
        bool: both sides have it.
    """

    start_ns: IntArray
    end_ns: IntArray
    returned_ns: IntArray
    is_common: npt.NDArray[np.bool_]


def measure_parts(spans: PartSpans, begin_ns: int, host_ns: float) -> TimeParts:
    """Return the parts of the time of a launch or eager iteration, of at least one span.

    Parameters
    ----------
    begin_ns
        When it was called, or when the launch that it waited for had ended.
    host_ns
        From the entry of the first call to the return of the last.
    """
    order = np.argsort(spans.start_ns, kind="stable")
    start, end = spans.start_ns[order], spans.end_ns[order]
    returned = spans.returned_ns[order]
    reached = np.maximum.accumulate(end)
    gap = np.maximum(start[1:] - reached[:-1], 0)
    by_host = np.clip(np.minimum(returned[1:], start[1:]) - reached[:-1], 0, None)
    by_host = np.minimum(by_host, gap)
    durations = (spans.end_ns - spans.start_ns).astype(np.float64)
    common, own = float(durations[spans.is_common].sum()), float(durations[~spans.is_common].sum())
    return TimeParts(
        lead_ns=float(start[0] - begin_ns),
        host_idle_ns=float(by_host.sum()),
        other_idle_ns=float((gap - by_host).sum()),
        node_ns=common,
        own_ns=own,
        overlap_ns=common + own - float(union(start, end).total_ns),
        host_ns=host_ns,
    )


def as_columns(measured: list[TimeParts]) -> Mapping[str, FloatArray]:
    """Return the parts as arrays, one value each, with gpu_ns, total_ns and idle_fraction."""
    names = [f.name for f in fields(TimeParts)] + ["gpu_ns", "total_ns", "idle_fraction"]
    return {n: np.array([getattr(p, n) for p in measured], np.float64) for n in names}
