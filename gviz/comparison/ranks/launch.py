"""One launch of a graph on all ranks: where they stand, and who waits for whom in collectives."""

from __future__ import annotations

import numpy as np

from gviz.comparison.ranks.rank_graph import RankGraph, RankLevel
from gviz.dataclass import dataclass
from gviz.stats import FloatArray


@dataclass(frozen=True, slots=True)
class CollectiveWait:
    """The longest wait of a launch.

    Attributes
    ----------
    level, node
        Place of the collective's level, and its index there.
    side, awaited
        Who waits, and who came last: indices of sides.
    wait_ns
        How long.
    """

    level: int
    node: int
    side: int
    awaited: int
    wait_ns: float


def collective_waits(level: RankLevel, launch: int) -> FloatArray:
    """Return float64 (side, execution, node): how long each side waits in collectives in a launch.

    A collective ends on all ranks at about the same time, so a side's wait is what it takes
    longer than the side that takes least, which comes last (as in
    :func:`gviz.comparison.ranks.skew.waits_of` over launches). NaN: no collective, or fewer than
    two sides have a time. Executions are those of the launch, in order.
    """
    durations = level.executions.durations[:, level.executions.of(launch), :]
    known = ~np.isnan(durations)
    counted = level.is_collective & (known.sum(axis=0) >= 2)
    least = np.where(known, durations, np.inf).min(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(known & counted, durations - least, np.nan)


def longest_wait(graph: RankGraph, launch: int) -> CollectiveWait | None:
    """Return the longest wait of a launch; None where no rank waits in a collective."""
    longest: CollectiveWait | None = None
    for at, level in enumerate(graph.levels):
        waits = collective_waits(level, launch)
        most = float(np.where(np.isnan(waits), 0.0, waits).max(initial=0.0))
        if most > (0.0 if longest is None else longest.wait_ns):
            side, execution, node = np.unravel_index(int(np.nanargmax(waits)), waits.shape)
            awaited = int(np.nanargmin(waits[:, execution, node]))
            longest = CollectiveWait(at, int(node), int(side), awaited, most)
    return longest


def typical_launch(graph: RankGraph) -> int:
    """Return the launch of median length, the rank that takes longest counted."""
    length = np.nan_to_num(graph.launch_ns).max(axis=0)
    return int(np.argsort(length, kind="stable")[len(length) // 2])
