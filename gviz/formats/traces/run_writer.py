"""Writes a trace as a run of a recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

import gviz
from gviz.formats.traces.graph_rows import (
    INFERRED_NOTE,
    NO_DEVICE_NOTE,
    NUMBERED_NOTE,
    WHOLE_NOTE,
    GraphRows,
    PathOf,
    TraceGraph,
    add_annotations,
    add_creations,
    trace_graphs,
)
from gviz.formats.traces.host_ranges import nest_ranges
from gviz.formats.traces.joining import Dump, Joining
from gviz.formats.traces.launches import FoldedTrace, fold_trace
from gviz.formats.traces.operations import OutsideWork, told
from gviz.formats.traces.trace import UNKNOWN, Trace
from gviz.matching import CapturedWork
from gviz.model import OpenRanges
from gviz.recording import IdCounter, KernelFunctions, RecordingWriter, rows
from gviz.stats import IntArray, node_statistics

#: Rows that are Python objects at one time.
_PIECE = 65_536


class RunWriter:
    """Writes one trace as one run.

    Parameters
    ----------
    writer
        The recording.
    run_id
        The run's number.
    numbers
        The next ids of the file.
    """

    def __init__(self, writer: RecordingWriter, run_id: int, numbers: IdCounter) -> None:
        self.writer = writer
        self.run_id = run_id
        self.numbers = numbers
        self.kernels = KernelFunctions(run_id, numbers)
        self._notes: list[tuple[str, str]] = []

    def _note(self, kind: str, text: str) -> None:
        """Add a sentence that the reader of the run must know."""
        self._notes.append((kind, text))

    def write(
        self, trace: Trace, name: str, source: str, dumps: Sequence[Dump] = ()
    ) -> list[tuple[str, str]]:
        """Write the run, with the graphs of dumps joined to the trace's.

        Returns
        -------
        list of (kind, text)
            What the reader of the run must know; it is written too.
        """
        folded = fold_trace(trace)
        self._write_run(trace, folded, name, [source, *(dump.name for dump in dumps)])
        path_of, outermost = self._write_ranges(trace)
        graphs = trace_graphs(trace, folded, self.kernels)
        add_creations(graphs, trace, path_of)
        add_annotations(graphs, trace, outermost)
        works = self._write_graphs(trace, graphs, folded, dumps)
        self._write_launches(folded, graphs)
        self._write_spans(folded, graphs)
        self._write_operations(trace, folded, works)
        self.writer.insert(*self.kernels.rows())
        self._count(trace, folded)
        for kind, text in self._notes:
            number = self.numbers.take("note")
            self.writer.insert(rows.Note(note_id=number, run_id=self.run_id, kind=kind, text=text))
        return self._notes

    # -- the run ----------------------------------------------------------------------------

    def _write_run(
        self, trace: Trace, folded: FoldedTrace, name: str, sources: Sequence[str]
    ) -> None:
        work = folded.work
        timed = [x for x in (work, folded.calls) if len(x)]
        begin = min((int(x["start_ns"].min()) for x in timed), default=None)
        end = max((int(x["end_ns"].max()) for x in timed), default=None)
        self.writer.insert(
            rows.Run(
                run_id=self.run_id,
                name=name,
                state="completed",
                source="import",
                process_id=trace.process_id,
                rank=trace.rank,
                started_ns=begin,
                ended_ns=end,
                gviz_version=gviz.__version__,
                driver_version=trace.driver_version,
                cupti_version=trace.cupti_version,
                collector="+".join([trace.collector, "dot"][: len(sources)]),
                collector_reason=f"imported from {' and '.join(sources)}; the trace is of "
                f"{trace.profiler}",
            )
        )
        used = set(work["device_id"].tolist())
        used |= set(trace.whole_launches.to_array()["device_id"].tolist())
        # A trace may list all GPUs of the machine.
        devices = [d for d in trace.devices.values() if d.device_id in used or used <= {UNKNOWN}]
        if not devices:
            self._note("limit", NO_DEVICE_NOTE)
        for device in sorted(devices, key=lambda d: d.device_id):
            self.writer.insert(
                rows.Device(
                    run_id=self.run_id,
                    device_id=device.device_id,
                    name=device.name,
                    compute_capability=device.compute_capability,
                    multiprocessor_count=device.multiprocessor_count,
                    memory_bytes=device.memory_bytes,
                    max_threads_per_multiprocessor=device.max_threads_per_multiprocessor,
                    pci_bus_id=device.pci_bus_id,
                )
            )
        if begin is not None:
            self.writer.insert(
                rows.Window(
                    run_id=self.run_id, window_id=0, start_ns=begin, end_ns=end, reason="eager"
                )
            )
        self._notes += trace.notes

    def _count(self, trace: Trace, folded: FoldedTrace) -> None:
        counts = (
            ("activity_records_invalid", trace.invalid,
             "measured: records without a usable time or number, left out"),
            ("activity_records_duplicate", folded.duplicates,
             "measured: records that the trace tells twice, left out"),
            ("activity_records_homeless", folded.homeless,
             "derived: records of graph nodes without a launch, left out"),
            ("nvtx_ranges_left_out", trace.ranges_left_out,
             "measured: ranges beyond those that are kept"),
            ("operators_left_out", trace.operators_left_out,
             "measured: operators of PyTorch beyond those that are kept"),
        )  # fmt: skip
        for name, value, method in counts:
            self.writer.insert(
                rows.Measurement(
                    run_id=self.run_id, name=name, value=float(value), unit="records",
                    method=method,
                )
            )  # fmt: skip
            if value:
                what = method.split(": ")[1]
                self._note("warning", f"{value:,} {what}.")
        if folded.calls_without_work:
            self._note(
                "warning",
                f"{folded.calls_without_work:,} graph launches were called of which the trace has "
                "no work on the GPU: it does not tell which graphs they were of.",
            )

    # -- graphs -----------------------------------------------------------------------------

    def _write_graphs(
        self, trace: Trace, graphs: GraphRows, folded: FoldedTrace, dumps: Sequence[Dump]
    ) -> list[CapturedWork]:
        """Write the graphs; return what each does, in order of creation."""
        joining = Joining(
            self.writer, self.run_id, self.numbers, self.kernels, dumps,
            shared_memory_is_total=trace.shared_memory_is_total,
        )  # fmt: skip
        launched = Counter(launch.exec_id for launch in folded.launches)
        works = []
        inferred = False
        # CUDA counts executables as they are made; those that gviz tells apart count down.
        for level in sorted(graphs.levels.values(), key=lambda x: abs(x.exec_id)):
            level.graph_exec_id = self.numbers.take("graph_exec")
            work = joining.write(level, folded)
            if work is None:
                level.graph_id = self.numbers.take("graph")
                inferred |= len(level.edges) > 0
                nodes = list(level.node_rows())
                self.writer.insert(level.graph_row(self.run_id, self._topology(level)), *nodes)
                work = CapturedWork(level.graph_id, nodes, level.edges[:, :2])
            level.graph_id = work.graph_id
            works.append(work)
            self._write_exec(trace, level, launched[level.exec_id])
        joining.write_rest(graphs)
        self._notes += joining.notes
        if inferred:
            self._note("limit", INFERRED_NOTE)
        if folded.numbered:
            self._note("limit", NUMBERED_NOTE)
        if any(not level.nodes for level in graphs.levels.values()):
            self._note("limit", WHOLE_NOTE)
        return works

    def _write_exec(self, trace: Trace, level: TraceGraph, launches: int) -> None:
        told = trace.execs.get(level.exec_id)
        call = None if told is None or told.instantiated is None else told.instantiated
        self.writer.insert(
            rows.GraphExec(
                graph_exec_id=level.graph_exec_id,
                run_id=self.run_id,
                graph_id=level.graph_id,
                cuda_exec_id=level.cuda_exec_id,
                instantiate_start_ns=None if call is None else call[0] + trace.base_ns,
                instantiate_end_ns=None if call is None else call[1] + trace.base_ns,
                instantiate_thread_id=None if told is None else told.thread_id,
                launch_count=launches,
            )
        )

    def _topology(self, level: TraceGraph) -> int | None:
        if level.topology_hash is None:
            return None
        number = self.numbers.take("topology")
        self.writer.insert(
            rows.Topology(
                topology_id=number,
                hash=level.topology_hash,
                node_count=len(level.nodes),
                edge_count=len(level.edges),
            )
        )
        self.writer.insert_tuples(rows.Edge, [(number, *edge) for edge in level.edges.tolist()])
        return number

    def _write_launches(self, folded: FoldedTrace, graphs: GraphRows) -> None:
        self._first_launch = self.numbers.take("launch", len(folded.launches))
        ordinals: dict[int, int] = {}
        for i, launch in enumerate(folded.launches):
            level = graphs.levels[launch.exec_id]
            call = None if launch.call is None else folded.calls[launch.call]
            ordinal = ordinals.get(level.graph_id, 0)
            ordinals[level.graph_id] = ordinal + 1
            self.writer.insert(
                rows.Launch(
                    launch_id=self._first_launch + i,
                    run_id=self.run_id,
                    graph_id=level.graph_id,
                    graph_exec_id=level.graph_exec_id,
                    side="graph",
                    ordinal=ordinal,
                    host_start_ns=None if call is None else int(call["start_ns"]),
                    host_end_ns=None if call is None else int(call["end_ns"]),
                    thread_id=None if call is None else int(call["thread_id"]),
                    stream_id=None if call is None else told(int(call["stream_id"])),
                    correlation_id=launch.correlation_id,
                    node_level=int(launch.span_count > 0),
                    gpu_start_ns=launch.gpu_start_ns,
                    gpu_end_ns=launch.gpu_end_ns,
                    span_count=launch.span_count,
                    ambiguous_count=launch.ambiguous_count,
                    node_method="cupti" if launch.span_count else None,
                )
            )

    def _write_spans(self, folded: FoldedTrace, graphs: GraphRows) -> None:
        work, span = folded.work, folded.span
        if not len(span):
            return
        origin = np.array([x.gpu_start_ns or 0 for x in folded.launches], np.int64)
        start = work["start_ns"][span] - origin[folded.span_launch]
        duration = work["end_ns"][span] - work["start_ns"][span]
        executable, node = work["exec_id"][span], work["node_id"][span]
        graph_id, node_id = np.empty_like(node), np.empty_like(node)
        order = np.argsort(executable, kind="stable")
        ids, first = np.unique(executable[order], return_index=True)
        for exec_id, mine in zip(ids.tolist(), np.split(order, first[1:]), strict=True):
            graph = graphs.levels[exec_id]
            graph_id[mine], node_id[mine] = graph.keys_of(node[mine])
            found = node_statistics(node[mine], duration[mine], start[mine])
            statistics = found.to_tuples(*graph.keys_of(found.node_id))
            self.writer.insert_tuples(rows.NodeStatistics, statistics)
        columns: list[IntArray] = [
            folded.span_launch + self._first_launch, graph_id, node_id, folded.span_iteration,
            start, duration, np.maximum(work["stream_id"][span], 0),
        ]  # fmt: skip
        if any(graph.joined for graph in graphs.levels.values()):
            order = np.lexsort(columns[3::-1])
            columns = [column[order] for column in columns]
        self.writer.insert_tuples(rows.Span, _tuples(columns))

    # -- outside of graphs ------------------------------------------------------------------

    def _write_operations(
        self, trace: Trace, folded: FoldedTrace, graphs: Sequence[CapturedWork]
    ) -> None:
        outside = OutsideWork(trace, folded, self.kernels)
        first_launch = self.numbers.take("launch", 0)
        match = outside.match(graphs, self.run_id, first_launch)
        if match is None:
            self._note(
                "limit",
                f"Whether the {len(outside):,} operations outside graphs did the work of a graph "
                "was not looked at: there are too many. Record fewer steps to have graphs "
                "compared with stream calls.",
            )
        else:
            self.numbers.take("launch", len(match.launches))
            self.writer.insert(*match.launches)
        first = self.numbers.take("stream_operation", len(outside))
        self.writer.insert_tuples(rows.StreamOperation, outside.rows(self.run_id, first, match))

    def _write_ranges(self, trace: Trace) -> tuple[PathOf, dict[int, int]]:
        """Write the ranges of the host; return what finds the path at a moment of a thread.

        And the paths that nothing is around, by the number of their name.
        """
        ranges = trace.ranges.to_array().copy()
        for name in ("start_ns", "end_ns"):
            ranges[name] += trace.base_ns
        nested = nest_ranges(ranges, trace.annotations.values())
        first_path = self.numbers.take("nvtx_path", len(nested.path_name))
        names = list(trace.range_names)
        paths = zip(nested.path_parent, nested.path_name, strict=True)
        self.writer.insert_tuples(
            rows.NvtxPath,
            (
                (path_id, self.run_id, None if outer < 0 else first_path + outer, *names[name])
                for path_id, (outer, name) in enumerate(paths, first_path)
            ),
        )
        first = self.numbers.take("nvtx_range", len(nested.ranges))
        columns = (
            np.arange(first, first + len(nested.ranges)),
            np.full(len(nested.ranges), self.run_id),
            nested.path + first_path,
            *(nested.ranges[name] for name in ("thread_id", "start_ns", "end_ns")),
        )
        self.writer.insert_tuples(rows.NvtxRange, _tuples(columns))

        def path_of(thread_id: IntArray, time_ns: IntArray) -> IntArray:
            found = nested.ranges
            asked = OpenRanges(*(found[n] for n in ("thread_id", "start_ns", "end_ns")))
            at = asked.innermost(thread_id, time_ns)
            if not len(nested.path):
                return at
            return np.where(at >= 0, nested.path[at] + first_path, UNKNOWN)

        outermost = {name: path + first_path for name, path in nested.outermost().items()}
        return path_of, outermost


def _tuples(columns: Sequence[IntArray]) -> Iterator[tuple[int, ...]]:
    for at in range(0, len(columns[0]), _PIECE):
        yield from zip(*(column[at : at + _PIECE].tolist() for column in columns), strict=True)
