"""Dependencies between the executions of a launch: which waited for which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gviz.stats import BoolArray, IntArray

if TYPE_CHECKING:
    from gviz.model import GraphLevel, TreeEdges, TreeSpans

_NONE = -1


class Dependencies:
    """The edges of a graph and of its bodies, launch by launch.

    Parameters
    ----------
    level
        A graph that is launched.
    edges
        Of all levels of its tree.
    """

    def __init__(self, level: GraphLevel, edges: TreeEdges) -> None:
        self._node_count = len(level.key)
        self._top = level.tree.top
        self._source, self._target = level.edge_from, level.edge_to
        self._order = np.argsort(level.row, kind="stable")
        by_head = np.argsort(self._target, kind="stable")
        self._before = self._source[by_head]
        self._ends = np.searchsorted(self._target[by_head], np.arange(self._node_count + 1))
        nested = level.tree.level[edges.source] > 0
        self._nested = edges.source[nested], edges.target[nested]

    def pairs(self, spans: TreeSpans) -> tuple[IntArray, IntArray]:
        """Return indices of spans: of what was waited for, and of what waited.

        An edge from or to a node with bodies is one from the last, or to the first, span inside.
        One through nodes without spans comes from the last to end of those before them.

        Parameters
        ----------
        spans
            Of one launch, by node and iteration.
        """
        outer = self._outer_pairs(spans)
        nested = self._nested_pairs(spans)
        return np.concatenate((outer[0], nested[0])), np.concatenate((outer[1], nested[1]))

    def _outer_pairs(self, spans: TreeSpans) -> tuple[IntArray, IntArray]:
        top = self._top[spans.node]
        mine = np.flatnonzero(top >= 0)
        if not len(mine):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        node, start, end = top[mine], spans.start_ns, spans.end_ns
        first = np.full(self._node_count, _NONE, np.int64)
        last = np.full(self._node_count, _NONE, np.int64)
        # Written in this order so that the earliest start and the latest end stay.
        by_start = np.argsort(start[mine], kind="stable")[::-1]
        first[node[by_start]] = mine[by_start]
        by_end = np.argsort(end[mine], kind="stable")
        last[node[by_end]] = mine[by_end]
        # Nodes without a span, in an order of the graph.
        for bridge in self._order[last[self._order] < 0].tolist():
            reached = last[self._before[self._ends[bridge] : self._ends[bridge + 1]]]
            reached = reached[reached >= 0]
            if len(reached):
                last[bridge] = reached[np.argmax(end[reached])]
        tail, head = last[self._source], first[self._target]
        both = (tail >= 0) & (head >= 0)
        return tail[both], head[both]

    def _nested_pairs(self, spans: TreeSpans) -> tuple[IntArray, IntArray]:
        """Pair the k-th execution of one node with the k-th of the other."""
        nodes, begin, count = np.unique(spans.node, return_index=True, return_counts=True)
        tail, has_tail = _find(nodes, self._nested[0])
        head, has_head = _find(nodes, self._nested[1])
        both = has_tail & has_head
        tail, head = tail[both], head[both]
        times = np.minimum(count[tail], count[head]) if len(tail) else np.zeros(0, np.int64)
        place = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
        return np.repeat(begin[tail], times) + place, np.repeat(begin[head], times) + place


def _find(nodes: IntArray, wanted: IntArray) -> tuple[IntArray, BoolArray]:
    if not len(nodes):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    at = np.minimum(np.searchsorted(nodes, wanted), len(nodes) - 1)
    return at, nodes[at] == wanted
