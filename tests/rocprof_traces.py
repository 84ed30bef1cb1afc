"""The JSON of AMD's rocprofv3 as its public source writes it, of graphs whose times are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

#: Kernels by the order in which a launch dispatches them, each with its queue's address.
NODES = (
    ("scale(float*)", 0x7F0010),
    ("__amd_rocclr_copyBuffer", 0x7F0020),
    ("add(float*)", 0x7F0010),
)
_KERNEL_DISPATCH, _HIP_API, _COPY = 0, 1, 2
_OPERATIONS = (
    ("KERNEL_DISPATCH", ["KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_COMPLETE"]),
    ("HIP_RUNTIME_API", ["hipGraphLaunch", "hipLaunchKernel", "hipStreamSynchronize"]),
    ("MEMORY_COPY", ["MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_DEVICE"]),
)


def rocprof_of(*, launches: int = 3, ids: bool = True, calls: bool = True) -> dict[str, Any]:
    """Return what rocprofv3 writes of a graph of three nodes, a kernel and a copy.

    Parameters
    ----------
    launches
        How often the graph was launched.
    ids
        Whether its nodes have ids, as since 2026.
    calls
        Whether calls of HIP were traced; else the launches are listed alone.
    """
    names = [*dict.fromkeys(name for name, _ in NODES), "eager(int)"]
    kernels, api, graphs = [], [], []
    for number in range(launches):
        at, correlation = 1_000_000 * (number + 1), 10 + number
        graphs.append({**_record(0, 0, correlation, at, at + 900), "graph_exec_id": 4})
        api.append(_record(_HIP_API, 0, correlation, at, at + 900))
        for place, (name, queue) in enumerate(NODES):
            begin = at + 1_000 + 2_000 * place
            node = {"graph_exec_id": 4, "graph_node_id": place} if ids else {}
            kernel = _kernel(names.index(name), queue, correlation, begin, begin + 1_500)
            kernels.append({**kernel, **node})
    outside = {"graph_exec_id": 0, "graph_node_id": 0} if ids else {}
    kernels.append({**_kernel(len(names) - 1, 0x7F0010, 90, 500_000, 501_000), **outside})
    api += [
        _record(_HIP_API, 1, 90, 499_000, 499_500),
        _record(_HIP_API, 2, 91, 502_000, 503_000),
    ]
    copy = {
        **_record(_COPY, 1, 92, 600_000, 640_000),
        "dst_agent_id": {"handle": 77}, "src_agent_id": {"handle": 76}, "bytes": 4096,
    }  # fmt: skip
    process = {
        "metadata": {"pid": 4711, "command": ["./program"]},
        "agents": [
            {"id": {"handle": 76}, "type": 1, "name": "EPYC", "logical_node_type_id": 0},
            {
                "id": {"handle": 77}, "type": 2, "name": "gfx942", "cu_count": 304,
                "product_name": "AMD Instinct MI300X", "logical_node_type_id": 0,
            },
        ],
        "strings": {
            "buffer_records": [{"kind": kind, "operations": names} for kind, names in _OPERATIONS]
        },
        "kernel_symbols": [
            {"kernel_id": at, "kernel_name": f"{name}.kd", "formatted_kernel_name": f"{name}.kd"}
            for at, name in enumerate(names)
        ],
        "buffer_records": {
            "kernel_dispatch": kernels, "memory_copy": [copy], "hip_graph": graphs,
            "hip_api": api if calls else [],
        },
    }  # fmt: skip
    return {"rocprofiler-sdk-tool": [process]}


def write_rocprof(trace: dict[str, Any], path: Path) -> Path:
    """Write it as rocprofv3 does."""
    path.write_text(json.dumps(trace, indent=0))
    return path


def _record(kind: int, operation: int, correlation: int, start: int, end: int) -> dict[str, Any]:
    return {
        "kind": kind, "operation": operation, "thread_id": 4712,
        "correlation_id": {"internal": correlation, "external": 0},
        "start_timestamp": start, "end_timestamp": end,
    }  # fmt: skip


def _kernel(kernel: int, queue: int, correlation: int, start: int, end: int) -> dict[str, Any]:
    info = {
        "agent_id": {"handle": 77}, "queue_id": {"handle": queue}, "kernel_id": kernel,
        "group_segment_size": 512, "workgroup_size": {"x": 256, "y": 1, "z": 1},
        "grid_size": {"x": 1_000, "y": 2, "z": 1},
    }  # fmt: skip
    return {**_record(_KERNEL_DISPATCH, 1, correlation, start, end), "dispatch_info": info}
