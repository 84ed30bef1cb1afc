"""Spools for tests, written as the native library writes them, and CUPTI's raw records.

writer = SpoolWriter(tmp_path / "x.gviz-spool")
writer.append(RecordType.META, b"{}")
writer.append(RecordType.BUFFER, buffer([kernel(node=1, start=10, end=20)]))
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

from gviz.recording.reader import Recording
from gviz.spool.records import format as f
from gviz.spool.records.format import RecordType

#: Sizes of the records in CUPTI 13.0 (bytes): kernel, copy, copy between GPUs, memset.
KERNEL, COPY, PEER_COPY, MEMSET = 216, 96, 96, 88

#: Folds a spool of records; see conftest.py.
FoldRecords = Callable[[Sequence[tuple[int, bytes]]], Recording]


class SpoolWriter:
    """Appends records; a segment holds ``segment_bytes`` at most, but one record at least."""

    def __init__(self, directory: Path, *, segment_bytes: int = 1 << 20) -> None:
        self.directory = directory
        self._segment_bytes = segment_bytes
        self._index = -1
        self._end = 0
        directory.mkdir()
        self._open()

    @property
    def path(self) -> Path:
        """The segment under way."""
        return self.directory / f"{self._index:06d}{f.SEGMENT_SUFFIX}"

    def _open(self) -> None:
        self._index += 1
        self._end = f.SEGMENT_HEADER.size
        self.path.write_bytes(self._header())

    def _header(self) -> bytes:
        return f.SEGMENT_HEADER.pack(
            f.MAGIC, f.VERSION, self._index, self._segment_bytes, self._end, 1
        )

    def append(self, kind: int, payload: bytes) -> None:
        """Append a record and commit it."""
        self.append_uncommitted(kind, payload)
        self._end += len(_padded(kind, payload))
        with self.path.open("r+b") as file:
            file.write(self._header())

    def append_uncommitted(self, kind: int, payload: bytes) -> None:
        """Write a record as far as a crash before its commit leaves it."""
        record = _padded(kind, payload)
        full = self._end + len(record) > self._segment_bytes
        if full and self._end > f.SEGMENT_HEADER.size:
            self._open()
        with self.path.open("r+b") as file:
            file.seek(self._end)
            file.write(record)


def _padded(kind: int, payload: bytes) -> bytes:
    record = f.RECORD_HEADER.pack(kind, len(payload)) + payload
    return record + bytes(-len(record) % 8)


# -- activity records, by the offsets of cupti_activity.h, CUPTI 13.0.85 ---------------------------


def buffer(records: Sequence[bytes]) -> bytes:
    """Return the payload of a BUFFER record."""
    raw = b"".join(records)
    offsets, at = [], 0
    for record in records:
        offsets.append(at)
        at += len(record)
    places = struct.pack(f"<{len(offsets)}I", *offsets) + bytes(4 * (len(offsets) & 1))
    return f.BUFFER.pack(len(records), len(raw)) + places + raw


def kernel(
    *, node: int = 0, start: int, end: int, correlation: int = 0, stream: int = 7,
    device: int = 0, grid: tuple[int, int, int] = (1, 1, 1),
    block: tuple[int, int, int] = (1, 1, 1), static: int = 0, dynamic: int = 0,
    registers: int = 0, name: int = 0, size: int = KERNEL,
) -> bytes:  # fmt: skip
    """Return a CUpti_ActivityKernel10, or one of a later CUPTI, of ``size`` bytes."""
    record = _record(10, size)
    struct.pack_into("<H", record, 6, registers)
    struct.pack_into("<QQ", record, 16, start, end)
    struct.pack_into("<I", record, 40, device)
    struct.pack_into("<I", record, 48, stream)
    struct.pack_into("<3I3I", record, 52, *grid, *block)
    struct.pack_into("<II", record, 76, static, dynamic)
    struct.pack_into("<I", record, 92, correlation)
    struct.pack_into("<Q", record, 104, name)
    struct.pack_into("<Q", record, 144, node)
    return bytes(record)


def copy(
    *, node: int = 0, start: int, end: int, correlation: int = 0, stream: int = 7,
    device: int = 0, bytes_: int = 0, copy_kind: int = 8, size: int = COPY,
) -> bytes:  # fmt: skip
    """Return a CUpti_ActivityMemcpy6 or later."""
    record = _transfer(1, size, start, end, correlation, stream, device, bytes_)
    record[4] = copy_kind
    struct.pack_into("<Q", record, 64, node)
    return bytes(record)


def peer_copy(
    *, node: int = 0, start: int, end: int, correlation: int = 0, stream: int = 7,
    device: int = 0, bytes_: int = 0, size: int = PEER_COPY,
) -> bytes:  # fmt: skip
    """Return a CUpti_ActivityMemcpyPtoP4 or later."""
    record = _transfer(22, size, start, end, 0, stream, device, bytes_)
    record[4] = 10
    struct.pack_into("<I", record, 60, correlation)
    struct.pack_into("<Q", record, 72, node)
    return bytes(record)


def memset(
    *, node: int = 0, start: int, end: int, correlation: int = 0, stream: int = 7,
    device: int = 0, bytes_: int = 0, value: int = 0, size: int = MEMSET,
) -> bytes:  # fmt: skip
    """Return a CUpti_ActivityMemset4 or later."""
    record = _transfer(2, size, start, end, correlation, stream, device, bytes_)
    struct.pack_into("<I", record, 4, value)
    struct.pack_into("<Q", record, 64, node)
    return bytes(record)


def _transfer(
    kind: int, size: int, start: int, end: int, correlation: int, stream: int, device: int,
    bytes_: int,
) -> bytearray:  # fmt: skip
    record = _record(kind, size)
    struct.pack_into("<Q", record, 8, bytes_)
    struct.pack_into("<QQ", record, 16, start, end)
    struct.pack_into("<I", record, 32, device)
    struct.pack_into("<II", record, 40, stream, correlation)
    return record


def _record(kind: int, size: int) -> bytearray:
    # Not zeros: what is read from a wrong place shows.
    record = bytearray(b"\xa5" * size)
    struct.pack_into("<I", record, 0, kind)
    return record


# -- a graph, and its launches -----------------------------------------------------------------

#: What a kernel's name pointer stands for, in :func:`graph_records`.
KERNEL_NAME, KERNEL_KEY = 0x7000, 0x9000


def name_records() -> list[tuple[int, bytes]]:
    """Return the records that name the one kernel of these graphs, ``_Z4workv``."""
    return [
        (RecordType.STRING, KERNEL_NAME.to_bytes(8, "little") + b"_Z4workv"),
        (RecordType.FUNCTION, f.FUNCTION.pack(KERNEL_KEY, 24, 0, 0, 1024) + b"_Z4workv"),
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
    head = f.GRAPH.pack(graph, graph_exec, *parent, branch, len(kinds), len(edges))
    found = [(int(RecordType.GRAPH), head)]
    for node, kind in enumerate(kinds):
        function = KERNEL_KEY if kind == 0 else 0
        shape = (grids[node] if grids else 1, 1, 1, 32, 1, 1)
        values = (graph, node, kind, 0, function, *shape, 0, -1, 0, 0, 2, 2, 64, 0, 0, 0, 1, 0, 0)
        found.append((RecordType.NODE, f.NODE.pack(*values)))
    table = b"".join(struct.pack("<II4B", a, b, 0, 0, 0, 0) for a, b in edges)
    return [*found, (RecordType.EDGES, f.EDGES.pack(graph, len(edges)) + table)]


def conditional_record(
    graph: int, node: int, kind: int, size: int = 1, bodies: int | None = None
) -> tuple[int, bytes]:
    """Return what the walk says of a conditional node: IF 0, WHILE 1, SWITCH 2."""
    known = size if bodies is None else bodies
    return RecordType.CONDITIONAL, f.CONDITIONAL.pack(graph, node, kind, size, 77, known)


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
    values = (graph_exec, correlation, start, end, 1, result, 7, f.LAUNCH_NODE_LEVEL, 0)
    return RecordType.LAUNCH, f.LAUNCH.pack(*values)


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
