"""Nodes that could have started and did not, while nodes they do not depend on ran.

These are the pairs of independent nodes that took turns: for each node that waited though all
that it depends on had ended, what ran meanwhile, and why that is likely to have held it. What ran
ahead of it on its own hardware queue did hold it. Otherwise it is judged from launch shapes: work
with as many blocks as fit the GPU leaves no room, copies of one direction share an engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

import numpy as np

from gviz.analysis.launch.constraints import LaunchChange, LaunchModel
from gviz.analysis.launch.gaps import UsualGaps
from gviz.analysis.launch.holds import CLOCK_SKEW_NS, HeldLaunch, Hold
from gviz.analysis.launch.pairs import places_in_parts
from gviz.cuda import NodeType
from gviz.dag import Reachability
from gviz.dataclass import dataclass
from gviz.model import GraphTree, LaunchSpans, TimeArray, TreeNodes
from gviz.stats import BoolArray, FloatArray, IntArray, distinct_values

#: Waits are looked at from here on: half of the usual gap between dependent kernels, and above
#: what clocks of two queues differ by as a rule (160 ns).
LEAST_NS = 500
#: Of what ran while a node waited, so many of the last are looked at.
_MOST_BLOCKERS = 256
#: Nodes whose waits are looked at, the longest.
_MOST_WAITING = 10_000
#: Groups of waits whose gain is computed, the longest.
_MOST_GROUPS = 20
#: Stands for the direction of what is no copy.
_NO_COPY = -1
#: Share of a wait in which the multiprocessors must have been full to be the reason.
_MOSTLY = 0.5
#: From this share of all resident blocks on there is taken to be no room: the last wave of a
#: kernel leaves some.
_FULL = 0.95


class Reason(StrEnum):
    """Likely reasons of a node's wait."""

    SAME_QUEUE = "same hardware queue"
    FULL = "multiprocessors full"
    PRIORITY = "priority"
    COPY_ENGINE = "same copy engine"
    LAUNCH_ORDER = "launch order"


_REASONS = tuple(Reason)


@dataclass(frozen=True, slots=True)
class Wait:
    """A node that waited for nodes it does not depend on.

    Attributes
    ----------
    vertex, blocker
        The node, and the one that ran longest while it waited; vertices of the launch.
    waited_ns
        From when all that it depends on had ended to its start (derived).
    blocked_ns
        The part of it in which nodes ran that it does not depend on (derived).
    reason
        Why (estimated; of the same queue derived).
    """

    vertex: int
    blocker: int
    waited_ns: float
    blocked_ns: float
    reason: Reason


@dataclass(frozen=True, slots=True)
class WaitGroup:
    """Waits for the same reason of equally named nodes for equally named ones.

    Attributes
    ----------
    gain_ns
        What the launch would be shorter by if none of them had waited and nothing had run
        slower for it (estimated, at most). 0 where the multiprocessors were full: the work
        would have taken as long side by side. None: not computed, it is one of many.
    overlapped_launches
        In how many launches any of the pairs overlapped at all.
    change
        The launch if none of them had waited; None: as for the gain, or it is 0.
    """

    reason: Reason
    waits: tuple[Wait, ...]
    gain_ns: float | None
    overlapped_launches: int
    change: LaunchChange | None = None


def find_waits(
    graph: GraphTree,
    held: HeldLaunch,
    reachability: Reachability,
    multiprocessors: int | None,
) -> list[Wait]:
    """Return the nodes of a launch that waited for nodes they do not depend on.

    Of more than 10,000 that waited for anything, those that waited longest.

    Parameters
    ----------
    reachability
        Of the launch's unrolled form; its table must be small enough.
    multiprocessors
        Of the GPU; None: not known, and then no wait is put down to full multiprocessors.
    """
    timed = np.flatnonzero(held.timed)
    waited = held.start_ns - held.ready_ns
    waiting = timed[waited[timed] > LEAST_NS]
    waiting = waiting[np.argsort(-waited[waiting], kind="stable")[:_MOST_WAITING]]
    judge = _Judge(graph, held, multiprocessors)
    return [
        wait
        for pairs in _pairs(held, waiting)
        for wait in judge.judge(pairs.take(reachability.are_independent(pairs.vertex, pairs.other)))
    ]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Nodes that waited, and nodes that ran meanwhile: int64 arrays of one length.

    All pairs of a node follow each other, in the order in which the others ended.
    """

    vertex: IntArray
    other: IntArray

    def take(self, chosen: BoolArray) -> _Pairs:
        """Return some of them."""
        return _Pairs(self.vertex[chosen], self.other[chosen])


def _pairs(held: HeldLaunch, waiting: IntArray) -> Iterator[_Pairs]:
    """Yield nodes that waited with what ran meanwhile, some ten thousand pairs at a time.

    Of a node's pairs the last to end before it started, and the first to end after that.
    """
    # Work of no length runs nowhere and holds nobody.
    ran = np.flatnonzero(held.timed & (held.end_ns > held.start_ns))
    by_end = ran[np.argsort(held.end_ns[ran], kind="stable")]
    ends = held.end_ns[by_end]
    first = np.searchsorted(ends, held.ready_ns[waiting], side="right")
    stop = np.searchsorted(ends, held.start_ns[waiting] + CLOCK_SKEW_NS, side="right")
    begin = np.maximum(first, stop - _MOST_BLOCKERS)
    size = np.minimum(stop + _MOST_BLOCKERS, len(by_end)) - begin
    for of, place in places_in_parts(begin, size):
        vertex, other = waiting[of], by_end[place]
        meanwhile = (held.start_ns[other] < held.start_ns[vertex]) & (other != vertex)
        yield _Pairs(vertex[meanwhile], other[meanwhile])


@dataclass(frozen=True, slots=True)
class _Meanwhile:
    """Nodes with what ran while each of them waited; arrays of one length a node, then a pair.

    Attributes
    ----------
    first
        int64: where the pairs of each node begin.
    vertex, blocker
        int64: the node, and of its others the one that ran longest.
    waited_ns, blocked_ns
        Of each node, and the part of it in which any of the others ran.
    lengths_ns
        Of each pair: how long the other ran meanwhile.
    """

    pairs: _Pairs
    first: IntArray
    vertex: IntArray
    blocker: IntArray
    waited_ns: TimeArray
    blocked_ns: FloatArray
    lengths_ns: TimeArray

    @classmethod
    def of(cls, held: HeldLaunch, pairs: _Pairs) -> _Meanwhile:
        """Return them from at least one pair."""
        is_first = np.append(True, pairs.vertex[1:] != pairs.vertex[:-1])
        first, node = np.flatnonzero(is_first), np.cumsum(is_first) - 1
        vertex = pairs.vertex[first]
        ready, begun = held.ready_ns[vertex], held.start_ns[vertex]
        start = np.maximum(held.start_ns[pairs.other], ready[node])
        stop = np.minimum(held.end_ns[pairs.other], begun[node])
        lengths = stop - start
        is_longest = lengths == np.maximum.reduceat(lengths, first)[node]
        longest = np.flatnonzero(is_longest)
        waited = begun - ready
        # The waits one after the other, so that what ran in one overlaps nothing of another.
        shift = np.cumsum(waited) - waited - ready
        return cls(
            pairs=pairs,
            first=first,
            vertex=vertex,
            blocker=pairs.other[longest[np.searchsorted(longest, first)]],
            waited_ns=waited,
            blocked_ns=_covered(node, start + shift[node], stop + shift[node]),
            lengths_ns=lengths,
        )

    def sum(self, values: TimeArray) -> TimeArray:
        """Return the sum for each node of values of pairs."""
        total: TimeArray = np.add.reduceat(values, self.first)
        return total

    def any(self, values: BoolArray) -> BoolArray:
        """Return for each node whether any of its pairs has True."""
        found: BoolArray = np.logical_or.reduceat(values, self.first)
        return found


def _covered(group: IntArray, start_ns: TimeArray, end_ns: TimeArray) -> FloatArray:
    """Return the time in which at least one interval of each group runs; groups do not overlap."""
    order = np.argsort(start_ns, kind="stable")
    start, reached = start_ns[order], np.maximum.accumulate(end_ns[order])
    before = np.append(start[:1], reached[:-1])
    covered = np.maximum(reached - np.maximum(start, before), 0)
    return np.bincount(group[order], covered).astype(np.float64, copy=False)


class _Judge:
    """Says whether nodes waited for others, and why."""

    def __init__(self, graph: GraphTree, held: HeldLaunch, multiprocessors: int | None) -> None:
        self._held = held
        node = held.unrolled.node
        nodes = graph.nodes
        copies = np.where(graph.types == NodeType.MEMCPY, nodes.integers("copy_kind", 0), _NO_COPY)
        self._filled = np.minimum(filled_shares(nodes, multiprocessors, unknown=0.0), 1.0)[node]
        self._priority = nodes.integers("priority", np.iinfo(np.int64).max)[node]
        self._copies = copies[node]

    def judge(self, pairs: _Pairs) -> Iterator[Wait]:
        """Yield the waits of nodes, each for those of its pairs, on which it does not depend."""
        if not len(pairs.vertex):
            return
        found = _Meanwhile.of(self._held, pairs)
        reason = self._reasons(found)
        # The other one ran on: they overlap, the node only started a little later.
        ran_on = self._held.end_ns[found.blocker] > self._held.start_ns[found.vertex]
        ran_on &= reason == _REASONS.index(Reason.LAUNCH_ORDER)
        is_wait = (found.blocked_ns >= LEAST_NS) & ~ran_on
        columns = (found.vertex, found.blocker, found.waited_ns, found.blocked_ns, reason)
        lists = (column[is_wait].tolist() for column in columns)
        for vertex, blocker, waited, blocked, why in zip(*lists, strict=True):
            yield Wait(vertex, blocker, float(waited), blocked, _REASONS[why])

    def _reasons(self, found: _Meanwhile) -> IntArray:
        """Return the reason of each node's wait: its place among all reasons."""
        held, other, waiting = self._held, found.pairs.other, found.pairs.vertex
        lengths = found.lengths_ns
        full = found.sum(lengths * self._filled[other]) >= _MOSTLY * _FULL * found.waited_ns
        ahead = found.any(self._priority[other] < self._priority[waiting])
        queue = held.held_by[found.vertex] == Hold.QUEUE
        queue &= found.any(other == held.queue_before[waiting])
        same = np.where(self._copies[other] == self._copies[waiting], lengths, 0)
        engine = found.sum(same) >= _MOSTLY * found.sum(lengths)
        engine &= self._copies[found.vertex] != _NO_COPY
        # Where there was no room the queue makes no difference: this comes first.
        by_reason = {
            Reason.PRIORITY: full & ahead,
            Reason.FULL: full,
            Reason.SAME_QUEUE: queue,
            Reason.COPY_ENGINE: engine,
        }
        places = [_REASONS.index(reason) for reason in by_reason]
        return np.select(list(by_reason.values()), places, _REASONS.index(Reason.LAUNCH_ORDER))


def filled_shares(nodes: TreeNodes, multiprocessors: int | None, *, unknown: float) -> FloatArray:
    """Return the share of all resident blocks that each kernel needs; may be above 1 (float64).

    ``unknown`` where its grid, the blocks that fit or the multiprocessors are not recorded.
    """
    blocks = nodes.block_counts()
    room = nodes.numbers("max_blocks_per_multiprocessor") * (multiprocessors or 0)
    known = (blocks > 0) & (room > 0)
    shares = np.full(len(nodes), unknown)
    np.divide(blocks, room, out=shares, where=known)
    return shares


def group_waits(
    graph: GraphTree,
    model: LaunchModel,
    waits: Iterable[Wait],
    usual: UsualGaps,
    launches: Sequence[LaunchSpans],
) -> list[WaitGroup]:
    """Return waits by reason and names, those first that could give back most.

    Parameters
    ----------
    model
        Of the launch that the waits are of.
    usual
        Gap that a node is taken to have once it need not wait.
    launches
        Every recorded launch, to see in which of them the pairs overlapped.
    """
    names, node = graph.nodes.listed("name"), model.held.unrolled.node
    by_key: dict[tuple[Reason, str, str], list[Wait]] = {}
    for wait in waits:
        key = (wait.reason, names[node[wait.vertex]], names[node[wait.blocker]])
        by_key.setdefault(key, []).append(wait)
    longest = sorted(by_key.items(), key=lambda item: -sum(w.blocked_ns for w in item[1]))
    overlapping = _count_overlapping(model.held, [found for _, found in longest], launches)
    groups = []
    for at, ((reason, _, _), found) in enumerate(longest):
        gain: float | None = 0.0
        change = None
        if reason in _AVOIDABLE:
            change = _without_waits(model, found, usual) if at < _MOST_GROUPS else None
            gain = None if change is None else max(0.0, model.whole_ns - model.length_ns(change))
        ordered = tuple(sorted(found, key=lambda w: -w.blocked_ns))
        groups.append(WaitGroup(reason, ordered, gain, overlapping[at], change))
    return sorted(groups, key=lambda g: -(g.gain_ns or 0.0))


#: What another order or queue could change; full multiprocessors and engines stay full.
_AVOIDABLE = frozenset({Reason.SAME_QUEUE, Reason.LAUNCH_ORDER})
#: Pairs of a group that are looked for in every launch.
_MOST_PAIRS = 200


def _without_waits(model: LaunchModel, waits: list[Wait], usual: UsualGaps) -> LaunchChange:
    """Return the launch if none of these had waited."""
    vertices = np.array([w.vertex for w in waits], np.int64)
    dropped = model.is_queue & np.isin(model.head, vertices)
    gap = model.gap_ns.copy()
    gap[vertices] = np.minimum(usual.of(crossing=True) or 0.0, [w.waited_ns for w in waits])
    return LaunchChange(gap_ns=gap, dropped=dropped)


@dataclass(frozen=True, slots=True)
class PriorityOrder:
    """Nodes that would not have waited, had nodes started by their priority.

    Attributes
    ----------
    vertices
        Those of higher priority that waited for lower.
    waited_ns
        One a vertex: how long it waited.
    gap_ns
        float64, one a vertex of the launch: gaps without these waits.
    dropped
        bool, one a constraint: those of queues that then hold no longer.
    """

    vertices: tuple[int, ...]
    waited_ns: tuple[float, ...]
    gap_ns: FloatArray
    dropped: BoolArray

    @property
    def change(self) -> LaunchChange:
        """Return it as a change of the launch."""
        return LaunchChange(gap_ns=self.gap_ns, dropped=self.dropped)


def order_by_priority(
    graph: GraphTree, model: LaunchModel, groups: Iterable[WaitGroup], usual: UsualGaps
) -> PriorityOrder | None:
    """Return what would not have waited, had nodes started by priority; None: nothing."""
    nodes, node = graph.nodes, model.held.unrolled.node
    found: list[Wait] = []
    for wait in (wait for group in groups for wait in group.waits):
        mine, other = (nodes[node[v]].priority for v in (wait.vertex, wait.blocker))
        if mine is not None and other is not None and mine < other:
            found.append(wait)
    if not found:
        return None
    vertices = np.array([w.vertex for w in found], np.int64)
    waited = [w.waited_ns for w in found]
    gap = model.gap_ns.copy()
    gap[vertices] = np.minimum(waited, usual.of(crossing=True) or 0.0)
    dropped = model.is_queue & np.isin(model.head, vertices)
    return PriorityOrder(tuple(vertices.tolist()), tuple(waited), gap, dropped)


def _count_overlapping(
    held: HeldLaunch, groups: Sequence[list[Wait]], launches: Sequence[LaunchSpans]
) -> list[int]:
    """Return, for each group, in how many launches a pair of it overlapped."""
    chosen = [w for found in groups for w in found[:_MOST_PAIRS]]
    group = np.repeat(np.arange(len(groups)), [len(found[:_MOST_PAIRS]) for found in groups])
    unrolled = held.unrolled
    keys = [
        unrolled.node[v] * _STEP + unrolled.iteration[v]
        for v in (np.array([getattr(w, side) for w in chosen], np.int64) for side in _SIDES)
    ]
    count = np.zeros(len(groups), np.int64)
    for spans in launches:
        own = spans.node * _STEP + spans.iteration
        order = np.argsort(own)
        a, b = (_locate(own[order], k) for k in keys)
        both = np.flatnonzero((a >= 0) & (b >= 0))
        a, b = order[a[both]], order[b[both]]
        overlap = np.minimum(spans.end_ns[a], spans.end_ns[b]) > np.maximum(
            spans.start_ns[a], spans.start_ns[b]
        )
        count[distinct_values(group[both[overlap]])] += 1
    found: list[int] = count.tolist()
    return found


_SIDES = ("vertex", "blocker")
#: Above any count of iterations, so that node and iteration make one key.
_STEP = 1 << 32


def _locate(ordered: IntArray, keys: IntArray) -> IntArray:
    """Return where each key is; -1: nowhere."""
    at = np.minimum(np.searchsorted(ordered, keys), max(len(ordered) - 1, 0))
    if not len(ordered):
        return np.full(len(keys), -1, np.int64)
    return np.where(ordered[at] == keys, at, -1)
