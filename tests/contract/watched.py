"""Programs of the contract that hand their graphs to gviz.watch.

Each says in its facts what must be the same whatever measures. What a graph does adds up over
its launches, so that a launch too many, too few, or with other parameters shows.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_ulonglong, c_void_p
from functools import partial
from pathlib import Path
from typing import Any

from contract import driver
from contract.cases import GRAPH_SHAPES, Facts, build_shape, spin
from contract.driver import Arguments, Driver, DriverError, Handle
from contract.params import (
    HOST_FUNCTION,
    BatchMemOp,
    BatchMemOpParams,
    EdgeData,
    HostParams,
    MemcpyParams,
    MemsetParams,
    NodeParams,
    SemaphoreParams,
)

Profile = Callable[[], AbstractContextManager[Any]]

COUNT = 256
LAUNCHES = 30


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


def launch_settled(cuda: Driver, launcher: Any, stream: Handle) -> None:
    """Launch and settle."""
    launcher.launch(stream)
    settle(cuda, stream)


def settle(cuda: Driver, stream: Handle) -> None:
    """Wait, and let gviz make the copy it wants or read the one that ran."""
    from gviz.collectors.watching import watch_native

    cuda.wait(stream)
    assert watch_native.await_copies(20.0)


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
    """Several kinds of nodes in branches, launched 30 times, waited for each time."""
    import gviz

    stream, work = cuda.stream(), Sum(cuda)
    with profile():
        graph = _every_kind(cuda, work)
        graph_exec = cuda.instantiate(graph)
        launcher = gviz.watch(graph, graph_exec=graph_exec, unchanged=True)
        for _ in range(LAUNCHES):
            launch_settled(cuda, launcher, stream)
        result = work.result()
    return {"result": result, "launches": LAUNCHES}


def watched_queued(cuda: Driver, profile: Profile) -> Facts:
    """Launched 30 times, all but the first without waiting."""
    import gviz

    stream, work = cuda.stream(), Sum(cuda)
    with profile():
        graph = _every_kind(cuda, work)
        launcher = gviz.watch(graph, graph_exec=cuda.instantiate(graph), unchanged=True)
        launch_settled(cuda, launcher, stream)
        for _ in range(LAUNCHES - 1):
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
            launch_settled(cuda, launcher, stream)
            if i == 2:
                params = cuda.kernel_params("axpy", work.arguments(5.0), (2, 1, 1), (128, 1, 1))
                name = "cuGraphExecKernelNodeSetParams_v2"
                cuda.call(name, c_void_p(graph_exec), c_void_p(node), byref(params))
        result = work.result()
    return {"result": result, "launches": 6}


class Following:
    """A graph with a node of each kind that an executable can be updated in, and its effects."""

    def __init__(self, cuda: Driver) -> None:
        self.cuda, self.work, self.graph = cuda, Sum(cuda), cuda.graph()
        self.memory, self.calls = cuda.allocate(64), [0, 0]
        cuda.upload_floats(self.memory, [0.0] * 16)
        self.events = [cuda.event(), cuda.event(), cuda.event()]
        self.rest: list[tuple[str, Handle, Any]] = []
        cuda.record(self.events[2], cuda.stream())
        cuda.synchronize()
        add, graph = cuda.add, self.graph
        self.kernel = self.work.add(graph, [])
        self.memset = cuda.add_memset(graph, [self.kernel], self.memory, 1, 1)
        device = driver.MEMORY_DEVICE
        ends = (device, self.memory + 16), (device, self.memory)
        self.memcpy = cuda.add_memcpy(graph, [self.memset], *ends, 4)
        self.host = cuda.add_host(graph, [self.memcpy], lambda _data: self._count(0))
        self.record = add("EventRecordNode", graph, [self.host], c_void_p(self.events[0]))
        self.wait = add("EventWaitNode", graph, [self.record], c_void_p(self.events[2]))

    def add_rest(self) -> None:
        """Add the kinds that only the fake driver takes without more than a GPU."""
        empty = SemaphoreParams()
        write = (BatchMemOp * 1)(BatchMemOp(operation=2, address=self.memory + 48, value=1))
        operations = BatchMemOpParams(ctx=self.cuda.context, count=1, operations=write)
        for kind, params in (
            ("ExternalSemaphoresSignal", empty),
            ("ExternalSemaphoresWait", empty),
            ("BatchMemOp", operations),
        ):
            node = self.cuda.add(f"{kind}Node", self.graph, [self.wait], byref(params))
            self.rest.append((f"{kind}NodeSetParams", node, params))

    def _count(self, which: int) -> None:
        self.calls[which] += 1

    def _set(self, name: str, graph_exec: Handle, node: Handle, *rest: Any) -> None:
        self.cuda.call(f"cuGraphExec{name}", c_void_p(graph_exec), c_void_p(node), *rest)

    def updates(self, graph_exec: Handle) -> list[Callable[[], None]]:
        """Return the updates, in turn."""
        cuda, context = self.cuda, c_void_p(self.cuda.context)
        kernel = cuda.kernel_params("axpy", self.work.arguments(5.0), (2, 1, 1), (128, 1, 1))
        copy = MemcpyParams(width_bytes=4, height=1, depth=1)
        copy.source.memory_type = copy.destination.memory_type = driver.MEMORY_DEVICE
        copy.source.device, copy.destination.device = self.memory, self.memory + 32
        host = HostParams(function=HOST_FUNCTION(lambda _data: self._count(1)))
        any_memset = NodeParams(type=2)
        any_memset.any.memset = MemsetParams(self.memory, 0, 9, 4, 1, 1)
        return [
            lambda: self._set("KernelNodeSetParams_v2", graph_exec, self.kernel, byref(kernel)),
            lambda: cuda.set_memset_params(graph_exec, self.memset, self.memory, 7, 1),
            lambda: self._set("MemcpyNodeSetParams", graph_exec, self.memcpy, byref(copy), context),
            lambda: self._set("HostNodeSetParams", graph_exec, self.host, byref(host)),
            lambda: self._set(
                "EventRecordNodeSetEvent", graph_exec, self.record, c_void_p(self.events[1])
            ),
            lambda: self._set(
                "EventWaitNodeSetEvent", graph_exec, self.wait, c_void_p(self.events[1])
            ),
            lambda: self._set("NodeSetParams", graph_exec, self.memset, byref(any_memset)),
            lambda: cuda.set_enabled(graph_exec, self.kernel, enabled=False),
            lambda: cuda.set_enabled(graph_exec, self.kernel, enabled=True),
            *(
                partial(self._set, name, graph_exec, node, byref(params))
                for name, node, params in self.rest
            ),
        ]

    def effects(self) -> list[Any]:
        """Return what launches have done."""
        self.cuda.synchronize()
        recorded = [self._is_recorded(event) for event in self.events]
        words = self.cuda.download_floats(self.memory, 12)
        return [self.work.result(), words, list(self.calls), recorded]

    def _is_recorded(self, event: Handle) -> bool:
        try:
            self.cuda.elapsed_ns(event, event)
        except DriverError:
            return False
        return True


def watched_following(cuda: Driver, profile: Profile, *, rest: bool = False) -> Facts:
    """Updates of one node after the other, three launches after each."""
    import gviz

    stream, effects = cuda.stream(), []
    following = Following(cuda)
    if rest:
        following.add_rest()
    with profile():
        graph_exec = cuda.instantiate(following.graph)
        launcher = gviz.watch(following.graph, graph_exec=graph_exec)
        for update in (lambda: None, *following.updates(graph_exec)):
            update()
            for _ in range(3):
                launch_settled(cuda, launcher, stream)
            effects.append(following.effects())
    return {"effects": effects, "launches": 3 * len(effects)}


def watched_following_rest(cuda: Driver, profile: Profile) -> Facts:
    """The same with the kinds of nodes that only the fake driver takes."""
    return watched_following(cuda, profile, rest=True)


def watched_overtaken(cuda: Driver, profile: Profile) -> Facts:
    """New parameters for both kernels before every fourth launch, while copies are made."""
    import gviz
    from gviz.collectors.watching import watch_native

    stream, works = cuda.stream(), [Sum(cuda), Sum(cuda)]
    watch_native.limit_slice(1)  # a copy for each kernel in turn
    with profile():
        graph = cuda.graph()
        first = works[0].add(graph, [])
        nodes = [first, works[1].add(graph, [first])]
        for _ in range(800):  # that making one takes a while
            cuda.add("EmptyNode", graph, [nodes[1]])
        graph_exec = cuda.instantiate(graph)
        launcher = gviz.watch(graph, graph_exec=graph_exec)
        for i in range(2000):
            # A copy that missed an update is seen by the launches which have none.
            for node, work in zip(nodes, works, strict=True) if i % 4 == 0 else ():
                arguments = work.arguments(float(i % 3))
                params = cuda.kernel_params("axpy", arguments, (2, 1, 1), (128, 1, 1))
                name = "cuGraphExecKernelNodeSetParams_v2"
                cuda.call(name, c_void_p(graph_exec), c_void_p(node), byref(params))
            launcher.launch(stream)
            cuda.wait(stream)
        result = [work.result() for work in works]
    return {"result": result, "launches": 2000}


def watched_changed(cuda: Driver, profile: Profile) -> Facts:
    """Three executables: updated as a whole, in a child graph, in vain as a whole."""
    import gviz

    def graph_of(factor: float, *, nested: bool, more: bool = False) -> tuple[Handle, Handle]:
        graph, inner = cuda.graph(), cuda.graph()
        work.add(inner, [], factor)
        node = cuda.add_child(graph, [], inner) if nested else work.add(graph, [], factor)
        if more:
            work.add(graph, [node], factor)
        return graph, node

    stream, work = cuda.stream(), Sum(cuda)
    with profile():
        for how in ("whole", "child", "vain"):
            graph, node = graph_of(3.0, nested=how == "child")
            graph_exec = cuda.instantiate(graph)
            launcher = gviz.watch(graph, graph_exec=graph_exec)
            for i in range(6):
                launch_settled(cuda, launcher, stream)
                if i != 2:
                    continue
                if how == "child":
                    child, _ = graph_of(5.0, nested=False)
                    name = "cuGraphExecChildGraphNodeSetParams"
                    cuda.call(name, c_void_p(graph_exec), c_void_p(node), c_void_p(child))
                else:
                    cuda.update(graph_exec, graph_of(5.0, nested=False, more=how == "vain")[0])
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
            launch_settled(cuda, launcher, stream)
        result = work.result()
    return {"result": result, "launches": LAUNCHES, "spins": {1: 10.0, 2: 20.0, 5: 30.0}}


def watched_slices(cuda: Driver, profile: Profile) -> Facts:
    """A chain of eight spins, more than are timed at once."""
    import gviz
    from gviz.collectors.watching import watch_native

    stream = cuda.stream()
    watch_native.limit_slice(3)
    with profile():
        graph = cuda.graph()
        last: list[Handle] = []
        for i in range(8):
            last = [cuda.add_kernel(graph, last, "spin", spin(10 + i), grid=(i + 1, 1, 1))]
        launcher = gviz.watch(graph, graph_exec=cuda.instantiate(graph), unchanged=True)
        for _ in range(LAUNCHES):
            launch_settled(cuda, launcher, stream)
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
                launch_settled(cuda, launcher, stream)
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
            launch_settled(cuda, launcher, stream)
    return {"launches": 6}


def watched_in_capture(cuda: Driver, profile: Profile) -> Facts:
    """A watched graph launched into a capture: the driver refuses; then proper launches."""
    import gviz

    stream = cuda.stream()
    with profile():
        graph = build_shape(cuda, GRAPH_SHAPES["single"])
        launcher = gviz.watch(graph, graph_exec=cuda.instantiate(graph), unchanged=True)
        launch_settled(cuda, launcher, stream)
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
            launch_settled(cuda, launcher, stream)
    return {"refused": refused, "status": status.value, "end": end, "launches": 4}


def watched_threads(cuda: Driver, profile: Profile) -> Facts:
    """Four threads with a graph, a stream and a sum each; two more launch one graph together."""
    import gviz

    results: dict[int, list[float]] = {}

    def work(index: int, launcher: Any, mine: Sum) -> None:
        cuda.make_current()
        stream = cuda.stream()
        for _ in range(20):
            launch_settled(cuda, launcher, stream)
        results[index] = mine.result()

    with profile():
        launchers = []
        for _ in range(5):
            mine, graph = Sum(cuda), cuda.graph()
            mine.add(graph, [])
            graph_exec = cuda.instantiate(graph)
            launchers.append((gviz.watch(graph, graph_exec=graph_exec, unchanged=True), mine))
        launchers.append(launchers[-1])
        workers = [threading.Thread(target=work, args=(i, *x)) for i, x in enumerate(launchers)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        shared = launchers[-1][1].result()
    return {"results": [results[i] for i in range(4)], "shared": shared, "launches": 20}


def watched_hand_over(cuda: Driver, profile: Profile) -> Facts:
    """A second thread launches a graph while the first is still handing it over."""
    import gviz
    from gviz.collectors.watching import watch_native

    hand_over, under_way = watch_native.watch_graph, threading.Event()

    def slow(*arguments: Any) -> int:
        under_way.set()
        time.sleep(0.2)
        return hand_over(*arguments)

    def work(launcher: Any) -> None:
        cuda.make_current()
        stream = cuda.stream()
        for _ in range(3):
            launch_settled(cuda, launcher, stream)

    mine, graph = Sum(cuda), cuda.graph()
    mine.add(graph, [])
    launcher = gviz.watch(graph, graph_exec=cuda.instantiate(graph), unchanged=True)
    with profile():
        watch_native.watch_graph = slow
        first, second = (threading.Thread(target=work, args=(launcher,)) for _ in range(2))
        first.start()
        under_way.wait(0.5)  # never set where nothing is watched
        second.start()
        first.join()
        second.join()
        watch_native.watch_graph = hand_over
    return {"result": mine.result(), "launches": 6}


def watched_switch(cuda: Driver, profile: Profile) -> Facts:
    """A recording that goes on without CUPTI in its middle, and stops doing so."""
    import gviz

    stream, work = cuda.stream(), Sum(cuda)
    with profile() as active:
        graph = cuda.graph()
        work.add(graph, [])
        graph_exec = cuda.instantiate(graph)
        launcher = gviz.watch(graph, graph_exec=graph_exec, unchanged=True)
        session = getattr(active, "_session", None)
        for phase in range(3):
            if phase == 1 and session is not None:
                assert session.start_events("CUPTI was left") == "events"
            if phase == 2 and session is not None:
                session.end_events()
            for _ in range(5):
                launch_settled(cuda, launcher, stream)
        result = work.result()
    return {"result": result, "launches": 5}


# -- frameworks: stand-ins, for a program of the contract runs where there is none -----------------


def _stand_ins() -> None:
    sys.path.insert(0, str(Path(__file__).parent / "standin"))


def _capture(torch: Any, work: Sum, stream: Handle, **options: Any) -> Any:
    graph = torch.cuda.CUDAGraph(**options)
    graph.capture_begin()
    work.cuda.launch("axpy", work.arguments(), stream, grid=(2, 1, 1), block=(128, 1, 1))
    graph.capture_end()
    return graph


def torch_graphs(cuda: Driver, profile: Profile) -> Facts:
    """Graphs that PyTorch captures, imported inside the profile; each does what it must."""
    _stand_ins()
    stream, work = cuda.stream(), Sum(cuda)
    with profile():
        import torch

        torch.state.driver, torch.state.stream = cuda, stream
        plain = _capture(torch, work, stream)
        random = _capture(torch, work, stream)
        random.random = True
        kept = _capture(torch, work, stream, keep_graph=True)
        kept.instantiate()
        lazy = _capture(torch, work, stream, keep_graph=True)
        given = _capture(torch, work, stream)
        given.raw_cuda_graph_exec()
        for graph in (plain, random, kept, lazy, given):
            for _ in range(10):
                graph.replay()
                settle(cuda, stream)
        kept.instantiate()  # a new executable of the same graph
        for _ in range(10):
            kept.replay()
            settle(cuda, stream)
        given.reset()
        del lazy
        result = work.result()
    wrapped = [n for n, m in vars(torch.cuda.CUDAGraph).items() if hasattr(m, "__wrapped__")]
    plain.replay()
    cuda.wait(stream)
    return {
        "result": result,
        "after": work.result(),
        "offset": torch.cuda.default_generators[0].offset,
        "wrapped": wrapped,
    }


def torch_late(cuda: Driver, profile: Profile) -> Facts:
    """A graph captured before the profile, replayed inside it, and a captured one that fails."""
    _stand_ins()
    import torch

    stream, work = cuda.stream(), Sum(cuda)
    torch.state.driver, torch.state.stream = cuda, stream
    late = _capture(torch, work, stream)
    failed = None
    with profile():
        for _ in range(5):
            late.replay()
            settle(cuda, stream)
        broken = torch.cuda.CUDAGraph()
        broken.capture_begin()
        with suppress(DriverError):
            cuda.wait(stream)
        try:
            broken.capture_end()
        except DriverError as error:
            failed = error.code
        result = work.result()
    return {"result": result, "failed": failed}


def cupy_graphs(cuda: Driver, profile: Profile) -> Facts:
    """A graph that CuPy captures, and one whose handle the program takes."""
    _stand_ins()
    work = Sum(cuda)
    with profile():
        import cupy

        cupy.state.driver = cuda
        stream = cupy.cuda.Stream(cuda.stream())
        cupy.cuda.current = stream
        graphs = []
        for _ in range(2):
            stream.begin_capture()
            cuda.launch("axpy", work.arguments(), stream.ptr, grid=(2, 1, 1), block=(128, 1, 1))
            graphs.append(stream.end_capture())
        graph, given = graphs
        graph.upload(stream)
        taken = given.graphExec > 0
        for i in range(10):
            graph.launch(stream if i % 2 else None)
            settle(cuda, stream.ptr)
            given.launch(stream)
            settle(cuda, stream.ptr)
        result = work.result()
    graph.launch()
    return {
        "result": result,
        "after": work.result(),
        "is_graph": isinstance(graph, cupy.cuda.Graph),
        "dot": graph.debug_dot_str(),
        "taken": taken,
        "wrapped": [n for n in vars(cupy.cuda.stream._BaseStream) if n.startswith("__wrapped")],
    }


WATCHED = (
    torch_graphs,
    torch_late,
    cupy_graphs,
    watched,
    watched_queued,
    watched_alternating,
    watched_changing,
    watched_following,
    watched_following_rest,
    watched_overtaken,
    watched_changed,
    watched_children,
    watched_slices,
    watched_refused,
    watched_programmatic,
    watched_in_capture,
    watched_threads,
    watched_hand_over,
    watched_switch,
)
