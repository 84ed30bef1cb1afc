"""Work inside nodes with bodies: child graphs and conditional nodes, launch by launch.

Spans of nodes inside belong to every node around them, at any depth. All numbers here are derived
from the spans that a recording keeps; launches of which it keeps none do not count.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.stats import FloatArray, IntArray, node_statistics

_T = TypeVar("_T", np.int64, np.float64)


@dataclass(frozen=True, slots=True)
class Nesting:
    """The level that each node stands in (a graph, or a body), and the parent node of each level.

    Attributes
    ----------
    level
        int64, one a node.
    parent
        int64, one a level: the node whose body it is; -1 for the first, and where that is not
        recorded. A level comes after the one that its parent node stands in.
    is_once
        bool, one a node: it has one body, which runs once whenever the node does (a child graph).
    is_launched
        Whether the first level is what is launched, and so runs once a launch.
    """

    level: IntArray
    parent: IntArray
    is_once: npt.NDArray[np.bool_]
    is_launched: bool

    @property
    def around(self) -> IntArray:
        """Return the node around each node; -1 in the first level (int64)."""
        return self.parent[self.level] if len(self.level) else self.level


@dataclass(frozen=True, slots=True)
class BodySpans:
    """Spans of nodes as int64 arrays of one length; starts count from their launch's first."""

    launch: IntArray
    node: IntArray
    start_ns: IntArray
    duration_ns: IntArray

    def taken(self, chosen: npt.NDArray[np.bool_], node: IntArray) -> BodySpans:
        """Return the chosen spans, as those of other nodes."""
        launch, start, duration = self.launch, self.start_ns, self.duration_ns
        return BodySpans(launch[chosen], node, start[chosen], duration[chosen])


@dataclass(frozen=True, slots=True)
class BodyTimes:
    """One value a node; NaN (or 0) where it has no body, or nothing inside has a time.

    Attributes
    ----------
    launches
        int64: launches in which anything inside ran.
    median_ns, p5_ns, p95_ns, min_ns, max_ns
        float64, over these launches: the durations inside, all iterations, summed over the launch.
        Those that overlap count in full.
    running_ns
        float64, median over these launches: time in which anything inside ran, for one iteration of
        the level of the node (the mean of its iterations). NaN too where these are unknown.
    """

    launches: IntArray
    median_ns: FloatArray
    p5_ns: FloatArray
    p95_ns: FloatArray
    min_ns: FloatArray
    max_ns: FloatArray
    running_ns: FloatArray


@dataclass(frozen=True, slots=True)
class Iterations:
    """Iterations of each level in a launch: one value a level.

    They are counted from a level's own timed nodes and from child graphs in it; a level without
    either has none.

    Attributes
    ----------
    launches
        int64: launches in which it ran.
    total
        int64: iterations in all of them.
    median, least, most
        float64, over these launches; NaN where it never ran, or no span shows it.
    """

    launches: IntArray
    total: IntArray
    median: FloatArray
    least: FloatArray
    most: FloatArray


def measure_bodies(nesting: Nesting, spans: BodySpans) -> tuple[BodyTimes, Iterations]:
    """Return the times of nodes with bodies, and the iterations of every level.

    Parameters
    ----------
    nesting
        The nodes and levels.
    spans
        Of nodes in any level, in any order.
    """
    table = _count_iterations(nesting, spans)
    inside = _join([_around(nesting, spans, times) for times in range(_depth(nesting))])
    count = len(nesting.level)
    if not len(inside.node):
        return _no_times(count), _summarise(table, len(nesting.parent))
    width = int(inside.launch.max()) + 1
    keys, group = np.unique(inside.node * width + inside.launch, return_inverse=True)
    total = np.bincount(group, inside.duration_ns).astype(np.int64)
    node, launch = keys // width, keys % width
    found = node_statistics(node, total, np.zeros(len(node), np.int64))
    iterations = table.of(nesting.level[node], launch)
    running = np.divide(_covered(group, len(keys), inside), iterations)
    return (
        BodyTimes(
            launches=_spread(found.node_id, found.count, np.zeros(count, np.int64)),
            median_ns=_spread(found.node_id, found.median_ns, np.full(count, np.nan)),
            p5_ns=_spread(found.node_id, found.p5_ns, np.full(count, np.nan)),
            p95_ns=_spread(found.node_id, found.p95_ns, np.full(count, np.nan)),
            min_ns=_spread(found.node_id, found.min_ns, np.full(count, np.nan)),
            max_ns=_spread(found.node_id, found.max_ns, np.full(count, np.nan)),
            running_ns=_medians(node, running, count),
        ),
        _summarise(table, len(nesting.parent)),
    )


@dataclass(frozen=True, slots=True)
class _IterationTable:
    """Iterations of levels in launches; arrays of one length."""

    level: IntArray
    launch: IntArray
    iterations: IntArray
    is_launched: bool

    def of(self, level: IntArray, launch: IntArray) -> FloatArray:
        """Return how often these levels ran in these launches; NaN where that is unknown."""
        width = int(max(self.launch.max(initial=0), launch.max(initial=0))) + 1
        key = self.level * width + self.launch
        order = np.argsort(key)
        found = np.full(len(level), np.nan)
        if len(key):
            wanted = level * width + launch
            at = np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)
            known = key[order][at] == wanted
            found[known] = self.iterations[order][at[known]]
        if self.is_launched:
            found[level == 0] = 1.0
        return found


def _count_iterations(nesting: Nesting, spans: BodySpans) -> _IterationTable:
    """Count the iterations of levels, innermost first: a child graph counts for the level around.

    All nodes of a level run once an iteration. The middle one decides, because a copy between two
    GPUs is reported twice and a record may be lost.
    """
    width = int(spans.launch.max(initial=0)) + 1
    keys, counts = np.unique(spans.node * width + spans.launch, return_counts=True)
    node, launch = keys // width, keys % width
    count = counts.astype(np.int64)
    depth = _depths(nesting)
    found: list[tuple[IntArray, IntArray, IntArray]] = []
    for at in range(int(depth.max(initial=0)), -1, -1):
        mine = depth[nesting.level[node]] == at
        parts = [(nesting.level[node[mine]], launch[mine], count[mine])]
        if found:
            level, when, iterations = found[-1]
            parent = nesting.parent[level]
            once = nesting.is_once[parent]
            parts.append((nesting.level[parent[once]], when[once], iterations[once]))
        level, when, iterations = (np.concatenate(column) for column in zip(*parts, strict=True))
        groups, middle = _middles(level * width + when, iterations)
        found.append((groups // width, groups % width, middle))
    joined = [np.concatenate(column) for column in zip(*found, strict=True)]
    return _IterationTable(joined[0], joined[1], joined[2], nesting.is_launched)


def _middles(key: IntArray, values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct keys, and the lower median of the values of each."""
    order = np.lexsort((values, key))
    keys, first, count = np.unique(key[order], return_index=True, return_counts=True)
    return keys, values[order][first + (count - 1) // 2]


def _depths(nesting: Nesting) -> IntArray:
    """Return how many nodes are around each level (int64)."""
    depth = [0] * len(nesting.parent)
    for level, parent in enumerate(nesting.parent.tolist()):
        if parent >= 0:
            depth[level] = depth[int(nesting.level[parent])] + 1
    return np.array(depth, np.int64)


def _depth(nesting: Nesting) -> int:
    return int(_depths(nesting).max(initial=0))


def _around(nesting: Nesting, spans: BodySpans, times: int) -> BodySpans:
    """Return spans as those of the node ``times`` + 1 levels further out, where there is one."""
    node = nesting.around[spans.node]
    for _ in range(times):
        node = np.where(node >= 0, nesting.around[node], -1)
    return spans.taken(node >= 0, node[node >= 0])


def _join(parts: list[BodySpans]) -> BodySpans:
    empty = np.zeros(0, np.int64)
    return BodySpans(
        np.concatenate([empty, *(p.launch for p in parts)]),
        np.concatenate([empty, *(p.node for p in parts)]),
        np.concatenate([empty, *(p.start_ns for p in parts)]),
        np.concatenate([empty, *(p.duration_ns for p in parts)]),
    )


def _covered(group: IntArray, count: int, spans: BodySpans) -> FloatArray:
    """Return for each group the time in which any of its spans ran (float64, ns)."""
    first = int(spans.start_ns.min())
    reach = int((spans.start_ns + spans.duration_ns).max()) - first + 1
    # Groups side by side on one axis, so that one running maximum serves them all.
    start = spans.start_ns - first + group * reach
    order = np.argsort(start, kind="stable")
    start, end = start[order], (start + spans.duration_ns)[order]
    before = np.concatenate(([0], np.maximum.accumulate(end)[:-1]))
    new = np.maximum(0, end - np.maximum(start, before))
    return np.bincount(group[order], new, minlength=count).astype(np.float64)


def _medians(node: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Return the median of each node's known values; NaN where it has none."""
    known = ~np.isnan(values)
    node, values = node[known], values[known]
    order = np.lexsort((values, node))
    nodes, first, size = np.unique(node[order], return_index=True, return_counts=True)
    low, high = values[order][first + (size - 1) // 2], values[order][first + size // 2]
    return _spread(nodes, (low + high) / 2, np.full(count, np.nan))


def _spread(at: IntArray, values: npt.NDArray[Any], onto: npt.NDArray[_T]) -> npt.NDArray[_T]:
    onto[at] = values
    return onto


def _summarise(table: _IterationTable, levels: int) -> Iterations:
    found = node_statistics(table.level, table.iterations, np.zeros(len(table.level), np.int64))
    return Iterations(
        launches=_spread(found.node_id, found.count, np.zeros(levels, np.int64)),
        total=_spread(found.node_id, found.total_ns, np.zeros(levels, np.int64)),
        median=_spread(found.node_id, found.median_ns, np.full(levels, np.nan)),
        least=_spread(found.node_id, found.min_ns, np.full(levels, np.nan)),
        most=_spread(found.node_id, found.max_ns, np.full(levels, np.nan)),
    )


def _no_times(count: int) -> BodyTimes:
    none = np.full(count, np.nan)
    return BodyTimes(np.zeros(count, np.int64), none, none, none, none, none, none)
