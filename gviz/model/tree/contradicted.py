"""Times of launches that contradict each other: which launches, how often, and by how much.

A dependent starts before a dependency has ended, or the nodes of a launch take longer than the
events around it saw. Whoever computes with such times gets figures that no launch had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gviz.cuda import EdgeType
from gviz.dag import TOLERANCE_NS, contradictions, time_table
from gviz.dataclass import dataclass
from gviz.stats import BoolArray, FloatArray, IntArray
from gviz.text import counted, duration

if TYPE_CHECKING:
    from gviz.model.tree.graph_tree import GraphTree, TreeLevel
    from gviz.model.tree.launch_spans import LaunchSpans
    from gviz.model.tree.tree_edges import TreeEdges

#: A launch with more contradicted dependencies than this share of all, or with one that is
#: contradicted by more than this share of the launch, is not used. A gap or a step of the critical
#: path is wrong by up to the contradiction: within a hundredth, figures of two digits are right.
MOST_CONTRADICTED = 0.01
#: Entries of tables of launches by nodes that are compared at once: see _PAIRS_AT_ONCE of
#: gviz.dag.contradicted.
_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True)
class ContradictedTimes:
    """Contradictions in the times of launches; arrays of one length, one entry a launch.

    Attributes
    ----------
    dependency_count
        Dependencies of a launch that were looked at; those in bodies of loops and conditional
        nodes are not, because which execution waited for which is not known.
    count, worst_ns
        int64: contradicted dependencies, and by how much the worst of them is; 0 without any.
    beyond_ns
        int64: what the nodes take longer than the events around the launch saw; 0 where they do
        not, or there are no events.
    length_ns
        float64: from the first node's start to the last one's end.
    """

    dependency_count: int
    count: IntArray
    worst_ns: IntArray
    beyond_ns: IntArray
    length_ns: FloatArray

    def __len__(self) -> int:
        return len(self.count)

    @property
    def most_ns(self) -> IntArray:
        """By how much the worst of each launch is, of either kind."""
        return np.maximum(self.worst_ns, self.beyond_ns)

    @property
    def is_large(self) -> BoolArray:
        """True where a launch's contradictions are too many, or too large, to compute with it."""
        many = self.count > MOST_CONTRADICTED * self.dependency_count
        large: BoolArray = many | (self.most_ns > MOST_CONTRADICTED * self.length_ns)
        return large & ((self.count > 0) | (self.beyond_ns > 0))

    def take(self, chosen: BoolArray) -> ContradictedTimes:
        """Return those of some launches."""
        return ContradictedTimes(
            self.dependency_count,
            self.count[chosen],
            self.worst_ns[chosen],
            self.beyond_ns[chosen],
            self.length_ns[chosen],
        )

    @property
    def contradiction_count(self) -> int:
        """Contradictions of all launches together, of either kind."""
        return int(self.count.sum()) + int((self.beyond_ns > 0).sum())

    def describe(self) -> str:
        """Return in words how many there are in the worst launch, and how large; empty: none."""
        parts = []
        if self.count.any():
            worst, most = int(np.argmax(self.worst_ns)), int(self.count.max())
            parts.append(
                f"{most:,} of {counted(self.dependency_count, 'dependency', 'dependencies')} "
                f"{'is' if most == 1 else 'are'} contradicted by the times, by up to "
                f"{duration(float(self.worst_ns[worst]))} of a launch of "
                f"{duration(float(self.length_ns[worst]))}"
            )
        if self.beyond_ns.any():
            parts.append(
                f"nodes take up to {duration(float(self.beyond_ns.max()))} longer than the events "
                "around their launch saw"
            )
        return ", and ".join(parts)


def contradicted_times(
    graph: GraphTree,
    edges: TreeEdges | None,
    launches: Sequence[tuple[LaunchSpans, int | None]],
) -> ContradictedTimes:
    """Return what the times of launches contradict.

    Parameters
    ----------
    graph
        What was launched.
    edges
        Its dependencies; None: not known, so that none of them is looked at.
    launches
        Spans of each, and the time between the events around it; None: it had none.
    """
    pairs, programmatic = _dependencies(graph, edges)
    step = max(1, _AT_ONCE // max(len(graph), 1))
    count, worst = (np.zeros(len(launches), np.int64) for _ in range(2))
    for at in range(0, len(launches), step) if len(pairs) else ():
        part = [spans for spans, _ in launches[at : at + step]]
        sizes = np.repeat(np.arange(len(part)), [len(spans) for spans in part])
        node, begin, stop = (
            np.concatenate([getattr(spans, name) for spans in part]).astype(np.int64)
            for name in ("node", "start_ns", "end_ns")
        )
        start, end, timed = time_table(sizes, node, begin, stop, (len(part), len(graph)))
        found = contradictions(start, end, pairs, timed=timed, programmatic=programmatic)
        count[at : at + step], worst[at : at + step] = found.count, found.worst_ns
    lengths = np.array([spans.length_ns for spans, _ in launches], np.float64)
    seen = np.array([np.inf if event is None else event for _, event in launches], np.float64)
    beyond = np.where(lengths - seen > TOLERANCE_NS, lengths - seen, 0.0)
    return ContradictedTimes(len(pairs), count, worst, beyond.astype(np.int64), lengths)


def contradicted_medians(
    start_ns: FloatArray, duration_ns: FloatArray, edges: IntArray, programmatic: BoolArray
) -> ContradictedTimes:
    """Return what the median times of nodes contradict, as those of one launch.

    Parameters
    ----------
    start_ns, duration_ns
        float64, one a node; NaN: it has none, or ran several times in a launch.
    edges, programmatic
        Shape (n, 2), and one an edge.
    """
    timed = np.isfinite(start_ns) & np.isfinite(duration_ns)
    start, end = (
        np.where(timed, times, 0.0).astype(np.int64) for times in (start_ns, start_ns + duration_ns)
    )
    found = contradictions(
        start[None, :], end[None, :], edges, timed=timed[None, :], programmatic=programmatic
    )
    length = float(end[timed].max() - start[timed].min()) if timed.any() else 0.0
    none = np.zeros(1, np.int64)
    return ContradictedTimes(len(edges), found.count, found.worst_ns, none, np.array([length]))


def _dependencies(graph: GraphTree, edges: TreeEdges | None) -> tuple[IntArray, BoolArray]:
    """Return the dependencies between nodes that run once a launch, and which are programmatic.

    A child graph begins after all that its node waits for, and what waits for that node begins
    after it: its nodes take no longer than their parent node does.
    """
    none = np.zeros((0, 2), np.int64), np.zeros(0, bool)
    found = [] if edges is None else [none, *_of_levels(graph, edges)]
    parts = found or [none]
    return np.concatenate([pair for pair, _ in parts]), np.concatenate([kind for _, kind in parts])


def _of_levels(graph: GraphTree, edges: TreeEdges) -> Iterator[tuple[IntArray, BoolArray]]:
    for level in graph.levels:
        if _may_repeat(graph, level):
            continue
        of = edges.of(level)
        pairs = np.stack((of.source, of.target), axis=1) + level.first
        yield pairs, of.type == EdgeType.PROGRAMMATIC
        if level.parent < 0:
            continue
        nodes = np.arange(level.first, level.end)
        first, last = nodes[~np.isin(nodes, pairs[:, 1])], nodes[~np.isin(nodes, pairs[:, 0])]
        after = edges.target[edges.source == level.parent]
        into = np.stack((np.full(len(first), level.parent), first), axis=1)
        out = np.stack((np.repeat(last, len(after)), np.tile(after, len(last))), axis=1)
        around = np.concatenate((into, out))
        yield around, np.zeros(len(around), bool)


def _may_repeat(graph: GraphTree, level: TreeLevel) -> bool:
    """Return whether a level may run any number of times, or when is not known."""
    while level.at and not level.repeats and level.parent >= 0:
        level = graph.levels[int(graph.level[level.parent])]
    return level.at > 0
