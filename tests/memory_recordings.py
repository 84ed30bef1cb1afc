"""Recordings of graphs whose nodes are given memory: alloc nodes, copies, kernels with addresses.

path = write_memory_recording(tmp_path / "memory.gviz")
path = write_recording(tmp_path / "large.gviz", with_buffers(transformer_shape(layers=6666)))
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from recordings import FIRST_NODE_ID, STARTED_NS, Shape, Work, write_recording

from gviz.cuda.node_type import CopyKind, NodeType
from gviz.recording import rows
from gviz.recording.writer import RecordingWriter

MIB = 1 << 20
#: Where graphs allocate (as drivers do), where a framework does, and pinned host memory.
POOL, SEGMENT, HOST = 0x3_0200_0000, 0x7F00_A000_0000, 0x7F11_0000_0000
SEGMENT_BYTES = 64 * MIB
#: What another graph allocates and this one frees.
GIVEN_AWAY = POOL + 64 * MIB

#: Nodes of :func:`memory_shape`, by what they are.
IDS = {
    name: FIRST_NODE_ID + at
    for at, name in enumerate(
        (
            "alloc a", "alloc b", "copy in", "fill b", "join", "free a", "alloc c", "reuse",
            "free c", "free b", "alloc d", "write d", "copy out", "free elsewhere",
        )
    )
}  # fmt: skip


def _alloc(address: int, size: int, *after: int) -> Work:
    kind = NodeType.MEM_ALLOC
    return Work("MEM_ALLOC", 0, after, kind, bytes=size, destination_address=address)


def _free(address: int, *after: int) -> Work:
    return Work("MEM_FREE", 0, after, NodeType.MEM_FREE, destination_address=address)


def _kernel(name: str, duration_ns: int, after: tuple[int, ...], *given: int) -> Work:
    return Work(name, duration_ns, after, given=tuple((address, None) for address in given))


def memory_shape() -> Shape:
    """Return a graph that allocates four times: c where a was, d never freed.

    What is known of the memory: a, c at the pool's start (1 MiB, 512 KiB), b after a (2 MiB), d
    after b (256 KiB).
    """
    a, b, d = POOL, POOL + MIB, POOL + 3 * MIB
    return Shape(
        "pool step",
        (
            _alloc(a, MIB),
            _alloc(b, 2 * MIB, 0),
            Work(
                "MEMCPY HtoD", 21_000, (0,), NodeType.MEMCPY, bytes=MIB,
                copy_kind=CopyKind.HTOD, source_address=HOST, destination_address=a,
            ),
            _kernel("fill_kernel", 6_000, (1,), b),
            _kernel("join_kernel", 12_000, (2, 3), a, b + MIB),
            _free(a, 4),
            _alloc(a, MIB // 2, 5),
            _kernel("reuse_kernel", 9_000, (6,), a, b),
            _free(a, 7),
            _free(b, 7),
            _alloc(d, MIB // 4, 7),
            _kernel("write_kernel", 4_000, (10,), d),
            Work(
                "MEMCPY DtoH", 7_000, (11,), NodeType.MEMCPY, bytes=MIB // 4,
                copy_kind=CopyKind.DTOH, source_address=d, destination_address=HOST + MIB,
            ),
            _free(GIVEN_AWAY, 4),
        ),
    )  # fmt: skip


def write_memory_recording(path: Path, *, launches: int = 5, samples: bool = True) -> Path:
    """Write a recording of :func:`memory_shape`; graph 2 allocates what it frees.

    ``samples``: with what the pool had reserved and used, and what instantiating took.
    """

    def more(writer: RecordingWriter) -> None:
        _write_giver(writer)
        _write_allocations(writer)
        if samples:
            _write_samples(writer)

    return write_recording(path, memory_shape(), launches=launches, eager=False, more=more)


def _write_giver(writer: RecordingWriter) -> None:
    writer.insert(
        rows.Topology(topology_id=2, hash="2" * 64, node_count=1, edge_count=0),
        rows.Graph(graph_id=2, run_id=1, name="giver", origin="explicit", topology_id=2),
        rows.Node(
            graph_id=2,
            node_id=5,
            exec_node_id=5,
            type=int(NodeType.MEM_ALLOC),
            name="MEM_ALLOC",
            bytes=8 * MIB,
            destination_address=GIVEN_AWAY,
        ),
    )


def _write_allocations(writer: RecordingWriter) -> None:
    inside, elsewhere = "in the same graph", "in another graph"
    for graph_id, node_id, address, size, free, freed in (
        (1, IDS["alloc a"], POOL, MIB, IDS["free a"], inside),
        (1, IDS["alloc b"], POOL + MIB, 2 * MIB, IDS["free b"], inside),
        (1, IDS["alloc c"], POOL, MIB // 2, IDS["free c"], inside),
        (1, IDS["alloc d"], POOL + 3 * MIB, MIB // 4, None, "not while gviz watched"),
        (2, 5, GIVEN_AWAY, 8 * MIB, IDS["free elsewhere"], elsewhere),
    ):
        writer.insert(
            rows.Allocation(
                graph_id=graph_id,
                node_id=node_id,
                address=address,
                bytes=size,
                device_id=0,
                free_graph_id=None if free is None else 1,
                free_node_id=free,
                freed=freed,
            )
        )


def _write_samples(writer: RecordingWriter) -> None:
    for at, used, used_high, reserved in (
        (41, 0, 0, 0),
        (45, 3, 3, 32),
        (50, 3, 11, 32),
    ):
        writer.insert(
            rows.GraphMemory(
                run_id=1,
                device_id=0,
                time_ns=STARTED_NS + at * 1_000_000,
                used_bytes=used * MIB,
                used_high_bytes=used_high * MIB,
                reserved_bytes=reserved * MIB,
                reserved_high_bytes=reserved * MIB,
            )
        )


def with_buffers(shape: Shape, ring: int = 24) -> Shape:
    """Return a shape whose nodes are given memory as a framework's allocator gives it.

    A node writes a buffer of its own and reads those of its dependencies; buffers are taken in
    turn out of a ring, so each is used again and again.
    """
    step = SEGMENT_BYTES // ring // 512 * 512
    segment = (SEGMENT, SEGMENT_BYTES)

    def buffer(index: int) -> int:
        return SEGMENT + index % ring * step

    def given(index: int, work: Work) -> Work:
        before = work.after[-1] if work.after else None
        if work.type is NodeType.MEMCPY:
            up = work.copy_kind is CopyKind.HTOD
            return replace(
                work,
                source_address=HOST if up or before is None else buffer(before),
                destination_address=buffer(index) if up else HOST,
            )
        if work.type is NodeType.MEMSET:
            return replace(work, destination_address=buffer(index))
        if work.type is not NodeType.KERNEL:
            return work
        places = [buffer(index), *(buffer(b) for b in work.after)]
        return replace(work, given=tuple((place, segment) for place in places))

    return Shape(shape.name, tuple(given(i, work) for i, work in enumerate(shape.works)))
