"""The launch of each record of a conditional body, among launches that have a row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gviz.runs import Activities, Rows
from gviz.spool.streams import Extent, Fences, place_between
from gviz.stats import BoolArray, IntArray, distinct_values

#: A launch call is no sign of a new launch's work where the work before went on until less than
#: this before it: bodies of a loop follow each other within some 10 µs (H100, driver 580).
QUIET_NS = 20_000
#: When a launch begins is known to about this much, from its call.
CUT_NS = 5_000


class BodyOwners:
    """Gives records without a correlation id to launches.

    Parameters
    ----------
    launches
        In order of their calls (columns of rows.Launch).
    exec_id
        Executable of each launch.
    activities
        Records of graph nodes (dtype SPAN_ACTIVITY), ordered by start.
    fences_of
        Of an executable; None: its graph has no conditional node.
    """

    def __init__(
        self,
        launches: Rows,
        exec_id: IntArray,
        activities: Activities,
        fences_of: Callable[[int], Fences | None],
    ) -> None:
        self._called = launches["host_start_ns"]
        self._node_level = launches["node_level"] != 0
        self._launch_exec = exec_id
        self._durations = launches["event_duration_ns"]
        self._start = activities["start_ns"]
        self._end = activities["end_ns"]
        self._node = activities["node_id"]
        self._loose = activities["correlation_id"] == 0
        self._exec_of = activities["exec_id"]
        self._fences_of = fences_of

    def fill(self, owner: IntArray) -> BoolArray:
        """Fill in owners (index of a launch, -1 for none) where they are missing.

        Returns
        -------
        numpy.ndarray
            bool, one an activity: another launch could be its owner as well.
        """
        ambiguous = np.zeros(len(owner), bool)
        loose = np.flatnonzero((owner < 0) & self._loose)
        for exec_id in distinct_values(self._exec_of[loose]).tolist():
            launches = np.flatnonzero(self._launch_exec == exec_id)
            if len(launches) == 0:
                continue
            mine = loose[self._exec_of[loose] == exec_id]
            own = np.flatnonzero((owner >= 0) & (self._exec_of == exec_id))
            fences = self._fences_of(exec_id) or Fences()
            for _, fence, at in fences.split(self._node[mine]):
                before, after, whole = (
                    self._extent(owner, at_own)
                    for at_own in (
                        own[np.isin(self._node[own], fence.before)],
                        own[np.isin(self._node[own], fence.after)],
                        own,
                    )
                )
                if len(own):
                    placed = place_between(self._start[mine[at]], before, after, whole)
                    found = placed.launch, placed.doubtful
                else:
                    found = self._place_alone(mine[at], launches, loops=fences.loops)
                owner[mine[at]], ambiguous[mine[at]] = found
        return ambiguous

    def _extent(self, owner: IntArray, at: IntArray) -> Extent:
        return Extent.of(owner[at], self._start[at], self._end[at])

    # -- nothing but bodies -----------------------------------------------------------------

    def _place_alone(
        self, bodies: IntArray, launches: IntArray, *, loops: bool
    ) -> tuple[IntArray, BoolArray]:
        """Place the bodies of a graph in which nothing else has a time."""
        certain = np.zeros(len(bodies), bool)
        wanted = launches[self._node_level[launches]]
        launches = wanted if len(wanted) else launches
        if len(launches) == 1:
            return np.repeat(launches, len(bodies)), certain
        if not loops:
            iteration = _iterations(self._node[bodies].tolist())
            if iteration[-1] + 1 == len(launches):  # each launch took its branches once
                return launches[iteration], certain
        cut = self._cut_by_durations(bodies, launches)
        return self._cut_by_calls(bodies, launches) if cut is None else cut

    def _cut_by_durations(
        self, bodies: IntArray, launches: IntArray
    ) -> tuple[IntArray, BoolArray] | None:
        """Cut the records into launches by how long each took; None where that fails.

        A launch begins with its call, or with the end of the one before, and takes its
        event-measured duration. It fails where a launch gets no record, or records are left.
        """
        durations = self._durations[launches]
        if (durations <= 0).any():
            return None
        start, end = self._start[bodies], self._end[bodies]
        found = np.zeros(len(bodies), np.int64)
        doubtful = np.zeros(len(bodies), bool)
        first, done = 0, 0
        for iteration, (call, duration) in enumerate(
            zip(self._called[launches].tolist(), durations.tolist(), strict=True)
        ):
            done = max(done, call) + duration
            after = int(np.searchsorted(start, done, "left"))
            if after == first or start[first] < call:
                return None
            found[first:after] = iteration
            if iteration + 1 < len(launches):
                doubtful[first:] |= np.abs(start[first:] - done) < CUT_NS
            # The end lies between the last record before it and the first one after it.
            done = max(done, int(end[first:after].max()))
            done = min(done, int(start[after])) if after < len(start) else done
            first = after
        return (launches[found], doubtful) if first == len(start) else None

    def _cut_by_calls(self, bodies: IntArray, launches: IntArray) -> tuple[IntArray, BoolArray]:
        """Give each record to the launch called last before it, ambiguous where it was queued."""
        start, end, called = self._start[bodies], self._end[bodies], self._called[launches]
        at = np.maximum(np.searchsorted(called, start, "right") - 1, 0)
        # A launch called while work before it went on, or just after, may have been queued: then
        # the work after the call may still be that of the launch before.
        latest = np.maximum.accumulate(end)
        last = np.searchsorted(start, called, "left") - 1
        quiet = (last < 0) | (called - latest[np.maximum(last, 0)] > QUIET_NS)
        doubtful = ~quiet
        doubtful[:-1] |= ~quiet[1:]
        counts = np.bincount(at, minlength=len(launches))
        doubtful[1:] |= counts[:-1] == 0  # that launch's work may have come late
        return launches[at], doubtful[at]


def _iterations(nodes: list[int]) -> IntArray:
    """Number the records by iteration: a new one begins where a node comes again."""
    seen: set[int] = set()
    iteration, found = 0, []
    for node in nodes:
        if node in seen:
            iteration += 1
            seen.clear()
        seen.add(node)
        found.append(iteration)
    return np.array(found, np.int64)
