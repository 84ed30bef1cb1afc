"""Read a recording: typed rows and arrays out of one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from gviz.errors import RecordingError
from gviz.recording import rows
from gviz.recording.all_launches import (
    ROW_COLUMNS,
    LaunchArrays,
    Measure,
    WeightedDurations,
    launch_arrays,
    weigh,
)
from gviz.recording.arrays import (
    EdgeArrays,
    NodeKey,
    SpanArrays,
    read_edges,
    read_graph_spans,
    read_spans,
)
from gviz.recording.column_reading import read_columns, read_in_pages
from gviz.recording.columns import Columns
from gviz.recording.database import Database
from gviz.recording.integrity import DamagedError, check_rows
from gviz.recording.rows import table_of
from gviz.recording.salvage import DAMAGE

if TYPE_CHECKING:
    from gviz.stats import IntArray

_R = TypeVar("_R")
#: The graph_ids of a graph and of all bodies in it, at any depth; those of a file are a tree.
_NESTED = (
    "WITH RECURSIVE nested(id) AS (VALUES (?) UNION "
    "SELECT graph_id FROM graph JOIN nested ON parent_graph_id = id) SELECT id FROM nested"
)
#: Rows of a page of a whole table.
_ROWS_AT_ONCE = 16_384
_OF_TRIALS = "trial_id IN (SELECT trial_id FROM trial WHERE graph_id=?)"
_OF_GRAPH = "graph_exec_id IN (SELECT graph_exec_id FROM graph_exec WHERE graph_id=?)"


class Recording:
    """A finished recording, opened for reading.

    Safe to use from one thread at a time; open one per thread. The file is opened
    immutable, so read-only folders and network file systems work.

    Parameters
    ----------
    path
        The ``.gviz`` file.

    Raises
    ------
    RecordingError
        If the file does not exist, is not a gviz recording, was written by a newer gviz, or is so
        damaged that nothing of it can be read.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._database = Database(self.path)

    @property
    def is_whole(self) -> bool:
        """Return whether no damage was met so far; else what is sound of the file is read."""
        return self._database.is_whole

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __del__(self) -> None:
        # A server keeps one recording open a thread, and threads end without telling.
        if hasattr(self, "_database"):
            self._database.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- typed rows ------------------------------------------------------------------

    def fetch_runs(self) -> list[rows.Run]:
        """Return every run, by run_id."""
        return self._fetch(rows.Run, "ORDER BY run_id")

    def fetch_devices(self, run_id: int) -> list[rows.Device]:
        """Return the GPUs of a run."""
        return self._fetch(rows.Device, "WHERE run_id=? ORDER BY device_id", run_id)

    def fetch_gpu_intervals(self, run_id: int) -> list[rows.GpuInterval]:
        """Return the states of the GPUs of a run, GPU by GPU in order of time."""
        order = "WHERE run_id=? ORDER BY device_id, start_ns"
        return self._fetch(rows.GpuInterval, order, run_id)

    def fetch_libraries(self, run_id: int) -> list[rows.LibraryVersion]:
        """Return the library versions of a run."""
        return self._fetch(rows.LibraryVersion, "WHERE run_id=? ORDER BY name", run_id)

    def fetch_periods(self, run_id: int) -> list[rows.Period]:
        """Return the periods of a run in order of time."""
        return self._fetch(rows.Period, "WHERE run_id=? ORDER BY period_id", run_id)

    def fetch_windows(self, run_id: int) -> list[rows.Window]:
        """Return the recording windows of a run, in order of time."""
        return self._fetch(rows.Window, "WHERE run_id=? ORDER BY window_id", run_id)

    def fetch_measurements(self, run_id: int) -> list[rows.Measurement]:
        """Return what measuring cost and lost in a run."""
        return self._fetch(rows.Measurement, "WHERE run_id=? ORDER BY name", run_id)

    def fetch_notes(self, run_id: int) -> list[rows.Note]:
        """Return the notes of a run, those about what was unreadable first."""
        tail = f"WHERE run_id=? ORDER BY kind <> '{DAMAGE}', note_id"
        return self._fetch(rows.Note, tail, run_id)

    def fetch_cost_figures(self, run_id: int) -> list[rows.CostFigure]:
        """Return what gviz bench measured, in the order it was measured."""
        return self._fetch(rows.CostFigure, "WHERE run_id=? ORDER BY cost_figure_id", run_id)

    def fetch_cost_models(self, run_id: int) -> list[rows.CostModel]:
        """Return the lines fitted to those figures."""
        return self._fetch(rows.CostModel, "WHERE run_id=? ORDER BY cost_model_id", run_id)

    def fetch_cost_gaps(self, run_id: int) -> list[rows.CostGap]:
        """Return what gviz bench did not measure, and why."""
        return self._fetch(rows.CostGap, "WHERE run_id=? ORDER BY experiment", run_id)

    def fetch_api_calls(self, run_id: int) -> list[rows.ApiCall]:
        """Return the driver calls of graphs' lives, in order of time."""
        return self._fetch(rows.ApiCall, "WHERE run_id=? ORDER BY start_ns", run_id)

    def fetch_capture_failures(self, run_id: int) -> list[rows.CaptureFailure]:
        """Return the captures that gave no graph, in order of time."""
        return self._fetch(rows.CaptureFailure, "WHERE run_id=? ORDER BY start_ns", run_id)

    def fetch_instantiate_failures(self, run_id: int) -> list[rows.InstantiateFailure]:
        """Return the instantiations that were refused, in order of time."""
        return self._fetch(rows.InstantiateFailure, "WHERE run_id=? ORDER BY start_ns", run_id)

    def fetch_graph_updates(self, run_id: int) -> list[rows.GraphUpdate]:
        """Return the updates of executables, summed, in order of the first of each."""
        return self._fetch(rows.GraphUpdate, "WHERE run_id=? ORDER BY first_ns", run_id)

    def fetch_faults(self, run_id: int) -> list[rows.Fault]:
        """Return what the black box has of a run."""
        return self._fetch(rows.Fault, "WHERE run_id=? ORDER BY fault_id", run_id)

    def fetch_fault_nodes(self, fault_id: int) -> list[rows.FaultNode]:
        """Return the nodes that a fault names."""
        return self._fetch(rows.FaultNode, "WHERE fault_id=? ORDER BY position", fault_id)

    def fetch_fault_addresses(self, fault_id: int) -> list[rows.FaultAddress]:
        """Return the addresses among the parameters of nodes that may have been running."""
        return self._fetch(rows.FaultAddress, "WHERE fault_id=? ORDER BY position", fault_id)

    def fetch_trials(self, graph_id: int) -> list[rows.GraphTrial]:
        """Return the trials of a graph, in the order they were made; those refused too."""
        return self._fetch(rows.GraphTrial, "WHERE graph_id=? ORDER BY trial_id", graph_id)

    def fetch_trial_edits(self, graph_id: int) -> list[rows.GraphTrialEdit]:
        """Return what the trials of a graph changed, trial after trial."""
        tail = f"WHERE {_OF_TRIALS} ORDER BY trial_id, position"
        return self._fetch(rows.GraphTrialEdit, tail, graph_id)

    def fetch_trial_names(self, graph_id: int) -> dict[int, str]:
        """Return the name of the node that each trial of a graph changed first, by trial."""
        return dict(
            self._execute(
                "SELECT trial_id, node.name FROM trial_edit JOIN node USING (graph_id, node_id) "
                f"WHERE position=0 AND {_OF_TRIALS}",
                graph_id,
            )
        )

    def fetch_value_readings(self, graph_id: int) -> list[rows.ValueReading]:
        """Return the readings of values of a graph, in the order they were made; refusals too."""
        return self._fetch(rows.ValueReading, "WHERE graph_id=? ORDER BY reading_id", graph_id)

    def fetch_node_values(self, reading_id: int) -> list[rows.NodeValue]:
        """Return what a reading read, by the order in which the copy ran the nodes."""
        order = "ORDER BY place, position, offset, start, side DESC"
        return self._fetch(rows.NodeValue, f"WHERE reading_id=? {order}", reading_id)

    def fetch_nvtx_ranges(self, run_id: int) -> list[rows.NvtxRange]:
        """Return the host-side NVTX ranges of a run, in order of start."""
        return self._fetch(rows.NvtxRange, "WHERE run_id=? ORDER BY start_ns", run_id)

    def fetch_graphs(self, run_id: int | None = None) -> list[rows.Graph]:
        """Return the graphs of a run (or of all), bodies included, by graph_id."""
        if run_id is None:
            return self._fetch(rows.Graph, "ORDER BY graph_id")
        return self._fetch(rows.Graph, "WHERE run_id=? ORDER BY graph_id", run_id)

    def fetch_graph(self, graph_id: int) -> rows.Graph:
        """Return one graph; RecordingError if there is none of that id."""
        found = self._fetch(rows.Graph, "WHERE graph_id=?", graph_id)
        if not found:
            if not self._fetch(rows.Graph, "LIMIT 1"):
                raise RecordingError(f"{self.path} has no graph at all; 'gviz info' says why")
            raise RecordingError(f"{self.path} has no graph {graph_id}; 'gviz info' lists them")
        return found[0]

    def fetch_outermost(self, graph: rows.Graph) -> rows.Graph:
        """Return the graph that is launched: the one around all others around this, or itself."""
        while graph.parent_graph_id is not None:
            graph = self.fetch_graph(graph.parent_graph_id)
        return graph

    def fetch_nodes(self, graph_id: int) -> list[rows.Node]:
        """Return the nodes of one graph level, by node_id."""
        return self._fetch(rows.Node, "WHERE graph_id=? ORDER BY node_id", graph_id)

    def fetch_node(self, graph_id: int, node_id: int) -> rows.Node:
        """Return one node of a graph level; RecordingError if there is none of that id."""
        found = self.find_node(graph_id, node_id)
        if found is None:
            raise RecordingError(f"{self.path} has no node {node_id} in graph {graph_id}")
        return found

    def find_node(self, graph_id: int, node_id: int) -> rows.Node | None:
        """Return one node of a graph level; None if there is none of that id."""
        found = self._fetch(rows.Node, "WHERE graph_id=? AND node_id=?", graph_id, node_id)
        return found[0] if found else None

    def fetch_topology(self, topology_id: int) -> rows.Topology:
        """Return a topology row; RecordingError if there is none of that id."""
        found = self._fetch(rows.Topology, "WHERE topology_id=?", topology_id)
        if not found:
            raise DamagedError(f"topology {topology_id} is missing")
        return found[0]

    def fetch_arguments(self, graph_id: int, node_id: int) -> list[rows.Argument]:
        """Return the arguments of a kernel node, by position."""
        tail = "WHERE graph_id=? AND node_id=? ORDER BY position"
        return self._fetch(rows.Argument, tail, graph_id, node_id)

    def fetch_node_parameters(self, graph_id: int, node_id: int) -> list[rows.NodeParameter]:
        """Return the parameters of a node without columns of its own, in order of showing."""
        tail = "WHERE graph_id=? AND node_id=? ORDER BY position"
        return self._fetch(rows.NodeParameter, tail, graph_id, node_id)

    def fetch_graph_parameters(self, graph_id: int) -> list[rows.NodeParameter]:
        """Return those of every node of a graph, by node."""
        tail = "WHERE graph_id=? ORDER BY node_id, position"
        return self._fetch(rows.NodeParameter, tail, graph_id)

    def fetch_allocations(self, run_id: int) -> list[rows.Allocation]:
        """Return the allocations of a run's graphs, by graph and node."""
        tail = (
            "WHERE graph_id IN (SELECT graph_id FROM graph WHERE run_id=?) "
            "ORDER BY graph_id, node_id"
        )
        return self._fetch(rows.Allocation, tail, run_id)

    def fetch_graph_memory(self, run_id: int) -> list[rows.GraphMemory]:
        """Return the samples of graph memory of a run, by device and time."""
        return self._fetch(rows.GraphMemory, "WHERE run_id=? ORDER BY device_id, time_ns", run_id)

    def fetch_functions(self, run_id: int) -> dict[int, rows.KernelFunction]:
        """Return the kernels of a run by function_id."""
        found = self._fetch(rows.KernelFunction, "WHERE run_id=?", run_id)
        return {f.function_id: f for f in found}

    def fetch_declared_parameters(self, run_id: int) -> list[rows.DeclaredParameter]:
        """Return the parameters of a run's kernels as frameworks declare them, in order."""
        tail = (
            "WHERE function_id IN (SELECT function_id FROM kernel_function WHERE run_id=?) "
            "ORDER BY function_id, declaration, position"
        )
        return self._fetch(rows.DeclaredParameter, tail, run_id)

    def fetch_graph_execs(self, graph_id: int) -> list[rows.GraphExec]:
        """Return the executables of a graph, in order of instantiation."""
        return self._fetch(rows.GraphExec, "WHERE graph_id=? ORDER BY graph_exec_id", graph_id)

    def fetch_launches(self, graph_id: int, side: str = "graph") -> list[rows.Launch]:
        """Return the launches of a graph that have a row, in time order.

        On one side, 'graph' or 'stream'. There may be 100,000: see :meth:`fetch_launch_arrays`,
        and :meth:`fetch_launches_with_spans`.
        """
        tail = "WHERE graph_id=? AND side=? ORDER BY ordinal"
        return self._fetch(rows.Launch, tail, graph_id, side)

    def fetch_launches_with_spans(self, graph_id: int, side: str = "graph") -> list[rows.Launch]:
        """Return the launches of a graph whose spans are in the recording, in time order.

        On side 'stream': the iterations with operations.
        """
        tail = "WHERE graph_id=? AND side=? AND span_count > 0 ORDER BY ordinal"
        return self._fetch(rows.Launch, tail, graph_id, side)

    def fetch_launch_at(self, graph_id: int, ordinal: int) -> rows.Launch | None:
        """Return the graph launch of an ordinal; None: it has no row."""
        tail = "WHERE graph_id=? AND side='graph' AND ordinal=?"
        return next(iter(self._fetch(rows.Launch, tail, graph_id, ordinal)), None)

    def fetch_first_launches(self, graph_id: int) -> dict[int, int]:
        """Return the host time of each executable's first launch, by graph_exec_id (ns).

        A launch that ends before it begins has none.
        """
        sql = (
            "SELECT graph_exec_id, host_end_ns - host_start_ns, min(ordinal) FROM launch "
            "WHERE graph_id=? AND side='graph' AND graph_exec_id IS NOT NULL GROUP BY graph_exec_id"
        )
        found = [row for row in self._execute(sql, graph_id) if row[1] is not None]
        launched = [(exec_id, ordinal) for exec_id, _, ordinal in found]
        check_rows(table_of(rows.Launch), ["graph_exec_id", "ordinal"], launched)
        return {exec_id: ns for exec_id, ns, _ in found if ns >= 0}

    def count_launches(self, graph_id: int, side: str = "graph") -> tuple[int, int]:
        """Return how many launches a side has, and how many of them have node times.

        All launches count, also those of long runs that have no row.
        """
        sql = "SELECT count(*), ifnull(sum(node_level), 0) FROM launch WHERE graph_id=? AND side=?"
        found = self._execute(sql, graph_id, side)
        check_rows(table_of(rows.Launch), ["ordinal", "node_level"], found)
        ((count, with_node_times),) = found
        if side == "graph":
            for measure in ("host", "none"):
                for bin_ in self.fetch_launch_bins(graph_id, measure):
                    count += bin_.count
                    with_node_times += bin_.count * bin_.node_level
        return int(count), int(with_node_times)

    def fetch_launch_costs(self, graph_id: int) -> list[rows.LaunchCost]:
        """Return what launches of a graph's executables take with and without node times."""
        tail = f"WHERE {_OF_GRAPH} ORDER BY graph_exec_id, node_level"
        return self._fetch(rows.LaunchCost, tail, graph_id)

    def fetch_launch(self, launch_id: int) -> rows.Launch:
        """Return one launch; RecordingError if there is none of that id."""
        found = self._fetch(rows.Launch, "WHERE launch_id=?", launch_id)
        if not found:
            raise RecordingError(f"{self.path} has no launch {launch_id}")
        return found[0]

    def fetch_stream_operations(self, launch_id: int) -> list[rows.StreamOperation]:
        """Return the stream operations matched into one stream-side launch, by GPU start."""
        tail = "WHERE launch_id=? ORDER BY start_ns"
        return self._fetch(rows.StreamOperation, tail, launch_id)

    def fetch_run_stream_operations(self, run_id: int) -> list[rows.StreamOperation]:
        """Return every stream operation of a run, by GPU start."""
        return self._fetch(rows.StreamOperation, "WHERE run_id=? ORDER BY start_ns", run_id)

    def fetch_statistics(self, graph_id: int) -> list[rows.NodeStatistics]:
        """Return the duration statistics of the nodes of a graph and of all bodies in it.

        In order of graph_id and node_id.
        """
        tail = f"WHERE graph_id IN ({_NESTED}) ORDER BY graph_id, node_id"
        return self._fetch(rows.NodeStatistics, tail, graph_id)

    def fetch_statistics_of(self, node: NodeKey) -> rows.NodeStatistics | None:
        """Return those of one node; None: it has none."""
        tail = "WHERE graph_id=? AND node_id=?"
        return next(iter(self._fetch(rows.NodeStatistics, tail, *node)), None)

    def sum_node_times(self, graph_id: int) -> int:
        """Return the time of all nodes of a graph and of all bodies in it, over all launches (ns).

        0: none has a time.
        """
        sql = f"SELECT total_ns FROM node_statistics WHERE graph_id IN ({_NESTED})"
        found = self._execute(sql, graph_id)
        check_rows(table_of(rows.NodeStatistics), ["total_ns"], found)
        return sum(ns for (ns,) in found)

    def sum_mean_node_times(self, graph_id: int) -> tuple[float, int]:
        """Return the mean times of all nodes of a graph and of all bodies in it, summed (ns).

        The second is the fewest executions that one of the means is of; 0 without nodes.
        """
        sql = (
            "SELECT total_ns, count FROM node_statistics "
            f"WHERE count > 0 AND graph_id IN ({_NESTED})"
        )
        found = self._execute(sql, graph_id)
        check_rows(table_of(rows.NodeStatistics), ["total_ns", "count"], found)
        whole = float(sum(total / count for total, count in found))
        return whole, min((count for _, count in found), default=0)

    def fetch_node_time_sums(self, graph_id: int, root_id: int) -> IntArray:
        """Return the time of all nodes of a graph and of all bodies in it, launch by launch.

        int64, ns: one for each launch of ``root_id`` that has spans, the outermost graph.
        """
        import numpy as np

        # Spans lie in order of launches: a sum each is one pass over them.
        sql = (
            "SELECT sum(duration_ns) FROM span WHERE launch_id IN (SELECT launch_id FROM launch "
            "WHERE graph_id=? AND side='graph' AND span_count>0) "
            f"AND graph_id IN ({_NESTED}) GROUP BY launch_id"
        )
        found = self._execute(sql, root_id, graph_id)
        check_rows(table_of(rows.Span), ["duration_ns"], found)
        return np.array([ns for (ns,) in found], np.int64)

    def fetch_nvtx_paths(self, run_id: int) -> dict[int, rows.NvtxPath]:
        """Return the NVTX paths of a run by nvtx_path_id."""
        found = self._fetch(rows.NvtxPath, "WHERE run_id=?", run_id)
        return {p.nvtx_path_id: p for p in found}

    def fetch_stack(self, stack_id: int) -> list[rows.Location]:
        """Return the Python frames of a stack, innermost first."""
        columns = ", ".join(f"location.{c.name}" for c in table_of(rows.Location).columns)
        sql = (
            f"SELECT {columns} FROM stack JOIN location USING (location_id) "
            "WHERE stack_id=? ORDER BY depth"
        )
        found = self._execute(sql, stack_id)
        check_rows(table_of(rows.Location), _names(rows.Location), found)
        return [rows.Location(**dict(zip(_names(rows.Location), r, strict=True))) for r in found]

    def fetch_columns(
        self, row: type, names: Sequence[str], key: Mapping[str, int], order: str
    ) -> list[tuple[Any, ...]]:
        """Return some columns of the rows of a table whose columns equal ``key``, in order.

        For tables of which a whole row object each would be most of the work. ``order`` is
        the column to sort by.
        """
        table = _check_columns(row, (*names, *key, order))
        where = f"WHERE {' AND '.join(f'{name}=?' for name in key)} " if key else ""
        sql = f"SELECT {', '.join(names)} FROM {table} {where}ORDER BY {order}"
        found = self._execute(sql, *key.values())
        check_rows(table_of(row), names, found)
        return found

    def fetch_rows_of_nodes(
        self, row: type, graph_id: int, first: int, last: int
    ) -> list[tuple[Any, ...]]:
        """Return what a table has of the nodes of a graph level from one to another.

        All columns, in order of the primary key, which begins with graph and node.
        """
        table = table_of(row)
        sql = (
            f"SELECT {', '.join(_names(row))} FROM {table.name} WHERE graph_id=? "
            f"AND node_id BETWEEN ? AND ? ORDER BY {', '.join(table.primary_key)}"
        )
        found = self._execute(sql, graph_id, first, last)
        check_rows(table, _names(row), found)
        return found

    def count_rows(self, row: type, key: Mapping[str, int]) -> int:
        """Return how many rows of a table have columns that equal ``key``."""
        table = _check_columns(row, key)
        where = " AND ".join(f"{name}=?" for name in key)
        found = self._execute(f"SELECT count(*) FROM {table} WHERE {where}", *key.values())
        return int(found[0][0])

    def has_rows(self, row: type, key: Mapping[str, int]) -> bool:
        """Return whether a table has a row whose columns equal ``key``."""
        table = _check_columns(row, key)
        where = " AND ".join(f"{name}=?" for name in key)
        return bool(self._execute(f"SELECT 1 FROM {table} WHERE {where} LIMIT 1", *key.values()))

    def fetch_pages(self, row: type) -> Iterator[list[tuple[Any, ...]]]:
        """Yield a whole table, some thousand rows at a time, by its primary key."""
        table = table_of(row)
        by = ", ".join(table.primary_key)
        sql = f"SELECT {', '.join(_names(row))} FROM {table.name} ORDER BY {by}"
        try:
            found = self._database.connection.execute(sql)
            while page := found.fetchmany(_ROWS_AT_ONCE):
                yield page
        except sqlite3.Error as error:
            raise RecordingError(f"{self.path} is damaged: {error}") from error

    # -- arrays ----------------------------------------------------------------------

    def fetch_arrays(
        self,
        row: type,
        key: Mapping[str, int | str],
        names: Sequence[str],
        since: Mapping[str, int] = MappingProxyType({}),
    ) -> Columns:
        """Return some columns of the rows of a table whose columns equal ``key``, as arrays.

        In the order of the rest of the primary key. For tables with hundreds of thousands of
        rows. ``since`` has, for times, what they are counted from.
        """
        _check_columns(row, (*names, *key))
        return self._attempt(lambda: read_columns(self._database, row, names, key, since))

    def fetch_in_pages(
        self,
        row: type,
        key: Mapping[str, int | str],
        names: Sequence[str],
        since: Mapping[str, int],
        take: Callable[[Columns], _R],
    ) -> list[_R]:
        """Return what ``take`` makes of the rows that :meth:`fetch_arrays` returns, in its order.

        It is given some ten thousand at a time, at least once: what it makes of them then needs no
        memory for a million. Where damage is met, it is given all rows anew.
        """
        _check_columns(row, (*names, *key))
        return self._attempt(
            lambda: [take(page) for page in read_in_pages(self._database, row, names, key, since)]
        )

    def fetch_edges(self, topology_id: int) -> EdgeArrays:
        """Return the edges of a topology as arrays, by (from_node, to_node)."""
        return read_edges(self._database, topology_id)

    def fetch_spans(self, launch_id: int) -> SpanArrays:
        """Return the spans of one launch as arrays."""
        return self._attempt(lambda: read_spans(self._database, launch_id))

    def fetch_graph_spans(
        self,
        graph_id: int,
        nodes: tuple[NodeKey, NodeKey] | None = None,
        launches: Collection[int] | None = None,
    ) -> SpanArrays:
        """Return the spans of every recorded launch of a graph as arrays.

        ``nodes`` are the first and the last (graph_id, node_id) wanted, ``launches`` the ids of
        launches; None: all.
        """
        return self._attempt(lambda: read_graph_spans(self._database, graph_id, nodes, launches))

    def fetch_node_durations(self, launched_graph_id: int, node: NodeKey) -> IntArray:
        """Return a node's durations over a graph's launches, in their order (int64, ns)."""
        import numpy as np

        sql = (
            "SELECT span.duration_ns FROM launch CROSS JOIN span ON "
            "span.launch_id=launch.launch_id AND span.graph_id=? AND span.node_id=? "
            "WHERE launch.graph_id=? AND side='graph' AND span_count > 0 "
            "ORDER BY ordinal, iteration"
        )

        def read() -> IntArray:
            found = self._execute(sql, *node, launched_graph_id)
            check_rows(table_of(rows.Span), ["duration_ns"], found)
            return np.array([ns for (ns,) in found], np.int64)

        return self._attempt(read)

    def fetch_launch_arrays(self, graph_id: int, side: str = "graph") -> LaunchArrays:
        """Return the launches of one side that have a row, as arrays in time order."""
        sql = (
            f"SELECT {', '.join(ROW_COLUMNS)} FROM launch WHERE graph_id=? AND side=? "
            "ORDER BY ordinal"
        )
        return launch_arrays(self._execute(sql, graph_id, side))

    def fetch_launch_durations(
        self, graph_id: int, side: str, measure: Measure, *, undisturbed: bool = False
    ) -> IntArray:
        """Return one duration of each launch on a side that has it, in time order (int64, ns).

        Launches without a row, which long runs have, are not among them: see
        :meth:`fetch_weighted_durations`.

        Parameters
        ----------
        graph_id, side
            As for :meth:`fetch_launches`.
        measure
            ``host``: the call; ``gpu``: first span's start to last span's end; ``event``:
            between the events around the launch.
        undisturbed
            Leave out the first launch, which uploads the graph, and launches whose node
            times were recorded.
        """
        launches = self.fetch_launch_arrays(graph_id, side)
        return launches.durations(measure, undisturbed=undisturbed)

    def fetch_weighted_durations(
        self, graph_id: int, side: str, measure: Measure, *, undisturbed: bool = False
    ) -> WeightedDurations:
        """Return one duration of all launches on a side, binned ones within 1%.

        Parameters are those of :meth:`fetch_launch_durations`.
        """
        bins = self.fetch_launch_bins(graph_id, measure) if side == "graph" else []
        return weigh(
            self.fetch_launch_durations(graph_id, side, measure, undisturbed=undisturbed),
            [bin_ for bin_ in bins if not (undisturbed and bin_.node_level)],
        )

    def fetch_launch_bins(self, graph_id: int, measure: str) -> list[rows.LaunchBin]:
        """Return the launches of a graph that have no row, counted by time, in order of it.

        Parameters
        ----------
        measure
            As in table launch_bin.
        """
        tail = f"WHERE {_OF_GRAPH} AND measure=? ORDER BY start_ns"
        return self._fetch(rows.LaunchBin, tail, graph_id, measure)

    # -- inner -----------------------------------------------------------------------

    def _fetch(self, row: type[_R], tail: str, *parameters: Any) -> list[_R]:
        names = _names(row)
        sql = f"SELECT {', '.join(names)} FROM {table_of(row).name} {tail}"
        found = self._execute(sql, *parameters)
        check_rows(table_of(row), names, found)
        return [row(**dict(zip(names, r, strict=True))) for r in found]

    def _attempt(self, read: Callable[[], _R]) -> _R:
        return self._database.attempt(read)

    def _execute(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self._database.execute(sql, *parameters)


def _names(row: type) -> list[str]:
    return [c.name for c in table_of(row).columns]


def _check_columns(row: type, names: Collection[str]) -> str:
    """Return the name of a row's table; KeyError if it lacks one of these columns."""
    table = table_of(row)
    if not {*names} <= {c.name for c in table.columns}:
        raise KeyError(f"no such column in {table.name}: {names}")
    return table.name
