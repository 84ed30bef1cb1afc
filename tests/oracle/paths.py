"""Critical paths of a launch: the longest by durations, and the observed one with its ledger."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from oracle.raw import Edge
from oracle.times import Execution, union_ns

Key = TypeVar("Key", bound=Hashable)
#: Tail, head, and whether the edge is programmatic.
Arrow = tuple[Key, Key, bool]
#: A node of a launch's outermost level or of a body in it: the level and the node there.
LevelNode = tuple[int, int]
#: Work of one queue that overlaps by more than this cannot be in one queue (docs/analysis.md).
SKEW_NS = 2_000


@dataclass(frozen=True, slots=True)
class Shape:
    """The nodes of a graph and of the child graphs in it, with what depends on what.

    Bodies lie between their parent node and a mark after it, a node of its own without a time.
    """

    nodes: list[LevelNode]
    arrows: list[Arrow[LevelNode]]


def flatten(
    nodes: Mapping[int, Sequence[int]],
    edges: Mapping[int, Sequence[Edge]],
    parents: Mapping[int, LevelNode],
) -> Shape:
    """Return the shape of a graph with child graphs.

    Parameters
    ----------
    nodes, edges
        By level, the outermost first.
    parents
        Of each level but the outermost, the node that runs it.
    """
    after = {parent: (parent[0], -1 - parent[1]) for parent in parents.values()}
    flat = [(level, node) for level, mine in nodes.items() for node in mine]
    arrows = [
        (after.get((level, edge.tail), (level, edge.tail)), (level, edge.head), edge.programmatic)
        for level, mine in edges.items()
        for edge in mine
    ]
    for level, parent in parents.items():
        heads, tails = ({getattr(e, end) for e in edges.get(level, ())} for end in ("head", "tail"))
        arrows += [(parent, (level, node), False) for node in nodes[level] if node not in heads]
        arrows += [((level, n), after[parent], False) for n in nodes[level] if n not in tails]
    return Shape(flat + list(after.values()), arrows)


def longest_path_ns(nodes: Sequence[Key], arrows: Sequence[Arrow[Key]],
                    duration_ns: Mapping[Key, float]) -> float:  # fmt: skip
    """Return the length of the longest path by durations; nodes without one take no time.

    A programmatic edge adds nothing of its tail: the head may start when the tail does.
    """
    after: dict[Key, list[tuple[Key, bool]]] = {node: [] for node in nodes}
    waiting = dict.fromkeys(nodes, 0)
    for tail, head, programmatic in arrows:
        after[tail].append((head, programmatic))
        waiting[head] += 1
    start = dict.fromkeys(nodes, 0.0)
    ready = [node for node in nodes if not waiting[node]]
    longest = 0.0
    while ready:
        node = ready.pop()
        took = duration_ns.get(node, 0.0)
        longest = max(longest, start[node] + took)
        for head, programmatic in after[node]:
            start[head] = max(start[head], start[node] + (0.0 if programmatic else took))
            waiting[head] -= 1
            if not waiting[head]:
                ready.append(head)
    assert not any(waiting.values()), "the edges form a cycle"
    return longest


@dataclass(frozen=True, slots=True)
class Ledger:
    """The time of a launch along its observed path, split by what it was spent on.

    Attributes
    ----------
    path
        Its nodes, in order of time.
    total_ns
        From the first start to the last end: the sum of the four after it.
    busy_ns
        Of all gaps, that in which other nodes ran.
    """

    path: tuple[object, ...]
    total_ns: float
    node_ns: float
    dependency_ns: float
    queue_ns: float
    late_ns: float
    busy_ns: float


def observed_ledger(
    nodes: Sequence[Key], arrows: Sequence[Arrow[Key]], ran: Mapping[Key, Execution]
) -> Ledger:
    """Return the ledger of a launch.

    The path is walked from the execution that ended last, each time back to what ended last of
    what it waited for: its dependencies, also through nodes without a time, or the work ahead on
    its queue. Of equals the dependency, and the one that comes first in ``nodes``.
    """
    place = {node: i for i, node in enumerate(nodes)}
    before: dict[Key, list[tuple[Key, bool]]] = {node: [] for node in nodes}
    for tail, head, programmatic in arrows:
        before[head].append((tail, programmatic))
    known: dict[Key, tuple[float, Key] | None] = {}

    def reached(node: Key) -> tuple[float, Key] | None:
        """Return when a node was done, and which timed one that was; None: nothing came before."""
        if node in ran:
            return ran[node].end_ns, node
        if node not in known:
            known[node] = None
            past = [found for tail, _ in before[node] if (found := reached(tail)) is not None]
            if past:
                known[node] = max(past, key=lambda x: (x[0], -place[x[1]]))
        return known[node]

    ahead = _ahead_on_queues(ran, place)

    def held(node: Key) -> tuple[str, Key | None]:
        done = []
        for tail, programmatic in before[node]:
            found = reached(tail)
            if found is not None:
                at = min(found[0], ran[node].start_ns) if programmatic else found[0]
                done.append((at, -place[tail], found[1]))
        last = max(done, key=lambda x: x[:2], default=None)
        queued = ahead.get(node)
        if queued is not None and (last is None or ran[queued].end_ns > last[0]):
            return "queue", queued
        return ("nothing", None) if last is None else ("dependency", last[2])

    at: Key | None = max(ran, key=lambda n: (ran[n].end_ns, ran[n].start_ns, place[n]))
    path: list[tuple[Key, str]] = []
    seen: set[Key] = set()
    while at is not None and at not in seen:
        seen.add(at)
        why, previous = held(at)
        path.append((at, why))
        at = previous
    return _add_up(path[::-1], ran)


def _ahead_on_queues(ran: Mapping[Key, Execution], place: Mapping[Key, int]) -> dict[Key, Key]:
    """Return of each execution the one before it on its queue, if that had ended by then."""
    found: dict[Key, Key] = {}
    order = sorted(ran, key=lambda n: (ran[n].queue, ran[n].start_ns, ran[n].end_ns, place[n]))
    for one, other in pairwise(order):
        if ran[one].queue == ran[other].queue and ran[one].end_ns <= ran[other].start_ns + SKEW_NS:
            found[other] = one
    return found


def _add_up(path: Sequence[tuple[Key, str]], ran: Mapping[Key, Execution]) -> Ledger:
    parts = {"node": 0.0, "dependency": 0.0, "queue": 0.0, "nothing": 0.0, "busy": 0.0}
    done = 0.0
    by_start = sorted((x.start_ns, x.end_ns) for x in ran.values())
    at, reached = 0, 0.0
    for i, (node, why) in enumerate(path):
        start, end = ran[node].start_ns, ran[node].end_ns
        if start > done:
            parts[why if i else "nothing"] += start - done
            # What began before the gap may reach into it; gaps come in order of time.
            while at < len(by_start) and by_start[at][0] <= done:
                reached = max(reached, by_start[at][1])
                at += 1
            inside = [(done, min(reached, start))]
            while at < len(by_start) and by_start[at][0] < start:
                inside.append((by_start[at][0], min(by_start[at][1], start)))
                reached = max(reached, by_start[at][1])
                at += 1
            parts["busy"] += union_ns((a, b) for a, b in inside if b > a)
        parts["node"] += max(0.0, end - max(start, done))
        done = max(done, end)
    return Ledger(
        path=tuple(node for node, _ in path),
        total_ns=max(x.end_ns for x in ran.values()) - min(x.start_ns for x in ran.values()),
        node_ns=parts["node"],
        dependency_ns=parts["dependency"],
        queue_ns=parts["queue"],
        late_ns=parts["nothing"],
        busy_ns=parts["busy"],
    )
