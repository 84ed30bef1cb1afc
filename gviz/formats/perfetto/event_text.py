"""Trace events as text, and what Kineto calls things in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gviz.cuda import CopyKind, NodeType, node_type_name

if TYPE_CHECKING:
    from gviz.model import TreeNode
    from gviz.recording import rows

#: How Kineto writes directions of copies.
#: References: pytorch/kineto, libkineto/src/CuptiActivity.cpp, memcpyKindString.
_COPY_KINDS = {
    CopyKind.HTOD: "HtoD", CopyKind.DTOH: "DtoH", CopyKind.HTOA: "HtoA", CopyKind.ATOH: "AtoH",
    CopyKind.ATOA: "AtoA", CopyKind.ATOD: "AtoD", CopyKind.DTOA: "DtoA", CopyKind.DTOD: "DtoD",
    CopyKind.HTOH: "HtoH", CopyKind.PTOP: "PtoP",
}  # fmt: skip
_CATEGORIES = {
    NodeType.KERNEL: "kernel", NodeType.MEMCPY: "gpu_memcpy", NodeType.MEMSET: "gpu_memset",
}  # fmt: skip
#: The call that Kineto shows for an operation outside graphs. Recordings do not say which of
#: the calls that do the same it was.
_CALLS = {
    NodeType.KERNEL: "cudaLaunchKernel", NodeType.MEMCPY: "cudaMemcpyAsync",
    NodeType.MEMSET: "cudaMemsetAsync",
}  # fmt: skip
GRAPH_LAUNCH_CALL = "cudaGraphLaunch"


def category(node_type: int) -> str:
    """Return Kineto's category of work on the GPU; ``gpu_node`` of kinds it does not know."""
    return next((text for known, text in _CATEGORIES.items() if known == node_type), "gpu_node")


def call_of(node_type: int) -> str:
    """Return the name of the call that launched an operation outside graphs."""
    return next((text for known, text in _CALLS.items() if known == node_type), "unknown call")


def work_name(node_type: int, name: str, function: str | None, copy_kind: int | None) -> str:
    """Return the name of an event: a kernel's full name, ``Memcpy HtoD``, ``Memset (Device)``."""
    if node_type == NodeType.MEMCPY:
        kind = next((t for k, t in _COPY_KINDS.items() if k == copy_kind), "<unknown>")
        return f"Memcpy {kind}"
    if node_type == NodeType.MEMSET:
        return "Memset (Device)"
    return function or name or node_type_name(node_type)


def work_arguments(
    work: TreeNode | rows.StreamOperation, function: rows.KernelFunction | None
) -> dict[str, Any]:
    """Return the arguments of a kernel, copy or memset by Kineto's names; nothing unknown."""
    found: dict[str, Any] = {}
    if function is not None:
        static = function.static_shared_mem_bytes or 0
        found["registers per thread"] = function.registers
        found["shared memory"] = static + (work.shared_mem_bytes or 0)
    if work.grid_x is not None:
        found["grid"] = [work.grid_x, work.grid_y, work.grid_z]
        found["block"] = [work.block_x, work.block_y, work.block_z]
    found["bytes"] = work.bytes
    return {name: value for name, value in found.items() if value is not None}


def json_text(value: Any, *, indent: int | None = None) -> str:
    r"""Return a value as JSON with all letters as themselves.

    Perfetto (v52) shows escapes such as ``\u00e9`` as they stand. JSON wants them of control
    characters only.
    """
    return json.dumps(value, ensure_ascii=False, indent=indent)


def slice_tail(name: str, kind: str, pid: int, arguments: Mapping[str, Any]) -> str:
    """Return the part of a complete event that all executions of a node share."""
    inner = "".join(f", {json_text(k)}: {json_text(v)}" for k, v in arguments.items())
    what = f'"ph": "X", "cat": {json_text(kind)}, "name": {json_text(name)}, "pid": {pid}'
    return f"{inner}}}, {what}}}"


def slice_head(tid: int, start_ns: int, duration_ns: int, arguments: str) -> str:
    """Return the part before :func:`slice_tail`; ``arguments`` is text of at least one.

    Times count from the file's base.
    """
    when = f'"ts": {microseconds(start_ns)}, "dur": {microseconds(duration_ns)}'
    return f'{{{when}, "tid": {tid}, "args": {{{arguments}'


def slice_text(
    name: str,
    kind: str,
    place: tuple[int, int],
    when: tuple[int, int],
    arguments: Mapping[str, Any],
) -> str:
    """Return a complete event; ``place`` is process and thread, ``when`` start and duration."""
    return json_text(
        {"ph": "X", "cat": kind, "name": name, "pid": place[0], "tid": place[1], "args": arguments}
    ).removesuffix("}") + (f', "ts": {microseconds(when[0])}, "dur": {microseconds(when[1])}}}')


def known(**arguments: Any) -> dict[str, Any]:
    """Return what is known of arguments, with spaces in their names as Kineto has them."""
    return {name.replace("_", " "): v for name, v in arguments.items() if v is not None}


def flow_text(
    name: str, number: int, start: tuple[int, int, int], end: tuple[int, int, int]
) -> tuple[str, str]:
    """Return the two events of an arrow; its ends are process, thread and time.

    Each time lies inside the slice that it belongs to, which stands earlier in the file.
    """
    ends = (
        f'"cat": "{name}", "name": "{name}", "id": {number}, '
        f'"pid": {pid}, "tid": {tid}, "ts": {microseconds(ns)}}}'
        for pid, tid, ns in (start, end)
    )
    first, last = ends
    # bp e: bound to the slice around it, not to the next one.
    return f'{{"ph": "s", {first}', f'{{"ph": "f", "bp": "e", {last}'


def microseconds(ns: int) -> str:
    """Return nanoseconds as a JSON number of microseconds, exactly."""
    whole, rest = divmod(abs(ns), 1000)
    return f"{'-' if ns < 0 else ''}{whole}.{rest:03d}"
