"""Edits carried over to a launch: which executions, times and constraints they change."""

from __future__ import annotations

import numpy as np

from gviz.analysis import GraphSubject, LaunchChange
from gviz.errors import UsageError
from gviz.stats import BoolArray, IntArray, distinct_values
from gviz.whatif.edits import ANYTHING, Edit, EditKind
from gviz.whatif.node_names import NodeNames


class ChangeBuilder:
    """The change that several edits of one graph make together.

    Parameters
    ----------
    subject
        The graph; its median launch is known as constraints.
    names
        Of its nodes.
    """

    def __init__(self, subject: GraphSubject, names: NodeNames) -> None:
        self._subject = subject
        self._names = names
        model = subject.model
        count = len(model.row)
        self._gap, self._duration = model.gap_ns.copy(), model.duration_ns.copy()
        self._delay = np.zeros(count)
        self._absent = np.zeros(count, bool)
        self._dropped = np.zeros(len(model.head), bool)
        self._added: list[tuple[int, int]] = []
        self._nodes = np.zeros(len(subject.graph), bool)

    def add(self, edit: Edit) -> None:
        """Add an edit.

        Raises
        ------
        UsageError
            If it finds nothing to change.
        """
        match edit.kind:
            case EditKind.OFF:
                self._absent |= self._vertices(edit.nodes)
            case EditKind.SCALE:
                self._duration[self._vertices(edit.nodes)] *= edit.factor
            case EditKind.DELAY:
                self._delay[self._vertices(edit.nodes)] += edit.delay_ns
            case EditKind.CUT:
                self._cut(edit)
            case EditKind.FUSE:
                self._fuse(edit)
            case EditKind.ORDER:
                self._order_by_priority()

    @property
    def nodes(self) -> IntArray:
        """The nodes that the edits are about: int64, ascending."""
        return np.flatnonzero(self._nodes)

    def build(self) -> LaunchChange:
        """Return the change."""
        return LaunchChange(
            gap_ns=self._gap,
            duration_ns=self._duration,
            delay_ns=self._delay if self._delay.any() else None,
            absent=self._absent if self._absent.any() else None,
            dropped=self._dropped if self._dropped.any() else None,
            added=tuple(self._added),
        )

    def _vertices(self, pattern: str) -> BoolArray:
        """Return the executions of a pattern's nodes, and note the nodes."""
        nodes = self._names.find(pattern)
        found = self._subject.unrolled.executions_of(nodes)
        if not (found & self._subject.held.timed).any():
            raise UsageError(f"no node of {pattern!r} ran with a time: there is nothing to change")
        self._nodes[nodes] = True
        return found

    def _cut(self, edit: Edit) -> None:
        model, executions_of = self._subject.model, self._subject.unrolled.executions_of
        first, second = self._names.find(edit.nodes), self._names.find(edit.other)
        between = executions_of(first)[model.tail] & executions_of(second)[model.head]
        if not (between & ~model.is_queue).any():
            found = f"no dependency leads from {edit.nodes!r} to {edit.other!r} directly"
            if edit.nodes == ANYTHING:
                found = f"{edit.other!r} waits for nothing"
            raise UsageError(f"{found}; 'gviz node' lists what a node waits for")
        # Work that no longer waits would not be put behind the other on its queue either.
        self._dropped |= between
        self._nodes[second] = True
        usual = self._subject.usual.of(crossing=True)
        if usual is not None:
            heads = distinct_values(model.head[between])
            self._gap[heads] = np.minimum(self._gap[heads], max(usual, 0.0))

    def _order_by_priority(self) -> None:
        why = self._subject.why_no_order
        if not why and self._subject.reachability is None:
            why = "too many nodes side by side"
        if why:
            raise UsageError(f"which nodes waited for others is not known: {why}")
        found = self._subject.priority_order
        if found is None:
            raise UsageError(
                "no node of higher priority waited for one of lower: order by priority changes "
                "nothing"
            )
        lower = found.gap_ns < self._subject.model.gap_ns
        self._gap[lower] = found.gap_ns[lower]
        self._dropped |= found.dropped
        self._nodes[self._subject.unrolled.node[list(found.vertices)]] = True

    # -- fusing --------------------------------------------------------------------------

    def _fuse(self, edit: Edit) -> None:
        """Make one kernel of what lies on the ways from each first node to the nearest last one."""
        executions_of = self._subject.unrolled.executions_of
        first = np.flatnonzero(executions_of(self._names.find(edit.nodes)))
        last = executions_of(self._names.find(edit.other))
        used = np.zeros(len(last), bool)
        for start in first.tolist():
            group = self._between(start, last)
            if len(group) > 1 and not used[group].any():
                used[group] = True
                self._make_one(group)
        if not used.any():
            raise UsageError(f"no way leads from {edit.nodes!r} to {edit.other!r}")
        self._nodes[distinct_values(self._subject.unrolled.node[used])] = True

    def _between(self, start: int, last: BoolArray) -> IntArray:
        """Return the executions on all ways from one to the nearest of others, in order."""
        unrolled = self._subject.unrolled
        reached = np.zeros(len(last), bool)
        reached[start] = True
        front = reached
        while front.any():
            ends = front & last
            ends[start] = False
            if ends.any():
                return self._ways_to(int(np.flatnonzero(ends)[0]), start)
            ahead = np.zeros(len(last), bool)
            ahead[unrolled.head[front[unrolled.tail]]] = True
            front = ahead & ~reached
            reached = reached | front
        return np.zeros(0, np.int64)

    def _ways_to(self, end: int, start: int) -> IntArray:
        unrolled = self._subject.unrolled
        after, before = (np.zeros(len(unrolled), bool) for _ in range(2))
        after[start] = before[end] = True
        order = np.argsort(unrolled.row[unrolled.head], kind="stable")
        tails, heads = unrolled.tail[order].tolist(), unrolled.head[order].tolist()
        for a, b in zip(tails, heads, strict=True):
            after[b] |= after[a]
        backward = np.argsort(-unrolled.row[unrolled.tail], kind="stable")
        tails, heads = unrolled.tail[backward].tolist(), unrolled.head[backward].tolist()
        for a, b in zip(tails, heads, strict=True):
            before[a] |= before[b]
        inside = np.flatnonzero(after & before)
        return inside[np.argsort(unrolled.row[inside], kind="stable")]

    def _make_one(self, group: IntArray) -> None:
        """Let the last of a group take the time of all, without the gaps between them."""
        unrolled = self._subject.unrolled
        last = int(group[-1])
        self._duration[last] = self._duration[group].sum()
        self._duration[group[:-1]] = 0.0
        self._gap[group[1:]] = 0.0
        inside = np.zeros(len(unrolled), bool)
        inside[group] = True
        leaving = inside[unrolled.tail] & ~inside[unrolled.head] & (unrolled.tail != last)
        # Who waited for one of them now waits for the one kernel.
        self._added += [(last, head) for head in distinct_values(unrolled.head[leaving]).tolist()]
