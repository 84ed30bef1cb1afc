"""Nodes that could have started and did not, while nodes they do not depend on ran.

These are the pairs of independent nodes that took turns: for each node that waited though all
that it depends on had ended, what ran meanwhile, and why that is likely to have held it. What ran
ahead of it on its own hardware queue did hold it. Otherwise it is judged from launch shapes: work
with as many blocks as fit the GPU leaves no room, copies of one direction share an engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from gviz.analysis.launch.constraints import LaunchModel
from gviz.analysis.launch.gaps import UsualGaps
from gviz.analysis.launch.holds import CLOCK_SKEW_NS, HeldLaunch, Hold
from gviz.cuda import NodeType
from gviz.dag import Reachability
from gviz.model import GraphTree, LaunchSpans, TreeNodes
from gviz.stats import FloatArray, IntArray, union

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
    """

    reason: Reason
    waits: tuple[Wait, ...]
    gain_ns: float | None
    overlapped_launches: int


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
    # Work of no length runs nowhere and holds nobody.
    ran = timed[held.end_ns[timed] > held.start_ns[timed]]
    by_end = ran[np.argsort(held.end_ns[ran], kind="stable")]
    ends = held.end_ns[by_end]
    waited = held.start_ns - held.ready_ns
    waiting = timed[waited[timed] > LEAST_NS]
    waiting = waiting[np.argsort(-waited[waiting], kind="stable")[:_MOST_WAITING]]
    judge = _Judge(graph, held, multiprocessors)
    found = []
    for vertex in waiting.tolist():
        first = np.searchsorted(ends, held.ready_ns[vertex], side="right")
        stop = np.searchsorted(ends, held.start_ns[vertex] + CLOCK_SKEW_NS, side="right")
        others = by_end[max(int(first), int(stop) - _MOST_BLOCKERS) : int(stop)]
        others = np.concatenate((others, _running_on(held, by_end[stop:], vertex)))
        others = others[(held.start_ns[others] < held.start_ns[vertex]) & (others != vertex)]
        if len(others):
            pairs = np.full(len(others), vertex)
            others = others[reachability.are_independent(pairs, others)]
        wait = judge.judge(vertex, others) if len(others) else None
        if wait is not None:
            found.append(wait)
    return found


def _running_on(held: HeldLaunch, later: IntArray, vertex: int) -> IntArray:
    """Return those of what ended later that had started before a vertex did, the first to end."""
    near = later[:_MOST_BLOCKERS]
    running: IntArray = near[held.start_ns[near] < held.start_ns[vertex]]
    return running


class _Judge:
    """Says whether a node waited for others, and why."""

    def __init__(self, graph: GraphTree, held: HeldLaunch, multiprocessors: int | None) -> None:
        self._held = held
        node = held.unrolled.node
        nodes = graph.nodes
        copies = np.where(graph.types == NodeType.MEMCPY, nodes.integers("copy_kind", 0), _NO_COPY)
        self._filled = np.minimum(filled_shares(nodes, multiprocessors, unknown=0.0), 1.0)[node]
        self._priority = nodes.integers("priority", np.iinfo(np.int64).max)[node]
        self._copies = copies[node]

    def judge(self, vertex: int, others: IntArray) -> Wait | None:
        """Return the wait of a node for those that it does not depend on; None: there was none."""
        held = self._held
        begin, end = held.ready_ns[vertex], held.start_ns[vertex]
        start = np.maximum(held.start_ns[others], begin)
        stop = np.minimum(held.end_ns[others], end)
        inside = stop > start
        others, start, stop = others[inside], start[inside], stop[inside]
        blocked = float(union(start, stop).total_ns)
        if blocked < LEAST_NS:
            return None
        blocker = int(others[np.argmax(stop - start)])
        reason = self._reason(vertex, others, stop - start)
        if reason == Reason.LAUNCH_ORDER and held.end_ns[blocker] > end:
            # The other one ran on: they overlap, the node only started a little later.
            return None
        return Wait(
            vertex=vertex,
            blocker=blocker,
            waited_ns=float(end - begin),
            blocked_ns=blocked,
            reason=reason,
        )

    def _reason(self, vertex: int, others: IntArray, lengths_ns: IntArray) -> Reason:
        held = self._held
        waited = float(held.start_ns[vertex] - held.ready_ns[vertex])
        # Where there was no room the queue makes no difference: this comes first.
        if float((lengths_ns * self._filled[others]).sum()) >= _MOSTLY * _FULL * waited:
            ahead = self._priority[others] < self._priority[vertex]
            return Reason.PRIORITY if ahead.any() else Reason.FULL
        if held.held_by[vertex] == Hold.QUEUE and held.queue_before[vertex] in others:
            return Reason.SAME_QUEUE
        copy = self._copies[vertex]
        same = self._copies[others] == copy
        if copy != _NO_COPY and lengths_ns[same].sum() >= _MOSTLY * lengths_ns.sum():
            return Reason.COPY_ENGINE
        return Reason.LAUNCH_ORDER


def filled_shares(nodes: TreeNodes, multiprocessors: int | None, *, unknown: float) -> FloatArray:
    """Return the share of all resident blocks that each kernel asks for; may be above 1 (float64).

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
        if reason in _AVOIDABLE:
            gain = _gain(model, found, usual) if at < _MOST_GROUPS else None
        ordered = tuple(sorted(found, key=lambda w: -w.blocked_ns))
        groups.append(WaitGroup(reason, ordered, gain, overlapping[at]))
    return sorted(groups, key=lambda g: -(g.gain_ns or 0.0))


#: What another order or queue could change; full multiprocessors and engines stay full.
_AVOIDABLE = frozenset({Reason.SAME_QUEUE, Reason.LAUNCH_ORDER})
#: Pairs of a group that are looked for in every launch.
_MOST_PAIRS = 200


def _gain(model: LaunchModel, waits: list[Wait], usual: UsualGaps) -> float:
    """Return what the launch would be shorter by if none of these had waited."""
    vertices = np.array([w.vertex for w in waits], np.int64)
    dropped = model.is_queue & np.isin(model.head, vertices)
    gap = model.gap_ns.copy()
    gap[vertices] = np.minimum(usual.of(crossing=True) or 0.0, [w.waited_ns for w in waits])
    before = model.whole_ns
    return max(0.0, before - model.length_ns(gap_ns=gap, dropped=dropped))


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
        count[np.unique(group[both[overlap]])] += 1
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
