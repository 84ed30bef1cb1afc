"""The node that a span or a row of statistics belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gviz.stats import IntArray

if TYPE_CHECKING:
    from gviz.model.tree.tree_nodes import TreeNodes


@dataclass(frozen=True, slots=True)
class SpanKeys:
    """The keys under which a recording has times, and the nodes of a tree that they are of.

    Attributes
    ----------
    ids, node
        int64 arrays of one length: ids, increasing, and the node of each; the first of several.
    """

    ids: IntArray
    node: IntArray

    @classmethod
    def of(cls, nodes: TreeNodes) -> SpanKeys:
        """Return them for the nodes of a tree."""
        ids, first = np.unique(nodes.integers("exec_node_id", -1), return_index=True)
        return cls(ids[ids >= 0], first[ids >= 0].astype(np.int64))

    def of_node(self, node: int) -> int | None:
        """Return the key of a node; None: it never gets a time."""
        found = self.ids[self.node == node]
        return int(found[0]) if len(found) else None

    def find(self, ids: IntArray) -> IntArray:
        """Return the node of each key; -1: none of the tree (int64)."""
        if not len(self.ids):
            return np.full(len(ids), -1, np.int64)
        first, count = int(self.ids[0]), int(self.ids[-1] - self.ids[0]) + 1
        if count <= max(len(ids), len(self.ids)):
            # A table of no more than is asked for: a million ids are found in a fifth of the time.
            table = np.full(count + 1, -1, np.int64)
            table[self.ids - first] = self.node
            at = ids - first
            found: IntArray = table[np.where((at >= 0) & (at < count), at, count)]
            return found
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[at] == ids, self.node[at], -1)
