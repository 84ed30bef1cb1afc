"""Graphs with bodies, memory of their own, an update that is refused and a capture that fails.

    python graph_lives.py graph_lives.gviz

A heat equation on a plate. ``solve`` relaxes it in the body of a WHILE node until it is even
enough, and smooths the rest in the body of an IF node. ``filter`` allocates and frees its scratch
memory as nodes. ``tune`` is captured again for each new factor: once its executable takes the
change, once the change is refused and a new executable made, and twice a new one is made although
an update would do. One capture fails, because the program waits in the middle of it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import nvtx
from cuda.bindings import driver, nvrtc

import gviz

SIZE = 512
CELLS = SIZE * SIZE
LAUNCHES = 24
#: Most a cell may change in a sweep at the end, and sweeps after which it is left.
TOLERANCE, SWEEPS = 0.02, 24

CODE = r"""
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);

extern "C" __global__ void heat(float* plate, int size, float edge) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size * size) plate[i] = i < size ? edge : 0.0f;
}
extern "C" __global__ void relax(const float* from, float* to, float* change, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % size, y = i / size;
    if (y >= size) return;
    if (x == 0 || y == 0 || x == size - 1 || y == size - 1) { to[i] = from[i]; return; }
    float value = 0.25f * (from[i - 1] + from[i + 1] + from[i - size] + from[i + size]);
    to[i] = value;
    atomicMax((int*)change, __float_as_int(fabsf(value - from[i])));
}
extern "C" __global__ void go_on(unsigned long long loop, const float* change, int* sweeps,
                                 float tolerance, int most) {
    *sweeps += 2;
    cudaGraphSetConditional(loop, *change > tolerance && *sweeps < most);
}
extern "C" __global__ void judge(unsigned long long rest, const float* change, float tolerance) {
    cudaGraphSetConditional(rest, *change > tolerance);
}
extern "C" __global__ void scale(const float* from, float* to, int count, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = from[i] * factor;
}
extern "C" __global__ void add(const float* a, const float* b, float* to, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = a[i] + b[i];
}
"""


def call(result: tuple) -> object:
    """Return what a call of the driver returned, or raise its error."""
    if int(result[0]):
        raise RuntimeError(f"{result[0].name}")
    return result[1] if len(result) == 2 else result[1:]


def compiled() -> bytes:
    """Return the kernels' PTX."""
    program = call(nvrtc.nvrtcCreateProgram(CODE.encode(), b"graph_lives.cu", 0, [], []))
    call(nvrtc.nvrtcCompileProgram(program, 2, [b"--gpu-architecture=compute_90", b"-rdc=true"]))
    text = b" " * call(nvrtc.nvrtcGetPTXSize(program))
    call(nvrtc.nvrtcGetPTX(program, text))
    return text


def linked(text: bytes, places: Iterable[str]) -> bytes:
    """Return PTX linked with the device runtime, which sets the values of conditional nodes."""
    below = ("nvidia/cu13/lib", "lib64", "targets/x86_64-linux/lib")
    found = (Path(place, folder, "libcudadevrt.a") for place in places for folder in below)
    runtime = next(path for path in found if path.is_file())
    kinds = driver.CUjitInputType
    state = call(driver.cuLinkCreate(0, [], []))
    ptx = (state, kinds.CU_JIT_INPUT_PTX, text, len(text), b"graph_lives")
    call(driver.cuLinkAddData(*ptx, 0, [], []))
    library = (state, kinds.CU_JIT_INPUT_LIBRARY, bytes(runtime))
    call(driver.cuLinkAddFile(*library, 0, [], []))
    image, size = call(driver.cuLinkComplete(state))
    return ctypes.string_at(int(image), size)


class Plate:
    """The plate's memory, and what is done with it, each on a stream."""

    def __init__(self) -> None:
        self.context = call(driver.cuDevicePrimaryCtxRetain(call(driver.cuDeviceGet(0))))
        call(driver.cuCtxSetCurrent(self.context))
        module = call(driver.cuModuleLoadData(linked(compiled(), [*sys.path, "/usr/local/cuda"])))
        names = ("heat", "relax", "go_on", "judge", "scale", "add")
        self.kernels = {n: call(driver.cuModuleGetFunction(module, n.encode())) for n in names}
        self.stream = call(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
        self.inner = call(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
        self.plate, self.next, self.out = (call(driver.cuMemAlloc(4 * CELLS)) for _ in range(3))
        self.change, self.sweeps = (call(driver.cuMemAlloc(4)) for _ in range(2))
        self.host = call(driver.cuMemHostAlloc(4 * CELLS, 0))

    def launch(
        self, stream: driver.CUstream, name: str, *values: object, one: bool = False
    ) -> None:
        """Launch a kernel over the plate's cells, or with one thread."""
        kinds = {int: ctypes.c_int, float: ctypes.c_float, driver.CUdeviceptr: ctypes.c_void_p}
        kinds[driver.CUgraphConditionalHandle] = ctypes.c_ulonglong
        types = tuple(kinds[type(value)] for value in values)
        values = tuple(v if isinstance(v, int | float) else int(v) for v in values)
        grid, block = (1, 1) if one else (CELLS // 256, 256)
        shape = (grid, 1, 1, block, 1, 1, 0, stream)
        call(driver.cuLaunchKernel(self.kernels[name], *shape, (values, types), 0))

    def reset(self, edge: float) -> None:
        """Heat one edge of a cold plate."""
        self.launch(self.stream, "heat", self.plate, SIZE, edge)
        call(driver.cuStreamSynchronize(self.stream))

    def solve(self) -> None:
        """Relax the plate until it changes little; smooth what is left; copy it to the host."""
        with nvtx.annotate("relax"):
            call(driver.cuMemsetD32Async(self.sweeps, 0, 1, self.stream))
            with self.body(driver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_WHILE, 1) as loop:
                call(driver.cuMemsetD32Async(self.change, 0, 1, self.inner))
                self.launch(self.inner, "relax", self.plate, self.next, self.change, SIZE)
                self.launch(self.inner, "relax", self.next, self.plate, self.change, SIZE)
                limits = (TOLERANCE, SWEEPS)
                self.launch(self.inner, "go_on", loop, self.change, self.sweeps, *limits, one=True)
        with nvtx.annotate("smooth the rest"):
            kind = driver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_IF
            before = ("judge", self.change, TOLERANCE)
            with self.body(kind, 0, before):
                self.launch(self.inner, "scale", self.plate, self.next, CELLS, 0.5)
                self.launch(self.inner, "add", self.next, self.next, self.plate, CELLS)
        call(driver.cuMemcpyDtoHAsync(int(self.host), self.plate, 4 * CELLS, self.stream))

    @contextmanager
    def body(self, kind: object, value: int, before: tuple = ()) -> Iterator[object]:
        """Add a conditional node to what is captured; its body is what ``inner`` gets meanwhile."""
        graph = call(driver.cuStreamGetCaptureInfo(self.stream))[2]
        handle = call(driver.cuGraphConditionalHandleCreate(graph, self.context, value, 1))
        if before:
            self.launch(self.stream, before[0], handle, *before[1:], one=True)
        parameters = driver.CUgraphNodeParams()
        parameters.type = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
        parameters.conditional.handle = handle
        parameters.conditional.type = kind
        parameters.conditional.size = 1
        parameters.conditional.ctx = self.context
        _, _, _, after, _, count = call(driver.cuStreamGetCaptureInfo(self.stream))
        node = call(driver.cuGraphAddNode(graph, after, None, count, parameters))
        inside = parameters.conditional.phGraph_out[0]
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        call(driver.cuStreamBeginCaptureToGraph(self.inner, inside, None, None, 0, mode))
        yield handle
        call(driver.cuStreamEndCapture(self.inner))
        flags = driver.CUstreamUpdateCaptureDependencies_flags
        only = int(flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        call(driver.cuStreamUpdateCaptureDependencies(self.stream, [node], None, 1, only))

    def filter(self) -> None:
        """Filter the plate through scratch memory that the graph allocates and frees itself."""
        blurred = call(driver.cuMemAllocAsync(4 * CELLS, self.stream))
        self.launch(self.stream, "scale", self.plate, blurred, CELLS, 0.5)
        mixed = call(driver.cuMemAllocAsync(8 * CELLS, self.stream))
        self.launch(self.stream, "add", blurred, self.plate, mixed, CELLS)
        call(driver.cuMemFreeAsync(blurred, self.stream))
        last = call(driver.cuMemAllocAsync(4 * CELLS, self.stream))  # where blurred was
        self.launch(self.stream, "scale", mixed, last, CELLS, 2.0)
        call(driver.cuMemFreeAsync(mixed, self.stream))
        self.launch(self.stream, "add", last, self.plate, self.out, CELLS)
        call(driver.cuMemFreeAsync(last, self.stream))

    def tune(self, factor: float, *, clear: bool = False) -> None:
        """Scale the plate twice; with ``clear``, into memory that is cleared first."""
        if clear:
            call(driver.cuMemsetD32Async(self.out, 0, CELLS, self.stream))
        self.launch(self.stream, "scale", self.plate, self.next, CELLS, factor)
        self.launch(self.stream, "scale", self.next, self.out, CELLS, 1.0 / factor)

    def impatient(self) -> None:
        """Wait for the stream while it is captured, which breaks the capture."""
        self.tune(2.0)
        call(driver.cuStreamSynchronize(self.stream))

    def capture(self, name: str, work: Callable[[], None]) -> driver.CUgraph:
        """Return the graph of some work, named by an NVTX range around its capture."""
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        with nvtx.annotate(name):
            call(driver.cuStreamBeginCapture(self.stream, mode))
            try:
                work()
            finally:
                result = driver.cuStreamEndCapture(self.stream)
        return call(result)

    def run(self, executable: driver.CUgraphExec, times: int) -> None:
        """Launch, and wait each time."""
        for _ in range(times):
            call(driver.cuGraphLaunch(executable, self.stream))
            call(driver.cuStreamSynchronize(self.stream))


def tuned(plate: Plate) -> None:
    """Give an executable new work: taken, refused, and made anew for nothing."""
    executable = call(driver.cuGraphInstantiate(plate.capture("tune", lambda: plate.tune(2.0)), 0))
    plate.run(executable, LAUNCHES)
    call(driver.cuGraphExecUpdate(executable, plate.capture("tune", lambda: plate.tune(4.0))))
    plate.run(executable, 4)
    cleared = plate.capture("tune, cleared", lambda: plate.tune(8.0, clear=True))
    if int(driver.cuGraphExecUpdate(executable, cleared)[0]):
        call(driver.cuGraphExecDestroy(executable))
        executable = call(driver.cuGraphInstantiate(cleared, 0))
    plate.run(executable, LAUNCHES)
    for factor in (3.0, 5.0):
        again = plate.capture("tune, cleared", partial(plate.tune, factor, clear=True))
        plate.run(call(driver.cuGraphInstantiate(again, 0)), 4)


def main(output: str) -> None:
    call(driver.cuInit(0))
    with gviz.profile(output, name="Graphs and their lives"):
        plate = Plate()
        solve = call(driver.cuGraphInstantiate(plate.capture("solve", plate.solve), 0))
        for number in range(LAUNCHES):
            plate.reset(edge=1.0 + number % 3)  # hotter edges take more sweeps, or are given up
            plate.run(solve, 1)
        graph = plate.capture("filter", plate.filter)
        plate.run(call(driver.cuGraphInstantiate(graph, 0)), LAUNCHES)
        tuned(plate)
        try:
            plate.capture("impatient", plate.impatient)
        except RuntimeError as error:
            print(f"a capture failed, as it should: {error}")


if __name__ == "__main__":
    main(sys.argv[1])
