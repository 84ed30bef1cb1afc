"""Reads the JSON of rocprofv3, AMD's profiler.

References
----------
ROCm's rocprofiler-sdk: ``source/lib/output/generateJSON.cpp`` and ``cxx/serialization.hpp`` for
what is written, its change log for the ids of graphs, which it writes since 2026. Times are
nanoseconds of a clock that began with the machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from gviz.cuda import CopyKind, NodeType
from gviz.errors import ImportingError
from gviz.formats.traces import (
    CALL,
    MOST_DIMENSION,
    MOST_INT,
    NODE_MASK,
    DeviceFacts,
    Trace,
    integer,
    known,
    size,
    storable,
)
from gviz.recording import LATEST_NS
from gviz.runs import Activities, blank_activities
from gviz.stats import UNKNOWN

#: How such a file begins.
_HEAD = re.compile(rb'\{\s*"rocprofiler-sdk-tool"\s*:')
_GZIP = b"\x1f\x8b"
#: It is taken in as a whole: some 600 bytes of text for each kernel and call.
MOST_FILE_BYTES = 512 << 20
#: ROCPROFILER_AGENT_TYPE_GPU.
_GPU = 2
#: Directions of copies, as the names of their operations end.
_COPY_KINDS = {
    "HOST_TO_HOST": int(CopyKind.HTOH),
    "HOST_TO_DEVICE": int(CopyKind.HTOD),
    "DEVICE_TO_HOST": int(CopyKind.DTOH),
    "DEVICE_TO_DEVICE": int(CopyKind.DTOD),
}
NODES_NOTE = (
    "rocprofv3 numbers the nodes of a graph as a launch dispatches them: where threads launch one "
    "executable at once, times may be those of another node."
)


class _Handle(msgspec.Struct, gc=False):
    handle: Any = None


class _Correlation(msgspec.Struct, gc=False):
    internal: Any = None


class _Size(msgspec.Struct, gc=False):
    x: Any = None
    y: Any = None
    z: Any = None


class _Dispatch(msgspec.Struct, gc=False):
    agent_id: _Handle = msgspec.field(default_factory=_Handle)
    queue_id: _Handle = msgspec.field(default_factory=_Handle)
    kernel_id: Any = None
    group_segment_size: Any = None
    workgroup_size: _Size = msgspec.field(default_factory=_Size)
    #: In work-items: HIP's blocks times the threads of each.
    grid_size: _Size = msgspec.field(default_factory=_Size)


class _Record(msgspec.Struct, gc=False):
    """A kernel, a copy, a call of HIP or a launch of a graph."""

    kind: Any = None
    operation: Any = None
    thread_id: Any = None
    correlation_id: _Correlation = msgspec.field(default_factory=_Correlation)
    start_timestamp: Any = None
    end_timestamp: Any = None
    graph_exec_id: Any = None
    graph_node_id: Any = None
    dispatch_info: _Dispatch = msgspec.field(default_factory=_Dispatch)
    dst_agent_id: _Handle = msgspec.field(default_factory=_Handle)
    src_agent_id: _Handle = msgspec.field(default_factory=_Handle)
    bytes: Any = None


class _Agent(msgspec.Struct, gc=False):
    id: _Handle = msgspec.field(default_factory=_Handle)
    type: Any = None
    name: Any = None
    product_name: Any = None
    cu_count: Any = None
    logical_node_type_id: Any = None


class _Symbol(msgspec.Struct, gc=False):
    kernel_id: Any = None
    formatted_kernel_name: Any = None
    kernel_name: Any = None


class _Kind(msgspec.Struct, gc=False):
    operations: list[Any] = []


class _Strings(msgspec.Struct, gc=False):
    buffer_records: list[_Kind] = []


class _Records(msgspec.Struct, gc=False):
    kernel_dispatch: list[_Record] = []
    memory_copy: list[_Record] = []
    hip_api: list[_Record] = []
    hip_graph: list[_Record] = []


class _Metadata(msgspec.Struct, gc=False):
    pid: Any = None


class _Process(msgspec.Struct, gc=False):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    agents: list[_Agent] = []
    strings: _Strings = msgspec.field(default_factory=_Strings)
    kernel_symbols: list[_Symbol] = []
    buffer_records: _Records = msgspec.field(default_factory=_Records)


class _File(msgspec.Struct, gc=False):
    processes: list[_Process] = msgspec.field(name="rocprofiler-sdk-tool", default_factory=list)


def is_rocprof(head: bytes) -> bool:
    """Return whether a file that begins so is rocprofv3's."""
    return _HEAD.match(head) is not None


def read_rocprof(path: Path, *, most_bytes: int | None = None) -> list[Trace]:
    """Read the JSON of rocprofv3; return one trace for each process that used a GPU.

    Parameters
    ----------
    path
        What ``rocprofv3 --output-format json`` wrote.
    most_bytes
        Bytes that are taken in at most; None: as many as gviz can take at once.

    Raises
    ------
    ImportingError
        If the file cannot be read, is larger, no such JSON, or holds no GPU work.
    """
    most = min(MOST_FILE_BYTES, most_bytes or MOST_FILE_BYTES)
    try:
        with path.open("rb") as file:
            text = file.read(most + 1)
    except OSError as error:
        raise ImportingError(f"{path} cannot be read: {error.strerror or error}") from None
    if text.startswith(_GZIP):
        raise ImportingError(f"{path.name} is packed with gzip; unpack it first")
    if len(text) > most:
        raise ImportingError(
            f"{path.name} is larger than the {most >> 20} MiB that are taken in at once; profile "
            "fewer steps, as rocprofv3 --collection-period can"
        )
    try:
        found = msgspec.json.decode(text, type=_File)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ImportingError(
            f"{path.name} is not as rocprofv3 writes it: {error}; it was cut off or changed, copy "
            "it again"
        ) from None
    traces = [_Reading(process).trace for process in found.processes]
    traces = [trace for trace in traces if len(trace.activities) or trace.invalid]
    if not traces:
        raise ImportingError(
            f"{path.name} holds no kernel and no copy; profile with 'rocprofv3 --sys-trace "
            "--output-format json -- PROGRAM', while the GPU works"
        )
    return traces


class _Reading:
    """Takes one process in."""

    def __init__(self, process: _Process) -> None:
        self.trace = Trace(
            "AMD's rocprofv3",
            "rocprofv3",
            process_id=size(process.metadata.pid, MOST_INT) or None,
            shared_memory_is_total=True,
        )
        self._names = {known(symbol.kernel_id): _name(symbol) for symbol in process.kernel_symbols}
        self._kinds = process.strings.buffer_records
        #: Numbers of GPUs and queues, by their handles.
        self._gpus: dict[int, int] = {}
        self._queues: dict[int, int] = {}
        for agent in process.agents:
            self._add_agent(agent)
        records = process.buffer_records
        self._add_kernels(records.kernel_dispatch)
        self._add_copies(records.memory_copy)
        self._add_calls(records.hip_api, records.hip_graph)

    def _add_agent(self, agent: _Agent) -> None:
        number = size(agent.logical_node_type_id, MOST_INT)
        if agent.type != _GPU or number is None:
            return
        self._gpus[known(agent.id.handle)] = number
        names = (agent.product_name, agent.name, f"GPU {number}")
        self.trace.devices[number] = DeviceFacts(
            device_id=number,
            name=storable(next(name for name in names if isinstance(name, str) and name)),
            multiprocessor_count=size(agent.cu_count, MOST_INT),
        )

    def _add_kernels(self, records: Sequence[_Record]) -> None:
        records, rows = self._work(records, NodeType.KERNEL)
        infos = [record.dispatch_info for record in records]
        rows["name"] = [
            self.trace.name_number(self._names.get(known(info.kernel_id), "?")) for info in infos
        ]
        rows["device_id"] = [self._gpu(info.agent_id) for info in infos]
        rows["stream_id"] = [self._queue(known(info.queue_id.handle)) for info in infos]
        rows["block"] = _sizes([info.workgroup_size for info in infos])
        items = _sizes([info.grid_size for info in infos])
        is_whole = ((rows["block"] > 0) & (items > 0)).all(axis=1, keepdims=True)
        rows["grid"] = np.where(is_whole, -(-items // np.maximum(rows["block"], 1)), UNKNOWN)
        rows["shared_mem_bytes"] = [known(info.group_segment_size) for info in infos]
        self.trace.add_activities(rows)

    def _add_copies(self, records: Sequence[_Record]) -> None:
        records, rows = self._work(records, NodeType.MEMCPY)
        rows["bytes"] = [known(record.bytes) for record in records]
        rows["copy_kind"] = [
            _COPY_KINDS.get(self._operation(record).removeprefix("MEMORY_COPY_"), UNKNOWN)
            for record in records
        ]
        rows["device_id"] = [
            max(self._gpu(record.dst_agent_id), self._gpu(record.src_agent_id))
            for record in records
        ]
        self.trace.add_activities(rows)

    def _work(self, records: Sequence[_Record], kind: int) -> tuple[list[_Record], Activities]:
        """Return the records that have times, and what they say, whatever they are of."""
        good = [record for record in records if _is_timed(record)]
        self.trace.invalid += len(records) - len(good)
        rows = blank_activities(len(good))
        rows["type"] = int(kind)
        rows["start_ns"] = [record.start_timestamp for record in good]
        rows["end_ns"] = [record.end_timestamp for record in good]
        rows["correlation_id"] = [known(record.correlation_id.internal) for record in good]
        nodes = [_graph_node(record) for record in good]
        rows["exec_id"], rows["node_id"] = np.array(nodes, np.int64).reshape(-1, 2).T
        if (rows["node_id"] != UNKNOWN).any() and not self.trace.notes:
            self.trace.notes.append(("limit", NODES_NOTE))
        return good, rows

    def _add_calls(self, calls: Sequence[_Record], launches: Sequence[_Record]) -> None:
        """Take calls of HIP in, and launches of graphs, which are listed beside them."""
        named = [(record, self._operation(record)) for record in calls]
        named += [(record, "hipGraphLaunch") for record in launches]
        self.trace.host_events += len(named)
        rows = [
            _call(record, name)
            for record, name in named
            if ("Launch" in name or "Mem" in name) and _is_timed(record)
        ]
        self.trace.calls.extend(np.array(rows, CALL))

    def _operation(self, record: _Record) -> str:
        kind = known(record.kind, len(self._kinds) - 1)
        names = self._kinds[kind].operations if kind != UNKNOWN else []
        operation = known(record.operation, len(names) - 1)
        return str(names[operation]) if operation != UNKNOWN else ""

    def _gpu(self, agent: _Handle) -> int:
        return self._gpus.get(known(agent.handle), UNKNOWN)

    def _queue(self, handle: int) -> int:
        """Return the number of a queue, from 1 on: handles are addresses."""
        if handle == UNKNOWN:
            return UNKNOWN
        return self._queues.setdefault(handle, len(self._queues) + 1)


def _name(symbol: _Symbol) -> str:
    for name in (symbol.formatted_kernel_name, symbol.kernel_name):
        if isinstance(name, str) and name:
            return name.removesuffix(".kd")
    return "?"


def _is_timed(record: _Record) -> bool:
    start, end = record.start_timestamp, record.end_timestamp
    return type(start) is int and type(end) is int and 0 <= start <= end < LATEST_NS


def _call(record: _Record, name: str) -> tuple[int, int, int, int, bool, int]:
    """Return a row of :data:`CALL`."""
    thread = max(0, integer(record.thread_id) or 0) & NODE_MASK
    times = (record.start_timestamp, record.end_timestamp)
    return (known(record.correlation_id.internal), *times, thread, "GraphLaunch" in name, UNKNOWN)


def _graph_node(record: _Record) -> tuple[int, int]:
    """Return the executable and node of work; UNKNOWN twice outside of graphs and before ids."""
    exec_id, node_id = (
        known(value, NODE_MASK) for value in (record.graph_exec_id, record.graph_node_id)
    )
    return (exec_id, node_id) if exec_id > 0 and node_id != UNKNOWN else (UNKNOWN, UNKNOWN)


def _sizes(values: Sequence[_Size]) -> Any:
    found = [[known(n, MOST_DIMENSION) for n in (value.x, value.y, value.z)] for value in values]
    sizes = np.array(found, np.int64).reshape(-1, 3)
    sizes[(sizes == UNKNOWN).any(axis=1)] = UNKNOWN
    return sizes
