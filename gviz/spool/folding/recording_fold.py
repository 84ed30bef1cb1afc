"""Folding: a spool's contents into a recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gviz.cuda import problems_in
from gviz.matching import CapturedWork
from gviz.recording import (
    DAMAGE,
    RecordingWriter,
    keep_contents,
    rows,
    table_of,
    unreadable_sentence,
)
from gviz.runs import IdCounter, RunBuilder
from gviz.spool.folding.agreement import give_up_contradicted
from gviz.spool.folding.allocations import build_allocations, build_graph_memory
from gviz.spool.folding.black_box import fold_faults
from gviz.spool.folding.eager import fold_operations
from gviz.spool.folding.event_bias import bias_measurements
from gviz.spool.folding.event_times import (
    add_event_times,
    collector_of,
    fit_to_events,
    refusal_notes,
)
from gviz.spool.folding.graphs import GraphFolder, Graphs
from gviz.spool.folding.launch_cost import launch_costs
from gviz.spool.folding.launches import FoldedLaunches, fold_launches
from gviz.spool.folding.life import fold_life
from gviz.spool.folding.long_run import counted_by_graph, launch_bins, plain_launches, remarks
from gviz.spool.folding.origins import Origins, name_graphs
from gviz.spool.folding.recorded_facts import take_copy_kinds, take_recorded_devices
from gviz.spool.folding.run import fold_gpu_states, fold_periods, fold_stacks
from gviz.spool.folding.trials import fold_trials, fold_values
from gviz.spool.records import (
    LEFT_WITH,
    SPOOL_SUFFIX,
    SpoolReader,
    WindowReason,
    WindowRecord,
    recording_of,
    well_ended,
    word_of,
)
from gviz.spool.streams import Contents
from gviz.system import NO_PROGRESS, Progress

#: Counters that stand in the run's row, not among its measurements.
_OF_THE_RUN = ("attached_ns", "ended_ns", "driver_version", "cupti_version")
#: Of folding, by what takes long of many nodes and launches.
_STEPS = (1,) * 9


def read_contents(spool: Path) -> Contents:
    """Read a whole spool; SpoolError if it is none."""
    contents = Contents()
    for record in SpoolReader(spool).records():
        contents.add(record)
    return contents


def fold(
    contents: Contents,
    spool: Path,
    output: Path,
    *,
    overwrite: bool = False,
    exit_code: int | None = None,
    is_growing: bool = False,
    progress: Progress = NO_PROGRESS,
) -> Path:
    """Write the recording of a spool's contents; return its path.

    ``is_growing``: its process still runs, and this is not all. ``progress`` is told the share that
    is done.

    Raises
    ------
    RecordingError
        If ``output`` exists (and not ``overwrite``) or cannot be written.
    """
    contents.finish()
    with RecordingWriter(output, overwrite=overwrite) as writer:
        _Fold(contents, spool, RunBuilder(writer, IdCounter()), exit_code, is_growing).run(progress)
    return output


class _Fold:
    """One folding: from contents to rows, table by table."""

    def __init__(
        self,
        contents: Contents,
        spool: Path,
        builder: RunBuilder,
        exit_code: int | None,
        is_growing: bool,
    ) -> None:
        self.contents = contents
        self.spool = spool
        self.builder = builder
        self.exit_code = exit_code
        self.is_growing = is_growing
        #: How the process ended well without closing the spool; "": it did not.
        self.well_ended = ""
        if contents.metadata and not contents.ended:
            left_with = contents.metadata.get(LEFT_WITH)
            self.well_ended = well_ended(spool, left_with, exit_code)
        self.kernels = builder.kernels
        self.notes = builder.notes
        self.notes += contents.notes
        self.contradicted: dict[int, int] = {}
        self.counters = {name: value for name, value, _, _ in contents.counters}
        self.measurements = builder.measurements
        for name, value, unit, method in contents.counters:
            if name not in _OF_THE_RUN:
                self.measurements[name] = (value, unit, method)

    def run(self, progress: Progress) -> None:
        """Write every table."""
        steps = progress.steps(_STEPS, f"the records of {self.spool.name}")
        self._measure_records()
        activities = self.contents.activity_stream
        stream = self.contents.launch_stream
        folder = GraphFolder(self.contents, self.builder, self.spool)
        graphs = steps.run(folder.fold)
        take_copy_kinds(graphs, activities.samples)
        if len(self.contents.devices) > 1:
            take_recorded_devices(graphs, activities.samples)
        self.contradicted = give_up_contradicted(graphs, self.contents, self.kernels)
        launches = steps.run(fold_launches, self.contents, activities.take_spans(), folder)
        fit_to_events(self.contents, graphs)
        timed = steps.run(add_event_times, self.contents, graphs, launches)
        launches = timed.launches
        operations = steps.run(fold_operations, self.contents, self.kernels)
        self._name_graphs(graphs, folder.origins)
        life = steps.run(fold_life, self.contents, folder)
        self.measurements |= bias_measurements(self.contents.calibrations, timed.extra)
        self._measure(graphs, launches, folder.origins)
        if not self.is_growing:
            self._keep_contents()
        self._write_run()
        steps.run(self._write_graphs, graphs)
        self._write_signatures()
        steps.run(self.builder.add_launches, launches.launches)
        for piece in plain_launches(stream, graphs, launches.plain_ordinals):
            self.builder.add_launches(piece)
        self.builder.add_operations(operations, _works(graphs))
        self.builder.add_columns(rows.LaunchBin, launch_bins(stream, graphs))
        self.builder.add(*launch_costs(launches, stream, graphs))
        self._write_alternations()
        steps.run(self._write_spans, launches, graphs)
        self._write_host()
        self.builder.add(*life.rows())
        self.builder.add(*fold_trials(self.contents, graphs))
        if not self.is_growing:
            ended = bool(self.contents.ended or self.well_ended)
            faults = fold_faults(self.contents, graphs, self.spool, has_ended=ended)
            self.builder.add(*faults)
        self.builder.add(*fold_values(self.contents, graphs))
        self.builder.add_columns(rows.ApiCall, life.calls)
        self.builder.finish()

    def _keep_contents(self) -> None:
        recording = recording_of(self.spool)
        try:
            if recording is not None:
                keep_contents(self.spool, recording)
        except OSError as error:
            why = f"the contents of memory (--dump) were not kept: {error.strerror or error}"
            self.notes.append(("warning", why))

    def _measure_records(self) -> None:
        activities = self.contents.activity_stream
        # start == end == 0 means "no time available" (cupti_activity.h).
        self.measurements["activity_records_invalid"] = (
            float(activities.invalid), "records",
            "measured: records without a usable time, left out",
        )  # fmt: skip
        for remark in remarks(self.contents):
            self.measurements[remark.name] = (remark.value, remark.unit, remark.method)

    # -- the run -------------------------------------------------------------------------

    def _write_run(self) -> None:
        meta = self.contents.metadata
        counters = self.counters
        driver = int(counters.get("driver_version") or 0)
        attached = counters.get("attached_ns") is not None
        collector, reason = collector_of(self.contents, attached)
        known = {c.name for c in table_of(rows.Run).columns}
        given: dict[str, Any] = {k: v for k, v in meta.items() if k in known}
        given |= {
            "name": str(meta.get("name", self.spool.name.removesuffix(SPOOL_SUFFIX))),
            "state": self._state(),
            "source": str(meta.get("source", "profile")),
            "ended_ns": _integer(counters.get("ended_ns")),
            "exit_code": self.exit_code,
            "driver_version": f"{driver // 1000}.{driver % 1000 // 10}" if driver else None,
            "cupti_version": _text(counters.get("cupti_version")),
            "collector": collector,
            "collector_reason": reason,
        }
        self.builder.add_run(**given)
        states = fold_gpu_states(self.contents, self.spool, self.builder.run_id)
        devices = range(len(self.contents.devices))
        self.builder.add(*(self._device(i, states.clock_max_mhz) for i in devices))
        self.builder.add(*states.rows)
        self.notes += states.notes
        if (count := states.measurement()) is not None:
            self.measurements["gpu_state_samples"] = count
        for name, version in (meta.get("libraries") or {}).items():
            self.builder.add(
                rows.LibraryVersion(run_id=self.builder.run_id, name=name, version=version)
            )
        self._write_windows()
        periods = fold_periods(self.contents, self.builder.run_id)
        self.builder.add(*periods.rows)
        self.notes += periods.notes

    def _state(self) -> str:
        if self.is_growing:
            return "recording"
        ended = self.contents.ended or self.well_ended
        return "completed" if ended and not self.contents.stopped else "aborted"

    def _write_alternations(self) -> None:
        for readings in self.contents.alternations:
            first = self.builder.numbers.take("cost_figure", 0)
            found = readings.to_rows(self.builder.run_id, first)
            self.builder.numbers.take("cost_figure", len(found))
            self.builder.add(*found)

    def _device(self, index: int, clock_max_mhz: Mapping[int, int]) -> rows.Device:
        device = self.contents.devices[index]
        return rows.Device(
            run_id=self.builder.run_id,
            device_id=device.ordinal,
            name=device.name,
            compute_capability=f"{device.major}.{device.minor}",
            multiprocessor_count=device.multiprocessors,
            memory_bytes=device.memory_bytes,
            max_threads_per_multiprocessor=device.max_threads,
            pci_bus_id=device.pci_bus_id or None,
            sm_clock_max_mhz=clock_max_mhz.get(device.ordinal),
        )

    def _write_windows(self) -> None:
        open_at: WindowRecord | None = None
        number = 0
        for window in [*self.contents.windows, WindowRecord(0, 0, 0)]:
            if window.is_open:
                open_at = window
            elif open_at is not None:
                self.builder.add(
                    rows.Window(
                        run_id=self.builder.run_id,
                        window_id=number,
                        start_ns=open_at.time_ns,
                        end_ns=window.time_ns or None,
                        reason=word_of(WindowReason, open_at.reason),
                    )
                )
                number += 1
                open_at = None

    def _measure(self, graphs: Graphs, launches: FoldedLaunches, origins: Origins) -> None:
        late = [g for g in graphs.levels.values() if g.row.origin == "late"]
        if late:
            self.notes.append(
                ("limit", f"{len(late)} graph(s) were instantiated before gviz attached: their "
                          "nodes are known from recorded launches only, their edges are unknown; "
                          "attach before the graph is made to see them")
            )  # fmt: skip
        homeless = launches.homeless_records + self.contents.activity_stream.homeless
        self.notes += refusal_notes(self.contents, graphs)
        self.notes += _crumb_notes(self.contents, graphs)
        if homeless:
            self.measurements["records_without_launch"] = (
                float(homeless), "records",
                "measured: graph records whose launch was not seen, left out",
            )  # fmt: skip
        self.measurements["launches_with_impossible_times"] = (
            float(launches.impossible + self.contents.activity_stream.impossible), "number",
            "derived: launches whose node times contradict the graph's dependencies, left out",
        )  # fmt: skip
        self._note_contents()
        for problem in problems_in(
            _integer(self.counters.get("cupti_version")),
            recording_number=int(self.counters.get("recording_number") or 1),
            records=self.counters.get("activity_records") or 0,
            invalid=self.contents.activity_stream.invalid,
        ):
            self.notes.append(("limit", f"{problem.text} ({problem.source})"))
        unwanted = {
            graphs.execs[i].graph_exec_id for i in self.contents.unwanted_execs if i in graphs.execs
        }
        self._measure_losses(graphs, launches, unwanted)
        self._measure_nesting(graphs, launches)
        self._note_end()

    def _note_contents(self) -> None:
        """Note what of the spool could not be read, and where there is nothing in it."""
        if self.contents.unreadable:
            self.notes.append((DAMAGE, unreadable_sentence("the spool", self.contents.unreadable)))
        if self.contents.unknown_records:
            self.notes.append(
                (
                    "warning",
                    f"{self.contents.unknown_records} records of kinds unknown to this gviz "
                    "were left out; fold the spool with the gviz that wrote it",
                )
            )
        if not self.contents.metadata:
            self.notes.append(("warning", "nothing was recorded: the spool could not be written"))
        if "attached_ns" not in self.counters and not self.notes:
            self.notes.append(("information", "the program did not initialise CUDA"))

    def _note_end(self) -> None:
        """Note a recording that has not ended as it should, or has not yet."""
        if self.contents.stopped:
            self.notes.append(
                ("warning", f"collecting stopped: {self.contents.stopped}; the program went on, "
                            "what it did after that is missing")
            )  # fmt: skip
        elif self.is_growing:
            self.notes.append(
                ("information", "the process is still being recorded: this is what there was at "
                                "the last look; launches that run just now have no node times yet")
            )  # fmt: skip
        elif not self.contents.ended:
            kind, how = ("limit", self.well_ended) if self.well_ended else ("warning", "ended")
            self.notes.append(
                (kind, f"the process {how} without closing the recording: it holds all up to the "
                       "last flush, at most half a second and the records of launches then "
                       "unfinished are missing")
            )  # fmt: skip

    def _measure_nesting(self, graphs: Graphs, launches: FoldedLaunches) -> None:
        """Note what is not known about nodes inside nodes, and what is ambiguous."""
        names = {i: level.row.name for i, level in graphs.levels.items()}
        for top, count in self.contradicted.items():
            self.notes.append(
                ("warning", f"{names[top]}: {count} nested nodes ran other work than the node of "
                            "their number; this driver numbers nested nodes in an unknown way, "
                            "so the times of bodies are shown without their nodes")
            )  # fmt: skip
        if self.contradicted:
            self.measurements["nodes_mismatched"] = (
                float(sum(self.contradicted.values())), "number",
                "derived: nested nodes whose records are of other work, left without times",
            )  # fmt: skip
        for graph_id, node_id in graphs.unknown_bodies:
            self.notes.append(
                ("limit", f"{names[graph_id]}, node {node_id}: its bodies are not known, because "
                          "the node was added before gviz attached; their nodes, and those of "
                          "the bodies numbered after them, are known from their times only")
            )  # fmt: skip
        doubtful = int(launches.launches["ambiguous_count"].sum())
        doubtful += self.contents.activity_stream.bodies_doubtful
        if doubtful:
            self.measurements["body_spans_ambiguous"] = (
                float(doubtful), "number",
                "derived: spans of conditional bodies that may be a neighbouring launch's",
            )  # fmt: skip
            self.notes.append(
                ("limit", f"{doubtful} spans of conditional bodies may belong to a neighbouring "
                          "launch: they carry no launch's id, and nothing else in their graph "
                          "has a time; wait between launches to distinguish them")
            )  # fmt: skip

    def _measure_losses(self, graphs: Graphs, launches: FoldedLaunches, unwanted: set[int]) -> None:
        """Count launches made in windows whose node times did not arrive."""
        timed = {
            graph_id
            for graph_id in {row.graph_id for row in graphs.execs.values()}
            for level in graphs.family(graph_id)
            if any(reason is None for reason in level.nodes["not_timed_reason"].tolist())
        }
        rows_ = launches.launches
        bare = (rows_["node_level"] != 0) & (rows_["span_count"] == 0)
        bare &= np.isin(rows_["graph_id"], sorted(timed))
        bare &= ~np.isin(rows_["graph_exec_id"], sorted(unwanted))
        stream, activities = self.contents.launch_stream, self.contents.activity_stream
        bare_count = int(bare.sum()) + sum(
            count
            for exec_id, count in stream.without_nodes.items()
            if graphs.execs[exec_id].graph_id in timed
        )
        missing = max(0, bare_count - launches.impossible - activities.impossible)
        self.measurements["launches_without_node_times"] = (
            float(missing),
            "number",
            "derived: launches made inside windows of which no node record arrived",
        )
        last_gpu = int(rows_["gpu_end_ns"].max(initial=stream.last_gpu_ns))
        is_cut = not (self.contents.ended or self.is_growing)
        if is_cut and last_gpu and stream.last_call_ns:
            self.measurements["lost_tail_ns"] = (
                float(max(0, stream.last_call_ns - last_gpu)),
                "ns",
                "derived: from the end of the last recorded node to the last launch call seen",
            )

    # -- graphs --------------------------------------------------------------------------

    def _name_graphs(self, graphs: Graphs, origins: Origins) -> None:
        tops = [g for g in graphs.levels.values() if g.row.origin != "body"]
        complaint = origins.complaint([g.row.name or "(no name)" for g in tops])
        if complaint is not None:
            self.notes.append(("warning", complaint))
        for level, row in zip(tops, name_graphs([g.row for g in tops]), strict=True):
            level.row = row

    def _write_graphs(self, graphs: Graphs) -> None:
        for level in graphs.levels.values():
            self.builder.add_graph(level.row, level.nodes, level.topology, level.edges)
            self.builder.add_columns(rows.Argument, level.arguments)
            self.builder.add_columns(rows.NodeParameter, level.parameters)
        self.builder.add(*graphs.execs.values())
        self.builder.add_columns(rows.Allocation, build_allocations(graphs, self.contents))
        memory = build_graph_memory(self.contents, self.builder.run_id)
        self.builder.add_columns(rows.GraphMemory, memory)

    def _write_signatures(self) -> None:
        """Write what frameworks declare of the kernels that graphs have."""
        declarations: Counter[int] = Counter()
        for found in self.contents.signatures:
            function_id = self.builder.kernels.known(found.symbol)
            if function_id is None:
                continue
            declarations[function_id] += 1
            self.builder.add(
                *(
                    rows.DeclaredParameter(
                        function_id=function_id,
                        declaration=declarations[function_id],
                        position=position,
                        name=name,
                        type=kind,
                        known_by=found.known_by,
                    )
                    for position, (name, kind) in enumerate(found.parameters)
                )
            )

    def _write_spans(self, launches: FoldedLaunches, graphs: Graphs) -> None:
        keys = {
            graph_id: graphs.keys_of(graph_id)
            for graph_id in {row.graph_id for row in graphs.execs.values()}
        }
        counted = counted_by_graph(self.contents.activity_stream.nodes, graphs)
        self.builder.add_spans(launches.spans, launches.launches, keys, counted)

    # -- the host ------------------------------------------------------------------------

    def _write_host(self) -> None:
        contents = self.contents
        paths = contents.nvtx_paths
        self.builder.add_paths(
            paths,
            (parent for parent, _, _ in paths.values()),
            ((domain or None, text) for _, domain, text in paths.values()),
        )
        ranges = contents.nvtx_ranges.to_array()
        columns = {name: ranges[name].astype(np.int64) for name in ranges.dtype.names or ()}
        self.builder.add_ranges(**columns)
        frames, locations = fold_stacks(contents.stacks, _last_moment(contents))
        self.builder.add_columns(rows.StackFrame, frames)
        self.builder.add_columns(rows.Location, locations)


def _works(graphs: Graphs) -> list[CapturedWork]:
    """Return what each graph does, in order of creation."""
    return [
        CapturedWork.from_columns(level.row.graph_id, level.nodes, level.edges[:, :2])
        for level in graphs.levels.values()
        if level.row.origin != "body"
    ]


def _crumb_notes(contents: Contents, graphs: Graphs) -> list[tuple[str, str]]:
    """Return a note for each executable whose launches leave no crumbs."""
    return [
        ("limit", f"{graphs.top_of(exec_id).row.name}: its launches leave no crumbs: {why}")
        for exec_id, why in contents.crumb_refusals.items()
        if exec_id in graphs.execs
    ]


def _last_moment(contents: Contents) -> int:
    """Return the latest host time in the spool, in nanoseconds."""
    ended = [int(value) for name, value, _, _ in contents.counters if name == "ended_ns"]
    times = [c.time_ns for c in contents.created.values()]
    return max([*ended, *times, contents.launch_stream.last_call_ns], default=0)


def _integer(value: float | None) -> int | None:
    return None if value is None else int(value)


def _text(value: float | None) -> str | None:
    return None if value is None else str(int(value))
