"""Reads SQLite exports of Nsight Systems.

References
----------
Nsight Systems, "SQLite Schema Reference" of the exporter. Which columns a table has differs from
release to release: every column is looked for, none is taken for granted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Any

from gviz.cuda import NodeType
from gviz.dataclass import dataclass
from gviz.errors import ImportingError
from gviz.formats.nsys_graphs import GRAPH_COLUMNS, GRAPH_EVENTS, GraphOrigins
from gviz.formats.traces import (
    MOST_DIMENSION,
    MOST_INT,
    DeviceFacts,
    Trace,
    cuda_version,
    graph_node,
    integer,
    known,
    size,
    storable,
)
from gviz.recording import LATEST_NS, ForeignTables
from gviz.stats import UNKNOWN
from gviz.system import ShareRead

_KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
_MEMCPY = "CUPTI_ACTIVITY_KIND_MEMCPY"
_MEMSET = "CUPTI_ACTIVITY_KIND_MEMSET"
_RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
_GRAPH_TRACE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_NVTX = "NVTX_EVENTS"
_STRINGS = "StringIds"
#: The second until 2022.
_ABOUT_EXPORT = ("META_DATA_EXPORT", "EXPORT_META_DATA")
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
#: NvtxPushPopRange, NvtxStartEndRange and NvtxDomainCreate in ENUM_NSYS_EVENT_TYPE.
_PUSH_POP, _START_END, _DOMAIN = 59, 60, 75
#: Strings kept; names of an application are some thousand.
_MOST_STRINGS = 2_000_000
_MOST_STRING_CHARACTERS = 512 << 20
#: Warps of a multiprocessor and threads of a warp are far fewer.
_MOST_THREADS = (1 << 15) - 1
_PROGRESS_EVERY = 16_384


def read_nsys(path: Path, *, progress: ShareRead | None = None) -> list[Trace]:
    """Read an export; return one trace for each process that used a GPU.

    Parameters
    ----------
    path
        What ``nsys export --type sqlite`` wrote.
    progress
        Called with the share that was read.

    Raises
    ------
    ImportingError
        If the file cannot be read, is no such export, or holds no GPU work.
    """
    with ForeignTables(path) as tables:
        _check(tables, path.name)
        reading = _Reading(tables, progress)
        reading.read()
    found = [trace for _, trace in sorted(reading.traces.items()) if _has_work(trace)]
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
    if not {_STRINGS, *_ABOUT_EXPORT, "TARGET_INFO_SESSION_START_TIME", _KERNEL} & set(has):
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
    progress: ShareRead | None
    traces: dict[int, Trace] = field(default_factory=dict)
    _strings: dict[int, str] = field(default_factory=dict)
    _rows: int = 0
    _done: int = 0

    def read(self) -> None:
        """Read everything."""
        big = (_STRINGS, *_WORK, _RUNTIME, _GRAPH_TRACE, _NVTX, _NVTX, *GRAPH_EVENTS)
        self._rows = max(1, sum(self.tables.count(table) for table in big))
        self._read_strings()
        product = {
            name: value
            for table in _ABOUT_EXPORT
            for name, value in self.tables.rows(table, ("name", "value"))
        }
        version = product.get("EXPORT_PRODUCT_VERSION")
        self._profiler = "Nsight Systems" + (f" {storable(str(version))[:40]}" if version else "")
        base = next(iter(self.tables.rows("TARGET_INFO_SESSION_START_TIME", ("utcEpochNs",))), ())
        epoch = integer(base[0]) if base else None
        self._base = epoch if epoch is not None and 0 <= epoch < LATEST_NS else 0
        if product.get("EXPORT_PARAM_TIME_NORMALIZE") == "true":
            self._base = 0  # --ts-normalize: the times are on the wall clock already
        for table, kind in _WORK.items():
            self._read_work(table, int(kind))
        self._read_whole()
        self._read_calls()
        self._read_ranges()
        self._read_origins()
        self._read_devices()
        self._read_driver()

    _profiler: str = ""
    _base: int = 0
    _origins: GraphOrigins = field(default_factory=GraphOrigins)

    def _each(self, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        for row in self.tables.rows(table, columns):
            self._done += 1
            if self.progress is not None and self._done % _PROGRESS_EVERY == 0:
                self.progress(min(1.0, self._done / self._rows))
            yield row

    def _trace(self, global_id: Any) -> Trace:
        pid = _process_of(global_id)
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
                shared, registers = map(known, row[15:17])
                shape = (*dims, shared, UNKNOWN, registers, UNKNOWN, UNKNOWN)
                trace.add_activity((kind, trace.name_number(name), *common, *shape))
            else:
                copy_kind = known(row[10]) if kind == NodeType.MEMCPY else UNKNOWN
                nothing = (UNKNOWN,) * 9  # of a kernel: shape, shared memory, registers
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
            if execution is not None:
                self._origins.add_launch(_process_of(process), execution, graph)
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
            if interval is not None and "GraphInstantiate" in name:
                self._origins.add_instantiation(_thread_of(thread), interval)
            if interval is None or not (is_launch or "Launch" in name or "Mem" in name):
                continue
            trace.calls.add(
                (known(correlation), *interval, _thread_of(thread)[1], is_launch, UNKNOWN)
            )

    def _read_ranges(self) -> None:
        domains = self._read_domains()
        left_out: Counter[int] = Counter()
        columns = ("start", "end", "eventType", "text", "textId", "globalTid", "domainId")
        for start, end, kind, text, text_id, thread, domain in self._each(_NVTX, columns):
            if kind == _START_END:
                left_out[_process_of(thread)] += 1
            if end is None or kind not in (None, _PUSH_POP):
                continue
            trace = self._trace(thread)
            interval = self._interval(trace, start, end)
            message = self._text(text) or self._text(text_id)
            if interval is not None and message is not None:
                process, tid = _thread_of(thread)
                number = size(domain) or None
                named = number and domains.get((process, number), f"domain {number}")
                trace.add_range(tid, interval, message, named or None)
        for process, count in left_out.items():
            if process in self.traces:
                self.traces[process].notes.append(
                    ("information", f"{count:,} ranges of NVTX that were started and ended, not "
                                    "pushed and popped, are left out: they nest in no thread's.")
                )  # fmt: skip

    def _read_domains(self) -> dict[tuple[int, int], str]:
        """Return the names of NVTX domains, by process and number; 0 is the default one."""
        found: dict[tuple[int, int], str] = {}
        if "domainId" not in self.tables.columns.get(_NVTX, ()):
            return found
        columns = ("eventType", "text", "textId", "globalTid", "domainId")
        for kind, text, text_id, thread, domain in self._each(_NVTX, columns):
            if kind == _DOMAIN and (number := size(domain)) is not None:
                name = self._text(text) or self._text(text_id)
                if name is not None:
                    found[_process_of(thread), number] = name
        return found

    def _read_origins(self) -> None:
        """Find when and where executables and the originals of their nodes were made."""
        for table in GRAPH_EVENTS:
            for start, thread, *ids in self._each(table, GRAPH_COLUMNS):
                time = integer(start)
                if time is not None and _is_time(time + self._base):
                    node, of, graph, execution = ids
                    self._origins.add_event(_thread_of(thread), time, (node, of, graph, execution))
        self._origins.add_to(self.traces)

    def _read_driver(self) -> None:
        environment = dict(self.tables.rows("TARGET_INFO_SYSTEM_ENV", ("name", "value")))
        for trace in self.traces.values():
            trace.driver_version = cuda_version(environment.get("CudaDriverVersion"))

    def _read_devices(self) -> None:
        gpus = {
            row[0]: row[1:]
            for row in self.tables.rows(
                "TARGET_INFO_GPU",
                ("id", "name", "computeMajor", "computeMinor", "smCount", "totalMemory",
                 "maxWarpsPerSm", "threadsPerWarp", "busLocation", "cuDevice"),
            )
        }  # fmt: skip
        ordinals = list(self.tables.rows("TARGET_INFO_CUDA_DEVICE", ("gpuId", "cudaId", "pid")))
        for pid, trace in self.traces.items():
            mine = [(g, c) for g, c, process in ordinals if process in (None, pid, 0)]
            # Without that table each GPU has CUDA's ordinal, as all see it that see every GPU.
            by_gpu = [(g, g if row[-1] is None else row[-1]) for g, row in gpus.items()]
            for gpu, ordinal in mine or by_gpu:
                number = size(ordinal, MOST_INT)
                if number is not None and gpu in gpus:
                    trace.devices.setdefault(number, _device(number, gpus[gpu][:-1]))


def _process_of(global_id: Any) -> int:
    """Return the process of a "Serialized GlobalId"; 0: none is recorded."""
    return (integer(global_id) or 0) >> _ID_BITS & _ID_MASK


def _thread_of(global_id: Any) -> tuple[int, int]:
    """Return the process and the thread of a "Serialized GlobalId"."""
    return _process_of(global_id), (integer(global_id) or 0) & _ID_MASK


def _is_time(ns: int) -> bool:
    return 0 <= ns < LATEST_NS


def _device(number: int, row: tuple[Any, ...]) -> DeviceFacts:
    name, major, minor, multiprocessors, memory, warps, threads, bus = row
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
