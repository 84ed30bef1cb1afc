"""One launch of a graph on all ranks: where they stand, and who waits for whom in collectives."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from gviz.ranks.rank_graph import RankGraph
from gviz.ranks.skew import FloatArray


@dataclass(frozen=True, slots=True)
class Wait:
    """The longest wait of a launch.

    Attributes
    ----------
    node
        Index of the collective in the first side's graph.
    side, awaited
        Who waits, and who came last: indices of sides.
    wait_ns
        How long.
    """

    node: int
    side: int
    awaited: int
    wait_ns: float


def collective_waits(graph: RankGraph, launch: int) -> tuple[FloatArray, int | None]:
    """Return float64 (side, node): how long each side waits in collectives in one launch.

    A collective ends on all ranks at about the same time, so a side's wait is what it takes
    longer than the side that takes least, which comes last (as in :func:`gviz.ranks.skew.waits_of`
    over launches). NaN: no collective, or fewer than two sides have a time.

    Returns
    -------
    tuple
        The waits, and the node of the longest; None where there is none.
    """
    durations = graph.durations[:, launch, :]
    known = ~np.isnan(durations)
    counted = graph.is_collective & (known.sum(axis=0) >= 2)
    least = np.where(known, durations, np.inf).min(axis=0)
    with np.errstate(invalid="ignore"):
        waits = np.where(known & counted, durations - least, np.nan)
    longest = np.where(np.isnan(waits), 0.0, waits).max(axis=0)
    return waits, int(longest.argmax()) if len(longest) and longest.max() > 0 else None


def longest_wait(graph: RankGraph, launch: int) -> Wait | None:
    """Return the longest wait of a launch; None where no rank waits in a collective."""
    waits, node = collective_waits(graph, launch)
    if node is None:
        return None
    side = int(np.nanargmax(waits[:, node]))
    return Wait(node, side, int(np.nanargmin(waits[:, node])), float(waits[side, node]))


def typical_launch(graph: RankGraph) -> int:
    """Return the launch of median length, the rank that takes longest counted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a launch without a length
        length = np.nan_to_num(np.nanmax(graph.launch_ns, axis=0))
    return int(np.argsort(length, kind="stable")[len(length) // 2])
