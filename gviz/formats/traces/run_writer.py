"""Writes a trace as a run of a recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

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
from gviz.formats.traces.launches import FoldedTrace, fold_trace, with_new_ids
from gviz.formats.traces.operations import are_too_many, outside_work
from gviz.formats.traces.trace import Trace
from gviz.matching import CapturedWork
from gviz.model import OpenRanges
from gviz.recording import rows
from gviz.runs import Rows, RunBuilder, Spans, blank_rows, text_where
from gviz.stats import UNKNOWN, IntArray


class RunWriter:
    """Writes one trace as one run.

    Parameters
    ----------
    builder
        Of the run.
    """

    def __init__(self, builder: RunBuilder) -> None:
        self._builder = builder
        self._note = builder.note

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
        graphs = trace_graphs(trace, folded, self._builder.kernels)
        add_creations(graphs, trace, path_of)
        add_annotations(graphs, trace, outermost)
        works, folded = self._write_graphs(trace, graphs, folded, dumps)
        launches = _launch_rows(folded, graphs)
        self._builder.add_launches(launches)
        self._write_spans(folded, graphs, launches)
        self._write_operations(trace, folded, works)
        self._count(trace, folded)
        self._builder.finish()
        return self._builder.notes

    # -- the run ----------------------------------------------------------------------------

    def _write_run(
        self, trace: Trace, folded: FoldedTrace, name: str, sources: Sequence[str]
    ) -> None:
        work = folded.work
        timed = [x for x in (work, folded.calls) if len(x)]
        begin = min((int(x["start_ns"].min()) for x in timed), default=None)
        end = max((int(x["end_ns"].max()) for x in timed), default=None)
        self._builder.add_run(
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
        used = set(work["device_id"].tolist())
        used |= set(trace.whole_launches.to_array()["device_id"].tolist())
        # A trace may list all GPUs of the machine.
        devices = [d for d in trace.devices.values() if d.device_id in used or used <= {UNKNOWN}]
        if not devices:
            self._note("limit", NO_DEVICE_NOTE)
        for device in sorted(devices, key=lambda d: d.device_id):
            self._builder.add(
                rows.Device(
                    run_id=self._builder.run_id,
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
            self._builder.add(
                rows.Window(
                    run_id=self._builder.run_id,
                    window_id=0,
                    start_ns=begin,
                    end_ns=end,
                    reason="eager",
                )
            )
        self._builder.notes += trace.notes

    def _count(self, trace: Trace, folded: FoldedTrace) -> None:
        counts = (
            ("activity_records_invalid", trace.invalid,
             "measured: records without a usable time or number, left out"),
            ("activity_records_duplicate", folded.duplicates,
             "measured: records that the trace has twice, left out"),
            ("activity_records_homeless", folded.homeless,
             "derived: records of graph nodes without a launch, left out"),
            ("nvtx_ranges_left_out", trace.ranges_left_out,
             "measured: ranges beyond those that are kept"),
            ("operators_left_out", trace.operators_left_out,
             "measured: operators of PyTorch beyond those that are kept"),
        )  # fmt: skip
        for name, value, method in counts:
            self._builder.measurements[name] = (float(value), "records", method)
            if value:
                what = method.split(": ")[1]
                self._note("warning", f"{value:,} {what}.")
        if folded.calls_without_work:
            self._note(
                "warning",
                f"{folded.calls_without_work:,} graph launches were called of which the trace has "
                "no work on the GPU: it does not record which graphs they were of.",
            )

    # -- graphs -----------------------------------------------------------------------------

    def _write_graphs(
        self, trace: Trace, graphs: GraphRows, folded: FoldedTrace, dumps: Sequence[Dump]
    ) -> tuple[list[CapturedWork], FoldedTrace]:
        """Write the graphs; return what each does, in order of creation, and the joined trace."""
        joining = Joining(
            self._builder, folded, dumps, shared_memory_is_total=trace.shared_memory_is_total
        )
        launched = Counter(folded.launches["exec_id"].tolist())
        works = []
        inferred = False
        # CUDA counts executables as they are made; those that gviz numbers come last.
        for level in sorted(graphs.levels.values(), key=lambda x: x.exec_id):
            level.graph_exec_id = self._builder.numbers.take("graph_exec")
            work = joining.write(level)
            if work is None:
                level.graph_id = self._builder.numbers.take("graph")
                inferred |= len(level.edges) > 0
                level.columns["graph_id"] = level.graph_id
                topology = level.topology(self._builder)
                row = level.graph_row(self._builder.run_id, topology)
                self._builder.add_graph(row, level.columns, topology, level.edges)
                work = CapturedWork.from_columns(level.graph_id, level.columns, level.edges[:, :2])
            level.graph_id = work.graph_id
            works.append(work)
            self._write_exec(trace, level, launched[level.exec_id])
        joining.write_rest(graphs)
        self._builder.notes += joining.notes
        if inferred:
            self._note("limit", INFERRED_NOTE)
        if folded.numbered:
            self._note("limit", NUMBERED_NOTE)
        if any(not len(level.columns) for level in graphs.levels.values()):
            self._note("limit", WHOLE_NOTE)
        return works, with_new_ids(folded, joining.new_ids)

    def _write_exec(self, trace: Trace, level: TraceGraph, launches: int) -> None:
        facts = trace.execs.get(level.exec_id)
        call = None if facts is None or facts.instantiated is None else facts.instantiated
        self._builder.add(
            rows.GraphExec(
                graph_exec_id=level.graph_exec_id,
                run_id=self._builder.run_id,
                graph_id=level.graph_id,
                cuda_exec_id=level.exec_id,
                instantiate_start_ns=None if call is None else call[0] + trace.base_ns,
                instantiate_end_ns=None if call is None else call[1] + trace.base_ns,
                instantiate_thread_id=None if facts is None else facts.thread_id,
                launch_count=launches,
            )
        )

    def _write_spans(self, folded: FoldedTrace, graphs: GraphRows, launches: Rows) -> None:
        work, span = folded.work, folded.span
        origin = launches["gpu_start_ns"][folded.span_launch]
        spans = Spans(
            launch=folded.span_launch,
            exec_node_id=work["node_id"][span],
            iteration=folded.span_iteration,
            start_ns=work["start_ns"][span] - origin,
            duration_ns=work["end_ns"][span] - work["start_ns"][span],
            stream_id=np.maximum(work["stream_id"][span], 0),
        )
        keys = {level.graph_id: level.keys() for level in graphs.levels.values()}
        self._builder.add_spans(spans, launches, keys)

    # -- outside of graphs ------------------------------------------------------------------

    def _write_operations(
        self, trace: Trace, folded: FoldedTrace, graphs: Sequence[CapturedWork]
    ) -> None:
        operations = outside_work(trace, folded, self._builder.kernels)
        too_many = are_too_many(operations, graphs)
        self._builder.add_operations(operations, None if too_many else graphs)
        if too_many:
            self._note(
                "limit",
                f"Whether the {len(operations):,} operations outside graphs did the work of a "
                "graph was not looked at: there are too many. Record fewer steps to have graphs "
                "compared with stream calls.",
            )

    def _write_ranges(self, trace: Trace) -> tuple[PathOf, dict[int, int]]:
        """Write the ranges of the host; return what finds the path at a moment of a thread.

        And the paths that nothing is around, by the number of their name.
        """
        ranges = trace.ranges.to_array().copy()
        for name in ("start_ns", "end_ns"):
            ranges[name] += trace.base_ns
        nested = nest_ranges(ranges, trace.annotations.values())
        first_path = self._builder.numbers.take("nvtx_path", len(nested.path_name))
        names = list(trace.range_names)
        self._builder.add_paths(
            range(first_path, first_path + len(nested.path_name)),
            (None if outer < 0 else first_path + outer for outer in nested.path_parent),
            (names[name] for name in nested.path_name),
        )
        self._builder.add_ranges(
            nested.path + first_path,
            *(nested.ranges[name] for name in ("thread_id", "start_ns", "end_ns")),
        )

        def path_of(thread_id: IntArray, time_ns: IntArray) -> IntArray:
            found = nested.ranges
            ranges = OpenRanges(*(found[n] for n in ("thread_id", "start_ns", "end_ns")))
            at = ranges.innermost(thread_id, time_ns)
            if not len(nested.path):
                return at
            return np.where(at >= 0, nested.path[at] + first_path, UNKNOWN)

        outermost = {name: path + first_path for name, path in nested.outermost().items()}
        return path_of, outermost


def _launch_rows(folded: FoldedTrace, graphs: GraphRows) -> Rows:
    """Return the launches of a trace as columns of rows.Launch."""
    traced = folded.launches
    execs, place = np.unique(traced["exec_id"], return_inverse=True)
    levels = [graphs.levels[exec_id] for exec_id in execs.tolist()]
    graph_id = np.array([level.graph_id for level in levels], np.int64)[place]
    has_spans = traced["span_count"] > 0

    def of_call(name: str) -> IntArray:
        if not len(folded.calls):
            return np.full(len(traced), UNKNOWN, np.int64)
        return np.where(traced["call"] >= 0, folded.calls[name][traced["call"]], UNKNOWN)

    return blank_rows(
        rows.Launch,
        len(traced),
        graph_id=graph_id,
        graph_exec_id=np.array([level.graph_exec_id for level in levels], np.int64)[place],
        side="graph",
        ordinal=_place_among_equal(graph_id),
        host_start_ns=of_call("start_ns"),
        host_end_ns=of_call("end_ns"),
        thread_id=of_call("thread_id"),
        stream_id=of_call("stream_id"),
        correlation_id=traced["correlation_id"],
        node_level=has_spans,
        gpu_start_ns=traced["gpu_start_ns"],
        gpu_end_ns=traced["gpu_end_ns"],
        span_count=traced["span_count"],
        ambiguous_count=traced["ambiguous_count"],
        node_method=text_where(has_spans, "cupti"),
    )


def _place_among_equal(values: IntArray) -> IntArray:
    """Return how many equal values stand before each."""
    order = np.argsort(values, kind="stable")
    found = np.empty(len(values), np.int64)
    _, first, counts = np.unique(values[order], return_index=True, return_counts=True)
    found[order] = np.arange(len(values)) - np.repeat(first, counts)
    return found
