"""Nodes of several graph levels, found by the key that spans and statistics carry."""

from __future__ import annotations

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats import IntArray

#: A node: graph_id of the level that holds it, and its node_id there.
Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class NodeIndex:
    """Places of nodes by (graph_id, node_id).

    Attributes
    ----------
    levels
        int64, ascending: the graph_ids.
    begin
        int64, one a level and one more: where its nodes stand in ``node_id`` and ``place``.
    node_id, place
        int64: ids, ascending in each level, and the index of each node.
    """

    levels: IntArray
    begin: IntArray
    node_id: IntArray
    place: IntArray

    @classmethod
    def of(cls, graph_id: IntArray, node_id: IntArray) -> NodeIndex:
        """Return the index of nodes given by their keys, no two of which are equal."""
        order = np.lexsort((node_id, graph_id))
        levels, first = np.unique(graph_id[order], return_index=True)
        return cls(levels, np.append(first, len(order)), node_id[order], order)

    def find(self, graph_id: IntArray, node_id: IntArray) -> IntArray:
        """Return the index of each node; -1: there is none of this key (int64).

        Parameters
        ----------
        graph_id, node_id
            int64 arrays of one length.
        """
        found = np.full(len(node_id), -1, np.int64)
        if len(node_id) and (graph_id == graph_id[0]).all():
            self._find_in(int(graph_id[0]), node_id, found, slice(None))
            return found
        order = np.argsort(graph_id, kind="stable")
        levels, first = np.unique(graph_id[order], return_index=True)
        for level, at in zip(levels.tolist(), np.split(order, first[1:]), strict=False):
            self._find_in(level, node_id[at], found, at)
        return found

    def parts(self, count: int) -> list[tuple[Key, Key]]:
        """Return the first and the last key of ``count`` equal parts of the nodes, or of fewer."""
        level = np.repeat(self.levels, np.diff(self.begin))
        ends = [(x[0], x[-1]) for x in np.array_split(np.arange(len(level)), count) if len(x)]
        return [(self._key(level, i), self._key(level, j)) for i, j in ends]

    def _key(self, level: IntArray, at: int) -> Key:
        return int(level[at]), int(self.node_id[at])

    def _find_in(
        self, graph_id: int, node_id: IntArray, found: IntArray, at: IntArray | slice
    ) -> None:
        level = int(np.searchsorted(self.levels, graph_id))
        if level == len(self.levels) or self.levels[level] != graph_id:
            return
        part = slice(int(self.begin[level]), int(self.begin[level + 1]))
        ids, place = self.node_id[part], self.place[part]
        first, last = int(ids[0]), int(ids[-1])
        count = last - first + 1
        if count <= max(len(node_id), len(ids)):
            # A table of no more than is looked up: a million ids are found in a fifth of the time.
            table = np.full(count + 1, -1, np.int64)
            table[ids - first] = place
            inside = (node_id >= first) & (node_id <= last)
            found[at] = table[np.where(inside, node_id - first, count)]
            return
        near = np.minimum(np.searchsorted(ids, node_id), len(ids) - 1)
        found[at] = np.where(ids[near] == node_id, place[near], -1)
