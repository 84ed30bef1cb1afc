"""Idle gaps of a side of the timeline, for its header and its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.views.wire import Arrays
from gviz.stats import gaps, union

TimeArray = npt.NDArray[Any]


def idle_time(
    side: str, start_ns: TimeArray, end_ns: TimeArray, *, is_by_copy: bool = False
) -> tuple[dict[str, Any], Arrays]:
    """Return a side's header on its gaps, and the gaps themselves.

    The gaps are those from the side's zero on, so the wait for the first node is one of them.
    ``idle_ns`` and ``idle_fraction`` (0..1) are derived from those between the first start and
    the last end only, as the GPU time of a launch is. Of an instrumented copy there are neither:
    events stand in its gaps.
    """
    busy = union(start_ns, end_ns)
    if is_by_copy or not len(busy):
        empty = np.zeros(0)
        none = {f"{side}_gap_start_ns": empty, f"{side}_gap_end_ns": empty}
        return {} if is_by_copy else {"idle_ns": 0, "idle_fraction": 0.0}, none
    first, last = busy.start_ns[0].item(), busy.end_ns[-1].item()
    idle = last - first - busy.total_ns
    drawn = gaps(busy, min(0, first), last)
    return (
        {"idle_ns": idle, "idle_fraction": idle / (last - first)},
        {
            f"{side}_gap_start_ns": drawn.start_ns.astype(np.float64),
            f"{side}_gap_end_ns": drawn.end_ns.astype(np.float64),
        },
    )
