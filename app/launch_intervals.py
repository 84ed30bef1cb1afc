"""When the nodes of a graph level ran in one launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gviz.app.graph_level import GraphLevel

if TYPE_CHECKING:
    from gviz.recording.reader import Recording

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LaunchIntervals:
    """One value a node of a level, NaN where it has no time in the launch (float64, ns).

    Attributes
    ----------
    start_ns, end_ns
        From the launch's first start: first start and last end of the node, or of what is
        nested in it.
    busy_ns
        Its durations summed over iterations; with nested ones where it holds a body.
    """

    start_ns: FloatArray
    end_ns: FloatArray
    busy_ns: FloatArray


def launch_intervals(recording: Recording, level: GraphLevel, launch_id: int) -> LaunchIntervals:
    """Return when the nodes of a level ran in a launch of the recording."""
    spans = recording.fetch_spans(launch_id)
    owner = level.owners(spans.node_id).index
    mine = np.flatnonzero(owner >= 0)
    owner, start = owner[mine], spans.start_ns[mine].astype(np.float64)
    duration = spans.duration_ns[mine].astype(np.float64)
    count = len(level.nodes)
    first, last = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(first, owner, start)
    np.maximum.at(last, owner, start + duration)
    busy = np.bincount(owner, weights=duration, minlength=count)
    none = np.isinf(first)
    return LaunchIntervals(
        np.where(none, np.nan, first), np.where(none, np.nan, last), np.where(none, np.nan, busy)
    )
