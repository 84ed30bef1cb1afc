"""Chrome traces as Kineto writes them, made from recordings of a real GPU."""

import gzip
import json
from pathlib import Path
from typing import Any

from gviz.cuda.node_type import CopyKind, NodeType
from gviz.recording import rows
from gviz.recording.reader import Recording

_CATEGORY = {0: "kernel", 1: "gpu_memcpy", 2: "gpu_memset"}
_HOST = 4242


def trace_of(path: Path, *, node_ids: bool = True, launches: int = 20) -> dict[str, Any]:
    """Return the trace that Kineto would have written of a recording's first run.

    Launches without node times are left out, and times are relative to a base, in microseconds.
    """
    with Recording(path) as recording:
        run = recording.fetch_runs()[0]
        devices = recording.fetch_devices(run.run_id)
        functions = recording.fetch_functions(run.run_id)
        tops = [
            g.graph_id
            for g in recording.fetch_graphs()
            if g.parent_graph_id is None and g.run_id == run.run_id
        ]
        execs = {e.graph_exec_id: e for g in tops for e in recording.fetch_graph_execs(g)}
        nodes = {
            (level.graph_id, node.node_id): node
            for level in recording.fetch_graphs()
            for node in recording.fetch_nodes(level.graph_id)
        }
        rows_of = [x for g in tops for x in recording.fetch_launches(g) if x.span_count]
        chosen = sorted(rows_of, key=lambda x: x.gpu_start_ns or 0)[:launches]
        spans = {x.launch_id: recording.fetch_spans(x.launch_id) for x in chosen}
        operations = recording.fetch_run_stream_operations(run.run_id)
    names = {i: f.name for i, f in functions.items()}
    registers = {i: f.registers for i, f in functions.items()}
    base = (run.started_ns or 0) // 10**9 * 10**9
    events: list[dict[str, Any]] = []
    for launch in chosen:
        correlation = launch.correlation_id or 10**6 + launch.launch_id
        events.append(
            _event("cuda_runtime", "cudaGraphLaunch", launch.host_start_ns, launch.host_end_ns,
                   base, _HOST, launch.thread_id, {"cbid": 311, "correlation": correlation})
        )  # fmt: skip
        cuda_exec = execs[launch.graph_exec_id].cuda_exec_id
        found = spans[launch.launch_id]
        for graph_id, node_id, start, duration, stream in zip(
            found.graph_id.tolist(), found.node_id.tolist(), found.start_ns.tolist(),
            found.duration_ns.tolist(), found.stream_id.tolist(), strict=True,
        ):  # fmt: skip
            node = nodes[graph_id, node_id]
            begin = launch.gpu_start_ns + start
            args = _args(node, names, registers, node.device_id, stream, correlation)
            if node_ids:
                graph_node_id = cuda_exec << 32 | (node.exec_node_id or 0)
                args |= {"graph id": cuda_exec, "graph node id": graph_node_id}
            events.append(_work(node, names, begin, begin + duration, base, args))
    for operation in operations:
        args = _args(operation, names, registers, operation.device_id, operation.stream_id,
                     operation.correlation_id)  # fmt: skip
        begin = operation.start_ns
        events.append(_work(operation, names, begin, begin + operation.duration_ns, base, args))
        if operation.host_start_ns is not None:
            events.append(
                _event("cuda_runtime", "cudaLaunchKernel", operation.host_start_ns,
                       operation.host_end_ns, base, _HOST, operation.thread_id,
                       {"cbid": 211, "correlation": operation.correlation_id})
            )  # fmt: skip
    return {
        "schemaVersion": 1,
        "deviceProperties": [_device(d) for d in devices],
        "cuda_driver_version": 13000,
        "cupti_version": 130001,
        "trace_id": "00000000000000000000000000000000",
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": base,
        "traceEvents": events,
        "traceName": "trace.json",
    }


def write_trace(trace: dict[str, Any], path: Path, indent: int | None = None) -> Path:
    """Write a trace, packed where the name ends in .gz; microseconds with thousandths.

    Indented by 2 it is as Kineto writes it, and takes five times as long to write.
    """
    text = json.dumps(trace, indent=indent).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def _microseconds(ns: int) -> float:
    return ns / 1000


def _event(
    category: str, name: str, start: int, end: int, base: int, pid: int, tid: int, args: Any
) -> dict[str, Any]:
    return {
        "ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
        "ts": _microseconds(start - base), "dur": _microseconds(end - start), "args": args,
    }  # fmt: skip


def _work(
    work: rows.Node | rows.StreamOperation, names: dict[int, str], start: int, end: int,
    base: int, args: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    name = names[work.function_id] if work.type == NodeType.KERNEL else "Memset (Device)"
    if work.type == NodeType.MEMCPY:
        kind = CopyKind(work.copy_kind or 0).name.replace("TO", "to")
        name = f"Memcpy {kind} (Device -> Device)"
    return _event(_CATEGORY[work.type], name, start, end, base, 0, args["stream"], args)


def _args(
    work: rows.Node | rows.StreamOperation, names: dict[int, str],
    registers: dict[int, int | None], device: int | None, stream: int, correlation: int,
) -> dict[str, Any]:  # fmt: skip
    args: dict[str, Any] = {
        "External id": 1, "device": device or 0, "context": 1, "stream": stream,
        "correlation": correlation,
    }  # fmt: skip
    if work.type != NodeType.KERNEL:
        return args | {"bytes": work.bytes or 0, "memory bandwidth (GB/s)": 1.0}
    return args | {
        "queued": 0,
        "registers per thread": registers[work.function_id] or 0,
        "shared memory": work.shared_mem_bytes or 0,
        "blocks per SM": 1.0,
        "warps per SM": 4.0,
        "grid": [work.grid_x, work.grid_y, work.grid_z],
        "block": [work.block_x, work.block_y, work.block_z],
        "est. achieved occupancy %": 6,
    }


def _device(device: rows.Device) -> dict[str, Any]:
    major, minor = (device.compute_capability or "9.0").split(".")
    return {
        "id": device.device_id, "name": device.name, "totalGlobalMem": device.memory_bytes,
        "computeMajor": int(major), "computeMinor": int(minor),
        "maxThreadsPerMultiprocessor": device.max_threads_per_multiprocessor,
        "numSms": device.multiprocessor_count,
    }  # fmt: skip
