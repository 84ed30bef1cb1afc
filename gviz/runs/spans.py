"""Executions of nodes in launches, as columns, and their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.runs.node_keys import NodeKeys
from gviz.runs.row_columns import Rows
from gviz.stats import IntArray, is_ascending


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans by launch, node and iteration; int64 arrays of one length.

    As columns of table span, but for two: the launch is its place among the launches that are
    written with the spans, the node its id in the executable, as records carry it.
    """

    launch: IntArray
    exec_node_id: IntArray
    iteration: IntArray
    start_ns: IntArray
    duration_ns: IntArray
    stream_id: IntArray

    def without(self, launches: IntArray) -> Spans:
        """Return the spans of all other launches."""
        if not len(launches):
            return self
        return self._chosen(np.flatnonzero(~np.isin(self.launch, launches)))

    def by_graph(self, graph_of: IntArray) -> Iterator[tuple[int, Spans]]:
        """Yield each graph's id and its spans, given the graph_id of every launch."""
        for graph_id, mine in self._places_by_graph(graph_of):
            # Most runs launch one graph alone: its spans are not copied.
            yield graph_id, self if len(mine) == len(self.launch) else self._chosen(mine)

    def _places_by_graph(self, graph_of: IntArray) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
        owner = graph_of[self.launch]
        # One sort, not a pass over all spans a graph: there may be thousands of graphs.
        order = np.argsort(owner, kind="stable")
        graphs, first = np.unique(owner[order], return_index=True)
        yield from zip(graphs.tolist(), np.split(order, first[1:]), strict=False)

    def _chosen(self, at: npt.NDArray[np.intp]) -> Spans:
        return Spans(
            self.launch[at],
            self.exec_node_id[at],
            self.iteration[at],
            self.start_ns[at],
            self.duration_ns[at],
            self.stream_id[at],
        )

    def to_columns(
        self, launches: Rows, keys: Mapping[int, NodeKeys]
    ) -> tuple[tuple[IntArray, ...], npt.NDArray[np.intp] | None]:
        """Return the columns of rows.Span and its order, for RecordingWriter.insert_columns.

        Parameters
        ----------
        launches
            Their launches, numbered (columns of rows.Launch).
        keys
            Of the nodes of each launched graph.
        """
        graph_id, node_id = np.empty_like(self.launch), np.empty_like(self.launch)
        for top_id, mine in self._places_by_graph(launches["graph_id"]):
            graph_id[mine], node_id[mine] = keys[top_id].find(self.exec_node_id[mine])
        launch_id = launches["launch_id"][self.launch]
        columns = (launch_id, graph_id, node_id, self.iteration, self.start_ns,
                   self.duration_ns, self.stream_id)  # fmt: skip
        order = None
        if not is_ascending(columns[:4]):
            order = np.lexsort((self.iteration, node_id, graph_id, launch_id))
        return columns, order
