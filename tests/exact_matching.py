"""Launches planted in random graphs, and every assignment of their work that the times allow.

The search shares nothing with gviz.matching: it compares times of all launches as they are, pair by
pair, and tries every node in every place.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gviz.matching.node_domains import GraphWork
from gviz.matching.node_matching import SKEW_NS, NodeMatch
from gviz.matching.recorded_work import RecordedWork

#: Node of a graph that never has a time.
UNTIMED = -1


@dataclass(frozen=True, slots=True)
class Planted:
    """A graph with launches of which the truth is known.

    Attributes
    ----------
    truth
        Column of the recorded work, by node; -1: it has none.
    """

    graph: GraphWork
    recorded: RecordedWork
    truth: list[int]


def plant(
    source: random.Random,
    tokens: list[int],
    edges: list[tuple[int, int]],
    *,
    programmatic: frozenset[tuple[int, int]] = frozenset(),
    streams: int = 2,
    launches: int = 2,
    noise_ns: int = 900,
) -> Planted:
    """Run a graph, nodes in order of their numbers, on streams by chance.

    Each start and end is read off by up to ``noise_ns`` in either direction.
    """
    count = len(tokens)
    stream_of = [source.randrange(streams) for _ in range(count)]
    shape = (launches, count)
    start, end = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for launch in range(launches):
        free = [0] * streams
        begins, ends = [0] * count, [0] * count
        for node in range(count):
            ready = 0
            for tail, head in edges:
                if head == node:
                    is_early = (tail, head) in programmatic
                    ready = max(ready, begins[tail] if is_early else ends[tail])
            if tokens[node] == UNTIMED:
                begins[node] = ends[node] = ready
                continue
            # Work of one queue is at least this far apart.
            ready = max(ready, free[stream_of[node]]) + source.randrange(1_000, 4_000)
            begins[node] = ready
            ends[node] = ready + source.randrange(2_000, 20_000)
            free[stream_of[node]] = ends[node]
            jitter = [source.randint(-noise_ns, noise_ns) for _ in range(2)]
            start[launch, node] = begins[node] + jitter[0]
            end[launch, node] = max(ends[node] + jitter[1], start[launch, node])
    timed = [node for node in range(count) if tokens[node] != UNTIMED]
    source.shuffle(timed)
    graph = GraphWork(
        np.array(tokens, np.int64),
        np.array(edges, np.int64).reshape(-1, 2),
        np.array([pair in programmatic for pair in edges], bool),
    )
    recorded = RecordedWork(
        token=graph.token[timed],
        start_ns=start[:, timed],
        end_ns=end[:, timed],
        timed=np.ones((launches, len(timed)), bool),
        stream=np.tile(np.array([stream_of[n] for n in timed], np.int64), (launches, 1)),
    )
    column = {node: i for i, node in enumerate(timed)}
    return Planted(graph, recorded, [column.get(node, -1) for node in range(count)])


def take_out(planted: Planted, columns: list[int]) -> Planted:
    """Return the same without some of the recorded work."""
    kept = [i for i in range(len(planted.recorded)) if i not in columns]
    recorded = planted.recorded
    place = {column: i for i, column in enumerate(kept)}
    return Planted(
        planted.graph,
        RecordedWork(
            recorded.token[kept],
            *(
                getattr(recorded, name)[:, kept]
                for name in ("start_ns", "end_ns", "timed", "stream")
            ),
        ),
        [place.get(column, -1) for column in planted.truth],
    )


def dependencies(graph: GraphWork) -> list[tuple[int, int, bool]]:
    """Return pairs of timed nodes, also through others; whether the first one's start counts."""
    pairs = graph.edges.tolist()
    kinds = graph.programmatic.tolist()
    timed = graph.token != UNTIMED
    found: dict[tuple[int, int], bool] = {}

    def walk(first: int, at: int, is_early: bool) -> None:
        for (tail, head), early in zip(pairs, kinds, strict=True):
            if tail != at:
                continue
            kind = early if at == first else is_early
            if timed[head]:
                found[first, head] = found.get((first, head), True) and kind
            else:
                walk(first, head, kind)

    for node in np.flatnonzero(timed).tolist():
        walk(node, node, False)
    return [(a, b, early) for (a, b), early in found.items()]


def is_allowed(work: RecordedWork, first: int, second: int, early: bool) -> bool:
    """Return whether one piece of work can have waited for another in every launch."""
    held = (work.start_ns if early else work.end_ns)[:, first]
    if (held > work.start_ns[:, second] + SKEW_NS).any():
        return False
    same = (work.stream[:, first] == work.stream[:, second]).all()
    return not same or bool((work.start_ns[:, first] < work.start_ns[:, second]).all())


def all_assignments(planted: Planted) -> Iterator[dict[int, int]]:
    """Yield every assignment of all work to nodes that contradicts nothing."""
    graph, work = planted.graph, planted.recorded
    pairs = dependencies(graph)
    nodes = np.flatnonzero(graph.token != UNTIMED).tolist()

    def extend(at: int, given: dict[int, int]) -> Iterator[dict[int, int]]:
        if at == len(nodes):
            yield dict(given)
            return
        node = nodes[at]
        for column in range(len(work)):
            if work.token[column] != graph.token[node] or column in given.values():
                continue
            if all(
                is_allowed(work, given[a], column, early)
                for a, b, early in pairs
                if b == node and a in given
            ) and all(
                is_allowed(work, column, given[b], early)
                for a, b, early in pairs
                if a == node and b in given
            ):
                yield from extend(at + 1, given | {node: column})

    yield from extend(0, {})


def exchangeable(planted: Planted, most: int = 20_000) -> set[int] | None:
    """Return the nodes that have other work in some assignment; None: there are too many."""
    seen: dict[int, set[int]] = {}
    for count, found in enumerate(all_assignments(planted)):
        if count > most:
            return None
        for node, column in found.items():
            seen.setdefault(node, set()).add(column)
    return {node for node, columns in seen.items() if len(columns) > 1}


def is_right(planted: Planted, match: NodeMatch) -> list[bool]:
    """Return, for each node, whether its work is its own in every launch."""
    truth = np.array(planted.truth, np.int64)
    found: list[bool] = (match.work == truth[None, :]).all(axis=0).tolist()
    return found
