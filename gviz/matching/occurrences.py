"""Occurrences of a graph's work as plain stream operations.

A program usually runs the same work eagerly before it captures it. This module finds
those iterations: disjoint stretches of the stream operations that are the graph's nodes, in
the graph's order, with few differences.

Method
------
1. Every node and operation becomes a token: kind, kernel function and launch shape, or
   kind and bytes. Operations are taken in the order of their host calls, which is the
   order of creation in a capture; GPU order would interleave streams.
2. Operations whose token no node has are set aside. In the rest, stretches near the
   graph in edit distance are taken by ascending distance, so that of two overlapping ones
   the better wins: a stretch shifted by one of many equal layers costs two layers.
3. Nodes still without an operation take one of the same token that was moved, if no
   dependency forbids it, and then one of another kernel or shape that stands alone
   between the same neighbours.
4. Between these stretches, windows that hold the right tokens in a wrong order are tried
   by simulation: an operation takes the first node of its token none of whose dependents
   has begun. This finds iterations whose independent branches were issued in another order.

This is not the problem of :mod:`gviz.matching.node_matching`: there is no launch here whose work
is all of a graph's nodes and nothing else, calls are in the order in which a program made them, and
iterations differ from the graph in some operations. What is sought is a stretch that resembles the
graph, and a node gets work by its place in it; there, all times must fit all dependencies.

Time is that of :mod:`gviz.matching.token_search`, O(n m / 30) machine words for n nodes and m
operations; nothing in it depends on how often a token repeats. Among equally good
stretches the first wins, so that repetitions of a graph of identical layers are tiled
from the first operation on.
"""

from __future__ import annotations

import bisect
import graphlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import fields

import numpy as np
import numpy.typing as npt

from gviz.cuda import NodeType
from gviz.dataclass import dataclass
from gviz.matching.token_search import TokenSearch, window_overlaps
from gviz.stats import UNKNOWN, IntArray

#: Least fraction of the nodes that an occurrence must hold.
MINIMUM_COVERAGE = 0.8
#: Least fraction that must be found by token in order; the rest may be moved or replaced.
_ALIGNED_FRACTION = 0.6
#: Nodes that one operation may pass over where branches stand in another order.
_PASSED_AT_ONCE = 4
#: Operations simulated in one gap, at most, in search of branches in another order.
_SIMULATED_OPERATIONS = 50_000
#: Most nodes in a row that are paired with other kernels by their place alone.
_REPLACED_RUN = 4


@dataclass(frozen=True, slots=True)
class Work:
    """Work of nodes or operations, as int64 arrays of one length; -1 where unknown.

    Attributes
    ----------
    type
        CUgraphNodeType: 0 kernel, 1 memcpy, 2 memset.
    function_id
        Kernel function.
    grid, block
        Launch shape, shape (n, 3).
    bytes
        Bytes copied or set.
    """

    type: IntArray
    function_id: IntArray
    grid: IntArray
    block: IntArray
    bytes: IntArray

    def __len__(self) -> int:
        return len(self.type)

    @classmethod
    def from_columns(cls, work: npt.NDArray[np.void]) -> Work:
        """Build from a structured array with the columns of rows.Node or rows.StreamOperation."""
        grid, block = (
            np.stack([work[f"{of}_{axis}"] for axis in "xyz"], axis=1) for of in ("grid", "block")
        )
        return cls(work["type"], work["function_id"], grid, block, work["bytes"])

    def take(self, at: npt.NDArray[np.intp]) -> Work:
        """Return some of it, by index."""
        return Work(*(getattr(self, f.name)[at] for f in fields(self)))

    def tokens(self) -> IntArray:
        """Return a 64-bit hash an entry, int64: equal for equal work.

        A chance collision among a million entries has a probability below 1e-7.

        References
        ----------
        The mixing step is that of MurmurHash3's finalizer (A. Appleby, public domain).
        """
        kernel = self.type == NodeType.KERNEL
        columns = [self.type, np.where(kernel, self.function_id, self.bytes)]
        for shape in (self.grid, self.block):
            columns += [np.where(kernel, shape[:, i], UNKNOWN) for i in range(3)]
        mixed = np.zeros(len(self), dtype=np.uint64)
        for column in columns:
            mixed = (mixed + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= column.astype(np.uint64)
            mixed = (mixed ^ (mixed >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
            mixed = (mixed ^ (mixed >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
            mixed ^= mixed >> np.uint64(33)
        return mixed.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One eager iteration of a graph's work.

    Attributes
    ----------
    operation_index, node_id
        int64 arrays of one length: operation (place in the arrays given) and its node,
        in the order of the nodes given. Each appears once.
    coverage_fraction
        Nodes that have an operation, over all nodes given, 0..1.
    """

    operation_index: IntArray
    node_id: IntArray
    coverage_fraction: float


def match_occurrences(
    nodes: Work,
    node_id: IntArray,
    edges: IntArray,
    operations: Work,
    host_start_ns: IntArray | None = None,
    *,
    minimum_coverage: float = MINIMUM_COVERAGE,
) -> list[Occurrence]:
    """Find the disjoint stretches of stream operations that did a graph's work.

    Parameters
    ----------
    nodes
        The graph's timed nodes, in order of creation (or any topological order).
    node_id
        Their ids, int64.
    edges
        Dependencies as (from, to) node ids, int64 of shape (k, 2), acyclic; nodes that are
        not timed may stand between timed ones.
    operations
        Operations outside graphs, in order of GPU start.
    host_start_ns
        When their calls were entered, int64; None where unknown: then the order given counts.
    minimum_coverage
        Stretches that hold a smaller fraction of the nodes are not returned.

    Returns
    -------
    list of Occurrence
        In order of time. No operation belongs to two of them.

    Raises
    ------
    ValueError
        If ``node_id`` or ``host_start_ns`` has another length than its work.
    """
    if len(node_id) != len(nodes):
        raise ValueError(f"{len(node_id)} node ids for {len(nodes)} nodes; give one a node")
    if host_start_ns is not None and len(host_start_ns) != len(operations):
        raise ValueError(
            f"{len(host_start_ns)} host times for {len(operations)} operations; give one each"
        )
    if len(nodes) == 0 or len(operations) == 0:
        return []
    order = np.arange(len(operations))
    if host_start_ns is not None:
        order = np.argsort(host_start_ns, kind="stable")
    pattern, text = nodes.tokens().tolist(), operations.tokens()[order].tolist()
    dependencies = _Dependencies(node_id, edges)
    filler = _Filler(nodes, operations, order, pattern, text, dependencies)
    least = max(1, int(np.ceil(minimum_coverage * len(nodes))))
    found = _find_best(pattern, text, dependencies, filler, least)
    return [_build_occurrence(stretch, order, node_id) for stretch in found]


def _find_best(
    pattern: list[int],
    text: list[int],
    dependencies: _Dependencies,
    filler: _Filler,
    least: int,
) -> list[dict[int, int]]:
    """Return stretches by alignment and by order, or by order alone where that matches more."""
    found = filler.fill_all(_find_stretches(pattern, text), least)
    reordered = _find_reordered(found, pattern, text, dependencies, least)
    if reordered:
        found = filler.fill_all([*found, *reordered], least)
    if _enough_left(found, pattern, text, least):
        # An alignment may have taken branches of two iterations for one.
        alone = _find_reordered([], pattern, text, dependencies, least)
        found = max(found, filler.fill_all(alone, least), key=_count_matched)
    return found


def _count_matched(stretches: list[dict[int, int]]) -> int:
    return sum(len(stretch) for stretch in stretches)


def _enough_left(
    stretches: list[dict[int, int]], pattern: list[int], text: list[int], least: int
) -> bool:
    """Return whether operations without a node could be another stretch, or complete these."""
    taken = {j for stretch in stretches for j in stretch.values()}
    left = Counter(text[j] for j in range(len(text)) if j not in taken)
    missing = len(pattern) * len(stretches) - len(taken)
    could = (left & Counter(pattern)).total()
    return could >= least or 0 < missing <= 2 * could


def _build_occurrence(stretch: dict[int, int], order: IntArray, node_id: IntArray) -> Occurrence:
    places = np.array(sorted(stretch), dtype=np.int64)
    taken = np.array([stretch[p] for p in places.tolist()], dtype=np.int64)
    return Occurrence(order[taken], node_id[places], len(stretch) / len(node_id))


class _Dependencies:
    """The graph's dependencies by place; nodes that are not timed stand after the timed ones."""

    def __init__(self, node_id: IntArray, edges: IntArray) -> None:
        place = {node: i for i, node in enumerate(node_id.tolist())}
        pairs = [
            (place.setdefault(a, len(place)), place.setdefault(b, len(place)))
            for a, b in edges.reshape(-1, 2).tolist()
        ]
        self.before: list[list[int]] = [[] for _ in place]
        self.after: list[list[int]] = [[] for _ in place]
        for first, second in pairs:
            self.before[second].append(first)
            self.after[first].append(second)
        sorter = graphlib.TopologicalSorter(dict(enumerate(self.before)))
        self.order = list(sorter.static_order())

    def roots(self, count: int) -> list[int]:
        """Return those of the first ``count`` nodes that depend on none of them."""
        has_timed_before = bytearray(len(self.before))
        for i in self.order:
            has_timed_before[i] = any(a < count or has_timed_before[a] for a in self.before[i])
        return [i for i in range(count) if not has_timed_before[i]]

    def latest(self, stretch: dict[int, int]) -> list[int]:
        """Return, for every node, a place in the text that its operation must come before."""
        found = [sys.maxsize] * len(self.after)
        for i in reversed(self.order):
            for b in self.after[i]:
                found[i] = min(found[i], found[b], stretch.get(b, sys.maxsize))
        return found


# -- finding the stretches -------------------------------------------------------------


def _find_stretches(pattern: list[int], text: list[int]) -> list[dict[int, int]]:
    """Return disjoint alignments (place in pattern -> place in text), in order of the text."""
    # A node whose token no operation has costs one wherever the stretch lies: left out.
    vocabulary = set(pattern) & set(text)
    kept = [i for i, token in enumerate(pattern) if token in vocabulary]
    relevant = [j for j, token in enumerate(text) if token in vocabulary]
    least = max(1, int(np.ceil(_ALIGNED_FRACTION * len(pattern))))
    counts = Counter(text[j] for j in relevant)
    wanted = Counter(pattern[i] for i in kept)
    if sum(min(count, counts[token]) for token, count in wanted.items()) < least:
        return []
    search = TokenSearch([pattern[i] for i in kept], [text[j] for j in relevant], least)
    found = [{kept[a]: relevant[b] for a, b in pairs} for pairs in search.run()]
    return found


# -- stretches in another order --------------------------------------------------------


def _find_reordered(
    stretches: list[dict[int, int]],
    pattern: list[int],
    text: list[int],
    dependencies: _Dependencies,
    least: int,
) -> list[dict[int, int]]:
    """Find stretches between the given ones whose independent branches stand in another order."""
    wanted = Counter(pattern)
    ends = sorted((min(s.values()), max(s.values()) + 1) for s in stretches)
    starts = [0, *(stop for _, stop in ends)]
    stops = [*(start for start, _ in ends), len(text)]
    added: list[dict[int, int]] = []
    roots = {pattern[i] for i in dependencies.roots(len(pattern))}
    for low, high in zip(starts, stops, strict=True):
        relevant = [j for j in range(low, high) if text[j] in wanted]
        overlaps = window_overlaps([text[j] for j in relevant], wanted, len(pattern))
        budget, free = _SIMULATED_OPERATIONS, 0
        for begin, overlap in enumerate(overlaps):
            if begin < free or overlap < least or text[relevant[begin]] not in roots:
                continue
            window = relevant[begin : begin + len(pattern)]
            budget -= len(window)
            found = _simulate(pattern, text, window, dependencies)
            if len(found) >= least:
                added.append(found)
                free = bisect.bisect_right(relevant, max(found.values()))
            elif budget < 0:
                break
    return added


def _simulate(
    pattern: list[int], text: list[int], window: list[int], dependencies: _Dependencies
) -> dict[int, int]:
    """Let every operation take the first node of its token none of whose dependents has begun.

    A node is passed over for good when a dependent begins; an operation that would pass
    over more than a few nodes at once belongs to other work and takes none.
    """
    waiting: dict[int, list[int]] = defaultdict(list)
    for i in range(len(pattern) - 1, -1, -1):
        waiting[pattern[i]].append(i)
    is_over = bytearray(len(dependencies.before))
    found: dict[int, int] = {}
    for j in window:
        candidates = waiting[text[j]]
        while candidates and is_over[candidates[-1]]:
            candidates.pop()
        if not candidates:
            continue
        i = candidates[-1]
        passed = _open_ancestors(i, is_over, dependencies)
        if sum(a < len(pattern) for a in passed) > _PASSED_AT_ONCE:
            continue
        for a in passed:
            is_over[a] = 1
        is_over[i] = 1
        found[i] = j
    return found


def _open_ancestors(i: int, is_over: bytearray, dependencies: _Dependencies) -> list[int]:
    """Return the nodes before ``i`` that have neither begun nor been passed over."""
    found: list[int] = []
    seen = {i}
    stack = [i]
    while stack:
        for a in dependencies.before[stack.pop()]:
            if a not in seen and not is_over[a]:
                seen.add(a)
                stack.append(a)
                found.append(a)
        if len(found) > 4 * _PASSED_AT_ONCE + 64:
            break  # too many already
    return found


# -- filling the rest ------------------------------------------------------------------


class _Filler:
    """Gives nodes that the alignment left out an operation in or beside the stretch."""

    def __init__(
        self,
        nodes: Work,
        operations: Work,
        order: IntArray,
        pattern: list[int],
        text: list[int],
        dependencies: _Dependencies,
    ) -> None:
        self._pattern = pattern
        self._text = text
        self._node_type = nodes.type.tolist()
        self._node_function = nodes.function_id.tolist()
        self._type = operations.type[order].tolist()
        self._function = operations.function_id[order].tolist()
        self._dependencies = dependencies
        self._vocabulary = set(pattern)

    def fill_all(self, stretches: list[dict[int, int]], least: int) -> list[dict[int, int]]:
        """Fill disjoint alignments; return those of at least ``least`` nodes, in text order."""
        ordered = sorted(stretches, key=lambda stretch: min(stretch.values()))
        low = 0
        for i, stretch in enumerate(ordered):
            is_last = i + 1 == len(ordered)
            high = len(self._text) if is_last else min(ordered[i + 1].values())
            self.fill(stretch, low, high)
            low = max(stretch.values()) + 1
        return [stretch for stretch in ordered if len(stretch) >= least]

    def fill(self, stretch: dict[int, int], low: int, high: int) -> None:
        """Extend an alignment in place, within places ``low`` to ``high`` of the text."""
        missing = len(self._pattern) - len(stretch)
        if missing == 0:
            return
        first, last = min(stretch.values()), max(stretch.values())
        reach = range(max(low, first - missing), min(high, last + 1 + missing))
        self._place_missing(stretch, self._moved(stretch, reach))
        self._place_missing(stretch, self._replaced(stretch, reach))

    def _place_missing(self, stretch: dict[int, int], offers: dict[int, list[int]]) -> None:
        """Give nodes the first of the places offered to them that no dependency forbids."""
        latest = self._dependencies.latest(stretch)
        earliest = [-1] * len(latest)
        taken = set(stretch.values())
        for i in self._dependencies.order:
            for a in self._dependencies.before[i]:
                earliest[i] = max(earliest[i], earliest[a], stretch.get(a, -1))
            if i in stretch or i not in offers:
                continue
            for j in offers[i]:
                if earliest[i] < j < latest[i] and j not in taken:
                    stretch[i] = j
                    taken.add(j)
                    break

    def _moved(self, stretch: dict[int, int], reach: range) -> dict[int, list[int]]:
        """Offer nodes the operations of the same token that have no node."""
        taken = set(stretch.values())
        free: dict[int, list[int]] = defaultdict(list)
        for j in reach:
            if j not in taken:
                free[self._text[j]].append(j)
        missing = (i for i in range(len(self._pattern)) if i not in stretch)
        return {i: free[self._pattern[i]] for i in missing if self._pattern[i] in free}

    def _replaced(self, stretch: dict[int, int], reach: range) -> dict[int, list[int]]:
        """Offer nodes an operation of another kernel or size between the same neighbours."""
        taken = set(stretch.values())
        offers: dict[int, list[int]] = {}
        for run in _missing_runs(stretch, len(self._pattern)):
            if len(run) > _REPLACED_RUN:
                continue
            start = stretch.get(run[0] - 1, reach.start - 1) + 1
            stop = stretch.get(run[-1] + 1, reach.stop)
            nearby = range(start, min(stop, start + 4 * _REPLACED_RUN))
            between = [j for j in nearby if j not in taken]
            offers |= {i: [j] for i, j in self._pair_by_place(run, between)}
        return offers

    def _pair_by_place(self, run: list[int], between: list[int]) -> list[tuple[int, int]]:
        """Pair the same function in another shape first; then a kind whose numbers agree."""
        pairs: list[tuple[int, int]] = []
        for keys in (self._same_function, self._same_kind):
            used = {i for i, _ in pairs} | {-1 - j for _, j in pairs}
            wanted: dict[tuple[int, int] | None, list[int]] = defaultdict(list)
            offered: dict[tuple[int, int] | None, list[int]] = defaultdict(list)
            for i in run:
                if i not in used:
                    wanted[keys(self._node_type[i], self._node_function[i])].append(i)
            for j in between:
                # A kernel that the graph has elsewhere replaces none.
                is_foreign = self._text[j] not in self._vocabulary
                if -1 - j not in used and is_foreign:
                    offered[keys(self._type[j], self._function[j])].append(j)
            for key, places in wanted.items():
                if key is not None and len(offered.get(key, ())) == len(places):
                    pairs += zip(places, offered[key], strict=True)
        return pairs

    @staticmethod
    def _same_function(kind: int, function: int) -> tuple[int, int] | None:
        return (kind, function) if function != UNKNOWN else None

    @staticmethod
    def _same_kind(kind: int, _: int) -> tuple[int, int] | None:
        return (kind, UNKNOWN)


def _missing_runs(stretch: dict[int, int], count: int) -> Iterator[list[int]]:
    """Yield the runs of neighbouring nodes that have no operation."""
    run: list[int] = []
    for i in range(count):
        if i not in stretch:
            run.append(i)
        elif run:
            yield run
            run = []
    if run:
        yield run
