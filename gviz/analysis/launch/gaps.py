"""Usual gaps of this GPU from the end of a node to the start of its dependent."""

from __future__ import annotations

import numpy as np

from gviz.analysis.launch.holds import NOTHING, HeldLaunch, Hold
from gviz.cuda import NodeType
from gviz.dataclass import dataclass
from gviz.model import GraphTree, TimeArray
from gviz.stats import BoolArray


@dataclass(frozen=True, slots=True)
class UsualGaps:
    """Median gaps from kernel to kernel in one launch (derived), by what lies between.

    Only gaps in which nothing else ran count, and only full dependencies. What no gap of the
    launch shows is None.

    Attributes
    ----------
    same_queue_ns, crossing_ns
        Within one hardware queue, and from one to another.
    count
        Gaps behind both.
    """

    same_queue_ns: float | None
    crossing_ns: float | None
    count: int

    def of(self, crossing: bool) -> float | None:
        """Return the one or the other; where only one is known, that one."""
        first, second = self.same_queue_ns, self.crossing_ns
        if crossing:
            first, second = second, first
        return second if first is None else first


def usual_gaps(graph: GraphTree, held: HeldLaunch) -> UsualGaps:
    """Return the usual gaps of a launch."""
    is_kernel = (graph.types == NodeType.KERNEL)[held.unrolled.node]
    before = held.dependency
    known = held.timed & (held.held_by == Hold.DEPENDENCY) & (held.via == NOTHING)
    known &= is_kernel & is_kernel[before] & (held.end_ns[before] <= held.start_ns)
    known &= ~_something_else_ran(held)
    crossing = held.queue != held.queue[before]
    return UsualGaps(
        same_queue_ns=_median(held.gap_ns[known & ~crossing]),
        crossing_ns=_median(held.gap_ns[known & crossing]),
        count=int(known.sum()),
    )


def _something_else_ran(held: HeldLaunch) -> BoolArray:
    """Return, for each vertex, whether anything ended between its dependency's end and its start.

    Or started there, and whether anything ran through all of it: then the latest of the ends of
    what started before is later than the dependency's end.
    """
    timed = np.flatnonzero(held.timed)
    order = timed[np.argsort(held.start_ns[timed], kind="stable")]
    latest = np.maximum.accumulate(held.end_ns[order])
    at = np.searchsorted(held.start_ns[order], held.start_ns, side="left") - 1
    found = np.zeros(len(held.timed), bool)
    inside = at >= 0
    found[inside] = latest[at[inside]] > held.ready_ns[inside]
    return found


def _median(gaps: TimeArray) -> float | None:
    return float(np.median(gaps)) if len(gaps) else None
