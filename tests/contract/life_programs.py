"""Programs of the contract about a graph's life: what breaks captures, updates, destruction."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from ctypes import byref, c_size_t, c_void_p
from typing import Any

from contract import driver
from contract.cases import GRAPH_SHAPES, Facts, build_shape, spin
from contract.driver import MEMORY_DEVICE, MEMORY_HOST, Driver, DriverError, Handle

Profile = Callable[[], AbstractContextManager[Any]]

LEGACY = 0
#: As many as NVIDIA's sample jacobiCudaGraphs makes.
UPDATES = 2954


def _code(action: Callable[[], Any]) -> int:
    """Return the CUresult that an action ends with."""
    try:
        action()
    except DriverError as error:
        return error.code
    return 0


def _on_another_thread(cuda: Driver, action: Callable[[], Any]) -> int:
    codes: list[int] = []

    def run() -> None:
        cuda.make_current()
        codes.append(_code(action))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return codes[0]


# -- captures that break --------------------------------------------------------------------------


class _Captures:
    """Breaks captures, each in its own way; a method's name is in the stack of its call."""

    def __init__(self, cuda: Driver) -> None:
        self.cuda = cuda
        self.main = cuda.stream(non_blocking=False)
        self.side = cuda.stream()
        self.codes: dict[str, list[int]] = {}

    def begin(self, mode: int = driver.CAPTURE_GLOBAL) -> None:
        self.cuda.begin_capture(self.main, mode)
        self.cuda.launch("spin", spin(2), self.main, grid=(len(self.codes) + 1, 1, 1))

    def attempt(self, rule: str, how: Callable[[], int], mode: int = driver.CAPTURE_GLOBAL) -> None:
        self.begin(mode)
        call = how()
        self.codes[rule] = [call, _code(lambda: self.cuda.end_capture(self.main))]

    def legacy(self) -> int:
        return _code(lambda: self.cuda.launch("spin", spin(2), LEGACY))

    def wait(self) -> int:
        return _code(lambda: self.cuda.wait(self.main))

    def wait_for_all(self) -> int:
        return _code(self.cuda.synchronize)

    def allocate(self) -> int:
        return _code(lambda: self.cuda.allocate(4096))

    def allocate_elsewhere(self) -> int:
        return _on_another_thread(self.cuda, lambda: self.cuda.allocate(4096))

    def depend(self) -> int:
        return _code(lambda: self.cuda.wait_event(self.main, self.before))

    def query(self) -> int:
        event = self.cuda.event()
        self.cuda.record(event, self.main)
        return _code(lambda: self.cuda.call("cuEventQuery", c_void_p(event)))

    def launch_graph(self) -> int:
        return _code(lambda: self.cuda.launch_graph(self.graph_exec, self.main))

    def fork(self) -> int:
        event = self.cuda.event(timing=False)
        self.cuda.record(event, self.main)
        self.cuda.wait_event(self.side, event)
        self.cuda.launch("spin", spin(2), self.side)
        return 0

    def end_elsewhere(self) -> int:
        return _on_another_thread(self.cuda, lambda: self.cuda.end_capture(self.main))

    def merge(self) -> int:
        """A second capture, joined to the first; ends it as well."""
        self.cuda.begin_capture(self.side, driver.CAPTURE_GLOBAL)
        event = self.cuda.event(timing=False)
        self.cuda.record(event, self.main)
        code = _code(lambda: self.cuda.wait_event(self.side, event))
        _code(lambda: self.cuda.end_capture(self.side))
        return code

    def run(self) -> None:
        cuda = self.cuda
        self.before = cuda.event(timing=False)
        cuda.record(self.before, self.side)
        self.graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["single"]))
        relaxed, local = driver.CAPTURE_RELAXED, driver.CAPTURE_THREAD_LOCAL
        self.attempt("legacy default stream", self.legacy)
        self.attempt("synchronising call", self.wait, local)
        self.attempt("synchronising call, relaxed", self.wait_for_all, relaxed)
        self.attempt("unsafe call", self.allocate, local)
        self.attempt("cross-thread call in global mode", self.allocate_elsewhere)
        self.attempt("uncaptured dependency", self.depend)
        self.attempt("captured event queried", self.query)
        self.attempt("graph launched into a capture", self.launch_graph)
        self.attempt("unjoined stream", self.fork)
        self.attempt("ended on another thread", self.end_elsewhere)
        self.attempt("merged captures", self.merge)


def breaking(cuda: Driver, profile: Profile) -> Facts:
    """Captures that break by every rule, then one that works."""
    captures = _Captures(cuda)
    with profile():
        captures.run()
        stream = cuda.stream()
        cuda.begin_capture(stream)
        cuda.launch("spin", spin(2), stream)
        graph_exec = cuda.instantiate(cuda.end_capture(stream))
        for _ in range(2):
            cuda.launch_graph(graph_exec, stream)
            cuda.wait(stream)
    return {"codes": captures.codes, "launches": 2}


def innocent(cuda: Driver, profile: Profile) -> Facts:
    """Two captures at once in thread-local mode; a call on one thread breaks its own only."""
    begun, broken = threading.Event(), threading.Event()
    codes: dict[str, int] = {}

    def bystander() -> None:
        cuda.make_current()
        stream = cuda.stream()
        cuda.begin_capture(stream, driver.CAPTURE_THREAD_LOCAL)
        cuda.launch("spin", spin(2), stream)
        begun.set()
        broken.wait(30)
        cuda.launch("spin", spin(2), stream)
        codes["bystander"] = _code(lambda: cuda.end_capture(stream))

    with profile():
        thread = threading.Thread(target=bystander)
        thread.start()
        begun.wait(30)
        stream = cuda.stream()
        cuda.begin_capture(stream, driver.CAPTURE_THREAD_LOCAL)
        codes["allocate"] = _code(lambda: cuda.allocate(4096))
        codes["end"] = _code(lambda: cuda.end_capture(stream))
        broken.set()
        thread.join()
    return {"codes": codes}


def left_open(cuda: Driver, profile: Profile) -> Facts:
    """A capture that goes on when the profile ends, and is ended afterwards."""
    stream = cuda.stream()
    with profile():
        cuda.begin_capture(stream)
        cuda.launch("spin", spin(2), stream)
    cuda.launch("spin", spin(2), stream)
    graph = cuda.end_capture(stream)
    return {"nodes": len(cuda.nodes(graph))}


def through_runtime(cuda: Driver, profile: Profile) -> Facts:
    """A capture made and broken through the CUDA runtime, as frameworks do."""
    try:
        runtime = ctypes.CDLL("libcudart.so.13")
    except OSError:
        return {"codes": None}
    stream, out, graph = cuda.stream(), c_void_p(), c_void_p()
    with profile():
        codes = [
            runtime.cudaStreamBeginCapture(c_void_p(stream), 0),
            runtime.cudaMalloc(byref(out), c_size_t(4096)),
            runtime.cudaGetLastError(),
            runtime.cudaStreamEndCapture(c_void_p(stream), byref(graph)),
            runtime.cudaGetLastError(),
        ]
    return {"codes": codes}


# -- updates --------------------------------------------------------------------------------------


def many_updates(cuda: Driver, profile: Profile) -> Facts:
    """New parameters for a kernel node before every launch; a memset changed; a node off and on."""
    stream = cuda.stream()
    address = cuda.allocate(4096)
    with profile():
        graph = build_shape(cuda, GRAPH_SHAPES["chain"])
        last = cuda.nodes(graph)[-1]
        cuda.add_memset(graph, [last], address, 0, 16)
        graph_exec = cuda.instantiate(graph)
        first, second, *_, memset = cuda.nodes(graph)
        for _ in range(UPDATES):
            cuda.set_kernel_params(graph_exec, first, "spin", spin(1), (1, 1, 1))
            cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)
        for value in range(3):
            cuda.set_memset_params(graph_exec, memset, address, value, 16)
        for enabled in (False, True, False, True):
            cuda.set_enabled(graph_exec, second, enabled)
        stranger = cuda.nodes(build_shape(cuda, GRAPH_SHAPES["single"]))[0]
        refused = _code(lambda: cuda.set_enabled(graph_exec, stranger, True))
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)
    return {"updates": UPDATES, "launches": UPDATES + 1, "refused": refused}


def _copying(cuda: Driver, memory: int, address: int, device: int) -> Handle:
    """A kernel, and a copy from one kind of memory to the device after it."""
    graph = cuda.graph()
    first = cuda.add_kernel(graph, [], "spin", spin(2))
    cuda.add_memcpy(graph, [first], (MEMORY_DEVICE, device), (memory, address), 1024)
    return graph


def refused_updates(cuda: Driver, profile: Profile) -> Facts:
    """Updates that succeed, and one for each way to fail, the first of them three times."""
    device, other = cuda.allocate(4096), cuda.allocate(4096)
    host = cuda.allocate_pinned(4096)
    with profile():
        graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["chain"]))
        for _ in range(3):
            cuda.update(graph_exec, build_shape(cuda, GRAPH_SHAPES["chain"]))
        fewer = cuda.graph()
        cuda.add_kernel(fewer, [], "spin", spin(2))
        results = {"fewer": [cuda.update(graph_exec, fewer) for _ in range(3)]}
        typed, last = cuda.graph(), []
        for i in range(3):
            last = [cuda.add_kernel(typed, last, "spin", spin(2), grid=(i + 1, 1, 1))]
        cuda.add_memset(typed, last, device, 0, 16)
        results["type"] = [cuda.update(graph_exec, typed)]
        edges = build_shape(cuda, GRAPH_SHAPES["diamond"])
        results["edges"] = [cuda.update(graph_exec, edges)]
        copy_exec = cuda.instantiate(_copying(cuda, MEMORY_HOST, host, device))
        results["memory"] = [cuda.update(copy_exec, _copying(cuda, MEMORY_DEVICE, other, device))]
    return {"results": results, "accepted": 3}


# -- made and destroyed ---------------------------------------------------------------------------


def instantiated_again(cuda: Driver, profile: Profile) -> Facts:
    """The same shape built and instantiated for every step; then two shapes used in turn."""
    stream = cuda.stream()

    def step(shape: str) -> Handle:
        graph = build_shape(cuda, GRAPH_SHAPES[shape])
        graph_exec = cuda.instantiate(graph)
        cuda.destroy_graph(graph)
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)
        return graph_exec

    with profile():
        for _ in range(4):
            cuda.destroy_exec(step("chain"))
        pair = step("diamond"), step("diamond")
        for _ in range(2):
            for graph_exec in pair:
                cuda.launch_graph(graph_exec, stream)
                cuda.wait(stream)
    return {"again": 3}


def destroyed(cuda: Driver, profile: Profile) -> Facts:
    """Templates destroyed before their launches, executables with launches in flight; a copy."""
    stream = cuda.stream()
    with profile():
        for _ in range(3):
            graph = build_shape(cuda, GRAPH_SHAPES["diamond"])
            copy = cuda.clone(graph)
            cuda.destroy_graph(graph)
            graph_exec = cuda.instantiate(copy)
            cuda.destroy_graph(copy)
            for _ in range(3):
                cuda.launch_graph(graph_exec, stream)
            cuda.destroy_exec(graph_exec)
        cuda.wait(stream)
    return {"launches": 3, "graphs": 3}


LIFE_PROGRAMS = (
    breaking,
    innocent,
    left_open,
    through_runtime,
    many_updates,
    refused_updates,
    instantiated_again,
    destroyed,
)
