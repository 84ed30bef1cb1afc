"""Branches too small to be worth a fork, and barriers at which branches wait for each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gviz.analysis.launch.constraints import LaunchChange, LaunchModel
from gviz.analysis.launch.gaps import UsualGaps
from gviz.analysis.launch.pairs import places_in_parts
from gviz.dag import Reachability
from gviz.dataclass import dataclass
from gviz.model import GraphTree
from gviz.stats import BoolArray, FloatArray, IntArray, distinct_values

#: Branches of more work than this are worth a fork whatever it costs: forks cost a few us.
_SMALL_NS = 10_000


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
    change
        The launch so.
    """

    dependents: IntArray
    dependencies: IntArray
    barrier_count: int
    gain_ns: float
    change: LaunchChange


def small_branches(
    model: LaunchModel, reachability: Reachability, usual: UsualGaps
) -> SmallBranches | None:
    """Return the branches that a launch would be faster without; None: there are none."""
    same = usual.of(crossing=False)
    if same is None:
        return None
    lesser = _Branches.of(model, _lesser_branches(model, reachability))
    small = lesser.take((lesser.work_ns > 0) & (lesser.work_ns <= _SMALL_NS))
    paying = small.take(_end_joins_earlier(model, small, same))
    if not len(paying):
        return None
    serial = paying.serial_ns(same).sum()
    gain = model.whole_ns - (_length_without(model, paying, same) + float(serial))
    if gain <= 0:
        return None
    return SmallBranches(tuple(paying.vertices), float(paying.work_ns.sum()), float(serial), gain)


@dataclass(frozen=True, slots=True)
class _Branches:
    """Series of vertices; arrays of one length, a branch an entry.

    Attributes
    ----------
    vertices
        Of each, in order.
    work_ns
        float64: node time.
    timed_count
        int64: vertices with a time.
    """

    vertices: list[IntArray]
    work_ns: FloatArray
    timed_count: IntArray

    @classmethod
    def of(cls, model: LaunchModel, vertices: list[IntArray]) -> _Branches:
        """Return some branches of a launch."""
        inside = np.concatenate([np.zeros(0, np.int64), *vertices])
        of = np.repeat(np.arange(len(vertices)), [len(branch) for branch in vertices])
        work = np.bincount(of, model.duration_ns[inside], len(vertices)).astype(np.float64)
        timed = np.bincount(of[model.held.timed[inside]], minlength=len(vertices))
        return cls(vertices, work, timed)

    def __len__(self) -> int:
        return len(self.vertices)

    def take(self, chosen: IntArray | BoolArray) -> _Branches:
        """Return some of them, in the order that they are chosen in."""
        places = np.arange(len(self))[chosen]
        vertices = [self.vertices[place] for place in places.tolist()]
        return _Branches(vertices, self.work_ns[places], self.timed_count[places])

    def serial_ns(self, same_ns: float) -> FloatArray:
        """Return what each takes in series: its work, and the usual gap before each node."""
        serial: FloatArray = self.work_ns + self.timed_count * same_ns
        return serial


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
    for mine, place in places_in_parts(start, size):
        others = beside[place]
        pairs = others != chosen[mine]
        mine, others = mine[pairs], others[pairs]
        independent = reachability.are_independent(first[chosen[mine]], first[others])
        found[mine[independent]] = True
    return found


def _end_joins_earlier(model: LaunchModel, branches: _Branches, same_ns: float) -> IntArray:
    """Return the branches without which their join could start so early that it pays.

    All that a branch holds is its join: whoever does not gain there gains nowhere.
    """
    count = len(model.gap_ns)
    branch_of = np.full(count, -1, np.int64)
    branch_of[[branch[-1] for branch in branches.vertices]] = np.arange(len(branches))
    edges = np.flatnonzero(~model.is_queue)
    ends = model.held.end_ns[model.tail] + model.lag_ns
    order = edges[np.lexsort((ends[edges], model.head[edges]))]
    # Behind the edges of each join; the last but one holds it once the last is gone.
    stop = np.searchsorted(model.head[order], np.arange(count), side="right")
    edge = edges[branch_of[model.tail[edges]] >= 0]
    join, branch = model.head[edge], branch_of[model.tail[edge]]
    last = order[stop[join] - 1]
    others_end = ends[np.where(last == edge, order[stop[join] - 2], last)]
    is_one_left = np.bincount(model.head[edges], minlength=count)[join] == 2
    gap = np.where(is_one_left, np.minimum(model.gap_ns[join], same_ns), model.gap_ns[join])
    alone = others_end + gap + branches.serial_ns(same_ns)[branch]
    return branch[alone < model.held.start_ns[join]]


def _length_without(model: LaunchModel, branches: _Branches, same_ns: float) -> float:
    """Return how long the launch is without these branches, at most."""
    away = np.zeros(len(model.gap_ns), bool)
    away[np.concatenate(branches.vertices)] = True
    duration, gap = np.where(away, 0.0, model.duration_ns), np.where(away, 0.0, model.gap_ns)
    # A join of two that one branch less makes a plain dependent has the gap of one.
    joins, lost = np.unique(model.head[away[model.tail] & ~model.is_queue], return_counts=True)
    entering = np.bincount(model.head[~model.is_queue], minlength=len(gap))
    plain = joins[entering[joins] - lost <= 1]
    gap[plain] = np.minimum(gap[plain], same_ns)
    return model.length_ns(LaunchChange(gap_ns=gap, duration_ns=duration))


def barriers(graph: GraphTree, model: LaunchModel) -> Barriers | None:
    """Return where branches wait for each other before they go on; None: nowhere.

    A barrier is two or more nodes that depend on the same two or more nodes, directly or through
    a node without work, where each goes on with one of them.
    """
    lane = _lanes(graph, model)
    waiting: list[int] = []
    waited_for: list[IntArray] = []
    added: list[tuple[int, int]] = []
    freed: list[IntArray] = []
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
        freed.append(np.add.outer(through * len(lane), np.array(list(own), np.int64)).ravel())
    if not count:
        return None
    dropped = np.isin(model.tail * len(lane) + model.head, np.concatenate(freed))
    dropped &= ~model.is_queue
    change = LaunchChange(dropped=dropped, added=added)
    gain = max(0.0, model.whole_ns - model.length_ns(change))
    dependencies = distinct_values(np.concatenate(waited_for))
    return Barriers(np.array(waiting, np.int64), dependencies, count, gain, change)


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
    cuts = np.searchsorted(head, np.arange(len(timed) + 1)).tolist()
    # Whoever waits for one vertex with a time alone waits for no others.
    several = np.bincount(head, minlength=len(timed)) > 1
    several[head[~timed[tail]]] = True
    by_set: dict[bytes, list[int]] = {}
    for vertex in np.flatnonzero(several).tolist():
        tails = tail[cuts[vertex] : cuts[vertex + 1]]
        by_set.setdefault(tails.tobytes(), []).append(vertex)
    found = []
    for vertices in by_set.values():
        if len(vertices) == 1:
            continue
        tails = tail[cuts[vertices[0]] : cuts[vertices[0] + 1]]
        via = int(tails[0]) if len(tails) == 1 else -1
        behind = tails if via < 0 else tail[cuts[via] : cuts[via + 1]]
        if len(behind) > 1:
            found.append(_Meeting(behind, vertices, via))
    return found


def _lanes(graph: GraphTree, model: LaunchModel) -> IntArray:
    """Return what decides which branch a vertex goes on with: capture stream, else queue."""
    streams = graph.nodes.integers("capture_stream_id", -1)
    held = model.held
    return streams[held.unrolled.node] if (streams >= 0).all() else held.queue
