"""One record of each node: what is known of it beside what the walk of its graph read."""

from __future__ import annotations

import numpy as np

from gviz.runs import ACTIVITY, Activities, join_activities, node_key
from gviz.stats import BoolArray, IntArray


class Samples:
    """The earliest record of each node.

    Attributes
    ----------
    records
        One a node, by executable and node (dtype ACTIVITY).
    """

    def __init__(self) -> None:
        self.records = np.zeros(0, ACTIVITY)
        self._keys = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self.records)

    def add(self, records: Activities) -> None:
        """Take records of graph nodes in, ordered by start (dtype ACTIVITY)."""
        keys, first = np.unique(node_key(records["exec_id"], records["node_id"]), return_index=True)
        at, is_known = self._find(keys)
        earlier = np.zeros(len(keys), bool)
        starts = records["start_ns"][first]
        earlier[is_known] = starts[is_known] < self.records["start_ns"][at[is_known]]
        self.records[at[earlier]] = records.take(first[earlier])
        if not is_known.all():
            whole = np.concatenate((self._keys, keys[~is_known]))
            order = np.argsort(whole, kind="stable")
            self._keys = whole[order]
            more = records.take(first[~is_known])
            self.records = join_activities((self.records, more)).take(order)

    def of(self, exec_id: int, node_ids: IntArray) -> tuple[Activities, BoolArray]:
        """Return the records of an executable's nodes, and which of these have one.

        The records are of those that have one, in their order.
        """
        at, is_known = self._find(node_key(np.full_like(node_ids, exec_id), node_ids))
        return self.records.take(at[is_known]), is_known

    def _find(self, keys: IntArray) -> tuple[IntArray, BoolArray]:
        """Return the place of each node's record, and whether it has one."""
        if not len(self._keys):
            return np.zeros(len(keys), np.intp), np.zeros(len(keys), bool)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return at, self._keys[at] == keys
