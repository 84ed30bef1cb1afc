"""Reads SQLite exports of Nsight Systems.

References
----------
Nsight Systems, "SQLite Schema Reference" of the exporter. Which columns a table has differs from
release to release: every column is looked for, none is taken for granted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gviz.errors import ImportingError
from gviz.importing.number import (
    MOST_DIMENSION,
    MOST_INT,
    NODE_BITS,
    NODE_MASK,
    graph_node,
    integer,
    known,
    size,
)
from gviz.importing.progress import Progress
from gviz.importing.trace import UNKNOWN, DeviceFacts, Trace, storable
from gviz.node_type import NodeType
from gviz.recording.foreign import ForeignTables
from gviz.recording.value_range import LATEST_NS

_KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
_MEMCPY = "CUPTI_ACTIVITY_KIND_MEMCPY"
_MEMSET = "CUPTI_ACTIVITY_KIND_MEMSET"
_RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
_GRAPH_TRACE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_NODE_EVENTS = "CUDA_GRAPH_NODE_EVENTS"
_NVTX = "NVTX_EVENTS"
_STRINGS = "StringIds"
_WORK = {_KERNEL: NodeType.KERNEL, _MEMCPY: NodeType.MEMCPY, _MEMSET: NodeType.MEMSET}

#: What every row of GPU work has, in this order.
_COMMON = (
    "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphNodeId",
    "graphExecId", "graphId",
)  # fmt: skip
_SHAPE = (
    "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "dynamicSharedMemory",
    "registersPerThread", "mangledName", "demangledName", "shortName", "name",
)  # fmt: skip
#: Process and thread stand above each other in 24 bits each ("Serialized GlobalId").
_ID_BITS = 24
_ID_MASK = (1 << _ID_BITS) - 1
#: NvtxPushPopRange in ENUM_NSYS_EVENT_TYPE.
_PUSH_POP = 59
#: Strings kept; names of an application are some thousand.
_MOST_STRINGS = 2_000_000
_MOST_STRING_CHARACTERS = 512 << 20
#: Warps of a multiprocessor and threads of a warp are far fewer.
_MOST_THREADS = (1 << 15) - 1
#: Clones of clones of a graph's nodes that are followed.
_MOST_CLONES = 16
_TOLD_EVERY = 16_384


def read_nsys(path: Path, *, progress: Progress | None = None) -> list[Trace]:
    """Read an export; return one trace for each process that used a GPU.

    Parameters
    ----------
    path
        What ``nsys export --type sqlite`` wrote.
    progress
        Is told how much was read.

    Raises
    ------
    ImportingError
        If the file cannot be read, is no such export, or holds no GPU work.
    """
    with ForeignTables(path) as tables:
        _check(tables, path.name)
        reading = _Reading(tables, progress)
        reading.read()
    found = [t for t in reading.traces.values() if _has_work(t)]
    if not found:
        raise ImportingError(
            f"{path.name} holds no kernel, copy, memset or graph launch; profile with "
            "'nsys profile --trace=cuda,nvtx --cuda-graph-trace=node', while the GPU works"
        )
    return found


def _has_work(trace: Trace) -> bool:
    return bool(len(trace.activities) or len(trace.whole_launches) or trace.invalid)


def _check(tables: ForeignTables, shown: str) -> None:
    has = tables.columns
    if not {_STRINGS, "META_DATA_EXPORT", "TARGET_INFO_SESSION_START_TIME", _KERNEL} & set(has):
        raise ImportingError(
            f"{shown} is an SQLite file of another program; give what 'nsys export --type sqlite' "
            "wrote"
        )
    if not {*_WORK, _GRAPH_TRACE} & set(has):
        raise ImportingError(
            f"{shown} has no CUDA tables: nothing of CUDA was traced, or nothing ran; profile with "
            "'nsys profile --trace=cuda,nvtx --cuda-graph-trace=node'"
        )
    for table in (*_WORK, _GRAPH_TRACE):
        missing = {"start", "end"} - has.get(table, {"start", "end"})
        if missing:
            raise ImportingError(
                f"{shown} is no export that gviz knows: {table} has no column "
                f"{' and no '.join(sorted(missing))}; export it with a current Nsight Systems"
            )


@dataclass(slots=True)
class _Reading:
    """Takes tables in, process by process."""

    tables: ForeignTables
    progress: Progress | None
    traces: dict[int, Trace] = field(default_factory=dict)
    _strings: dict[int, str] = field(default_factory=dict)
    _rows: int = 0
    _done: int = 0

    def read(self) -> None:
        """Read everything."""
        big = (_STRINGS, *_WORK, _RUNTIME, _GRAPH_TRACE, _NVTX, _NODE_EVENTS)
        self._rows = max(1, sum(self.tables.count(table) for table in big))
        self._read_strings()
        product = dict(self.tables.rows("META_DATA_EXPORT", ("name", "value")))
        version = product.get("EXPORT_PRODUCT_VERSION")
        self._profiler = "Nsight Systems" + (f" {storable(str(version))[:40]}" if version else "")
        base = next(iter(self.tables.rows("TARGET_INFO_SESSION_START_TIME", ("utcEpochNs",))), ())
        epoch = integer(base[0]) if base else None
        self._base = epoch if epoch is not None and 0 <= epoch < LATEST_NS else 0
        for table, kind in _WORK.items():
            self._read_work(table, int(kind))
        self._read_whole()
        self._read_calls()
        self._read_ranges()
        self._read_creations()
        self._read_devices()

    _profiler: str = ""
    _base: int = 0

    def _each(self, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        for row in self.tables.rows(table, columns):
            self._done += 1
            if self.progress is not None and self._done % _TOLD_EVERY == 0:
                self.progress(min(1.0, self._done / self._rows))
            yield row

    def _trace(self, global_id: Any) -> Trace:
        number = integer(global_id)
        pid = 0 if number is None else number >> _ID_BITS & _ID_MASK
        if pid not in self.traces:
            self.traces[pid] = Trace(
                self._profiler, "nsys", base_ns=self._base, process_id=pid or None
            )
        return self.traces[pid]

    def _read_strings(self) -> None:
        characters = 0
        for number, text in self._each(_STRINGS, ("id", "value")):
            if type(number) is int and isinstance(text, str):
                self._strings[number] = storable(text)
                characters += len(self._strings[number])
            if len(self._strings) > _MOST_STRINGS or characters > _MOST_STRING_CHARACTERS:
                raise ImportingError(
                    f"the export's table {_STRINGS} is larger than gviz takes in: "
                    f"{len(self._strings):,} texts; export a shorter profile"
                )

    def _text(self, value: Any) -> str | None:
        """Return a text given by its number, or, in early exports, itself."""
        if isinstance(value, str):
            return storable(value) or None
        return self._strings.get(value) or None if type(value) is int else None

    def _interval(self, trace: Trace, start: Any, end: Any) -> tuple[int, int] | None:
        begin, stop = integer(start), integer(end)
        if begin is None or stop is None or stop < begin:
            return None
        is_inside = _is_time(begin + trace.base_ns) and _is_time(stop + trace.base_ns)
        return (begin, stop) if is_inside else None

    def _read_work(self, table: str, kind: int) -> None:
        is_kernel = kind == NodeType.KERNEL
        more = _SHAPE if is_kernel else ("bytes", "copyKind")
        for row in self._each(table, (*_COMMON, *more)):
            start, end, device, stream, correlation, process, node, execution, graph = row[:9]
            trace = self._trace(process)
            interval = self._interval(trace, start, end)
            # Both 0: no time was available (cupti_activity.h).
            if interval is None or interval == (0, 0):
                trace.invalid += 1
                continue
            ids = graph_node(node, graph if execution is None else execution)
            common = (*interval, known(device, MOST_INT), known(stream), known(correlation), *ids)
            if is_kernel:
                name = next(filter(None, map(self._text, row[17:])), "?")
                dims = (known(number, MOST_DIMENSION) for number in row[9:15])
                shape = (*dims, *map(known, row[15:17]), UNKNOWN, UNKNOWN)
                trace.add_activity((kind, trace.name_number(name), *common, *shape))
            else:
                copy_kind = known(row[10]) if kind == NodeType.MEMCPY else UNKNOWN
                nothing = (UNKNOWN,) * 8
                trace.add_activity((kind, UNKNOWN, *common, *nothing, known(row[9]), copy_kind))

    def _read_whole(self) -> None:
        columns = ("start", "end", "deviceId", "streamId", "correlationId", "globalPid",
                   "graphExecId", "graphId")  # fmt: skip
        for start, end, device, stream, correlation, process, execution, graph in self._each(
            _GRAPH_TRACE, columns
        ):
            trace = self._trace(process)
            interval = self._interval(trace, start, end)
            if interval is None or interval == (0, 0):
                trace.invalid += 1
                continue
            exec_id = known(graph if execution is None else execution)
            trace.add_whole_launch(
                (
                    known(correlation),
                    max(exec_id, 0),
                    *interval,
                    known(device, MOST_INT),
                    known(stream),
                )
            )

    def _read_calls(self) -> None:
        for start, end, thread, correlation, name_id in self._each(
            _RUNTIME, ("start", "end", "globalTid", "correlationId", "nameId")
        ):
            trace = self._trace(thread)
            interval = self._interval(trace, start, end)
            name = self._text(name_id) or ""
            is_launch = int("GraphLaunch" in name)
            if interval is None or not (is_launch or "Launch" in name or "Mem" in name):
                continue
            tid = (integer(thread) or 0) & _ID_MASK
            trace.calls.add((known(correlation), *interval, tid, is_launch, UNKNOWN))

    def _read_ranges(self) -> None:
        columns = ("start", "end", "eventType", "text", "textId", "globalTid")
        for start, end, kind, text, text_id, thread in self._each(_NVTX, columns):
            if end is None or kind not in (None, _PUSH_POP):
                continue
            trace = self._trace(thread)
            interval = self._interval(trace, start, end)
            message = self._text(text) or self._text(text_id)
            if interval is not None and message is not None:
                tid = (integer(thread) or 0) & _ID_MASK
                trace.add_range(tid, interval, message)

    def _read_creations(self) -> None:
        """Find when and where the originals of executables' nodes were made."""
        original: dict[tuple[int, int], int] = {}
        created: dict[tuple[int, int], tuple[int, int]] = {}
        for start, thread, node, of in self._each(
            _NODE_EVENTS, ("start", "globalTid", "graphNodeId", "originalGraphNodeId")
        ):
            number, parent, time = integer(node), integer(of), integer(start)
            if number is None or time is None or not _is_time(time + self._base):
                continue
            process = (integer(thread) or 0) >> _ID_BITS & _ID_MASK
            if parent:
                original[process, number] = parent
            else:
                created.setdefault((process, number), (time, (integer(thread) or 0) & _ID_MASK))
        for process, number in original:
            at = number
            for _ in range(_MOST_CLONES):
                at = original.get((process, at), at)
            made = created.get((process, at))
            if made is not None and process in self.traces and 0 <= number < 1 << 64:
                trace = self.traces[process]
                trace.created[number >> NODE_BITS, number & NODE_MASK] = made

    def _read_devices(self) -> None:
        gpus = {
            row[0]: row[1:]
            for row in self.tables.rows(
                "TARGET_INFO_GPU",
                ("id", "name", "computeMajor", "computeMinor", "smCount", "totalMemory",
                 "maxWarpsPerSm", "threadsPerWarp", "busLocation"),
            )
        }  # fmt: skip
        ordinals = list(self.tables.rows("TARGET_INFO_CUDA_DEVICE", ("gpuId", "cudaId", "pid")))
        for pid, trace in self.traces.items():
            mine = [(g, c) for g, c, process in ordinals if process in (None, pid, 0)]
            for gpu, ordinal in mine or [(gpu, gpu) for gpu in gpus]:
                number = size(ordinal, MOST_INT)
                if number is not None and gpu in gpus:
                    trace.devices.setdefault(number, _device(number, gpus[gpu]))


def _is_time(ns: int) -> bool:
    return 0 <= ns < LATEST_NS


def _device(number: int, told: tuple[Any, ...]) -> DeviceFacts:
    name, major, minor, multiprocessors, memory, warps, threads, bus = told
    resident = size(warps, _MOST_THREADS), size(threads, _MOST_THREADS)
    return DeviceFacts(
        device_id=number,
        name=storable(name) if isinstance(name, str) else f"GPU {number}",
        compute_capability=None if size(major) is None else f"{size(major)}.{size(minor) or 0}",
        multiprocessor_count=size(multiprocessors, MOST_INT),
        memory_bytes=size(memory),
        max_threads_per_multiprocessor=resident[0] * resident[1]
        if resident[0] is not None and resident[1] is not None
        else None,
        pci_bus_id=storable(bus) if isinstance(bus, str) and bus else None,
    )
