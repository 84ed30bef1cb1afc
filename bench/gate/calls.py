"""Launches and updates by the gate's stub and without it, in turns in one process.

Run by bench/gpu_gate.py behind the gate: calls.py NODES. No framework is needed. Prints a line of
JSON: medians in microseconds, each by the stub and bare.
"""

from __future__ import annotations

import ctypes
import json
import statistics
import sys
import time
from collections.abc import Callable
from ctypes import byref, c_int, c_size_t, c_uint, c_void_p
from typing import Any, NamedTuple

WAITED, COLD, QUEUED, ROUNDS = 1000, 100, 50, 20
#: Nodes that are updated one after the other, as JAX does before a launch, and how often.
UPDATED, REPEATS = 10, 20
#: Written between two launches, so that they find the caches cold: more than a core's own.
SWEPT_BYTES = 64 << 20
THREAD_LOCAL = 1  # CU_STREAM_CAPTURE_MODE_THREAD_LOCAL


class Driver:
    """libcuda, by its stubs and bare."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        # libc's own dlsym: the process's is the gate's.
        self._find = ctypes.CDLL("libc.so.6").dlsym
        self._find.restype, self._find.argtypes = c_void_p, (c_void_p, ctypes.c_char_p)

    def stub(self, name: str, words: int = 2) -> Callable[..., int]:
        """Return a function of so many arguments as the program gets it."""
        return self._at(ctypes.cast(getattr(self._library, name), c_void_p).value, words)

    def bare(self, name: str, words: int = 2) -> Callable[..., int]:
        """Return the driver's own function."""
        return self._at(self._find(self._library._handle, name.encode()), words)

    def _at(self, address: int | None, words: int) -> Callable[..., int]:
        assert address is not None
        return ctypes.CFUNCTYPE(c_int, *[c_void_p] * words)(address)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that must succeed."""
        if (result := getattr(self._library, name)(*arguments)) != 0:
            raise SystemExit(f"{name}: {result}")

    def make_current(self) -> None:
        """Make the primary context of the first device the calling thread's."""
        context = c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", byref(context), 0)
        self.call("cuCtxSetCurrent", context)


class MemsetParams(ctypes.Structure):
    """CUDA_MEMSET_NODE_PARAMS."""

    _fields_ = (
        ("destination", c_void_p),
        ("pitch", c_size_t),
        ("value", c_uint),
        ("element_bytes", c_uint),
        ("width", c_size_t),
        ("height", c_size_t),
    )


class Made(NamedTuple):
    """An executable of memsets, a stream for it, the first nodes of its graph, their memory."""

    executable: c_void_p
    stream: c_void_p
    nodes: list[c_void_p]
    memory: c_void_p


def make_graph(driver: Driver, nodes: int) -> Made:
    """Return an executable of so many memsets."""
    stream, graph, executable, memory = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    driver.make_current()
    driver.call("cuStreamCreate", byref(stream), 1)
    driver.call("cuMemAlloc_v2", byref(memory), c_size_t(4096))
    driver.call("cuStreamBeginCapture_v2", stream, THREAD_LOCAL)
    for _ in range(nodes):
        driver.call("cuMemsetD32Async", memory, c_uint(1), c_size_t(1024), stream)
    driver.call("cuStreamEndCapture", stream, byref(graph))
    driver.call("cuGraphInstantiateWithFlags", byref(executable), graph, ctypes.c_ulonglong(0))
    all_nodes, count = (c_void_p * nodes)(), c_size_t(nodes)
    driver.call("cuGraphGetNodes", graph, all_nodes, byref(count))
    return Made(executable, stream, [c_void_p(node) for node in all_nodes[:UPDATED]], memory)


def measure_updates(driver: Driver, nodes: int) -> dict[str, float]:
    """Return medians of an update of a node, and of switching it on, which no filter lets pass."""
    made = make_graph(driver, nodes)
    executable, updated, memory = made.executable, made.nodes, made.memory
    swept = ctypes.create_string_buffer(SWEPT_BYTES)
    params = byref(MemsetParams(memory, 0, 1, 4, 1024, 1))
    context = c_void_p()
    driver.call("cuCtxGetCurrent", byref(context))
    found: dict[str, list[float]] = {}
    calls = {
        "update call": ("cuGraphExecMemsetNodeSetParams", params, context),
        "enable call": ("cuGraphNodeSetEnabled", c_void_p(1), None),
    }
    ways = [
        (f"{title}, {{}}, {way}", get(name, 4), third, fourth)
        for title, (name, third, fourth) in calls.items()
        for way, get in (("stub", driver.stub), ("bare", driver.bare))
    ]
    for _ in range(ROUNDS):
        for title, function, third, fourth in ways:
            for cold in (False, True):
                if cold:
                    ctypes.memset(swept, 1, SWEPT_BYTES)
                repeats = 1 if cold else REPEATS
                start = time.perf_counter()
                for _ in range(repeats):
                    for node in updated:
                        function(executable, node, third, fourth)
                each = (time.perf_counter() - start) / repeats / len(updated)
                found.setdefault(title.format("cold" if cold else "warm"), []).append(each)
    return {name: round(statistics.median(t) * 1e6, 3) for name, t in found.items()}


def measure(driver: Driver, nodes: int) -> dict[str, float]:
    """Return medians by name and way."""
    made = make_graph(driver, nodes)
    executable, stream = made.executable, made.stream
    swept = ctypes.create_string_buffer(SWEPT_BYTES)
    found: dict[str, list[float]] = {}
    ways = [
        (way, get("cuGraphLaunch"), get("cuStreamSynchronize"))
        for way, get in (("stub", driver.stub), ("bare", driver.bare))
    ]
    for round_ in range(ROUNDS):
        for way, launch, wait in ways if round_ % 2 else reversed(ways):
            for cold in (False, True):
                for _ in range((COLD if cold else WAITED) // ROUNDS):
                    if cold:
                        ctypes.memset(swept, 1, SWEPT_BYTES)
                    start = time.perf_counter()
                    launch(executable, stream)
                    called = time.perf_counter()
                    wait(stream, None)
                    end = time.perf_counter()
                    kind = "cold" if cold else "warm"
                    found.setdefault(f"launch call, {kind}, {way}", []).append(called - start)
                    found.setdefault(f"waited, {kind}, {way}", []).append(end - start)
            start = time.perf_counter()
            for _ in range(QUEUED):
                launch(executable, stream)
            wait(stream, None)
            queued = (time.perf_counter() - start) / QUEUED
            found.setdefault(f"queued, {way}", []).append(queued)
    return {name: round(statistics.median(t) * 1e6, 3) for name, t in found.items()}


if __name__ == "__main__":
    print(
        json.dumps(
            measure(Driver(), int(sys.argv[1])) | measure_updates(Driver(), int(sys.argv[1]))
        )
    )
