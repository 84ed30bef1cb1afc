"""What a spool holds, decoded: the middle between raw records and a recording's rows."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gviz.errors import SpoolError
from gviz.spool import format as f
from gviz.spool.activity import ACTIVITY, decode_buffer, join
from gviz.spool.format import RecordType
from gviz.spool.life_records import LIFE_TAKERS, LifeContents
from gviz.spool.reader import Record


class DeviceRecord(NamedTuple):
    """A GPU."""

    ordinal: int
    major: int
    minor: int
    multiprocessors: int
    max_threads: int
    memory_bytes: int
    bus_id: str
    name: str


class LifeRecord(NamedTuple):
    """A driver call of a graph's life."""

    call: int
    correlation: int
    start_ns: int
    end_ns: int
    thread_id: int
    result: int
    graph_id: int
    exec_id: int
    flags: int
    stream_id: int
    mode: int


class LaunchRecord(NamedTuple):
    """A cuGraphLaunch call."""

    exec_id: int
    correlation: int
    start_ns: int
    end_ns: int
    thread_id: int
    result: int
    stream_id: int
    flags: int
    token: int


class CallRecord(NamedTuple):
    """A launch, copy or memset call."""

    call: int
    correlation: int
    start_ns: int
    end_ns: int
    thread_id: int
    result: int


class ArgumentRecord(NamedTuple):
    """A kernel argument."""

    size: int
    allocation: int
    allocation_bytes: int
    value: bytes


class NodeRecord(NamedTuple):
    """A node as the topology walk read it."""

    node_id: int
    type: int
    device_id: int
    function: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_mem_bytes: int
    max_blocks: int
    priority: int
    cooperative: int
    source_type: int
    destination_type: int
    bytes: int
    source: int
    destination: int
    value: int
    element_bytes: int
    child_graph_id: int
    arguments: tuple[ArgumentRecord, ...]


class FunctionRecord(NamedTuple):
    """A kernel's name and resources; -1: the driver did not say."""

    registers: int
    static_shared_bytes: int
    local_bytes: int
    max_threads: int
    name: str


class CreatedRecord(NamedTuple):
    """When and where a node was created."""

    time_ns: int
    thread_id: int
    stream_id: int
    nvtx_path: int
    stack: int
    type: int


@dataclass(slots=True)
class GraphWalk:
    """One graph level as walked at one instantiation."""

    graph_id: int
    exec_id: int
    parent_graph_id: int
    parent_node_id: int
    nodes: list[NodeRecord] = field(default_factory=list)
    #: (from, to, type, from_port, to_port), int64, shape (n, 5)
    edges: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 5), np.int64))


@dataclass(slots=True)
class Contents:
    """Everything a spool told, in order of arrival."""

    metadata: dict[str, Any] = field(default_factory=dict)
    ended: bool = False
    notes: list[tuple[str, str]] = field(default_factory=list)
    counters: list[tuple[str, float, str, str]] = field(default_factory=list)
    devices: list[DeviceRecord] = field(default_factory=list)
    windows: list[tuple[int, int, int]] = field(default_factory=list)
    strings: dict[int, str] = field(default_factory=dict)
    functions: dict[int, FunctionRecord] = field(default_factory=dict)
    call_names: dict[int, str] = field(default_factory=dict)
    calls: list[CallRecord] = field(default_factory=list)
    lives: list[LifeRecord] = field(default_factory=list)
    launches: list[LaunchRecord] = field(default_factory=list)
    launch_times: dict[int, int] = field(default_factory=dict)
    walks: list[GraphWalk] = field(default_factory=list)
    created: dict[int, CreatedRecord] = field(default_factory=dict)
    clones: dict[int, int] = field(default_factory=dict)
    stacks: dict[int, list[list[Any]]] = field(default_factory=dict)
    nvtx_paths: dict[int, tuple[int, str, str]] = field(default_factory=dict)
    nvtx_ranges: list[tuple[int, int, int, int]] = field(default_factory=list)
    dots: list[int] = field(default_factory=list)
    life: LifeContents = field(default_factory=LifeContents)
    unknown_records: int = 0
    _buffers: list[npt.NDArray[np.void]] = field(default_factory=list)
    _by_graph: dict[int, GraphWalk] = field(default_factory=dict)

    def activities(self) -> npt.NDArray[np.void]:
        """Return every activity record (dtype ACTIVITY), ordered by start."""
        return join(self._buffers) if self._buffers else np.zeros(0, ACTIVITY)

    def add(self, record: Record) -> None:
        """Take one record in. A record of an unknown type is counted, not refused.

        Raises
        ------
        SpoolError
            If the payload is not what its type says.
        """
        take = _TAKERS.get(record.type)
        if take is None:
            self.unknown_records += 1
            return
        try:
            take(self, record.payload)
        except (ValueError, TypeError, IndexError, struct.error) as error:
            raise SpoolError(
                f"the spool is damaged: a {RecordType(record.type).name} record of "
                f"{len(record.payload)} bytes cannot be read ({error}); record again"
            ) from error


def _text(payload: bytes) -> str:
    return payload.decode("utf-8", "replace")


def _meta(c: Contents, p: bytes) -> None:
    c.metadata |= json.loads(p)


def _end(c: Contents, p: bytes) -> None:
    c.ended = True


def _note(c: Contents, p: bytes) -> None:
    kind, _, text = _text(p).partition("\n")
    c.notes.append((kind, text))


def _counter(c: Contents, p: bytes) -> None:
    name, value, unit, method = _text(p).split("\n", 3)
    c.counters.append((name, float(value), unit, method))


def _device(c: Contents, p: bytes) -> None:
    v = f.DEVICE.unpack_from(p)
    bus_id, name = _text(v[6].rstrip(b"\0")), _text(p[f.DEVICE.size :])
    c.devices.append(DeviceRecord(v[0], v[1], v[2], v[3], v[4], v[5], bus_id, name))


def _window(c: Contents, p: bytes) -> None:
    c.windows.append(f.WINDOW.unpack(p))


def _buffer(c: Contents, p: bytes) -> None:
    c._buffers.append(decode_buffer(p))


def _string(c: Contents, p: bytes) -> None:
    c.strings[int.from_bytes(p[:8], "little")] = _text(p[8:])


def _call(c: Contents, p: bytes) -> None:
    c.calls.append(CallRecord(*f.CALL.unpack(p)))


def _life(c: Contents, p: bytes) -> None:
    c.lives.append(LifeRecord(*f.LIFE.unpack(p)))


def _call_name(c: Contents, p: bytes) -> None:
    c.call_names[int.from_bytes(p[:4], "little")] = _text(p[4:])


def _launch(c: Contents, p: bytes) -> None:
    c.launches.append(LaunchRecord(*f.LAUNCH.unpack(p)))


def _launch_time(c: Contents, p: bytes) -> None:
    token, duration = f.LAUNCH_TIME.unpack(p)
    c.launch_times[token] = duration


def _graph(c: Contents, p: bytes) -> None:
    graph_id, exec_id, parent_graph, parent_node, *_ = f.GRAPH.unpack(p)
    walk = GraphWalk(graph_id, exec_id, parent_graph, parent_node)
    (c.life.failed_walks if exec_id == f.WALK_FAILED else c.walks).append(walk)
    c._by_graph[graph_id] = walk


def _node(c: Contents, p: bytes) -> None:
    v = f.NODE.unpack_from(p)
    arguments, at = [], f.NODE.size
    for _ in range(v[23]):
        size, padded, allocation, allocation_bytes = f.ARGUMENT.unpack_from(p, at)
        at += f.ARGUMENT.size
        arguments.append(ArgumentRecord(size, allocation, allocation_bytes, p[at : at + size]))
        at += padded
    shape = (tuple(v[5:8]), tuple(v[8:11]))
    node = NodeRecord._make((*v[1:5], *shape, *v[11:23], tuple(arguments)))
    if v[0] in c._by_graph:
        c._by_graph[v[0]].nodes.append(node)


def _edges(c: Contents, p: bytes) -> None:
    graph_id, count = f.EDGES.unpack_from(p)
    dtype = np.dtype([("from", "<u4"), ("to", "<u4"), ("ports", "u1", 4)])
    raw = np.frombuffer(p, dtype, count, f.EDGES.size)
    edges = np.empty((count, 5), np.int64)
    edges[:, 0], edges[:, 1] = raw["from"], raw["to"]
    edges[:, 2] = raw["ports"][:, 2]
    edges[:, 3:] = raw["ports"][:, :2]
    if graph_id in c._by_graph:
        c._by_graph[graph_id].edges = edges


def _function(c: Contents, p: bytes) -> None:
    v = f.FUNCTION.unpack_from(p)
    c.functions[v[0]] = FunctionRecord(v[1], v[2], v[3], v[4], _text(p[f.FUNCTION.size :]))


def _created(c: Contents, p: bytes) -> None:
    node_id, *rest = f.CREATED.unpack(p)
    c.created[node_id] = CreatedRecord(*rest)


def _cloned(c: Contents, p: bytes) -> None:
    clone, original = f.CLONED.unpack(p)
    c.clones[clone] = original


def _stack(c: Contents, p: bytes) -> None:
    stack_id, frames = json.loads(p)
    c.stacks[stack_id] = frames


def _nvtx_path(c: Contents, p: bytes) -> None:
    path_id, parent = f.NVTX_PATH.unpack_from(p)
    domain, _, text = _text(p[f.NVTX_PATH.size :]).partition("\n")
    c.nvtx_paths[path_id] = (parent, domain, text)


def _nvtx_range(c: Contents, p: bytes) -> None:
    c.nvtx_ranges.append(f.NVTX_RANGE.unpack(p))


def _dot(c: Contents, p: bytes) -> None:
    c.dots.append(int.from_bytes(p[:4], "little"))


_TAKERS: dict[int, Callable[[Contents, bytes], None]] = {
    RecordType.META: _meta,
    RecordType.END: _end,
    RecordType.NOTE: _note,
    RecordType.COUNTER: _counter,
    RecordType.DEVICE: _device,
    RecordType.WINDOW: _window,
    RecordType.BUFFER: _buffer,
    RecordType.STRING: _string,
    RecordType.CALL: _call,
    RecordType.LIFE: _life,
    RecordType.CALL_NAME: _call_name,
    RecordType.LAUNCH: _launch,
    RecordType.LAUNCH_TIME: _launch_time,
    RecordType.GRAPH: _graph,
    RecordType.NODE: _node,
    RecordType.EDGES: _edges,
    RecordType.FUNCTION: _function,
    RecordType.CREATED: _created,
    RecordType.CLONED: _cloned,
    RecordType.STACK: _stack,
    RecordType.NVTX_PATH: _nvtx_path,
    RecordType.NVTX_RANGE: _nvtx_range,
    RecordType.DOT: _dot,
    **LIFE_TAKERS,
}
