"""Builder of a run: who read records hands it columns, it numbers and writes the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gviz.cuda import topology_hash
from gviz.matching import CapturedWork, EagerMatch, match_eager
from gviz.recording import RecordingWriter, rows
from gviz.runs.kernel_functions import KernelFunctions
from gviz.runs.node_keys import NodeKeys
from gviz.runs.numbers import IdCounter
from gviz.runs.operations import OutsideOperations
from gviz.runs.row_columns import Rows, blank_rows, row_values
from gviz.runs.spans import Spans
from gviz.runs.statistics_rows import statistics_rows
from gviz.stats import UNKNOWN, DurationSketch, IntArray


class RunBuilder:
    """Writes one run into a recording. OPEN -> FINISHED.

    Parameters
    ----------
    writer
        The recording.
    numbers
        The next ids of the file.

    Attributes
    ----------
    run_id
        The run's number.
    kernels
        Where kernels get their numbers; they are written at the end.
    notes
        (kind, text): what the reader of the run must know; written at the end.
    measurements
        (value, unit, method) by name; written at the end.
    """

    def __init__(self, writer: RecordingWriter, numbers: IdCounter) -> None:
        self.run_id = numbers.take("run")
        self.numbers = numbers
        self.kernels = KernelFunctions(self.run_id, numbers)
        self.notes: list[tuple[str, str]] = []
        self.measurements: dict[str, tuple[float | None, str, str]] = {}
        self._writer = writer
        self._topologies: dict[str, int] = {}
        self._written: set[int] = set()

    def add(self, *found: Any) -> None:
        """Write rows that have their numbers."""
        self._writer.insert(*found)

    def add_columns(self, row: type, columns: Rows) -> None:
        """Write rows of one class that have their numbers, given as columns."""
        self._writer.insert_tuples(row, row_values(row, columns))

    def add_run(self, **columns: Any) -> None:
        """Write the run's row."""
        self.add(rows.Run(run_id=self.run_id, **columns))

    def note(self, kind: str, text: str) -> None:
        """Add a sentence that the reader of the run must know."""
        self.notes.append((kind, text))

    def finish(self) -> None:
        """Write what is known at the end only: kernels, notes and measurements."""
        self.add(*self.kernels.rows())
        for kind, text in self.notes:
            number = self.numbers.take("note")
            self.add(rows.Note(note_id=number, run_id=self.run_id, kind=kind, text=text))
        for name, (value, unit, method) in sorted(self.measurements.items()):
            self.add(
                rows.Measurement(
                    run_id=self.run_id, name=name, value=value, unit=unit, method=method
                )
            )

    # -- graphs -----------------------------------------------------------------------------

    def topology(
        self, types: Sequence[int], symbols: Sequence[str], edges: IntArray
    ) -> rows.Topology:
        """Return the topology of nodes and edges; equal ones have one number.

        Parameters
        ----------
        types, symbols
            Of the nodes, in order of their ids; the symbols are those of kernels.
        edges
            int64, shape (n, 5): from, to, type, from_port, to_port.
        """
        digest = topology_hash(types, symbols, edges.tolist())
        number = self._topologies.get(digest)
        if number is None:
            number = self._topologies[digest] = self.numbers.take("topology")
        return rows.Topology(
            topology_id=number, hash=digest, node_count=len(types), edge_count=len(edges)
        )

    def add_graph(
        self,
        graph: rows.Graph,
        nodes: Rows,
        topology: rows.Topology | None,
        edges: IntArray,
    ) -> None:
        """Write a graph level with its nodes; its topology, unless it is written already.

        Parameters
        ----------
        nodes
            Columns of rows.Node.
        edges
            As in :meth:`topology`.
        """
        self.add(graph)
        self.add_columns(rows.Node, nodes)
        if topology is None or topology.topology_id in self._written:
            return
        self._written.add(topology.topology_id)
        self.add(topology)
        number = np.full(len(edges), topology.topology_id)
        self._writer.insert_columns(rows.Edge, (number, *edges.T))

    # -- launches ---------------------------------------------------------------------------

    def add_launches(self, launches: Rows) -> None:
        """Write launches (columns of rows.Launch); here they get their ids, in order."""
        first = self.numbers.take("launch", len(launches))
        launches["launch_id"] = np.arange(first, first + len(launches))
        launches["run_id"] = self.run_id
        self.add_columns(rows.Launch, launches)

    def add_spans(
        self,
        spans: Spans,
        launches: Rows,
        keys: Mapping[int, NodeKeys],
        counted: Mapping[int, DurationSketch] | None = None,
    ) -> None:
        """Write spans, and the statistics of the nodes that they are of.

        Parameters
        ----------
        launches
            Their launches, written before.
        keys
            Of the nodes of each launched graph.
        counted
            By graph, durations of executions that are no spans, by the node's id in the
            executable.
        """
        self._writer.insert_columns(rows.Span, *spans.to_columns(launches, keys))
        counted = counted or {}
        by_graph: dict[int, Spans | None] = dict.fromkeys(counted)
        by_graph |= spans.by_graph(launches["graph_id"])
        # One method a graph: without CUPTI a graph has an id, and so a row, of its own.
        for graph_id, mine in sorted(by_graph.items()):
            found = statistics_rows(keys[graph_id], mine, counted.get(graph_id))
            self._writer.insert_tuples(rows.NodeStatistics, found)

    # -- outside graphs ---------------------------------------------------------------------

    def add_operations(
        self, operations: OutsideOperations, graphs: Sequence[CapturedWork] | None
    ) -> None:
        """Write work outside graphs, with the iterations that did the work of a graph.

        Parameters
        ----------
        graphs
            Those whose work is looked for, in order of creation; None: it is not looked for.
        """
        launch_id = node_id = np.full(len(operations), UNKNOWN)
        if graphs is not None:
            match = match_eager(operations.to_eager_work(), graphs)
            launch_id, node_id = self._add_iterations(match), match.node_id
        first = self.numbers.take("stream_operation", len(operations))
        for piece in operations.to_rows(self.run_id, first, launch_id, node_id):
            self.add_columns(rows.StreamOperation, piece)

    def _add_iterations(self, match: EagerMatch) -> IntArray:
        """Write iterations as launches of the stream side; return the one of each operation."""
        found = match.iterations
        columns = {name: found[name] for name in found.dtype.names or ()}
        launches = blank_rows(rows.Launch, len(found), side="stream", node_level=1, **columns)
        self.add_launches(launches)
        # The last place stands for operations of no iteration.
        launch_id: IntArray = np.append(launches["launch_id"], UNKNOWN)[match.iteration]
        return launch_id

    # -- the host ---------------------------------------------------------------------------

    def add_paths(
        self,
        path_ids: Iterable[int],
        parents: Iterable[int | None],
        names: Iterable[tuple[str | None, str]],
    ) -> None:
        """Write NVTX paths: their ids, those of the paths around them, domain and text."""
        self._writer.insert_tuples(
            rows.NvtxPath,
            (
                (path_id, self.run_id, parent or None, domain or None, text)
                for path_id, parent, (domain, text) in zip(path_ids, parents, names, strict=True)
            ),
        )

    def add_ranges(
        self, path_id: IntArray, thread_id: IntArray, start_ns: IntArray, end_ns: IntArray
    ) -> None:
        """Write NVTX ranges, int64 arrays of one length."""
        first = self.numbers.take("nvtx_range", len(path_id))
        columns = (
            np.arange(first, first + len(path_id)), np.full(len(path_id), self.run_id), path_id,
            thread_id, start_ns, end_ns,
        )  # fmt: skip
        self._writer.insert_columns(rows.NvtxRange, columns)
