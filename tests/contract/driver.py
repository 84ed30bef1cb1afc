"""A thin binding of the CUDA driver API for the contract's programs, through ctypes.

It runs on a real driver and on the fake one alike: ``libcuda.so.1`` is whatever the
dynamic linker finds first.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_ulonglong, c_void_p
from typing import Any

from contract.params import (
    HOST_FUNCTION,
    AllocParams,
    Conditional,
    EdgeData,
    HostParams,
    KernelNodeParams,
    MemcpyParams,
    MemsetParams,
    NodeParams,
)

#: Kernels in PTX that every GPU since 2014 runs. spin(ns) waits that long, by the GPU's clock;
#: axpy(n, a, x, y) adds a * x to y.
PTX = r"""
.version 7.0
.target sm_50
.address_size 64

.visible .entry empty()
{
    ret;
}

.visible .entry spin(
    .param .u64 spin_param_0
)
{
    .reg .pred %p<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [spin_param_0];
    mov.u64 %rd2, %globaltimer;
WAIT:
    mov.u64 %rd3, %globaltimer;
    sub.s64 %rd4, %rd3, %rd2;
    setp.lt.u64 %p1, %rd4, %rd1;
    @%p1 bra WAIT;
    ret;
}

.visible .entry axpy(
    .param .u32 axpy_param_0,
    .param .f32 axpy_param_1,
    .param .u64 axpy_param_2,
    .param .u64 axpy_param_3
)
{
    .reg .pred %p<2>;
    .reg .f32 %f<5>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;
    ld.param.u32 %r2, [axpy_param_0];
    ld.param.f32 %f1, [axpy_param_1];
    ld.param.u64 %rd1, [axpy_param_2];
    ld.param.u64 %rd2, [axpy_param_3];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra DONE;
    mul.wide.u32 %rd4, %r1, 4;
    cvta.to.global.u64 %rd3, %rd1;
    add.s64 %rd5, %rd3, %rd4;
    ld.global.f32 %f2, [%rd5];
    cvta.to.global.u64 %rd6, %rd2;
    add.s64 %rd7, %rd6, %rd4;
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f2, %f1, %f3;
    st.global.f32 [%rd7], %f4;
DONE:
    ret;
}
"""

CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED = 0, 1, 2
MEMORY_HOST, MEMORY_DEVICE = 1, 2

Dim3 = tuple[int, int, int]
Handle = int


class DriverError(RuntimeError):
    """A driver call that did not return CUDA_SUCCESS; ``code`` is its CUresult."""

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name} returned {code}")
        self.code = code


class Arguments:
    """Kernel arguments (ctypes values) as the array of pointers that the driver wants."""

    def __init__(self, *values: Any) -> None:
        self.values = values  # kept alive: the pointers below name them
        pointers = [ctypes.cast(ctypes.pointer(v), c_void_p) for v in values]
        self.array = (c_void_p * max(1, len(values)))(*pointers)

    def to_bytes(self) -> list[bytes]:
        """Return each argument's bytes, as a recording stores them."""
        return [bytes(v) for v in self.values]


def _handles(handles: Sequence[Handle]) -> Any:
    return (c_void_p * max(1, len(handles)))(*handles)


class Driver:
    """A device, its primary context, and the kernels above.

    Handles are plain integers. Every method raises DriverError when its call fails.
    """

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        self._keep: list[Any] = []  # what graphs refer to: host functions, parameter arrays
        self.call("cuInit", c_uint(0))
        self.context: Handle = 0
        self.functions: dict[str, Handle] = {}
        self.use_device(0)

    def use_device(self, ordinal: int) -> Handle:
        """Make a device's primary context current and load the kernels there; return it."""
        self.context = self._out("cuDevicePrimaryCtxRetain", c_int(ordinal))
        self.make_current()
        module = self._out("cuModuleLoadData", ctypes.c_char_p(PTX.encode()))
        self.functions = {
            name: self._out("cuModuleGetFunction", c_void_p(module), ctypes.c_char_p(name.encode()))
            for name in ("empty", "spin", "axpy")
        }
        return self.context

    def device_count(self) -> int:
        """Return how many devices there are."""
        count = c_int()
        self.call("cuDeviceGetCount", byref(count))
        return count.value

    def load_kernels(self, names: Sequence[bytes]) -> None:
        """Load empty kernels of these names; launch them by the names decoded as Latin-1."""
        entries = b"".join(b".visible .entry %s()\n{\n    ret;\n}\n" % name for name in names)
        self.load_module(b".version 7.0\n.target sm_50\n.address_size 64\n" + entries, names)

    def load_module(self, ptx: bytes, names: Sequence[bytes]) -> Handle:
        """Load PTX that has kernels of these names; launch them by the names as Latin-1."""
        module = self._out("cuModuleLoadData", ctypes.c_char_p(ptx))
        for name in names:
            handle = self._out("cuModuleGetFunction", c_void_p(module), ctypes.c_char_p(name))
            self.functions[name.decode("latin-1")] = handle
        return module

    def call(self, name: str, *arguments: Any) -> None:
        """Call a driver function; DriverError unless it succeeds."""
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            raise DriverError(name, code)

    def _out(self, name: str, *arguments: Any) -> Handle:
        """Call a function whose first parameter receives a handle; return the handle."""
        out = c_void_p()
        self.call(name, byref(out), *arguments)
        return out.value or 0

    def make_current(self) -> None:
        """Make the context current on the calling thread."""
        self.call("cuCtxSetCurrent", c_void_p(self.context))

    def synchronize(self) -> None:
        """Wait for all work of the context."""
        self.call("cuCtxSynchronize")

    # -- memory ------------------------------------------------------------------------

    def allocate(self, size_bytes: int) -> int:
        """Return the address of new device memory."""
        address = c_ulonglong()
        self.call("cuMemAlloc_v2", byref(address), c_size_t(size_bytes))
        return address.value

    def allocate_pinned(self, size_bytes: int) -> int:
        """Return the address of new page-locked host memory."""
        return self._out("cuMemHostAlloc", c_size_t(size_bytes), c_uint(0))

    def upload_floats(self, address: int, values: Sequence[float]) -> None:
        """Copy floats to the device and wait."""
        data = (c_float * len(values))(*values)
        size = c_size_t(ctypes.sizeof(data))
        self.call("cuMemcpyHtoD_v2", c_ulonglong(address), data, size)

    def download_floats(self, address: int, count: int) -> list[float]:
        """Copy floats from the device."""
        data = (c_float * count)()
        self.call("cuMemcpyDtoH_v2", data, c_ulonglong(address), c_size_t(4 * count))
        return list(data)

    # -- streams and events --------------------------------------------------------------

    def stream(self, *, non_blocking: bool = True) -> Handle:
        """Create a stream; a blocking one waits for the legacy stream and it for it."""
        return self._out("cuStreamCreate", c_uint(1 if non_blocking else 0))

    def wait(self, stream: Handle) -> None:
        """Wait for a stream's work."""
        self.call("cuStreamSynchronize", c_void_p(stream))

    def event(self, *, timing: bool = True) -> Handle:
        """Create an event."""
        return self._out("cuEventCreate", c_uint(0 if timing else 2))

    def record(self, event: Handle, stream: Handle) -> None:
        """Record an event."""
        self.call("cuEventRecord", c_void_p(event), c_void_p(stream))

    def wait_event(self, stream: Handle, event: Handle) -> None:
        """Make a stream wait for an event."""
        self.call("cuStreamWaitEvent", c_void_p(stream), c_void_p(event), c_uint(0))

    def elapsed_ns(self, start: Handle, end: Handle) -> float:
        """Return the time between two recorded events."""
        milliseconds = c_float()
        self.call("cuEventElapsedTime_v2", byref(milliseconds), c_void_p(start), c_void_p(end))
        return milliseconds.value * 1e6

    # -- stream operations -----------------------------------------------------------------

    def launch(
        self,
        name: str,
        arguments: Arguments,
        stream: Handle,
        *,
        grid: Dim3 = (1, 1, 1),
        block: Dim3 = (32, 1, 1),
        shared_mem_bytes: int = 0,
    ) -> None:
        """Launch one of the kernels."""
        self.call(
            "cuLaunchKernel",
            c_void_p(self.functions[name]),
            *map(c_uint, grid),
            *map(c_uint, block),
            c_uint(shared_mem_bytes),
            c_void_p(stream),
            arguments.array,
            c_void_p(None),
        )

    def copy(self, destination: int, source: int, size_bytes: int, stream: Handle) -> None:
        """Copy between any two addresses (pinned host or device)."""
        self.call(
            "cuMemcpyAsync",
            c_ulonglong(destination),
            c_ulonglong(source),
            c_size_t(size_bytes),
            c_void_p(stream),
        )

    def copy_on_device(
        self, destination: int, source: int, size_bytes: int, stream: Handle
    ) -> None:
        """Copy from device to device memory."""
        self.call(
            "cuMemcpyDtoDAsync_v2",
            c_ulonglong(destination),
            c_ulonglong(source),
            c_size_t(size_bytes),
            c_void_p(stream),
        )

    def set32(self, address: int, value: int, count: int, stream: Handle) -> None:
        """Fill with 32-bit values."""
        self.call(
            "cuMemsetD32Async",
            c_ulonglong(address),
            c_uint(value),
            c_size_t(count),
            c_void_p(stream),
        )

    def host_function(self, stream: Handle, function: Any) -> None:
        """Call a Python function when the stream gets there."""
        self._keep.append(HOST_FUNCTION(function))
        self.call("cuLaunchHostFunc", c_void_p(stream), self._keep[-1], c_void_p(None))

    # -- capture and graphs ------------------------------------------------------------------

    def begin_capture(self, stream: Handle, mode: int = CAPTURE_THREAD_LOCAL) -> None:
        """Begin capturing a stream."""
        self.call("cuStreamBeginCapture_v2", c_void_p(stream), c_int(mode))

    def end_capture(self, stream: Handle) -> Handle:
        """End capturing; return the graph."""
        graph = c_void_p()
        self.call("cuStreamEndCapture", c_void_p(stream), byref(graph))
        return graph.value or 0

    def graph(self) -> Handle:
        """Create an empty graph."""
        return self._out("cuGraphCreate", c_uint(0))

    def destroy_graph(self, graph: Handle) -> None:
        """Destroy a graph."""
        self.call("cuGraphDestroy", c_void_p(graph))

    def instantiate(self, graph: Handle, flags: int = 0) -> Handle:
        """Return an executable of a graph."""
        return self._out("cuGraphInstantiateWithFlags", c_void_p(graph), c_ulonglong(flags))

    def upload(self, graph_exec: Handle, stream: Handle) -> None:
        """Upload an executable."""
        self.call("cuGraphUpload", c_void_p(graph_exec), c_void_p(stream))

    def launch_graph(self, graph_exec: Handle, stream: Handle) -> None:
        """Launch an executable."""
        self.call("cuGraphLaunch", c_void_p(graph_exec), c_void_p(stream))

    def destroy_exec(self, graph_exec: Handle) -> None:
        """Destroy an executable."""
        self.call("cuGraphExecDestroy", c_void_p(graph_exec))

    def nodes(self, graph: Handle) -> list[Handle]:
        """Return a graph's nodes."""
        count = c_size_t()
        self.call("cuGraphGetNodes", c_void_p(graph), None, byref(count))
        found = (c_void_p * max(1, count.value))()
        self.call("cuGraphGetNodes", c_void_p(graph), found, byref(count))
        return [found[i] or 0 for i in range(count.value)]

    def edges(self, graph: Handle) -> list[tuple[Handle, Handle]]:
        """Return a graph's edges."""
        count = c_size_t()
        self.call("cuGraphGetEdges_v2", c_void_p(graph), None, None, None, byref(count))
        size = max(1, count.value)
        start, end, data = (c_void_p * size)(), (c_void_p * size)(), (EdgeData * size)()
        self.call("cuGraphGetEdges_v2", c_void_p(graph), start, end, data, byref(count))
        return [(start[i] or 0, end[i] or 0) for i in range(count.value)]

    def node_type(self, node: Handle) -> int:
        """Return a node's CUgraphNodeType."""
        found = c_int(-1)
        self.call("cuGraphNodeGetType", c_void_p(node), byref(found))
        return found.value

    # -- nodes ---------------------------------------------------------------------------------

    def add(self, kind: str, graph: Handle, after: Sequence[Handle], *rest: Any) -> Handle:
        """Add a node by its cuGraphAdd...Node function."""
        self._keep.extend(rest)
        return self._out(
            f"cuGraphAdd{kind}", c_void_p(graph), _handles(after), c_size_t(len(after)), *rest
        )

    def kernel_params(
        self, name: str, arguments: Arguments, grid: Dim3, block: Dim3, shared_mem_bytes: int = 0
    ) -> KernelNodeParams:
        """Describe a kernel node."""
        self._keep.append(arguments)
        return KernelNodeParams(
            func=self.functions[name],
            grid=grid,
            block=block,
            shared_mem_bytes=shared_mem_bytes,
            kernel_params=arguments.array,
        )

    def add_kernel(
        self,
        graph: Handle,
        after: Sequence[Handle],
        name: str,
        arguments: Arguments,
        *,
        grid: Dim3 = (1, 1, 1),
        block: Dim3 = (32, 1, 1),
    ) -> Handle:
        """Add a kernel node."""
        params = self.kernel_params(name, arguments, grid, block)
        return self.add("KernelNode_v2", graph, after, byref(params))

    def add_memcpy(
        self,
        graph: Handle,
        after: Sequence[Handle],
        destination: tuple[int, int],
        source: tuple[int, int],
        size_bytes: int,
    ) -> Handle:
        """Add a copy; each end is (memory type, address)."""
        params = MemcpyParams(width_bytes=size_bytes, height=1, depth=1)
        for end, (memory_type, address) in (
            (params.source, source),
            (params.destination, destination),
        ):
            end.memory_type = memory_type
            if memory_type == MEMORY_HOST:
                end.host = address
            else:
                end.device = address
        return self.add("MemcpyNode", graph, after, byref(params), c_void_p(self.context))

    def add_memset(
        self, graph: Handle, after: Sequence[Handle], address: int, value: int, count: int
    ) -> Handle:
        """Add a memset of 32-bit values."""
        params = MemsetParams(
            destination=address, value=value, element_bytes=4, width=count, height=1
        )
        return self.add("MemsetNode", graph, after, byref(params), c_void_p(self.context))

    def add_host(self, graph: Handle, after: Sequence[Handle], function: Any) -> Handle:
        """Add a node that calls a Python function."""
        params = HostParams(function=HOST_FUNCTION(function))
        self._keep.append(params)
        return self.add("HostNode", graph, after, byref(params))

    def add_child(self, graph: Handle, after: Sequence[Handle], child: Handle) -> Handle:
        """Add a child graph node; the driver embeds a copy of ``child``."""
        return self.add("ChildGraphNode", graph, after, c_void_p(child))

    def add_alloc(
        self, graph: Handle, after: Sequence[Handle], size_bytes: int
    ) -> tuple[Handle, int]:
        """Add an allocation; return the node and the address."""
        params = AllocParams(alloc_type=1, location_type=1, bytes=size_bytes)
        return self.add("MemAllocNode", graph, after, byref(params)), int(params.address)

    def conditional_handle(self, graph: Handle, value: int) -> int:
        """Create a handle that starts each launch at ``value``."""
        handle = c_ulonglong()
        self.call(
            "cuGraphConditionalHandleCreate",
            byref(handle),
            c_void_p(graph),
            c_void_p(self.context),
            c_uint(value),
            c_uint(1),
        )
        return handle.value

    def add_conditional(
        self,
        graph: Handle,
        after: Sequence[Handle],
        kind: int,
        value: int,
        size: int,
        *,
        handle: int | None = None,
    ) -> tuple[Handle, list[Handle]]:
        """Add a conditional node; without a handle, with one that starts at ``value``.

        Returns
        -------
        node and the graphs of its bodies
            Kind 0 is IF, 1 WHILE, 2 SWITCH.
        """
        handle = self.conditional_handle(graph, value) if handle is None else handle
        params = NodeParams(type=13)
        params.any.conditional = Conditional(handle, kind, size, None, self.context)
        node = self.add_any(graph, after, params)
        bodies = params.any.conditional.bodies
        return node, [bodies[i] or 0 for i in range(size)]

    def add_any(self, graph: Handle, after: Sequence[Handle], params: NodeParams) -> Handle:
        """Add a node of any kind."""
        return self._out(
            "cuGraphAddNode_v2",
            c_void_p(graph),
            _handles(after),
            c_void_p(None),
            c_size_t(len(after)),
            byref(params),
        )

    def add_edges(
        self,
        graph: Handle,
        edges: Iterable[tuple[Handle, Handle]],
        data: EdgeData | None = None,
    ) -> None:
        """Add dependencies, all of one kind."""
        pairs = list(edges)
        kinds = None if data is None else (EdgeData * len(pairs))(*[data] * len(pairs))
        self.call(
            "cuGraphAddDependencies_v2",
            c_void_p(graph),
            _handles([a for a, _ in pairs]),
            _handles([b for _, b in pairs]),
            kinds,
            c_size_t(len(pairs)),
        )

    def set_kernel_params(
        self, graph_exec: Handle, node: Handle, name: str, arguments: Arguments, grid: Dim3
    ) -> None:
        """Give a kernel node of an executable new parameters."""
        params = self.kernel_params(name, arguments, grid, (32, 1, 1))
        self.call(
            "cuGraphExecKernelNodeSetParams_v2",
            c_void_p(graph_exec),
            c_void_p(node),
            byref(params),
        )

    def set_enabled(self, graph_exec: Handle, node: Handle, enabled: bool) -> None:
        """Switch a node of an executable on or off."""
        self.call(
            "cuGraphNodeSetEnabled", c_void_p(graph_exec), c_void_p(node), c_uint(int(enabled))
        )

    def set_memset_params(
        self, graph_exec: Handle, node: Handle, address: int, value: int, count: int
    ) -> None:
        """Give a memset node of an executable new parameters."""
        params = MemsetParams(
            destination=address, value=value, element_bytes=4, width=count, height=1
        )
        self.call(
            "cuGraphExecMemsetNodeSetParams",
            c_void_p(graph_exec),
            c_void_p(node),
            byref(params),
            c_void_p(self.context),
        )

    def clone(self, graph: Handle) -> Handle:
        """Return a copy of a graph."""
        return self._out("cuGraphClone", c_void_p(graph))

    def update(self, graph_exec: Handle, graph: Handle) -> int:
        """Update an executable from a graph; return the CUgraphExecUpdateResult."""
        info = (c_ulonglong * 3)()
        code = self.library.cuGraphExecUpdate_v2(c_void_p(graph_exec), c_void_p(graph), info)
        if code not in (0, 910):
            raise DriverError("cuGraphExecUpdate_v2", code)
        return int(info[0] & 0xFFFFFFFF)
