"""Transitive closure of a DAG, by chains: the nodes that depend on a node.

The closure itself has a bit for each pair of nodes. Along a chain of the DAG, whoever reaches a
node reaches all behind it: it is enough to know, for each node and chain, the first place in the
chain that it reaches.

References
----------
Jagadish (1990), A compression technique to materialize transitive closure, ACM TODS 15(4).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.dag.chains import SeriesCover
from gviz.dag.series import SeriesGraph
from gviz.stats import BoolArray, IntArray

#: Entries of the table, of four bytes each, that are built at most.
MOST_ENTRIES = 25_000_000
_NEVER = np.iinfo(np.int32).max


class Reachability:
    """Answers who depends on whom in a DAG, for many pairs at once.

    Parameters
    ----------
    cover
        Of the DAG (:func:`gviz.dag.chains.cover_series`).
    """

    def __init__(self, cover: SeriesCover) -> None:
        self.cover = cover
        self.series: SeriesGraph = cover.series
        self.chain_count = cover.chain_count
        self._chain = chain = cover.chain
        order = np.lexsort((self.series.row, chain))
        starts = np.searchsorted(chain[order], np.arange(self.chain_count))
        self._place = np.empty(len(chain), np.int64)
        self._place[order] = np.arange(len(chain)) - starts[chain[order]]
        self._reach: npt.NDArray[np.int32] | None = None

    @property
    def is_small_enough(self) -> bool:
        """Return whether the table can be built; else it must not be used."""
        return self.series.count * self.chain_count <= MOST_ENTRIES

    def reaches(self, sources: IntArray, targets: IntArray) -> BoolArray:
        """Return, for pairs of nodes, whether the second depends on the first or is the first."""
        a, b = self.series.of[sources], self.series.of[targets]
        inside = self.series.position[sources] <= self.series.position[targets]
        found = self._table()[a, self._chain[b]] <= self._place[b]
        return np.where(a == b, inside, found)

    def are_independent(self, first: IntArray, second: IntArray) -> BoolArray:
        """Return, for pairs of nodes, whether neither depends on the other."""
        a, b = self.series.of[first], self.series.of[second]
        table, chain, place = self._table(), self._chain, self._place
        forth, back = table[a, chain[b]] > place[b], table[b, chain[a]] > place[a]
        return forth & back

    def redundant_edges(self) -> IntArray:
        """Return the edges without which everything depends on the same nodes (int64 indices).

        In a DAG these are the edges that are not in its transitive reduction, which is unique.

        References
        ----------
        Aho, Garey and Ullman (1972), The transitive reduction of a directed graph.
        """
        series, table = self.series, self._table()
        # Of each dependent's dependencies the last in each chain: who reaches an earlier one
        # in that chain reaches that one too.
        last = np.full((series.count, self.chain_count), -1, np.int32)
        chain, place = self._chain[series.tail], self._place[series.tail].astype(np.int32)
        np.maximum.at(last, (series.head, chain), place)
        found = np.zeros(len(series.tail), bool)
        step = max(1, MOST_ENTRIES // max(self.chain_count, 1))
        for at in range(0, len(found), step):
            part = slice(at, at + step)
            first = table[series.tail[part]].copy()
            # Of its own chain only what comes after it.
            first[np.arange(len(first)), chain[part]] += 1
            found[part] = (first <= last[series.head[part]]).any(axis=1)
        return series.edge[found]

    def _table(self) -> npt.NDArray[np.int32]:
        """Return, for each series and chain, the first place in the chain that it reaches."""
        if self._reach is not None:
            return self._reach
        if not self.is_small_enough:
            raise ValueError(f"{self.series.count} series times {self.chain_count} chains")
        series = self.series
        table = np.full((series.count, self.chain_count), _NEVER, np.int32)
        table[np.arange(series.count), self._chain] = self._place
        order = np.argsort(series.tail, kind="stable")
        heads = series.head[order]
        first = np.searchsorted(series.tail[order], np.arange(series.count + 1)).tolist()
        for node in np.argsort(-series.row, kind="stable").tolist():
            begin, end = first[node], first[node + 1]
            if end - begin == 1:
                np.minimum(table[node], table[heads[begin]], out=table[node])
            elif end > begin:
                reached = table[heads[begin:end]].min(axis=0)
                np.minimum(table[node], reached, out=table[node])
        self._reach = table
        return table
