"""Synthetic recordings for tests: shapes with realistic times, written with RecordingWriter.

A :class:`Shape` is the work of one graph: nodes with kinds and typical durations, and the
edges. :func:`write_recording` plays it on a small model of a GPU (a few hardware queues,
a host thread that pays for every call) and stores what gviz would have recorded: the graph,
graph launches with spans, one eager iteration with matched stream operations, and statistics.
The numbers are made up but of the right size; everything is determined by ``seed``.

    path = write_recording(tmp_path / "small.gviz", fork_join_shape())
    path = write_recording(tmp_path / "large.gviz", transformer_shape(layers=166))
    path = write_loop_recording(tmp_path / "loop.gviz")
"""

from __future__ import annotations

import dataclasses
import hashlib
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gviz.cuda.node_type import CopyKind, NodeType, not_timed_reason
from gviz.recording import rows
from gviz.recording.writer import RecordingWriter
from gviz.stats.arrays import IntArray

#: When the made-up process started, on the recording's clock (ns).
STARTED_NS = 1_790_000_000_000_000_000
#: Time from a dependency's end to the dependent's start inside a graph (ns).
GRAPH_GAP_NS = 1_100
#: Host time of one eager launch call (ns).
EAGER_CALL_NS = 4_300
#: Host time of one cuGraphLaunch (ns), and from its return to the first node.
GRAPH_CALL_NS = 6_800
#: From the end of a host call to the earliest start on the GPU (ns).
LATENCY_NS = 2_600
#: Template node ids are shifted so that no test passes by taking an index for an id.
FIRST_NODE_ID = 1_001


@dataclass(frozen=True, slots=True)
class Work:
    """One node of a shape: what it is, its typical duration, and its dependencies by index."""

    name: str
    duration_ns: int
    after: tuple[int, ...] = ()
    type: NodeType = NodeType.KERNEL
    grid_x: int = 132
    block_x: int = 256
    bytes: int | None = None
    copy_kind: CopyKind | None = None
    programmatic: bool = False
    nvtx: str | None = None
    #: Addresses among the arguments of a kernel, each with the allocation it points into or None.
    given: tuple[tuple[int, tuple[int, int] | None], ...] = ()
    source_address: int | None = None
    destination_address: int | None = None

    @property
    def timed(self) -> bool:
        """Return whether the node gets spans."""
        return not_timed_reason(self.type) is None


@dataclass(frozen=True, slots=True)
class Shape:
    """The work of one graph, in a topological order."""

    name: str
    works: tuple[Work, ...]

    @property
    def node_ids(self) -> list[int]:
        """Template node ids, in the order of ``works``."""
        return [FIRST_NODE_ID + i for i in range(len(self.works))]


# -- shapes --------------------------------------------------------------------------


def fork_join_shape(stages: int = 3, width: int = 4, depth: int = 3) -> Shape:
    """Return ``stages`` fork-joins of ``width`` branches, with a copy, a memset and a host node."""
    works = [
        Work("MEMCPY HtoD", 3_900, type=NodeType.MEMCPY, bytes=1 << 20, copy_kind=CopyKind.HTOD),
        Work("MEMSET", 1_500, type=NodeType.MEMSET, bytes=1 << 16),
        Work("EMPTY", 0, (0, 1), type=NodeType.EMPTY),
    ]
    last = 2
    for stage in range(stages):
        works.append(Work("split_kernel", 2_400, (last,), nvtx=f"stage {stage}"))
        fork, ends = len(works) - 1, []
        for branch in range(width):
            before = fork
            for step in range(depth):
                duration = 3_000 + 1_700 * branch + 900 * step
                works.append(
                    Work(
                        f"branch{branch}_step{step}",
                        duration,
                        (before,),
                        grid_x=16,
                        nvtx=f"stage {stage}",
                    )
                )
                before = len(works) - 1
            ends.append(before)
        works.append(Work("join_kernel", 4_100, tuple(ends), nvtx=f"stage {stage}"))
        last = len(works) - 1
    works.append(Work("HOST", 0, (last,), type=NodeType.HOST))
    works.append(
        Work(
            "MEMCPY DtoH",
            5_200,
            (last,),
            type=NodeType.MEMCPY,
            bytes=1 << 20,
            copy_kind=CopyKind.DTOH,
        )
    )
    return Shape(f"fork-join {stages}x{width}", tuple(works))


#: One decoder layer at batch 1: name, duration, how many works back its dependencies are.
_LAYER: tuple[tuple[str, int, tuple[int, ...], int], ...] = (
    ("rms_norm_kernel", 1_900, (1,), 1),
    ("gemv_bf16_q_proj", 4_600, (1,), 512),
    ("gemv_bf16_k_proj", 2_500, (2,), 128),
    ("gemv_bf16_v_proj", 2_400, (3,), 128),
    ("rope_kernel", 2_100, (3, 2), 40),
    ("reshape_and_cache_kernel", 1_700, (2, 1), 8),
    ("flash_fwd_splitkv_kernel", 4_900, (1, 2), 132),
    ("flash_fwd_splitkv_combine_kernel", 2_300, (1,), 32),
    ("gemv_bf16_o_proj", 4_400, (1,), 512),
    ("fused_add_rms_norm_kernel", 2_200, (1,), 1),
    ("gemv_bf16_gate_proj", 7_900, (1,), 1376),
    ("gemv_bf16_up_proj", 7_700, (2,), 1376),
    ("silu_and_mul_kernel", 1_600, (2, 1), 14),
    ("gemv_bf16_down_proj", 8_200, (1,), 512),
    ("add_kernel", 1_400, (1, 6), 16),
)


def transformer_shape(layers: int = 20) -> Shape:
    """Return a decode step of ``layers`` decoder layers, 15 nodes each, plus head and copies.

    20 layers make 306 nodes, 166 make 2,496, 333 make 5,001, 6,666 make 99,996.
    """
    works = [
        Work("MEMCPY HtoD", 1_800, type=NodeType.MEMCPY, bytes=64, copy_kind=CopyKind.HTOD),
        Work("embedding_kernel", 1_900, (0,), grid_x=1),
    ]
    for layer in range(layers):
        for name, duration, back, grid in _LAYER:
            after = tuple(len(works) - b for b in back)
            chained = len(after) == 1 and after[0] == len(works) - 1
            works.append(
                Work(
                    name,
                    duration,
                    after,
                    grid_x=grid,
                    nvtx=f"layer {layer}",
                    programmatic=chained and "gemv" in name,
                )
            )
    for name, duration in (
        ("rms_norm_kernel", 1_900),
        ("gemv_bf16_lm_head", 61_000),
        ("argmax_kernel", 6_300),
    ):
        works.append(Work(name, duration, (len(works) - 1,)))
    works.append(
        Work(
            "MEMCPY DtoH",
            1_700,
            (len(works) - 1,),
            type=NodeType.MEMCPY,
            bytes=8,
            copy_kind=CopyKind.DTOH,
        )
    )
    return Shape(f"decode, {layers} layers", tuple(works))


def wide_shape(lanes: int = 64, length: int = 12) -> Shape:
    """Return ``lanes`` parallel chains of ``length`` kernels between a root and a join."""
    works = [Work("root_kernel", 2_000)]
    ends = []
    for lane in range(lanes):
        before = 0
        for step in range(length):
            works.append(Work(f"halo_exchange_step{step}", 2_500 + 37 * lane, (before,), grid_x=8))
            before = len(works) - 1
        ends.append(before)
    works.append(Work("reduce_kernel", 5_000, tuple(ends)))
    return Shape(f"wide, {lanes} lanes", tuple(works))


def irregular_shape(count: int, seed: int = 1) -> Shape:
    """Return ``count`` kernels with one to four dependencies each, most of them near.

    One in forty is far away, one in fifty starts anew: a graph without regular blocks.
    """
    rng = np.random.default_rng(seed)
    wanted, far, roots = rng.integers(1, 5, count), rng.random(count), rng.random(count)
    works = []
    for index in range(count):
        after: set[int] = set()
        if index and roots[index] > 0.02:
            reach = index if far[index] < 0.025 else min(index, 40)
            after = set((index - 1 - rng.integers(0, reach, int(wanted[index]))).tolist())
        name = f"stage_{int(rng.integers(0, 60))}_kernel"
        works.append(Work(name, int(rng.integers(1_200, 9_000)), tuple(sorted(after)), grid_x=8))
    return Shape(f"irregular, {count:,} nodes", tuple(works))


# -- the small model of a GPU --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Played:
    """One pass over a shape: per work start, duration (ns, relative), stream and host calls."""

    start_ns: IntArray
    duration_ns: IntArray
    stream_id: IntArray
    host_start_ns: IntArray
    host_end_ns: IntArray


def assign_streams(shape: Shape, first: int = 7) -> IntArray:
    """Return a stream per work: that of a dependency nobody continued yet, else a free one."""
    streams = np.zeros(len(shape.works), np.int64)
    tail: dict[int, int] = {}
    joined: list[int] = []
    for index, work in enumerate(shape.works):
        open_ends = [int(streams[d]) for d in work.after if tail.get(int(streams[d])) == d]
        if open_ends:
            stream = min(open_ends)
            joined += [s for s in open_ends if s != stream and s not in joined]
        elif work.after or not tail:
            stream = joined.pop(0) if joined else first + len(tail)
        else:
            stream = first
        if stream in joined:
            joined.remove(stream)
        streams[index] = stream
        tail[stream] = index
    return streams


def play(
    shape: Shape, rng: np.random.Generator, *, eager: bool, assigned: IntArray | None = None
) -> Played:
    """Run a shape once: start = last dependency's end + a gap, one work a stream at a time.

    ``assigned`` are its streams, where they have been found.
    """
    if assigned is None:
        assigned = assign_streams(shape)
    count = len(shape.works)
    streams = assigned.tolist()
    # Plain numbers, and all gaps drawn at once: many tests write a recording.
    noise = rng.lognormal(0.0, 0.035, count)
    duration = (np.array([w.duration_ns for w in shape.works], float) * noise).tolist()
    calls = rng.normal(EAGER_CALL_NS, 500, count).clip(2_900).astype(np.int64)
    call = calls.tolist()
    wait = iter(rng.uniform(0.8, 1.3, sum(bool(w.after) for w in shape.works)).tolist())
    start, end, host = ([0] * count for _ in range(3))
    free: dict[int, int] = {}
    clock = 0
    for index, work in enumerate(shape.works):
        ready = max((end[d] for d in work.after), default=0)
        gap = int(GRAPH_GAP_NS * next(wait)) if work.after else 0
        if work.programmatic and not eager:
            gap = -min(600, int(duration[work.after[0]]) // 3)
        begin = max(ready + gap, free.get(streams[index], 0) + 300 if not gap < 0 else 0)
        is_timed = work.timed
        if eager and is_timed:
            host[index] = clock
            clock += call[index]
            begin = max(begin, clock + LATENCY_NS)
        start[index] = begin
        end[index] = free[streams[index]] = begin + (int(duration[index]) if is_timed else 0)
    starts, ends, hosts = (np.array(times, np.int64) for times in (start, end, host))
    return Played(starts, ends - starts, assigned, hosts, hosts + calls)


# -- writing -------------------------------------------------------------------------


def write_recording(
    path: Path,
    shape: Shape,
    *,
    launches: int = 20,
    eager: bool = True,
    seed: int = 0,
    overwrite: bool = False,
    more: Callable[[RecordingWriter], None] | None = None,
    played: int | None = None,
    arguments: bool = False,
) -> Path:
    """Write a recording of one graph.

    Parameters
    ----------
    path
        Where it goes.
    shape
        The work.
    launches
        Graph launches with node level; as many again without it follow.
    eager
        Also record one iteration outside the graph (a launch of side 'stream' with matched
        operations, its ``launch_id`` the last).
    seed
        Of the noise.
    more
        Writes what else is to be in it.
    played
        So many launches are played one by one; the others are these again, each stretched by
        a few percent, which takes a tenth of the time. None: all are played.
    arguments
        Kernels also have arguments: pointers into allocations, and a structure.

    Returns
    -------
    pathlib.Path
        ``path``. The run is 1, the graph is 1, graph launches have ids from 1.
    """
    rng = np.random.default_rng(seed)
    with RecordingWriter(path, overwrite=overwrite) as writer:
        write_run(writer, shape.name)
        functions = _write_functions(writer, shape)
        _write_graph(writer, shape, functions)
        clock = STARTED_NS + 40_000_000
        if eager:
            clock = _write_eager(writer, shape, functions, rng, clock, launch_id=2 * launches + 1)
        write_exec(writer, clock, 2 * launches, launches)
        _write_launches(writer, shape, rng, clock + 9_000_000, launches, played)
        if arguments:
            _write_arguments(writer, shape)
        if more is not None:
            more(writer)
    return path


def write_run(writer: RecordingWriter, name: str) -> None:
    """Write run 1 with its device, libraries and window."""
    writer.insert(
        rows.Run(
            run_id=1,
            name=name,
            state="completed",
            source="profile",
            command="python decode.py",
            host="node017",
            process_id=4242,
            started_ns=STARTED_NS,
            ended_ns=STARTED_NS + 3_000_000_000,
            exit_code=0,
            gviz_version="0.1.0",
            python_version="3.11.7",
            driver_version="13.0",
            cupti_version="130000",
            collector="cupti",
            collector_reason="CUPTI 13.0 was free",
            node_launches="20",
        ),
        rows.Device(
            run_id=1,
            device_id=0,
            name="NVIDIA H100 80GB HBM3",
            compute_capability="9.0",
            multiprocessor_count=132,
            memory_bytes=85_028_503_552,
            max_threads_per_multiprocessor=2048,
            pci_bus_id="0000:1b:00.0",
            sm_clock_max_mhz=1980,
        ),
        rows.LibraryVersion(run_id=1, name="torch", version="2.9.0"),
        rows.Window(
            run_id=1,
            window_id=0,
            start_ns=STARTED_NS + 1_000,
            end_ns=STARTED_NS + 2_900_000_000,
            reason="launches",
        ),
        rows.Measurement(
            run_id=1,
            name="records_dropped",
            value=0.0,
            unit="records",
            method="measured: cuptiActivityGetNumDroppedRecords",
        ),
        rows.Note(note_id=1, run_id=1, kind="information", text="Synthetic times, made for tests."),
    )


def _write_functions(writer: RecordingWriter, shape: Shape) -> dict[str, int]:
    names = dict.fromkeys(w.name for w in shape.works if w.type is NodeType.KERNEL)
    found = {name: index for index, name in enumerate(names, start=1)}
    for name, function_id in found.items():
        writer.insert(
            rows.KernelFunction(
                function_id=function_id,
                run_id=1,
                mangled_name=f"_Z{len(name)}{name}PKfPf",
                name=f"{name}(float const*, float*)",
                registers=40,
                static_shared_mem_bytes=0,
                local_mem_bytes=0,
                max_threads_per_block=1024,
            )
        )
    return found


def _write_graph(writer: RecordingWriter, shape: Shape, functions: dict[str, int]) -> None:
    edges = [(d, i, w.programmatic) for i, w in enumerate(shape.works) for d in w.after]
    text = repr(([(w.type, w.name) for w in shape.works], edges))
    writer.insert(
        rows.Topology(
            topology_id=1,
            hash=hashlib.sha256(text.encode()).hexdigest(),
            node_count=len(shape.works),
            edge_count=len(edges),
        ),
        rows.Graph(
            graph_id=1,
            run_id=1,
            name=shape.name,
            origin="capture",
            cuda_graph_id=3,
            topology_id=1,
            capture_start_ns=STARTED_NS + 30_000_000,
            capture_end_ns=STARTED_NS + 33_100_000,
            capture_mode=0,
            capture_thread_id=4242,
        ),
    )
    writer.insert_tuples(
        rows.Edge,
        sorted((1, FIRST_NODE_ID + a, FIRST_NODE_ID + b, int(p), int(p), 0) for a, b, p in edges),
    )
    paths: dict[str, int] = {}
    for work in shape.works:
        if work.nvtx is not None and work.nvtx not in paths:
            paths[work.nvtx] = len(paths) + 1
            writer.insert(
                rows.NvtxPath(
                    nvtx_path_id=paths[work.nvtx],
                    run_id=1,
                    parent_id=None,
                    domain=None,
                    text=work.nvtx,
                )
            )
    streams = assign_streams(shape).tolist()
    writer.insert(
        *(
            _node(work, index, functions, streams[index], paths)
            for index, work in enumerate(shape.works)
        )
    )
    writer.insert_tuples(
        rows.Argument,
        (
            (
                *(1, FIRST_NODE_ID + i, position, 8, struct.pack("<Q", address)),
                *(found or (None,) * 2),
                8 * position,
            )
            for i, work in enumerate(shape.works)
            for position, (address, found) in enumerate(work.given)
        ),
    )


def _work_values(work: Work, functions: dict[str, int]) -> dict[str, int | None]:
    """Return what a node and its eager operation have in common."""
    kernel = work.type is NodeType.KERNEL
    one = 1 if kernel else None
    return {
        "function_id": functions.get(work.name) if kernel else None,
        "grid_x": work.grid_x if kernel else None,
        "grid_y": one,
        "grid_z": one,
        "block_x": work.block_x if kernel else None,
        "block_y": one,
        "block_z": one,
        "bytes": work.bytes,
        "copy_kind": None if work.copy_kind is None else int(work.copy_kind),
    }


def _node(
    work: Work, index: int, functions: dict[str, int], stream: int, paths: dict[str, int]
) -> rows.Node:
    return rows.Node(
        graph_id=1,
        node_id=FIRST_NODE_ID + index,
        exec_node_id=FIRST_NODE_ID + index,
        type=int(work.type),
        name=work.name,
        device_id=0,
        shared_mem_bytes=0 if work.type is NodeType.KERNEL else None,
        **_work_values(work, functions),
        source_address=work.source_address,
        destination_address=work.destination_address,
        capture_stream_id=stream,
        created_ns=STARTED_NS + 30_000_000 + 1_000 * index,
        created_thread_id=4242,
        nvtx_path_id=None if work.nvtx is None else paths[work.nvtx],
        stack_reason="synthetic recording",
        not_timed_reason=not_timed_reason(work.type),
    )


def write_exec(writer: RecordingWriter, start_ns: int, launches: int, timed: int) -> None:
    """Write executable 1 of graph 1, with the call that instantiated it."""
    writer.insert(
        rows.GraphExec(
            graph_exec_id=1,
            run_id=1,
            graph_id=1,
            cuda_exec_id=4,
            instantiate_start_ns=start_ns + 1_000_000,
            instantiate_end_ns=start_ns + 1_900_000,
            flags=0,
            upload_start_ns=start_ns + 2_000_000,
            upload_end_ns=start_ns + 2_140_000,
            launch_count=launches + timed,
        ),
        rows.ApiCall(
            api_call_id=1,
            run_id=1,
            name="cuGraphInstantiateWithFlags",
            start_ns=start_ns + 1_000_000,
            end_ns=start_ns + 1_900_000,
            thread_id=4242,
            result=0,
            graph_id=1,
            graph_exec_id=1,
        ),
    )


def _write_eager(
    writer: RecordingWriter,
    shape: Shape,
    functions: dict[str, int],
    rng: np.random.Generator,
    clock: int,
    *,
    launch_id: int,
) -> int:
    played = play(shape, rng, eager=True)
    timed = [i for i, w in enumerate(shape.works) if w.timed]
    timed.sort(key=lambda i: (int(played.start_ns[i]), i))
    end = int((played.start_ns + played.duration_ns)[timed].max())
    writer.insert(
        rows.Launch(
            launch_id=launch_id,
            run_id=1,
            graph_id=1,
            graph_exec_id=None,
            side="stream",
            ordinal=0,
            host_start_ns=clock,
            host_end_ns=clock + int(played.host_end_ns[timed].max()),
            thread_id=4242,
            stream_id=7,
            node_level=1,
            gpu_start_ns=clock + int(played.start_ns[timed].min()),
            gpu_end_ns=clock + end,
            span_count=len(timed),
        )
    )
    writer.insert(
        *(
            _operation(shape.works[i], i, number, played, functions, clock, launch_id)
            for number, i in enumerate(timed, start=1)
        )
    )
    return clock + end


def _operation(
    work: Work,
    index: int,
    number: int,
    played: Played,
    functions: dict[str, int],
    clock: int,
    launch_id: int,
) -> rows.StreamOperation:
    return rows.StreamOperation(
        operation_id=number,
        run_id=1,
        type=int(work.type),
        name=work.name,
        start_ns=clock + int(played.start_ns[index]),
        duration_ns=int(played.duration_ns[index]),
        stream_id=int(played.stream_id[index]),
        device_id=0,
        correlation_id=100 + number,
        **_work_values(work, functions),
        host_start_ns=clock + int(played.host_start_ns[index]),
        host_end_ns=clock + int(played.host_end_ns[index]),
        thread_id=4242,
        launch_id=launch_id,
        node_id=FIRST_NODE_ID + index,
    )


#: Where the allocations of made-up arguments begin, and how large and how many they are.
ARGUMENT_BASE = 0x7F20_0000_0000
ARGUMENT_ALLOCATION_BYTES = 2 << 20
ARGUMENT_ALLOCATIONS = 1_000


def _write_arguments(writer: RecordingWriter, shape: Shape) -> None:
    """Write for each kernel an input, an output, a weight, and a structure with a pointer in it."""

    def rows_of(index: int) -> list[tuple[int | bytes | None, ...]]:
        node_id = FIRST_NODE_ID + index
        found: list[tuple[int | bytes | None, ...]] = []
        for position, which in enumerate((index - 1, index, 7 * index)):
            base = ARGUMENT_BASE + ARGUMENT_ALLOCATION_BYTES * (which % ARGUMENT_ALLOCATIONS)
            value = struct.pack("<Q", base + 512 * (which % 64))
            found.append(
                (1, node_id, position, 8, value, base, ARGUMENT_ALLOCATION_BYTES, 8 * position)
            )
        inside = ARGUMENT_BASE + ARGUMENT_ALLOCATION_BYTES * (index % ARGUMENT_ALLOCATIONS)
        value = struct.pack("<QiiQ", inside, index, 4096, 7) + bytes(40)
        found.append((1, node_id, 3, len(value), value, None, None, 24))
        return found

    kernels = (i for i, w in enumerate(shape.works) if w.type is NodeType.KERNEL)
    writer.insert_tuples(rows.Argument, (row for i in kernels for row in rows_of(i)))


def _played(
    shape: Shape, rng: np.random.Generator, launches: int, played: int | None
) -> Iterator[Played]:
    """Yield launches: the first ones played, the others those again, stretched."""
    found: list[Played] = []
    assigned = assign_streams(shape)
    for ordinal in range(launches):
        if played is None or ordinal < played:
            found.append(play(shape, rng, eager=False, assigned=assigned))
            yield found[-1]
            continue
        like, by = found[ordinal % len(found)], rng.uniform(0.98, 1.05)
        yield dataclasses.replace(
            like,
            start_ns=(like.start_ns * by).astype(np.int64),
            duration_ns=(like.duration_ns * by).astype(np.int64),
        )


def _write_launches(
    writer: RecordingWriter,
    shape: Shape,
    rng: np.random.Generator,
    clock: int,
    launches: int,
    played: int | None,
) -> None:
    timed = np.array([w.timed for w in shape.works])
    ids = np.array(shape.node_ids)[timed]
    durations = np.zeros((launches, len(ids)), np.int64)
    starts = np.zeros((launches, len(ids)), np.int64)
    for ordinal, launch in enumerate(_played(shape, rng, 2 * launches, played)):
        start, duration = launch.start_ns[timed], launch.duration_ns[timed]
        start = start - start.min()
        length = int((start + duration).max())
        recorded = ordinal < launches
        gpu_start = clock + GRAPH_CALL_NS + LATENCY_NS
        writer.insert(
            rows.Launch(
                launch_id=ordinal + 1,
                run_id=1,
                graph_id=1,
                graph_exec_id=1,
                side="graph",
                ordinal=ordinal,
                host_start_ns=clock,
                host_end_ns=clock + GRAPH_CALL_NS,
                thread_id=4242,
                stream_id=7,
                correlation_id=10_000 + ordinal,
                node_level=int(recorded),
                gpu_start_ns=gpu_start if recorded else None,
                gpu_end_ns=gpu_start + length if recorded else None,
                event_duration_ns=length + 1_300,
                span_count=len(ids) if recorded else 0,
            )
        )
        if recorded:
            starts[ordinal], durations[ordinal] = start, duration
            columns = (ids, start, duration, launch.stream_id[timed])
            writer.insert_tuples(
                rows.Span,
                (
                    (ordinal + 1, 1, n, 0, s, d, q)
                    for n, s, d, q in zip(*(c.tolist() for c in columns), strict=True)
                ),
            )
        clock += length + 40_000
    if launches:
        _write_statistics(writer, ids, starts, durations)


def _write_statistics(
    writer: RecordingWriter,
    ids: IntArray,
    starts: IntArray,
    durations: IntArray,
    graph_id: int = 1,
) -> None:
    median = np.median(durations, axis=0)
    p5, p95 = np.percentile(durations, (5, 95), axis=0)
    columns = {
        "node_id": ids,
        "total_ns": durations.sum(axis=0),
        "median_ns": median,
        "p5_ns": p5,
        "p95_ns": p95,
        "min_ns": durations.min(axis=0),
        "max_ns": durations.max(axis=0),
        "mad_ns": np.median(np.abs(durations - median), axis=0),
        "start_median_ns": np.median(starts, axis=0),
    }
    found = (
        dict(zip(columns, values, strict=True))
        for values in zip(*(column.tolist() for column in columns.values()), strict=True)
    )
    writer.insert(
        *(rows.NodeStatistics(graph_id=graph_id, count=len(durations), **given) for given in found)
    )


def write_loop_recording(path: Path, *, iterations: int = 5, overwrite: bool = False) -> Path:
    """Write a graph with a while node (id 1002) whose body (graph 2) runs several times.

    The body's nodes 2001 and 2002 are 3001 and 3002 in the executable, and run once an
    iteration. One launch is recorded; there is no eager side.
    """
    with RecordingWriter(path, overwrite=overwrite) as writer:
        write_run(writer, "while loop")
        writer.insert(
            rows.Topology(topology_id=1, hash="0" * 64, node_count=3, edge_count=2),
            rows.Topology(topology_id=2, hash="1" * 64, node_count=2, edge_count=1),
            rows.Edge(topology_id=1, from_node=1001, to_node=1002, type=0, from_port=0, to_port=0),
            rows.Edge(topology_id=1, from_node=1002, to_node=1003, type=0, from_port=0, to_port=0),
            rows.Edge(topology_id=2, from_node=2001, to_node=2002, type=0, from_port=0, to_port=0),
            rows.Graph(graph_id=1, run_id=1, name="while loop", origin="explicit", topology_id=1),
            rows.Graph(
                graph_id=2,
                run_id=1,
                name="while loop body",
                origin="body",
                topology_id=2,
                parent_graph_id=1,
                parent_node_id=1002,
                branch=0,
            ),
        )
        for graph_id, node_id, exec_id, kind, name in (
            (1, 1001, 1001, NodeType.KERNEL, "init_kernel"),
            (1, 1002, None, NodeType.CONDITIONAL, "WHILE"),
            (1, 1003, 1003, NodeType.KERNEL, "finish_kernel"),
            (2, 2001, 3001, NodeType.KERNEL, "step_kernel"),
            (2, 2002, 3002, NodeType.KERNEL, "check_kernel"),
        ):
            writer.insert(
                rows.Node(
                    graph_id=graph_id,
                    node_id=node_id,
                    exec_node_id=exec_id,
                    type=int(kind),
                    name=name,
                    not_timed_reason=not_timed_reason(kind),
                )
            )
        clock = STARTED_NS + 50_000_000
        write_exec(writer, clock, 1, 0)
        spans = [(1, 1001, 0, 0, 3_000)]
        for iteration in range(iterations):
            spans += [
                (2, 2001, iteration, 4_200 + 9_000 * iteration, 5_000),
                (2, 2002, iteration, 9_900 + 9_000 * iteration, 1_800),
            ]
        end = 4_200 + 9_000 * iterations
        spans.append((1, 1003, 0, end, 2_500))
        gpu_start = clock + 5_000_000 + GRAPH_CALL_NS + LATENCY_NS
        writer.insert(
            rows.Launch(
                launch_id=1,
                run_id=1,
                graph_id=1,
                graph_exec_id=1,
                side="graph",
                ordinal=0,
                host_start_ns=clock + 5_000_000,
                host_end_ns=clock + 5_000_000 + GRAPH_CALL_NS,
                thread_id=4242,
                stream_id=7,
                correlation_id=77,
                node_level=1,
                gpu_start_ns=gpu_start,
                gpu_end_ns=gpu_start + end + 2_500,
                event_duration_ns=end + 4_000,
                span_count=len(spans),
            )
        )
        writer.insert_tuples(rows.Span, ((1, *span, 7) for span in sorted(spans)))
        for graph_id, node_id in ((1, 1001), (1, 1003), (2, 2001), (2, 2002)):
            values = np.array([[d for _, n, _, _, d in spans if n == node_id]], np.int64).T
            starts = np.array([[s for _, n, _, s, _ in spans if n == node_id]], np.int64).T
            _write_statistics(writer, np.array([node_id]), starts, values, graph_id)
    return path
