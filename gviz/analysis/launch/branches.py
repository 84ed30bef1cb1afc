"""Branches too small to be worth a fork, and barriers at which branches wait for each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gviz.analysis.launch.constraints import LaunchModel
from gviz.analysis.launch.gaps import UsualGaps
from gviz.dag import Reachability
from gviz.model import GraphTree
from gviz.stats import BoolArray, IntArray

#: Branches of more work than this are worth a fork whatever it costs: forks cost a few us.
_SMALL_NS = 10_000
#: Pairs of branches that are compared at once: arrays of some megabytes.
_PAIRS_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True)
class SmallBranches:
    """Branches whose work would cost less after the others than beside them.

    Attributes
    ----------
    branches
        The vertices of each branch, in order.
    work_ns
        Node time of all of them (measured).
    serial_ns
        What they would take in series with what they fork from: their work and the usual gap
        before each node (estimated, at most).
    gain_ns
        What the launch would be shorter by (estimated, at least).
    """

    branches: tuple[IntArray, ...]
    work_ns: float
    serial_ns: float
    gain_ns: float


@dataclass(frozen=True, slots=True)
class Barriers:
    """Nodes that each wait for several branches, of which only one is known to be their own.

    Attributes
    ----------
    dependents
        Vertices: those that wait.
    dependencies
        Vertices: all that they wait for.
    barrier_count
        How many such meetings of branches there are.
    gain_ns
        What the launch would be shorter by if each waited only for the branch that it goes on
        with: the same capture stream, or where that is not known the same hardware queue
        (estimated, at most: some of the other dependencies may be meant).
    """

    dependents: IntArray
    dependencies: IntArray
    barrier_count: int
    gain_ns: float


def small_branches(
    model: LaunchModel, reachability: Reachability, usual: UsualGaps
) -> SmallBranches | None:
    """Return the branches that a launch would be faster without; None: there are none."""
    same = usual.of(crossing=False)
    if same is None:
        return None
    found = [b for b in _lesser_branches(model, reachability) if 0 < _work(model, b) <= _SMALL_NS]
    paying = _ending_joins_earlier(model, found, same)
    if not paying:
        return None
    gain = _gain(model, paying, same, model.whole_ns)
    if gain <= 0:
        return None
    work = sum(_work(model, b) for b in paying)
    return SmallBranches(
        tuple(paying), work, work + sum(_timed(model, b) for b in paying) * same, gain
    )


def _lesser_branches(model: LaunchModel, reachability: Reachability) -> list[IntArray]:
    """Return the series that begin at a fork and end at a join, beside something of more work."""
    series = reachability.series
    entering = np.bincount(series.head, minlength=series.count)
    leaving = np.bincount(series.tail, minlength=series.count)
    fork, join = (np.full(series.count, -1, np.int64) for _ in range(2))
    fork[series.head], join[series.tail] = series.tail, series.head
    between = (entering == 1) & (leaving == 1)
    chosen = np.flatnonzero(between)
    chosen = chosen[(leaving[fork[chosen]] > 1) & (entering[join[chosen]] > 1)]
    chosen = chosen[_have_company(reachability, chosen)]
    members = series.members()
    work = np.bincount(series.of, model.duration_ns, minlength=series.count).tolist()
    by_ends: dict[tuple[int, int], list[int]] = {}
    for s in chosen.tolist():
        by_ends.setdefault((int(fork[s]), int(join[s])), []).append(s)
    found: list[IntArray] = []
    for (start, _), beside in by_ends.items():
        # One of them stays, unless something that forks further does.
        most = max(beside, key=work.__getitem__)
        stays = most if len(beside) == leaving[start] else -1
        found += [members[s] for s in beside if s != stays]
    return found


def _have_company(reachability: Reachability, chosen: IntArray) -> BoolArray:
    """Return which series have an independent one beside them before the same join.

    Beside an edge from the fork to the join, which is redundant then, there is none.
    """
    series = reachability.series
    first = np.empty(series.count, np.int64)
    begins = np.flatnonzero(series.position == 0)
    first[series.of[begins]] = begins
    join = np.full(series.count, -1, np.int64)
    join[series.tail] = series.head
    order = np.argsort(series.head, kind="stable")
    cuts = np.searchsorted(series.head[order], np.arange(series.count + 1))
    beside = series.tail[order]
    start, size = cuts[join[chosen]], np.diff(cuts)[join[chosen]]
    found = np.zeros(len(chosen), bool)
    # Some thousand series at once, but of joins of very many branches fewer.
    before = np.cumsum(size) - size
    parts = np.flatnonzero(np.diff(before // _PAIRS_AT_ONCE)) + 1
    for part in np.split(np.arange(len(chosen)), parts):
        mine = np.repeat(part, size[part])
        place = np.arange(len(mine)) + before[part[:1]] - before[mine]
        others = beside[start[mine] + place]
        pairs = others != chosen[mine]
        mine, others = mine[pairs], others[pairs]
        independent = reachability.are_independent(first[chosen[mine]], first[others])
        found[mine[independent]] = True
    return found


def _ending_joins_earlier(
    model: LaunchModel, branches: list[IntArray], same_ns: float
) -> list[IntArray]:
    """Return the branches without which their join could start so early that it pays.

    All that a branch holds is its join: whoever does not gain there gains nowhere.
    """
    count = len(model.gap_ns)
    lasts = np.array([b[-1] for b in branches], np.int64)
    branch_of = np.full(count, -1, np.int64)
    branch_of[lasts] = np.arange(len(branches))
    edges = np.flatnonzero(~model.is_queue)
    order = edges[np.argsort(model.head[edges], kind="stable")]
    first = np.searchsorted(model.head[order], np.arange(count + 1))
    ends = model.held.end_ns[model.tail] + model.lag_ns
    found = []
    for edge in np.flatnonzero((branch_of[model.tail] >= 0) & ~model.is_queue).tolist():
        join, branch = int(model.head[edge]), branches[int(branch_of[model.tail[edge]])]
        others = order[first[join] : first[join + 1]]
        others = others[others != edge]
        gap = min(model.gap_ns[join], same_ns) if len(others) == 1 else model.gap_ns[join]
        serial = _work(model, branch) + _timed(model, branch) * same_ns
        alone = float(ends[others].max()) + gap + serial
        if alone < float(model.held.start_ns[join]):
            found.append(branch)
    return found


def _work(model: LaunchModel, branch: IntArray) -> float:
    return float(model.duration_ns[branch].sum())


def _timed(model: LaunchModel, branch: IntArray) -> int:
    return int(model.held.timed[branch].sum())


def _gain(model: LaunchModel, branches: list[IntArray], same_ns: float, before_ns: float) -> float:
    """Return how much shorter the launch is with these branches in series, at least."""
    away = np.concatenate(branches)
    duration, gap = model.duration_ns.copy(), model.gap_ns.copy()
    duration[away] = gap[away] = 0.0
    # A join of two that one branch less makes a plain dependent has the gap of one.
    leaving = np.isin(model.tail, away) & ~model.is_queue
    joins, lost = np.unique(model.head[leaving], return_counts=True)
    entering = np.bincount(model.head[~model.is_queue], minlength=len(gap))
    plain = joins[entering[joins] - lost <= 1]
    gap[plain] = np.minimum(gap[plain], same_ns)
    serial = sum(_work(model, b) + _timed(model, b) * same_ns for b in branches)
    return before_ns - (model.length_ns(gap_ns=gap, duration_ns=duration) + serial)


def barriers(graph: GraphTree, model: LaunchModel) -> Barriers | None:
    """Return where branches wait for each other before they go on; None: nowhere.

    A barrier is two or more nodes that depend on the same two or more nodes, directly or through
    a node without work, where each goes on with one of them.
    """
    lane = _lanes(graph, model)
    dropped = np.zeros(len(model.tail), bool)
    waiting: list[int] = []
    waited_for: list[IntArray] = []
    added: list[tuple[int, int]] = []
    count = 0
    for meeting in _meetings(model):
        own = {v: meeting.before[lane[meeting.before] == lane[v]] for v in meeting.after}
        own = {v: mine for v, mine in own.items() if len(mine) == 1}
        if len({int(mine[0]) for mine in own.values()}) < 2:
            continue
        count += 1
        waiting += own
        waited_for.append(meeting.before)
        added += [(int(mine[0]), v) for v, mine in own.items()]
        through = meeting.before if meeting.via < 0 else np.array([meeting.via])
        dropped |= np.isin(model.head, list(own)) & np.isin(model.tail, through)
    if not count:
        return None
    dropped &= ~model.is_queue
    gain = model.whole_ns - model.length_ns(dropped=dropped, added=added)
    dependencies = np.unique(np.concatenate(waited_for))
    return Barriers(np.array(waiting, np.int64), dependencies, count, max(0.0, gain))


class _Meeting(NamedTuple):
    """Vertices that wait for the same others; ``via``: a vertex without a time between, or -1."""

    before: IntArray
    after: list[int]
    via: int


def _meetings(model: LaunchModel) -> list[_Meeting]:
    unrolled, timed = model.held.unrolled, model.held.timed
    if not len(unrolled.head):
        return []
    order = np.lexsort((unrolled.tail, unrolled.head))
    tail, head = unrolled.tail[order], unrolled.head[order]
    heads, first = np.unique(head, return_index=True)
    cuts = [*first.tolist(), len(tail)]
    before = {h: tail[a:b] for h, (a, b) in zip(heads.tolist(), pairwise(cuts), strict=True)}
    by_set: dict[bytes, list[int]] = {}
    for vertex, tails in before.items():
        by_set.setdefault(tails.tobytes(), []).append(vertex)
    found = []
    for vertices in by_set.values():
        tails = before[vertices[0]]
        via = int(tails[0]) if len(tails) == 1 and not timed[tails[0]] else -1
        behind = before.get(via, tails[:0]) if via >= 0 else tails
        if len(vertices) > 1 and len(behind) > 1:
            found.append(_Meeting(behind, vertices, via))
    return found


def _lanes(graph: GraphTree, model: LaunchModel) -> IntArray:
    """Return what tells which branch a vertex goes on with: capture stream, else queue."""
    streams = graph.nodes.integers("capture_stream_id", -1)
    held = model.held
    return streams[held.unrolled.node] if (streams >= 0).all() else held.queue
