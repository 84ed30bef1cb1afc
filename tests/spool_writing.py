"""Spools for tests, written as the native library writes them, and CUPTI's raw records.

writer = SpoolWriter(tmp_path / "x.gviz-spool")
writer.append(RecordType.META, b"{}")
writer.append(RecordType.BUFFER, buffer([kernel(node=1, start=10, end=20)]))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from gviz.recording.reader import Recording
from gviz.spool.records import format as f
from gviz.spool.records import table
from gviz.spool.records.activity import KERNEL, MEMCPY, MEMCPY_PEER, MEMSET, ActivityKind
from gviz.spool.records.format import RecordType

#: Folds a spool of records; see conftest.py.
FoldRecords = Callable[[Sequence[tuple[int, bytes]]], Recording]


class SpoolWriter:
    """Appends records; a segment holds ``segment_bytes`` at most, but one record at least."""

    def __init__(self, directory: Path, *, segment_bytes: int = 1 << 20) -> None:
        self.directory = directory
        self._segment_bytes = segment_bytes
        self._index = -1
        self._end = 0
        self._owner = (1, 0)
        directory.mkdir()
        self._open()

    @property
    def path(self) -> Path:
        """The segment under way."""
        return self.directory / f"{self._index:06d}{f.SEGMENT_SUFFIX}"

    def _open(self) -> None:
        self._index += 1
        self._end = table.SEGMENT_HEADER.size
        self.path.write_bytes(self._header())

    def _header(self) -> bytes:
        return table.SEGMENT_HEADER.pack(
            f.MAGIC, f.VERSION, self._index, self._segment_bytes, self._end, *self._owner
        )

    def give_to(self, process_id: int, process_start: int = 0) -> None:
        """Let the segments from here on belong to a process that began then."""
        self._owner = (process_id, process_start)
        self._write_header()

    def _write_header(self) -> None:
        with self.path.open("r+b") as file:
            file.write(self._header())

    def append(self, kind: int, payload: bytes) -> None:
        """Append a record and commit it."""
        self.append_uncommitted(kind, payload)
        self._end += len(_padded(kind, payload))
        self._write_header()

    def append_uncommitted(self, kind: int, payload: bytes) -> None:
        """Write a record as far as a crash before its commit leaves it."""
        record = _padded(kind, payload)
        full = self._end + len(record) > self._segment_bytes
        if full and self._end > table.SEGMENT_HEADER.size:
            self._open()
        with self.path.open("r+b") as file:
            file.seek(self._end)
            file.write(record)


def _padded(kind: int, payload: bytes) -> bytes:
    record = table.RECORD_HEADER.pack(kind, len(payload)) + payload
    return record + bytes(-len(record) % 8)


# -- activity records of CUPTI 13.0 ----------------------------------------------------------------


def buffer(records: Sequence[bytes]) -> bytes:
    """Return the payload of a BUFFER record."""
    offsets = np.cumsum([0, *map(len, records)], dtype="<u4")[:-1]
    places = offsets.tobytes() + bytes(4 * (len(offsets) & 1))
    raw = b"".join(records)
    return table.BUFFER.pack(len(records), len(raw), places + raw)


def kernel(
    *, node: int = 0, start: int, end: int, correlation: int = 0, stream: int = 7,
    device: int = 0, grid: tuple[int, int, int] = (1, 1, 1),
    block: tuple[int, int, int] = (1, 1, 1), static: int = 0, dynamic: int = 0,
    registers: int = 0, name: int = 0, size: int = KERNEL.size,
) -> bytes:  # fmt: skip
    """Return a CUpti_ActivityKernel10, or one of a later CUPTI, of ``size`` bytes."""
    return _activity(
        KERNEL, size, node=node, start_ns=start, end_ns=end, correlation_id=correlation,
        stream_id=stream, device_id=device, grid=grid, block=block,
        static_shared_mem_bytes=static, shared_mem_bytes=dynamic, registers=registers, name=name,
    )  # fmt: skip


def copy(
    *, node: int = 0, start: int, end: int, correlation: int = 0, stream: int = 7,
    device: int = 0, bytes_: int = 0, copy_kind: int = 8, size: int = MEMCPY.size,
) -> bytes:  # fmt: skip
    """Return a CUpti_ActivityMemcpy6 or later."""
    return _activity(
        MEMCPY, size, node=node, start_ns=start, end_ns=end, correlation_id=correlation,
        stream_id=stream, device_id=device, bytes=bytes_, copy_kind=copy_kind,
    )  # fmt: skip


def peer_copy(
    *, node: int = 0, start: int, end: int, correlation: int = 0, stream: int = 7,
    device: int = 0, bytes_: int = 0, size: int = MEMCPY_PEER.size,
) -> bytes:  # fmt: skip
    """Return a CUpti_ActivityMemcpyPtoP4 or later."""
    return _activity(
        MEMCPY_PEER, size, node=node, start_ns=start, end_ns=end,
        correlation_id=correlation, stream_id=stream, device_id=device, bytes=bytes_, copy_kind=10,
    )  # fmt: skip


def memset(
    *, node: int = 0, start: int, end: int, correlation: int = 0, stream: int = 7,
    device: int = 0, bytes_: int = 0, value: int = 0, size: int = MEMSET.size,
) -> bytes:  # fmt: skip
    """Return a CUpti_ActivityMemset4 or later."""
    return _activity(
        MEMSET, size, node=node, start_ns=start, end_ns=end, correlation_id=correlation,
        stream_id=stream, device_id=device, bytes=bytes_, value=value,
    )  # fmt: skip


def _activity(kind: ActivityKind, size: int, *, node: int, **fields: object) -> bytes:
    # Not zeros: what is read from a wrong place shows.
    raw = bytearray(b"\xa5" * size)
    record = np.frombuffer(raw, kind.record, 1)
    graph_node = {"exec_id": node >> 32, "node_id": node & 0xFFFF_FFFF}
    for name, value in {"kind": kind.number, **graph_node, **fields}.items():
        record[name] = value
    return bytes(raw)


# -- a graph, and its launches -----------------------------------------------------------------

#: What a kernel's name pointer stands for, in :func:`graph_records`.
KERNEL_NAME, KERNEL_KEY = 0x7000, 0x9000


def name_records() -> list[tuple[int, bytes]]:
    """Return the records that name the one kernel of these graphs, ``_Z4workv``."""
    return [
        (RecordType.STRING, KERNEL_NAME.to_bytes(8, "little") + b"_Z4workv"),
        (RecordType.FUNCTION, table.FUNCTION.pack(KERNEL_KEY, 24, 0, 0, 1024, "_Z4workv")),
    ]


def graph_records(
    graph: int,
    graph_exec: int,
    kinds: Sequence[int],
    edges: Sequence[tuple[int, int]] = (),
    *,
    parent: tuple[int, int] = (0, 0),
    branch: int = 0,
    grids: Sequence[int] = (),
) -> list[tuple[int, bytes]]:
    """Return the walk of one level: nodes of these kinds, by id from 0, and default edges.

    ``grids`` are the x of the nodes' grids, else 1.
    """
    head = table.GRAPH.pack(graph, graph_exec, *parent, branch, nodes=len(kinds), edges=len(edges))
    found = [(int(RecordType.GRAPH), head)]
    for node, kind in enumerate(kinds):
        function = KERNEL_KEY if kind == 0 else 0
        grid = (grids[node] if grids else 1, 1, 1)
        found.append(node_record(graph, node, kind, function=function, grid=grid))
    rows = b"".join(table.EDGE.pack(a, b, 0, 0, 0) for a, b in edges)
    return [*found, (RecordType.EDGES, table.EDGES.pack(graph, len(edges), rows))]


def node_record(graph: int, node: int, kind: int, **more: object) -> tuple[int, bytes]:
    """Return a node of which nothing is known but what ``more`` says, by the record's fields."""
    values = {
        "device_id": 0, "function": 0, "grid": (1, 1, 1), "block": (32, 1, 1),
        "shared_mem_bytes": 0, "max_blocks": -1, "priority": 0, "cooperative": 0,
        "source_type": 2, "destination_type": 2, "bytes": 64, "source": 0, "destination": 0,
        "value": 0, "element_bytes": 1, "child_graph_id": 0, "argument_count": 0,
    } | more  # fmt: skip
    return RecordType.NODE, table.NODE.pack(graph_id=graph, node_id=node, type=kind, **values)


def conditional_record(
    graph: int, node: int, kind: int, size: int = 1, bodies: int | None = None
) -> tuple[int, bytes]:
    """Return what the walk says of a conditional node: IF 0, WHILE 1, SWITCH 2."""
    known = size if bodies is None else bodies
    return RecordType.CONDITIONAL, table.CONDITIONAL.pack(graph, node, kind, size, 77, known)


def launch_record(
    graph_exec: int,
    correlation: int,
    start: int,
    *,
    end_ns: int | None = None,
    result: int = 0,
) -> tuple[int, bytes]:
    """Return a graph launch call, else 10 ns long, whose node times were asked for."""
    end = start + 10 if end_ns is None else end_ns
    return RecordType.LAUNCH, table.LAUNCH.pack(
        exec_id=graph_exec, correlation=correlation, start_ns=start, end_ns=end, thread_id=1,
        result=result, stream_id=7, flags=f.LAUNCH_NODE_LEVEL, token=0,
    )  # fmt: skip


def node_id(graph_exec: int, node: int) -> int:
    """Return a node's id as activity records carry it."""
    return graph_exec << 32 | node


def work(graph_exec: int, node: int, correlation: int, start: int, duration: int = 10) -> bytes:
    """Return the record of a kernel node."""
    return kernel(
        node=node_id(graph_exec, node), start=start, end=start + duration,
        correlation=correlation, name=KERNEL_NAME,
    )  # fmt: skip


def write_spool(
    directory: Path, records: Sequence[tuple[int, bytes]], *, ended: bool = True
) -> Path:
    """Write a spool of these records, after those that every spool has."""
    writer = SpoolWriter(directory)
    writer.append(RecordType.META, b'{"name": "test", "process_id": 1, "host": "elsewhere"}')
    for kind, payload in [*name_records(), *records]:
        writer.append(kind, payload)
    if ended:
        writer.append(RecordType.END, b"")
    return directory
