"""Which launch the records of conditional bodies belong to.

They carry no launch's correlation id. Launches of one executable run one after another, so
records of nodes before and after the conditional node fence its bodies in.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gviz.node_type import NodeType
from gviz.spool.contents import LaunchRecord
from gviz.spool.format import LAUNCH_NODE_LEVEL
from gviz.spool.graphs import FoldedGraph, Graphs

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: A launch call is no sign of a new launch's work where the work before went on until less than
#: this before it: bodies of a loop follow each other within some 10 us (H100, driver 580).
QUIET_NS = 20_000
#: When a launch begins is known to about this much, from its call.
CUT_NS = 5_000
_AT_MOST_ONCE = ("if", "switch")


class BodyOwners:
    """Gives records without a correlation id to launches.

    Parameters
    ----------
    records
        The launches, in order of their calls.
    durations
        Event-measured GPU time of each, nanoseconds; 0: not measured.
    activities
        Records of graph nodes (dtype ACTIVITY), ordered by start.
    exec_of
        Executable id of each activity.
    graphs
        What is known of their graphs.
    """

    def __init__(
        self,
        records: list[LaunchRecord],
        durations: IntArray,
        activities: npt.NDArray[np.void],
        exec_of: IntArray,
        graphs: Graphs,
    ) -> None:
        self._called = np.array([r.start_ns for r in records], np.int64)
        self._node_level = np.array([bool(r.flags & LAUNCH_NODE_LEVEL) for r in records], bool)
        self._launch_exec = np.array([r.exec_id for r in records], np.int64)
        self._durations = durations
        self._start = activities["start_ns"].astype(np.int64)
        self._end = activities["end_ns"].astype(np.int64)
        self._node = (activities["graph_node_id"] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        self._loose = activities["correlation_id"] == 0
        self._exec_of = exec_of
        self._graphs = graphs

    def fill(self, owner: IntArray) -> BoolArray:
        """Fill in owners (index of a launch, -1 for none) where they are missing.

        Returns
        -------
        numpy.ndarray
            bool, one an activity: another launch could be its owner as well.
        """
        ambiguous = np.zeros(len(owner), bool)
        loose = np.flatnonzero((owner < 0) & self._loose)
        for exec_id in np.unique(self._exec_of[loose]).tolist():
            launches = np.flatnonzero(self._launch_exec == exec_id)
            if len(launches) == 0:
                continue
            mine = loose[self._exec_of[loose] == exec_id]
            own = np.flatnonzero((owner >= 0) & (self._exec_of == exec_id))
            for bodies, before, after in self._fences(exec_id, mine):
                owner[bodies], ambiguous[bodies] = self._place(
                    bodies, launches, owner, own, before, after
                )
        return ambiguous

    def _fences(
        self, exec_id: int, mine: IntArray
    ) -> Iterable[tuple[IntArray, IntArray, IntArray]]:
        """Yield the records of each top-level conditional node with the nodes around it.

        Each time: indices of the records, ids in the executable of the nodes before that
        node and of those after it, what is nested in them included.
        """
        execution = self._graphs.execs.get(exec_id)
        if execution is None:
            yield mine, np.zeros(0, np.int64), np.zeros(0, np.int64)
            return
        top, *nested = self._graphs.family(execution.graph_id)
        holder_of = _holders(top, nested)
        holders = np.array([holder_of.get(n, -1) for n in self._node[mine].tolist()], np.int64)
        for holder in np.unique(holders).tolist():
            before, after = (
                np.array([n for n, h in holder_of.items() if h in relatives], np.int64)
                for relatives in _relatives(top, holder)
            )
            yield mine[holders == holder], before, after

    def _place(
        self,
        bodies: IntArray,
        launches: IntArray,
        owner: IntArray,
        own: IntArray,
        before: IntArray,
        after: IntArray,
    ) -> tuple[IntArray, BoolArray]:
        start = self._start[bodies]
        earlier = own[np.isin(self._node[own], before)]
        if len(earlier):
            found, begun = _extremes(np.minimum, owner[earlier], self._start[earlier])
            at = np.searchsorted(begun, start, "right") - 1
            return found[np.maximum(at, 0)], np.zeros(len(bodies), bool)
        later = own[np.isin(self._node[own], after)]
        if len(later):
            found, ended = _extremes(np.maximum, owner[later], self._end[later])
            at = np.searchsorted(ended, start, "left")
            return found[np.minimum(at, len(found) - 1)], np.zeros(len(bodies), bool)
        if len(own):  # nodes beside the conditional node only
            found, begun = _extremes(np.minimum, owner[own], self._start[own])
            _, ended = _extremes(np.maximum, owner[own], self._end[own])
            at = np.maximum(np.searchsorted(begun, start, "right") - 1, 0)
            between = (start > ended[at]) & (at < len(found) - 1)
            return found[at], between
        wanted = launches[self._node_level[launches]]
        return self._place_alone(bodies, wanted if len(wanted) else launches)

    # -- nothing but bodies -----------------------------------------------------------------

    def _place_alone(self, bodies: IntArray, launches: IntArray) -> tuple[IntArray, BoolArray]:
        """Place the bodies of a graph in which nothing else has a time."""
        certain = np.zeros(len(bodies), bool)
        if len(launches) == 1:
            return np.repeat(launches, len(bodies)), certain
        if not self._loops(int(self._launch_exec[launches[0]])):
            turn = _turns(self._node[bodies].tolist())
            if turn[-1] + 1 == len(launches):  # each launch took its branches once
                return launches[turn], certain
        cut = self._cut_by_durations(bodies, launches)
        return self._cut_by_calls(bodies, launches) if cut is None else cut

    def _loops(self, exec_id: int) -> bool:
        """Whether a body may run more than once in a launch."""
        execution = self._graphs.execs.get(exec_id)
        return execution is None or any(
            node.type == NodeType.CONDITIONAL and node.conditional_type not in _AT_MOST_ONCE
            for level in self._graphs.family(execution.graph_id)
            for node in level.nodes.values()
        )

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
        for turn, (call, duration) in enumerate(
            zip(self._called[launches].tolist(), durations.tolist(), strict=True)
        ):
            done = max(done, call) + duration
            after = int(np.searchsorted(start, done, "left"))
            if after == first or start[first] < call:
                return None
            found[first:after] = turn
            if turn + 1 < len(launches):
                doubtful[first:] |= np.abs(start[first:] - done) < CUT_NS
            # The end lies between the last record before it and the first one after it.
            done = max(done, int(end[first:after].max()))
            done = min(done, int(start[after])) if after < len(start) else done
            first = after
        return (launches[found], doubtful) if first == len(start) else None

    def _cut_by_calls(self, bodies: IntArray, launches: IntArray) -> tuple[IntArray, BoolArray]:
        """Give each record to the launch called last before it, with doubt where it was queued."""
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


def _turns(nodes: list[int]) -> IntArray:
    """Number the records by turn: a new one begins where a node comes again."""
    seen: set[int] = set()
    turn, found = 0, []
    for node in nodes:
        if node in seen:
            turn += 1
            seen.clear()
        seen.add(node)
        found.append(turn)
    return np.array(found, np.int64)


def _extremes(reduce: np.ufunc, launch: IntArray, time_ns: IntArray) -> tuple[IntArray, IntArray]:
    """Return the launches, ordered by their least or greatest time, and that time."""
    found, group = np.unique(launch, return_inverse=True)
    times = np.full(len(found), np.iinfo(np.int64).max if reduce is np.minimum else 0, np.int64)
    reduce.at(times, group, time_ns)
    order = np.argsort(times, kind="stable")
    return found[order], times[order]


def _holders(top: FoldedGraph, nested: list[FoldedGraph]) -> dict[int, int]:
    """Return the top-level node that holds a node, or is it, by id in the executable."""
    levels = {level.row.graph_id: level for level in nested}
    holder_of = {n: n for n in top.nodes}
    for level in nested:
        step = level
        while step.row.parent_graph_id in levels:
            step = levels[step.row.parent_graph_id]
        for number in level.exec_ids.values():
            if step.row.parent_node_id is not None:
                holder_of[number] = step.row.parent_node_id
    return holder_of


def _relatives(top: FoldedGraph, node_id: int) -> tuple[set[int], set[int]]:
    """Return the top-level nodes that must end before a node starts, and start after it ends."""
    full = top.edges[top.edges[:, 2] == 0]
    forward: dict[int, list[int]] = {}
    backward: dict[int, list[int]] = {}
    for source, target in full[:, :2].tolist():
        forward.setdefault(source, []).append(target)
        backward.setdefault(target, []).append(source)
    return _reach(backward, node_id), _reach(forward, node_id)


def _reach(edges: dict[int, list[int]], start: int) -> set[int]:
    found: set[int] = set()
    open_nodes = [start]
    while open_nodes:
        for node in edges.get(open_nodes.pop(), ()):
            if node not in found:
                found.add(node)
                open_nodes.append(node)
    return found
