"""Programs of the contract that hand their graphs to gviz.watch.

Each says in its facts what must be the same whatever measures. What a graph does adds up over
its launches, so that a launch too many, too few, or with other parameters shows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_ulonglong, c_void_p
from typing import Any

from contract.cases import GRAPH_SHAPES, Facts, build_shape, spin
from contract.driver import Arguments, Driver, DriverError, Handle
from contract.params import EdgeData

Profile = Callable[[], AbstractContextManager[Any]]

COUNT = 256
LAUNCHES = 25


class Sum:
    """y += 3 x on the device; after n launches of a graph of it y is 3 n x."""

    def __init__(self, cuda: Driver) -> None:
        self.cuda = cuda
        self.x, self.y = cuda.allocate(4 * COUNT), cuda.allocate(4 * COUNT)
        cuda.upload_floats(self.x, [float(i) for i in range(COUNT)])
        cuda.upload_floats(self.y, [0.0] * COUNT)

    def arguments(self, factor: float = 3.0) -> Arguments:
        """Return axpy's arguments."""
        return Arguments(c_uint(COUNT), c_float(factor), c_ulonglong(self.x), c_ulonglong(self.y))

    def add(self, graph: Handle, after: list[Handle], factor: float = 3.0) -> Handle:
        """Add the kernel to a graph."""
        arguments = self.arguments(factor)
        return self.cuda.add_kernel(
            graph, after, "axpy", arguments, grid=(2, 1, 1), block=(128, 1, 1)
        )

    def result(self) -> list[float]:
        """Return the first values."""
        self.cuda.synchronize()
        return self.cuda.download_floats(self.y, 4)


def _every_kind(cuda: Driver, work: Sum) -> Handle:
    """Return a graph of a memset, copies, kernels in two branches and an empty node."""
    graph = cuda.graph()
    room = cuda.allocate(8192)
    start = cuda.add_memset(graph, [], room, 7, 1024)
    copy = cuda.add_memcpy(graph, [start], (2, room + 4096), (2, room), 4096)
    left = cuda.add_kernel(graph, [copy], "spin", spin(20), grid=(2, 1, 1))
    right = cuda.add_kernel(graph, [copy], "spin", spin(50), grid=(3, 1, 1))
    joined = cuda.add("EmptyNode", graph, [left, right])
    work.add(graph, [joined])
    return graph


def watched(cuda: Driver, profile: Profile) -> Facts:
    """Several kinds of nodes in branches, launched 25 times, waited for each time."""
    import gviz

    stream, work = cuda.stream(), Sum(cuda)
    with profile():
        graph = _every_kind(cuda, work)
        graph_exec = cuda.instantiate(graph)
        launcher = gviz.watch(graph, graph_exec=graph_exec, unchanged=True)
        for _ in range(LAUNCHES):
            launcher.launch(stream)
            cuda.wait(stream)
        result = work.result()
    return {"result": result, "launches": LAUNCHES}


def watched_queued(cuda: Driver, profile: Profile) -> Facts:
    """Launched 25 times without waiting."""
    import gviz

    stream, work = cuda.stream(), Sum(cuda)
    with profile():
        graph = _every_kind(cuda, work)
        launcher = gviz.watch(graph, graph_exec=cuda.instantiate(graph), unchanged=True)
        for _ in range(LAUNCHES):
            launcher.launch(stream)
        result = work.result()
    return {"result": result, "launches": LAUNCHES}


def watched_alternating(cuda: Driver, profile: Profile) -> Facts:
    """Launched from two streams in turn, two launches each, without waiting."""
    import gviz

    streams, work = (cuda.stream(), cuda.stream()), Sum(cuda)
    with profile():
        graph = _every_kind(cuda, work)
        launcher = gviz.watch(graph, graph_exec=cuda.instantiate(graph), unchanged=True)
        for i in range(24):
            launcher.launch(streams[i // 2 % 2])
        result = work.result()
    return {"result": result, "launches": 24}


def watched_changing(cuda: Driver, profile: Profile) -> Facts:
    """No promise, and the executable is updated between launches."""
    import gviz

    stream, work = cuda.stream(), Sum(cuda)
    with profile():
        graph = cuda.graph()
        node = work.add(graph, [])
        graph_exec = cuda.instantiate(graph)
        launcher = gviz.watch(graph, graph_exec=graph_exec)
        for i in range(6):
            launcher.launch(stream)
            cuda.wait(stream)
            if i == 2:
                params = cuda.kernel_params("axpy", work.arguments(5.0), (2, 1, 1), (128, 1, 1))
                name = "cuGraphExecKernelNodeSetParams_v2"
                cuda.call(name, c_void_p(graph_exec), c_void_p(node), byref(params))
        result = work.result()
    return {"result": result, "launches": 6}


def watched_children(cuda: Driver, profile: Profile) -> Facts:
    """Kernels around a child graph, and in it."""
    import gviz

    stream, work = cuda.stream(), Sum(cuda)
    with profile():
        inner, graph = cuda.graph(), cuda.graph()
        first = cuda.add_kernel(inner, [], "spin", spin(30), grid=(5, 1, 1))
        work.add(inner, [first])
        before = cuda.add_kernel(graph, [], "spin", spin(10), grid=(1, 1, 1))
        child = cuda.add_child(graph, [before], inner)
        cuda.add_kernel(graph, [child], "spin", spin(20), grid=(2, 1, 1))
        launcher = gviz.watch(graph, graph_exec=cuda.instantiate(graph), unchanged=True)
        for _ in range(LAUNCHES):
            launcher.launch(stream)
            cuda.wait(stream)
        result = work.result()
    return {"result": result, "launches": LAUNCHES, "spins": {1: 10.0, 2: 20.0, 5: 30.0}}


def watched_slices(cuda: Driver, profile: Profile) -> Facts:
    """A chain of eight spins, more than are timed at once."""
    import gviz
    from gviz.collectors import watch_native

    stream = cuda.stream()
    watch_native.limit_slice(3)
    with profile():
        graph = cuda.graph()
        last: list[Handle] = []
        for i in range(8):
            last = [cuda.add_kernel(graph, last, "spin", spin(10 + i), grid=(i + 1, 1, 1))]
        launcher = gviz.watch(graph, graph_exec=cuda.instantiate(graph), unchanged=True)
        for _ in range(LAUNCHES):
            launcher.launch(stream)
            cuda.wait(stream)
    return {"launches": LAUNCHES, "slices": 3, "spins": [10.0 + i for i in range(8)]}


def watched_refused(cuda: Driver, profile: Profile) -> Facts:
    """Graphs that cannot be copied: with an allocation, with a conditional node."""
    import gviz

    stream = cuda.stream()
    with profile():
        allocating = cuda.graph()
        node, address = cuda.add_alloc(allocating, [], 1 << 20)
        cuda.add("MemFreeNode", allocating, [node], c_ulonglong(address))
        branching = cuda.graph()
        first = cuda.add_kernel(branching, [], "spin", spin(2))
        _node, (body,) = cuda.add_conditional(branching, [first], 0, 1, 1)
        cuda.add_kernel(body, [], "spin", spin(2))
        for graph in (allocating, branching):
            launcher = gviz.watch(graph, graph_exec=cuda.instantiate(graph), unchanged=True)
            for _ in range(4):
                launcher.launch(stream)
                cuda.wait(stream)
    return {"launches": 4}


def watched_programmatic(cuda: Driver, profile: Profile) -> Facts:
    """Four kernels in a chain whose middle edge is programmatic."""
    import gviz

    stream = cuda.stream()
    with profile():
        graph = cuda.graph()
        nodes = [cuda.add_kernel(graph, [], "spin", spin(5)) for _ in range(4)]
        cuda.add_edges(graph, [(nodes[0], nodes[1]), (nodes[2], nodes[3])])
        edge = EdgeData(from_port=1, type=1)
        name = "cuGraphAddDependencies_v2"
        one = c_void_p * 1
        ends = one(nodes[1]), one(nodes[2])
        cuda.call(name, c_void_p(graph), *ends, byref(edge), c_size_t(1))
        launcher = gviz.watch(graph, graph_exec=cuda.instantiate(graph), unchanged=True)
        for _ in range(6):
            launcher.launch(stream)
            cuda.wait(stream)
    return {"launches": 6}


def watched_in_capture(cuda: Driver, profile: Profile) -> Facts:
    """A watched graph launched into a capture: the driver refuses; then proper launches."""
    import gviz

    stream = cuda.stream()
    with profile():
        graph = build_shape(cuda, GRAPH_SHAPES["single"])
        launcher = gviz.watch(graph, graph_exec=cuda.instantiate(graph), unchanged=True)
        launcher.launch(stream)
        cuda.wait(stream)
        cuda.begin_capture(stream)
        cuda.launch("spin", spin(2), stream)
        refused = False
        try:
            launcher.launch(stream)
        except gviz.GvizError:
            refused = True
        status = c_int()
        cuda.library.cuStreamIsCapturing(c_void_p(stream), byref(status))
        try:
            cuda.end_capture(stream)
            end = 0
        except DriverError as error:
            end = error.code
        for _ in range(3):
            launcher.launch(stream)
            cuda.wait(stream)
    return {"refused": refused, "status": status.value, "end": end, "launches": 4}


WATCHED = (
    watched,
    watched_queued,
    watched_alternating,
    watched_changing,
    watched_children,
    watched_slices,
    watched_refused,
    watched_programmatic,
    watched_in_capture,
)
