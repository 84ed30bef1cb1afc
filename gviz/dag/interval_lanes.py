"""Lanes for intervals of time: as few as overlap at once, each chain in one if it can."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.stats import FloatArray


def pack_lanes(
    start: FloatArray, end: FloatArray, chain: npt.NDArray[np.int64], nested: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Return a lane for each interval so that none overlap; a chain keeps its lane if it can.

    Where it cannot, it leaves for a while and returns to its first lane.

    Parameters
    ----------
    start, end
        The intervals, in order of start.
    chain
        The chain each belongs to.
    nested
        True for intervals of nested graphs, which follow no chain.

    Returns
    -------
    numpy.ndarray
        int64 lanes from 0: as many as intervals (of more than no length) overlap at most.
    """
    if (start[1:] >= np.maximum.accumulate(end)[:-1]).all():
        return np.zeros(len(start), np.int64)
    members = np.where(nested, -1, chain).tolist()
    final = {member: i for i, member in enumerate(members)}
    most = most_at_once(start, end)
    ends: list[float] = []
    owner: list[int] = []
    own: dict[int, int] = {}
    found: list[int] = []
    for i, (begin, stop) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        lane = own.get(members[i], -1)
        if lane < 0 or ends[lane] > begin:
            free = [n for n, e in enumerate(ends) if e <= begin]
            # A lane whose chain goes on is taken only when there would be too many otherwise.
            idle = [n for n in free if final[owner[n]] < i]
            taken = idle or (free if len(ends) >= most else [])
            lane = taken[0] if taken else len(ends)
        if lane == len(ends):
            ends.append(stop)
            owner.append(members[i])
        ends[lane], owner[lane] = stop, members[i]
        own.setdefault(members[i], lane)
        found.append(lane)
    return np.array(found, np.int64)


def most_at_once(start: FloatArray, end: FloatArray) -> int:
    """Return how many intervals overlap at most; one that starts where another ends does not."""
    # At each start: how many have started, less how many have ended.
    ended = np.searchsorted(np.sort(end), np.sort(start), side="right")
    return int((np.arange(1, len(start) + 1) - ended).max(initial=0))
