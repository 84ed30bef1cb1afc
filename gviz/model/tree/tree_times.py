"""Times of a tree's nodes over the recorded launches, from the recording's statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gviz.dataclass import dataclass
from gviz.model.launch_time import timed_by_copy
from gviz.recording import join_columns, rows
from gviz.stats import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from gviz.model.node_index import NodeIndex
    from gviz.recording import Columns, Recording


@dataclass(frozen=True, slots=True)
class TreeTimes:
    """Times of a tree's nodes; float64, NaN where there is none.

    Attributes
    ----------
    median_ns, p95_ns
        Of one execution, over the recorded launches.
    total_ns
        Over all recorded launches and iterations; of a node with bodies, of all that is nested in
        it.
    share
        0..1: ``total_ns`` over the GPU time of these launches; of copies, over that of all nodes.
        Overlapping nodes count in full.
    start_ns
        Median start of an execution, after the launch's first node; NaN too where there are more
        executions than launches.
    launch_count
        Launches with node times.
    is_by_copy
        Instrumented copies took them: starts and lengths of launches are the copies' own.
    is_sliced
        No node was timed in every launch with node times: each copy times a slice of the nodes.
    """

    median_ns: FloatArray
    p95_ns: FloatArray
    start_ns: FloatArray
    total_ns: FloatArray
    share: FloatArray
    launch_count: int
    is_by_copy: bool
    is_sliced: bool


@dataclass(frozen=True, slots=True)
class TreeStatistics:
    """Columns of :class:`gviz.recording.rows.recorded.NodeStatistics`, by a tree's nodes.

    Attributes
    ----------
    row
        int64, one a node: its row in the columns; -1: it has none.
    stray
        bool, one a row: it is of a node that the tree does not have.
    """

    row: IntArray
    stray: BoolArray
    _columns: Columns

    def numbers(self, name: str) -> FloatArray:
        """Return a column, one value a node: float64, NaN where it has none."""
        return np.append(self._columns.numbers(name), np.nan)[self.row]

    def integers(self, name: str, missing: int) -> IntArray:
        """Return a column of integers, one value a node; ``missing`` where it has none."""
        return np.append(self._columns.integers(name, missing), missing)[self.row]

    def listed(self, name: str) -> list[Any]:
        """Return a column as Python's values, one a node; None where it has none."""
        values = [*self._columns.listed(name), None]
        return [values[row] for row in self.row.tolist()]

    def value(self, name: str, node: int) -> Any:
        """Return a column's value of one node, which has a row, as Python's."""
        return self._columns.value(name, int(self.row[node]))

    def largest(self, name: str, count: int) -> list[int]:
        """Return the nodes with the largest values of a column of integers, the largest first."""
        known = np.flatnonzero(self.row >= 0)
        order = np.argsort(-self.integers(name, 0)[known], kind="stable")
        nodes: list[int] = known[order[:count]].tolist()
        return nodes

    def sum(self, name: str) -> int:
        """Return the sum of a column of integers, those of stray rows included."""
        # As Python's numbers, which do not overflow.
        return sum(self._columns.integers(name, 0).tolist())


def statistics_of(
    recording: Recording,
    graph_ids: Iterable[int],
    count: int,
    index: NodeIndex,
    names: Sequence[str],
) -> TreeStatistics:
    """Return columns of the statistics of ``count`` nodes of some graph levels."""
    columns = ("graph_id", "node_id", *names)
    found = join_columns(
        [recording.fetch_arrays(rows.NodeStatistics, {"graph_id": i}, columns) for i in graph_ids]
    )
    node = index.find(found.integers("graph_id"), found.integers("node_id"))
    row = np.full(count + 1, -1, np.int64)  # the last is that of rows without a node
    row[node] = np.arange(len(node))
    return TreeStatistics(row[:count], node < 0, found)


def read_tree_times(
    recording: Recording,
    outermost: rows.Graph,
    graph_ids: Sequence[int],
    parent: IntArray,
    index: NodeIndex,
) -> TreeTimes:
    """Return the times of nodes of some levels; ``parent`` has the node around each."""
    names = ("median_ns", "p95_ns", "total_ns", "start_median_ns", "count")
    found = statistics_of(recording, graph_ids, len(parent), index, names)
    median, p95, total, start, count = (found.numbers(name) for name in names)
    launches = recording.count_launches(outermost.graph_id)[1]
    is_by_copy = timed_by_copy(recording, outermost.graph_id)
    if is_by_copy:
        whole_ns = float(np.nansum(total))
    else:
        durations = recording.fetch_weighted_durations(outermost.graph_id, "graph", "gpu")
        whole_ns = durations.total_ns
    _add_nested(total, parent)
    return TreeTimes(
        median_ns=median,
        p95_ns=p95,
        start_ns=np.where(count <= launches, start, np.nan),
        total_ns=total,
        share=total / (whole_ns or np.nan),
        launch_count=launches,
        is_by_copy=is_by_copy,
        is_sliced=is_by_copy and bool(np.nanmax(count, initial=0) < launches),
    )


def read_total_ns(recording: Recording, graph_id: int) -> int:
    """Return the time of all nodes over the recorded launches of a graph, nested ones included."""
    return recording.sum_node_times(graph_id)


def _add_nested(total: FloatArray, around: IntArray) -> None:
    """Give nodes with bodies the sum of what is nested in them."""
    timed = np.flatnonzero(~np.isnan(total))
    node, value = around[timed], total[timed]
    while (inner := node >= 0).any():
        node, value = node[inner], value[inner]
        sums = np.bincount(node, value, minlength=len(total))
        holding = np.bincount(node, minlength=len(total)) > 0
        total[holding] = np.nan_to_num(total[holding]) + sums[holding]
        node = around[node]
