"""The cost of folding: raw activity buffers to arrays, a spool to SQLite, one launch back.

Times are CPU seconds of the process: on shared cores those of the clock say little.
Run: python -P bench/spool.py [--records N] [--nodes N] [--launches N] [--repeat R]
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gviz.cuda.node_type import NodeType
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter
from gviz.spool.folding.recording_fold import fold
from gviz.spool.records import format as f
from gviz.spool.records import table
from gviz.spool.records.activity import decode_buffer
from gviz.spool.records.format import RecordType
from gviz.spool.records.reader import SpoolReader
from gviz.spool.streams.contents import Contents
from gviz.spool.streams.retention import Retention

STARTED_NS = 1_790_000_000_000_000_000
EXEC_ID = 2
#: What one buffer of the native library holds (bytes).
BUFFER_BYTES = 128 << 10
#: CUpti_ActivityKernel10, CUpti_ActivityMemcpy6 and CUpti_ActivityMemset4 (bytes).
KERNEL_SIZE, COPY_SIZE, MEMSET_SIZE = 216, 96, 88
KERNEL_NAME = 0x7F00_0000_1000
#: In the kinds of nodes, what is no kernel: every 16th a memset, every 16th a copy.
EVERY = 16
LARGE_LAUNCH_NODES, LARGE_LAUNCHES, FETCHES = 5_000, 1_000, 50


# -- made-up records ------------------------------------------------------------------------


def kinds(count: int) -> npt.NDArray[np.int64]:
    """Return the node type of each of ``count`` nodes."""
    found = np.full(count, NodeType.KERNEL, np.int64)
    found[3::EVERY] = NodeType.MEMSET
    found[11::EVERY] = NodeType.MEMCPY
    return found


def buffers(launches: int, nodes: int) -> list[bytes]:
    """Return BUFFER payloads with a record for each node of each launch, in order."""
    kind = kinds(nodes)
    size_of = {0: KERNEL_SIZE, 1: COPY_SIZE, 2: MEMSET_SIZE}
    sizes = np.array([size_of[k] for k in kind.tolist()], np.int64)
    # One launch as a block of 64-bit words; of each launch only times and correlation differ.
    offsets = np.cumsum(sizes) - sizes
    block = np.zeros(int(sizes.sum()) // 8, np.uint64)
    _fill(block, offsets // 8, kind)
    per_buffer = max(1, BUFFER_BYTES // KERNEL_SIZE)
    found = []
    for launch in range(launches):
        _stamp(block, offsets // 8, kind, launch)
        for first in range(0, nodes, per_buffer):
            last = min(first + per_buffer, nodes)
            begin, end = int(offsets[first]), int(offsets[last - 1] + sizes[last - 1])
            places = (offsets[first:last] - begin).astype("<u4")
            found.append(
                table.BUFFER.pack(last - first, end - begin)
                + places.tobytes()
                + bytes(4 * ((last - first) & 1))
                + block[begin // 8 : end // 8].tobytes()
            )
    return found


def _fill(
    block: npt.NDArray[np.uint64], at: npt.NDArray[np.int64], kind: npt.NDArray[np.int64]
) -> None:
    node = np.arange(len(at), dtype=np.uint64) | np.uint64(EXEC_ID << 32)
    kernel, copy, memset = at[kind == 0], at[kind == 1], at[kind == 2]
    block[kernel] = 10 | 32 << 48
    block[kernel + 6] = 7 | 132 << 32
    block[kernel + 7] = 1 | 1 << 32
    block[kernel + 8] = 256 | 1 << 32
    block[kernel + 9] = 1
    block[kernel + 13] = KERNEL_NAME
    block[kernel + 18] = node[kind == 0]
    block[copy] = 1 | 8 << 32
    block[memset] = 2
    for transfer, number in ((copy, 1), (memset, 2)):
        block[transfer + 1] = 4096
        block[transfer + 8] = node[kind == number]


def _stamp(
    block: npt.NDArray[np.uint64],
    at: npt.NDArray[np.int64],
    kind: npt.NDArray[np.int64],
    launch: int,
) -> None:
    start = launch_start_ns(launch, len(at)) + 20_000 + 2_000 * np.arange(len(at))
    block[at + 2] = start
    block[at + 3] = start + 1_500 + launch % 7 * 10
    correlation = launch + 1
    block[at[kind == 0] + 11] = correlation << 32
    block[at[kind != 0] + 5] = 7 | correlation << 32


def launch_start_ns(launch: int, nodes: int) -> int:
    """Return when a launch was called."""
    return STARTED_NS + launch * (nodes * 2_000 + 50_000)


def write_spool(spool: Path, launches: int, nodes: int) -> None:
    """Write a spool as the native library does: a chain of nodes, launched again and again."""
    spool.mkdir()
    kernel_id = 1
    records: list[tuple[int, bytes]] = [
        (RecordType.META, json.dumps({"name": "bench", "process_id": 1}).encode()),
        (RecordType.STRING, KERNEL_NAME.to_bytes(8, "little") + b"_Z5scalePfi"),
        (RecordType.FUNCTION, table.FUNCTION.pack(kernel_id, 32, 0, 0, 1024) + b"_Z5scalePfi"),
        (RecordType.GRAPH, table.GRAPH.pack(1, EXEC_ID, 0, 0, 0, nodes, nodes - 1)),
    ]
    for node, kind in enumerate(kinds(nodes).tolist()):
        shape = ((132, 1, 1), (256, 1, 1)) if kind == NodeType.KERNEL else ((0,) * 3,) * 2
        function = kernel_id if kind == NodeType.KERNEL else 0
        head = (1, node, kind, 0, function, *shape)
        tail = (0, 8, 0, 0, 2, 2, 4096, 0, 0, 0, 1, 0, 0)
        records.append((RecordType.NODE, table.NODE.pack(*head, *tail)))
    edges = np.zeros(nodes - 1, table.EDGE.dtype)
    edges["from_id"] = np.arange(nodes - 1)
    edges["to_id"] = edges["from_id"] + 1
    records.append((RecordType.EDGES, table.EDGES.pack(1, nodes - 1) + edges.tobytes()))
    for launch in range(launches):
        start = launch_start_ns(launch, nodes)
        values = (EXEC_ID, launch + 1, start, start + 8_000, 1, 0, 7, f.LAUNCH_NODE_LEVEL, 0)
        records.append((RecordType.LAUNCH, table.LAUNCH.pack(*values)))
    records += [(RecordType.BUFFER, payload) for payload in buffers(launches, nodes)]
    records += [
        (RecordType.COUNTER, f"attached_ns\n{STARTED_NS}\nns\nmeasured".encode()),
        (RecordType.END, b""),
    ]
    _write_segments(spool, records)


def _write_segments(spool: Path, records: list[tuple[int, bytes]]) -> None:
    body, index = bytearray(), 0
    for number, (kind, payload) in enumerate(records, start=1):
        body += table.RECORD_HEADER.pack(kind, len(payload)) + payload
        body += bytes(-len(body) % 8)
        if len(body) > 8 << 20 or number == len(records):
            end = table.SEGMENT_HEADER.size + len(body)
            head = table.SEGMENT_HEADER.pack(f.MAGIC, f.VERSION, index, end, end, 1)
            (spool / f"{index:06d}{f.SEGMENT_SUFFIX}").write_bytes(head + body)
            body.clear()
            index += 1


# -- measuring --------------------------------------------------------------------------------


def seconds(function: Callable[[], object], repeat: int) -> float:
    """Return the median CPU time of a call (s)."""
    found = []
    for _ in range(repeat):
        gc.collect()
        start = time.process_time()
        function()
        found.append(time.process_time() - start)
    return statistics.median(found)


def measure_decoding(records: int, repeat: int) -> float:
    """Return records decoded a second."""
    nodes = 2_500
    payloads = buffers(max(1, records // nodes), nodes)

    def decode() -> None:
        for payload in payloads:
            decode_buffer(payload)

    return max(1, records // nodes) * nodes / seconds(decode, repeat)


def measure_folding(
    folder: Path, launches: int, nodes: int, repeat: int, limits: Retention
) -> tuple[float, float]:
    """Return spans folded a second, from the spool to the finished file, and MiB at the peak."""
    spool = folder / "bench.gviz-spool"
    if not spool.exists():
        write_spool(spool, launches, nodes)
    # A process of its own for each: the peak is then that of the folding.
    context = multiprocessing.get_context("spawn")
    found = []
    for _ in range(repeat):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_fold, args=(spool, folder / "bench.gviz", limits, sender))
        process.start()
        found.append(receiver.recv())
        process.join()
    elapsed = statistics.median(time_s for time_s, _, _ in found)
    assert {count for _, _, count in found} == {launches * nodes}
    return launches * nodes / elapsed, max(peak for _, peak, _ in found)


def _fold(
    spool: Path, output: Path, limits: Retention, sender: multiprocessing.connection.Connection
) -> None:
    start = time.process_time()
    contents = Contents(limits)
    for record in SpoolReader(spool).records():
        contents.add(record)
    contents.finish()
    fold(contents, spool, output, overwrite=True)
    elapsed = time.process_time() - start
    # Not ru_maxrss: that of a new process begins with what its parent had.
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
    with Recording(output) as recording:
        count = sum(node.count for node in recording.fetch_statistics(1))
    sender.send((elapsed, peak, count))


def measure_fetching(folder: Path) -> tuple[float, float, float]:
    """Return the median and 95th percentile of fetching a launch (ms), and the file's MB."""
    output = folder / "large.gviz"
    node = np.arange(LARGE_LAUNCH_NODES)
    rng = np.random.default_rng(1)
    with RecordingWriter(output) as writer:
        writer.insert(rows.Run(run_id=1, name="bench", state="completed", source="profile"))
        writer.insert(rows.Graph(graph_id=1, run_id=1, name="graph 1", origin="capture"))
        writer.insert(rows.GraphExec(graph_exec_id=1, run_id=1, graph_id=1, cuda_exec_id=1))
        for launch in range(LARGE_LAUNCHES):
            writer.insert(
                rows.Launch(
                    launch_id=launch + 1, run_id=1, graph_id=1, graph_exec_id=1, side="graph",
                    ordinal=launch, node_level=1, span_count=LARGE_LAUNCH_NODES,
                )
            )  # fmt: skip
            duration = rng.integers(1_000, 9_000, LARGE_LAUNCH_NODES)
            columns = (node, 0 * node, np.cumsum(duration) - duration, duration, 0 * node + 7)
            spans = zip(*(c.tolist() for c in columns), strict=True)
            writer.insert_tuples(rows.Span, ((launch + 1, 1, *span) for span in spans))
    chosen = random.Random(1).sample(range(1, LARGE_LAUNCHES + 1), FETCHES)
    times = []
    with Recording(output) as recording:
        for launch_id in chosen:
            start = time.process_time()
            spans_back = recording.fetch_spans(launch_id)
            times.append(time.process_time() - start)
            assert len(spans_back) == LARGE_LAUNCH_NODES
    median, p95 = np.percentile(times, (50, 95)) * 1e3
    return float(median), float(p95), output.stat().st_size / 1e6


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--nodes", type=int, default=2_500)
    parser.add_argument("--launches", type=int, default=400)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shape = (folder, arguments.launches, arguments.nodes, arguments.repeat)
        every_row = Retention(span_launches=1 << 30, exec_spans=1 << 40, run_spans=1 << 40)
        folded, peak = measure_folding(*shape, every_row)
        streamed, streamed_peak = measure_folding(*shape, Retention())
        median, p95, size = measure_fetching(folder)
    decoded = measure_decoding(arguments.records, arguments.repeat)
    spans = arguments.launches * arguments.nodes
    table = (
        ("raw buffers to arrays", f"{decoded / 1e6:.2f} M records/s", "2 M records/s"),
        (f"spool of {spans} spans to SQLite", f"{folded / 1e3:.0f} k spans/s", "500 k spans/s"),
        ("  peak memory", f"{peak:.0f} MiB", ""),
        ("  rows up to the limits, then counted", f"{streamed / 1e3:.0f} k spans/s", ""),
        ("  peak memory", f"{streamed_peak:.0f} MiB", ""),
        (f"{LARGE_LAUNCH_NODES} spans back, median", f"{median:.1f} ms", "20 ms"),
        ("  95th percentile", f"{p95:.1f} ms", "20 ms"),
        ("  of a file of", f"{size:.0f} MB", ""),
    )
    print(f"{'what':36}{'measured':>22}{'goal':>16}")
    for row in table:
        print(f"{row[0]:36}{row[1]:>22}{row[2]:>16}")
    result = {
        "bench": "spool",
        "decode_records_per_s": round(decoded),
        "fold_spans_per_s": round(folded),
        "fold_spans": spans,
        "fold_peak_mib": round(peak),
        "stream_spans_per_s": round(streamed),
        "stream_peak_mib": round(streamed_peak),
        "fetch_launch_median_ms": round(median, 2),
        "fetch_launch_p95_ms": round(p95, 2),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
