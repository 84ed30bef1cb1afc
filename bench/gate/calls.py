"""Calls of the driver by the gate's stub and without it, in turns in one process.

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
from typing import Any

WAITED, COLD, QUEUED, ROUNDS = 1000, 100, 50, 20
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

    def stub(self, name: str) -> Callable[..., int]:
        """Return a function as the program gets it."""
        return self._at(ctypes.cast(getattr(self._library, name), c_void_p).value)

    def bare(self, name: str) -> Callable[..., int]:
        """Return the driver's own function."""
        return self._at(self._find(self._library._handle, name.encode()))

    def _at(self, address: int | None) -> Callable[..., int]:
        assert address is not None
        return ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)(address)

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


def make_graph(driver: Driver, nodes: int) -> tuple[c_void_p, c_void_p]:
    """Return an executable of memsets and a stream."""
    stream, graph, executable, memory = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    driver.make_current()
    driver.call("cuStreamCreate", byref(stream), 1)
    driver.call("cuMemAlloc_v2", byref(memory), c_size_t(4096))
    driver.call("cuStreamBeginCapture_v2", stream, THREAD_LOCAL)
    for _ in range(nodes):
        driver.call("cuMemsetD32Async", memory, c_uint(1), c_size_t(1024), stream)
    driver.call("cuStreamEndCapture", stream, byref(graph))
    driver.call("cuGraphInstantiateWithFlags", byref(executable), graph, ctypes.c_ulonglong(0))
    return executable, stream


def measure(driver: Driver, nodes: int) -> dict[str, float]:
    """Return medians by name and way."""
    executable, stream = make_graph(driver, nodes)
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
    print(json.dumps(measure(Driver(), int(sys.argv[1]))))
