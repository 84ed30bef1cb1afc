"""A recording as one file of trace events: what ``gviz export --format perfetto`` writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gviz import __version__
from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.formats.perfetto.event_text import known
from gviz.formats.perfetto.graph_side import CallPlace, File, GraphSide
from gviz.formats.perfetto.host_side import (
    HostEvents,
    read_calls,
    read_launches,
    read_operation_calls,
    read_ranges,
    write_host,
)
from gviz.formats.perfetto.stream_side import write_operations
from gviz.formats.perfetto.tracks import Tracks
from gviz.formats.perfetto.writer import TraceWriter
from gviz.model import OF_RUN, is_failed, keeper
from gviz.recording import rows
from gviz.system import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Shares of a run's events that stand before those of operations, and of launches.
_HOST = 0.1
_LAUNCHES = 0.2


@dataclass(frozen=True, slots=True)
class WrittenTrace:
    """The file written: its bytes, and the number of launches and events in it."""

    path: Path
    size_bytes: int
    launch_count: int
    event_count: int


def write_trace(
    recording: Recording,
    output: Path,
    graph_ids: Collection[int],
    ordinals: frozenset[int] | None = None,
    *,
    overwrite: bool = False,
    progress: Progress = NO_PROGRESS,
) -> WrittenTrace:
    """Write a recording as Chrome trace events with Kineto's names, for ui.perfetto.dev.

    Nodes stand in lanes: as few tracks as run at once. Events are written as they are made; in
    memory are one launch, the calls of the host and the operations outside graphs.

    Parameters
    ----------
    recording, output
        From where to where; compressed where the name ends with ``.gz``.
    graph_ids
        Graphs whose launches are wanted; none of a body.
    ordinals
        Numbers of launches; then the host and the streams are there from the first of them to
        the last only. None: everything.
    overwrite
        Replace an existing file.
    progress
        Told what is being done, and the share that is.

    Raises
    ------
    RecordingError
        If no graph has such a launch, or the file cannot be written.

    References
    ----------
    Trace Event Format (Duffy, 2016). Names of arguments: pytorch/kineto,
    libkineto/src/CuptiActivity.cpp and output_json.cpp.
    """
    base = _base_ns(recording)
    tracks, arrows = Tracks(), count(1)
    launches = 0
    with TraceWriter(output, _head(recording, base), overwrite=overwrite) as writer:
        for run, stretch in progress.each(recording.fetch_runs(), lambda run: run.name):
            file = File(recording, run, tracks, base, arrows, keeper(OF_RUN))
            part = _Part(file, graph_ids, ordinals)
            for event in part.write(stretch):
                writer.write((event,))
            launches += part.launch_count
            writer.write(tracks.take_named())
        if ordinals is not None and not launches:
            wanted = ", ".join(f"#{ordinal}" for ordinal in sorted(ordinals))
            raise RecordingError(
                f"no launch {wanted} of these graphs has node times; 'gviz view' numbers them"
            )
    return WrittenTrace(output, output.stat().st_size, launches, writer.event_count)


class _Part:
    """One run of the file."""

    def __init__(
        self, file: File, graph_ids: Collection[int], ordinals: frozenset[int] | None
    ) -> None:
        self._file = file
        graphs = file.recording.fetch_graphs(file.run.run_id)
        self._graphs = [
            g
            for g in graphs
            if g.parent_graph_id is None and g.graph_id in graph_ids and not is_failed(g)
        ]
        self._ordinals = ordinals
        self.launch_count = 0

    def write(self, progress: Progress) -> Iterator[str]:
        """Yield the events of the run."""
        self._host_pid()
        sides = [(graph, GraphSide(self._file, graph)) for graph in self._graphs]
        chosen = [side.launches(self._ordinals) for _, side in sides]
        keep = self._interval([launch for found in chosen for launch in found])
        progress.at(0.0, f"{self._file.run.name}: host")
        calls: list[dict[int, CallPlace]] = [{}, {}]
        yield from self._write_host(keep, calls)
        progress.at(_HOST, f"{self._file.run.name}: operations outside graphs")
        yield from write_operations(self._file, calls[1], keep)
        done, total = 0, sum(len(found) for found in chosen)
        for (graph, side), found in zip(sides, chosen, strict=True):
            yield from side.write_iterations(keep)
            for number, launch in enumerate(found, start=1):
                text = f"{graph.name}: launch {number:,} of {len(found):,}"
                progress.at(_LAUNCHES + (1 - _LAUNCHES) * done / total, text)
                done += 1
                yield from side.write(launch, calls[0].get(launch.launch_id))
                self.launch_count += 1

    def _host_pid(self) -> int:
        run = self._file.run
        label = "CPU" if run.rank is None else f"CPU, rank {run.rank}"
        return self._file.tracks.process(
            ("host", run.run_id), run.name, run.process_id, label=label
        )

    def _interval(self, launches: list[Any]) -> Callable[[int, int], bool]:
        if self._ordinals is None:
            return lambda start, end: True
        if not launches:
            return lambda start, end: False
        first = min(x.host_start_ns or x.gpu_start_ns for x in launches)
        last = max(x.gpu_end_ns or x.gpu_start_ns for x in launches)
        return lambda start, end: end >= first and start <= last

    def _write_host(
        self, keep: Callable[[int, int], bool], calls: list[dict[int, CallPlace]]
    ) -> Iterator[str]:
        """Yield what the host did; add the calls of launches and operations to the lists given."""
        file = self._file
        operations = read_operation_calls(file.recording, file.run.run_id)
        launches = list(read_launches(file.recording, file.run.run_id))
        others = [read_calls(file.recording, file.run.run_id)]
        known_batches = [*launches, operations, *others]
        last = max((int(b.end_ns.max()) for b in known_batches if len(b.end_ns)), default=0)
        others.append(read_ranges(file.recording, file.run, file.run.ended_ns or last))
        batches = [_kept(b, keep) for b in (*launches, operations, *others)]
        pid = self._host_pid()
        for event, batch, key, tid, start in write_host(batches, file.tracks, pid, file.base_ns):
            yield event
            if key >= 0:
                calls[batch == len(launches)][key] = CallPlace(pid, tid, start)


def _kept(events: HostEvents, keep: Callable[[int, int], bool]) -> HostEvents:
    pairs = zip(events.start_ns.tolist(), events.end_ns.tolist(), strict=True)
    return events.chosen([keep(start, end) for start, end in pairs])


def _base_ns(recording: Recording) -> int:
    """Return a time before all others, in whole microseconds: from it times are counted."""
    found: list[int] = []
    for run in recording.fetch_runs():
        first = (run.started_ns,) if run.started_ns is not None else ()
        found += first
        found += [call.start_ns for call in recording.fetch_api_calls(run.run_id)[:1]]
        for row, name in (
            (rows.NvtxRange, "start_ns"),
            (rows.StreamOperation, "start_ns"),
            (rows.StreamOperation, "host_start_ns"),
            (rows.Launch, "host_start_ns"),
            (rows.Launch, "gpu_start_ns"),
        ):
            columns = recording.fetch_columns(row, (name,), {"run_id": run.run_id}, name)
            found += [value for (value,) in columns if value is not None][:1]
    return min(found, default=0) // 1000 * 1000


def _head(recording: Recording, base_ns: int) -> dict[str, Any]:
    devices: list[dict[str, Any]] = []
    for run in recording.fetch_runs():
        for device in recording.fetch_devices(run.run_id):
            major, _, minor = (device.compute_capability or "").partition(".")
            devices.append(
                known(id=device.device_id, name=device.name)
                | {
                    name: value
                    for name, value in (
                        ("totalGlobalMem", device.memory_bytes),
                        ("computeMajor", int(major) if major.isdigit() else None),
                        ("computeMinor", int(minor) if minor.isdigit() else None),
                        ("numSms", device.multiprocessor_count),
                        ("maxThreadsPerMultiprocessor", device.max_threads_per_multiprocessor),
                    )
                    if value is not None
                }
            )
    unique = {tuple(d.items()): d for d in devices}
    return {
        "schemaVersion": 1,
        "deviceProperties": list(unique.values()),
        "displayTimeUnit": "ns",
        "baseTimeNanoseconds": base_ns,
        "traceName": recording.path.name,
        "otherData": {"made_by": f"gviz {__version__}"},
    }
