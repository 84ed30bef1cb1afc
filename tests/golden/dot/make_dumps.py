"""Dump graphs with rarely seen nodes and edges in the driver's DOT dialect.

Needs a CUDA GPU of compute capability 9.0 and a driver of CUDA 12.4 or newer, and
nothing else: the driver is called through ctypes.
Usage: python make_dumps.py FOLDER. Writes NAME_verbose.dot and NAME_plain.dot.
"""

from __future__ import annotations

import ctypes as C
import sys
from pathlib import Path
from typing import Any, TypeAlias

PTX = b""".version 8.0
.target sm_90
.address_size 64
.visible .entry spin() { ret; }
.visible .entry _ZN2at6native11fill_kernelIfEEvPT_i(.param .u64 a, .param .u32 b) { ret; }
\0"""

cuda = C.CDLL("libcuda.so.1")
P: TypeAlias = C.c_void_p
U: TypeAlias = C.c_uint
I: TypeAlias = C.c_int  # noqa: E741 - as short as the structs below need

context, device = P(), C.c_uint64()


class KernelParams(C.Structure):
    _fields_ = [
        ("func", P),
        ("gx", U),
        ("gy", U),
        ("gz", U),
        ("bx", U),
        ("by", U),
        ("bz", U),
        ("shared", U),
        ("params", P),
        ("extra", P),
        ("kern", P),
        ("ctx", P),
    ]


class MemsetParams(C.Structure):
    _fields_ = [
        ("dst", C.c_uint64),
        ("pitch", C.c_size_t),
        ("value", U),
        ("element", U),
        ("width", C.c_size_t),
        ("height", C.c_size_t),
    ]


class Copy3D(C.Structure):
    _fields_ = [
        ("src_x", C.c_size_t),
        ("src_y", C.c_size_t),
        ("src_z", C.c_size_t),
        ("src_lod", C.c_size_t),
        ("src_type", I),
        ("src_host", P),
        ("src_device", C.c_uint64),
        ("src_array", P),
        ("r0", P),
        ("src_pitch", C.c_size_t),
        ("src_height", C.c_size_t),
        ("dst_x", C.c_size_t),
        ("dst_y", C.c_size_t),
        ("dst_z", C.c_size_t),
        ("dst_lod", C.c_size_t),
        ("dst_type", I),
        ("dst_host", P),
        ("dst_device", C.c_uint64),
        ("dst_array", P),
        ("r1", P),
        ("dst_pitch", C.c_size_t),
        ("dst_height", C.c_size_t),
        ("width", C.c_size_t),
        ("height", C.c_size_t),
        ("depth", C.c_size_t),
    ]


class BatchOp(C.Structure):
    _fields_ = [
        ("operation", U),
        ("pad", U),
        ("address", C.c_uint64),
        ("value", C.c_uint64),
        ("flags", U),
        ("pad2", U),
        ("alias", C.c_uint64),
        ("rest", C.c_uint64),
    ]


class BatchParams(C.Structure):
    _fields_ = [("ctx", P), ("count", U), ("ops", P), ("flags", U)]


class EdgeData(C.Structure):
    _fields_ = [
        ("from_port", C.c_ubyte),
        ("to_port", C.c_ubyte),
        ("type", C.c_ubyte),
        ("reserved", C.c_ubyte * 5),
    ]


class AllocParams(C.Structure):
    _fields_ = [
        ("alloc_type", I),
        ("handle_types", I),
        ("location_type", I),
        ("location_id", I),
        ("security", P),
        ("max_size", C.c_size_t),
        ("usage", C.c_ushort),
        ("reserved", C.c_ubyte * 54),
        ("access", P),
        ("access_count", C.c_size_t),
        ("bytes", C.c_size_t),
        ("dptr", C.c_uint64),
    ]


class ConditionalParams(C.Structure):
    _fields_ = [
        ("type", I),
        ("r", I * 3),
        ("handle", C.c_uint64),
        ("kind", I),
        ("size", U),
        ("bodies", C.POINTER(P)),
        ("ctx", P),
        ("rest", C.c_ubyte * 208),
    ]


def call(name: str, *args: Any) -> None:
    result = getattr(cuda, name)(*args)
    if result != 0:
        raise SystemExit(f"{name} returned {result}")


class Builder:
    """A graph under construction."""

    def __init__(self, graph: P | None = None) -> None:
        self.graph = graph or P()
        if graph is None:
            call("cuGraphCreate", C.byref(self.graph), 0)

    def _add(self, name: str, dependencies: list[P], *rest: Any) -> P:
        node = P()
        array = (P * max(1, len(dependencies)))(*dependencies)
        call(name, C.byref(node), self.graph, array, C.c_size_t(len(dependencies)), *rest)
        return node

    def kernel(
        self,
        func: P,
        grid: tuple[int, ...] = (1, 1, 1),
        block: tuple[int, ...] = (32, 1, 1),
        shared: int = 0,
        after: list[P] | None = None,
    ) -> P:
        values = [C.c_uint64(0), C.c_int(0)]
        pointers = (P * 2)(*(C.cast(C.byref(v), P) for v in values))
        params = KernelParams(func, *grid, *block, shared, C.cast(pointers, P), None, None, None)
        return self._add("cuGraphAddKernelNode_v2", after or [], C.byref(params))

    def memset(self, params: MemsetParams, after: list[P] | None = None) -> P:
        return self._add("cuGraphAddMemsetNode", after or [], C.byref(params), context)

    def memcpy(self, params: Copy3D, after: list[P] | None = None) -> P:
        return self._add("cuGraphAddMemcpyNode", after or [], C.byref(params), context)

    def edge(self, first: P, second: P, data: EdgeData) -> None:
        call(
            "cuGraphAddDependencies_v2",
            self.graph,
            C.byref(first),
            C.byref(second),
            C.byref(data),
            C.c_size_t(1),
        )

    def conditional(self, kind: int, size: int, after: list[P] | None = None) -> list[Builder]:
        handle = C.c_uint64()
        call("cuGraphConditionalHandleCreate", C.byref(handle), self.graph, context, U(1), U(1))
        params = ConditionalParams(13, (I * 3)(), handle, kind, size, None, context)
        node, before = P(), after or []
        array = (P * max(1, len(before)))(*before)
        call(
            "cuGraphAddNode_v2",
            C.byref(node),
            self.graph,
            array,
            None,
            C.c_size_t(len(before)),
            C.byref(params),
        )
        return [Builder(P(params.bodies[i])) for i in range(size)]

    def dump(self, folder: Path, name: str) -> None:
        for flags, suffix in ((1, "verbose"), (0, "plain")):
            path = folder / f"{name}_{suffix}.dot"
            call("cuGraphDebugDotPrint", self.graph, str(path).encode(), U(flags))


def dump_edges(folder: Path, spin: P) -> None:
    """Write programmatic, launch-order and full edges between kernels."""
    g = Builder()
    a, b, c, d, e = (g.kernel(spin) for _ in range(5))
    g.edge(a, b, EdgeData(1, 0, 1))
    g.edge(a, c, EdgeData(2, 0, 0))
    g.edge(b, d, EdgeData(0, 0, 0))
    g.edge(c, d, EdgeData(1, 0, 1))
    g.edge(d, e, EdgeData(2, 0, 1))
    g.dump(folder, "edges")


def dump_shapes(folder: Path, spin: P, fill: P) -> None:
    """Write kernels of several launch shapes and attributes, and 2D and 3D copies and sets."""
    g = Builder()
    a = g.kernel(spin, (16, 10, 2), (128, 1, 1))
    b = g.kernel(fill, (8, 1, 1), (32, 4, 1), 2048, [a])
    c = g.kernel(fill, (1, 1, 3), (8, 4, 2), 0, [b])
    value = (C.c_uint * 16)(2, 1, 1)
    call("cuGraphKernelNodeSetAttribute", a, I(4), C.byref(value))  # cluster of 2 blocks
    call("cuGraphKernelNodeSetAttribute", b, I(8), C.byref(C.c_int(-3)))  # priority
    call("cuGraphKernelNodeSetAttribute", c, I(2), C.byref(C.c_int(1)))  # cooperative
    d = g.memset(MemsetParams(device.value, 512, 255, 2, 64, 8), [c])
    host = C.create_string_buffer(1 << 16)
    up = Copy3D(
        src_type=1,
        src_host=C.cast(host, P),
        src_pitch=256,
        src_height=4,
        dst_type=2,
        dst_device=device.value,
        dst_x=16,
        dst_y=1,
        dst_pitch=512,
        dst_height=8,
        width=128,
        height=4,
        depth=2,
    )
    down = Copy3D(
        src_type=2,
        src_device=device.value,
        dst_type=1,
        dst_host=C.cast(host, P),
        width=64,
        height=1,
        depth=1,
    )
    g.memcpy(down, [g.memcpy(up, [d])])
    g.dump(folder, "shapes")


def dump_memory(folder: Path, spin: P) -> None:
    """Write an allocation, its kernel, its free, and two batched memory operations."""
    g = Builder()
    params = AllocParams(alloc_type=1, location_type=1, bytes=1 << 20)
    alloc = g._add("cuGraphAddMemAllocNode", [], C.byref(params))
    kernel = g.kernel(spin, after=[alloc])
    free = g._add("cuGraphAddMemFreeNode", [kernel], C.c_uint64(params.dptr))
    ops = (BatchOp * 2)(BatchOp(2, 0, device.value, 7, 0), BatchOp(1, 0, device.value, 7, 0))
    batch = BatchParams(context, 2, C.cast(ops, P), 0)
    g._add("cuGraphAddBatchMemOpNode", [free], C.byref(batch))
    g.dump(folder, "memory_batch")


def dump_nested(folder: Path, spin: P) -> None:
    """Write WHILE around IF around a child graph, and a SWITCH, beside an empty graph."""
    child = Builder()
    child.kernel(spin)
    g = Builder()
    first = g.kernel(spin)
    (loop,) = g.conditional(1, 1, [first])
    then, otherwise = loop.conditional(0, 2, [loop.kernel(spin)])
    then._add("cuGraphAddChildGraphNode", [then.kernel(spin)], child.graph)
    otherwise.kernel(spin)
    for body in g.conditional(2, 3, [first]):
        body.kernel(spin)
    g.dump(folder, "nested")
    Builder().dump(folder, "empty")


def main() -> None:
    """Make every dump in the folder named by the first argument."""
    folder = Path(sys.argv[1])
    call("cuInit", U(0))
    module = P()
    call("cuDevicePrimaryCtxRetain", C.byref(context), I(0))
    call("cuCtxSetCurrent", context)
    version = C.c_int()
    call("cuDriverGetVersion", C.byref(version))
    print("driver", version.value)
    call("cuModuleLoadData", C.byref(module), PTX)
    call("cuMemAlloc_v2", C.byref(device), C.c_size_t(1 << 20))
    spin, fill = P(), P()
    call("cuModuleGetFunction", C.byref(spin), module, b"spin")
    call("cuModuleGetFunction", C.byref(fill), module, b"_ZN2at6native11fill_kernelIfEEvPT_i")
    dump_edges(folder, spin)
    dump_shapes(folder, spin, fill)
    dump_memory(folder, spin)
    dump_nested(folder, spin)


if __name__ == "__main__":
    main()
