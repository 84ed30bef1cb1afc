"""Keys of nodes in the recording, for records that name nodes by their ids in the executable."""

from __future__ import annotations

import numpy as np

from gviz.dataclass import dataclass
from gviz.stats import UNKNOWN, IntArray


@dataclass(frozen=True, slots=True)
class NodeKeys:
    """Keys of the nodes of a top-level graph and of its bodies, by their ids in the executable.

    Attributes
    ----------
    top_id
        graph_id of the top-level graph.
    exec_node_id, graph_id, node_id
        int64, one a node that may have a time, by ascending id in the executable.
    """

    top_id: int
    exec_node_id: IntArray
    graph_id: IntArray
    node_id: IntArray

    @classmethod
    def of(
        cls, top_id: int, exec_node_id: IntArray, graph_id: IntArray, node_id: IntArray
    ) -> NodeKeys:
        """Return those of a graph, of nodes in any order.

        Nodes without an id in the executable are left out. Executables of one graph may each have
        a body that is known from records only: the first of equal ids stands for all.
        """
        ids, first = np.unique(exec_node_id, return_index=True)
        first = first[ids != UNKNOWN]
        return cls(top_id, exec_node_id[first], graph_id[first], node_id[first])

    def find(self, exec_node_id: IntArray) -> tuple[IntArray, IntArray]:
        """Return graph_id and node_id of each of these nodes (int64).

        A node that the graph does not have gets a negative node_id of the top level, which no
        row of node has: -1 less its id.
        """
        if not len(self.exec_node_id):
            return np.full(len(exec_node_id), self.top_id, np.int64), -1 - exec_node_id
        at = self._near(exec_node_id)
        known = self.exec_node_id[at] == exec_node_id
        graph_id = np.where(known, self.graph_id[at], self.top_id)
        return graph_id, np.where(known, self.node_id[at], -1 - exec_node_id)

    def _near(self, exec_node_id: IntArray) -> IntArray:
        """Return where each id stands if it is among those of the keys, or else any place."""
        first, last = int(self.exec_node_id[0]), int(self.exec_node_id[-1])
        if last - first >= 4 * len(self.exec_node_id) + 1_024:
            at = np.searchsorted(self.exec_node_id, exec_node_id)
            return np.minimum(at, len(self.exec_node_id) - 1)
        # Ids lie close together in practice: a table of them is several times as fast.
        table = np.zeros(last - first + 1, np.int64)
        table[self.exec_node_id - first] = np.arange(len(self.exec_node_id))
        return table[np.clip(exec_node_id, first, last) - first]
