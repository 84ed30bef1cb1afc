"""Records of conditional bodies to launches, while the records come."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gviz.runs import Activities
from gviz.spool.streams.fences import NO_FENCE, Extent, Fence, Fences, Placed, place_between
from gviz.stats import IntArray

#: In place of a fence's number: every node whose records name their launch.
_ALL = -1
_BEFORE, _AFTER = 0, 1


class BodyStream:
    """Remembers what ran around the bodies in each launch.

    Parameters
    ----------
    fences_of
        Of an executable; None: its graph has no conditional node.
    """

    def __init__(self, fences_of: Callable[[int], Fences | None]) -> None:
        self._fences_of = fences_of
        self._extents: dict[tuple[int, int, int], Extent] = {}  # by executable, fence, side

    def note(self, exec_id: int, records: Activities, place: IntArray, first_open: int) -> None:
        """Take in records of an executable that name their launch.

        Parameters
        ----------
        place
            Of their launches, as LaunchStream.keys gives them.
        first_open
            Launches with a place from 0 to below this one are forgotten.
        """
        fences = self._fences_of(exec_id)
        if fences is None:
            return
        node = records["node_id"]
        self._add((exec_id, _ALL, _BEFORE), records, place, first_open)
        for number, fence in enumerate(fences.fences):
            for side, around in ((_BEFORE, fence.before), (_AFTER, fence.after)):
                mine = np.isin(node, around)
                self._add((exec_id, number, side), records.compress(mine), place[mine], first_open)

    def _add(
        self, key: tuple[int, int, int], records: Activities, place: IntArray, first_open: int
    ) -> None:
        known = self._extents.get(key, Extent.none())
        if not len(records):
            return
        whole = known.joined(Extent.of(place, records["start_ns"], records["end_ns"]))
        self._extents[key] = whole.chosen((whole.launch < 0) | (whole.launch >= first_open))

    def place(self, exec_id: int, records: Activities) -> Placed:
        """Return the places of the launches of body records of an executable."""
        fences = self._fences_of(exec_id) or Fences()
        own = self._extents.get((exec_id, _ALL, _BEFORE), Extent.none())
        found = Placed(
            np.zeros(len(records), np.int64),
            np.zeros(len(records), bool),
            np.zeros(len(records), bool),
        )
        if not len(own):
            return found
        node = records["node_id"]
        for number, fence, at in fences.split(node):
            part = place_between(records["start_ns"][at], *self._sides(exec_id, number, fence), own)
            found.launch[at], found.known[at] = part.launch, part.known
            found.doubtful[at] = part.doubtful
        return found

    def _sides(self, exec_id: int, number: int, fence: Fence) -> tuple[Extent, Extent]:
        if fence is NO_FENCE:
            return Extent.none(), Extent.none()
        before, after = (
            self._extents.get((exec_id, number, side), Extent.none()) for side in (_BEFORE, _AFTER)
        )
        return before, after
