"""The gate to the launch costs' own library (``csrc``), through ctypes.

It is apart from the native library, so that no watched process loads it.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gviz.analysis import Shape
from gviz.collectors.native import open_library
from gviz.dataclass import dataclass
from gviz.errors import CollectorError
from gviz.stats import IntArray

#: Of one reading: struct lab_reading. The columns are HOST, FINISH and DEVICE.
HOST, FINISH, DEVICE = 0, 1, 2
#: struct lab_life.
LIFE_COLUMNS = (
    "instantiate",
    "upload",
    "upload finish",
    "first host",
    "first finish",
    "again host",
    "again finish",
    "destroy",
)
#: A device-side launch into these: cudaStreamGraphTailLaunch and cudaStreamGraphFireAndForget.
TAIL, FIRE_AND_FORGET = 0x0100000000000000, 0x0200000000000000


class Loop(IntEnum):
    """Ways in which a loop launches the same work again and again (csrc/timing.c)."""

    STREAM = 0
    INSTANTIATE = 1
    UPDATE = 2
    LAUNCH = 3


class _Program(ctypes.Structure):
    _fields_ = [
        ("operations", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("clocks", ctypes.c_uint64),
    ]


class _Description(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * 256),
        ("bus", ctypes.c_char * 32),
        ("major", ctypes.c_int32),
        ("minor", ctypes.c_int32),
        ("multiprocessors", ctypes.c_int32),
        ("threads", ctypes.c_int32),
        ("driver", ctypes.c_int32),
        ("memory", ctypes.c_uint64),
    ]


@dataclass(frozen=True, slots=True)
class Gpu:
    """The GPU measured on.

    Attributes
    ----------
    name, compute_capability, pci_bus_id, driver_version
        As the driver names them; driver_version is its CUDA version, such as ``13.0``.
    multiprocessor_count, max_threads_per_multiprocessor, memory_bytes
        Its size.
    """

    name: str
    compute_capability: str
    pci_bus_id: str
    driver_version: str
    multiprocessor_count: int
    max_threads_per_multiprocessor: int
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Program:
    """A shape ready to be launched; keeps the array that the native side points to."""

    shape: Shape
    calls: npt.NDArray[np.int32]
    native: _Program


def program(shape: Shape, clocks: int = 0) -> Program:
    """Return a shape as the native side takes it; ``clocks``: how long SPIN kernels take."""
    calls = np.ascontiguousarray(shape.calls, dtype=np.int32)
    return Program(shape, calls, _Program(calls.ctypes.data, len(calls), clocks))


@functools.cache
def _library() -> ctypes.CDLL:
    library = open_library(Path(__file__).with_name("_launchcost"), "launch costs' library")
    library.gviz_lab_error.restype = ctypes.c_char_p
    library.gviz_lab_close.restype = None
    library.gviz_lab_describe.restype = None
    library.gviz_lab_destroy.restype = None
    library.gviz_lab_leave_host.restype = None
    library.gviz_lab_close_device_launch.restype = None
    library.gviz_lab_launch_for.restype = ctypes.c_int64
    return library


def _check(result: int) -> None:
    if result != 0:
        raise CollectorError(_library().gviz_lab_error().decode(errors="replace"))


def _pointer(array: npt.NDArray[np.generic]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@contextmanager
def laboratory(device: int) -> Iterator[None]:
    """Hold the GPU's primary context, with streams and kernels, while the block runs.

    Raises
    ------
    CollectorError
        If there is no driver or no such device, or the driver is too old.
    """
    try:
        _check(_library().gviz_lab_open(ctypes.c_int(device)))
        yield
    finally:
        _library().gviz_lab_close()


def describe() -> Gpu:
    """Return what the GPU of the open laboratory is."""
    found = _Description()
    _library().gviz_lab_describe(ctypes.byref(found))
    return Gpu(
        name=found.name.decode(errors="replace"),
        compute_capability=f"{found.major}.{found.minor}",
        pci_bus_id=found.bus.decode(errors="replace"),
        driver_version=f"{found.driver // 1000}.{found.driver % 1000 // 10}",
        multiprocessor_count=found.multiprocessors,
        max_threads_per_multiprocessor=found.threads,
        memory_bytes=found.memory,
    )


# -- launches ----------------------------------------------------------------------------------


def time_program(work: Program, repeats: int, *, queue_limit_ns: int = 0) -> IntArray:
    """Launch a program into streams; return its readings.

    Parameters
    ----------
    work
        What is launched.
    repeats
        How often.
    queue_limit_ns
        0: on an idle GPU. Else all of it waits in the queue before the GPU begins, for so
        long at most: a launch that took longer has DEVICE -1.

    Returns
    -------
    int64 array (repeats, 3)
        HOST, FINISH and DEVICE times in nanoseconds.
    """
    readings = np.empty((repeats, 3), np.int64)
    _check(
        _library().gviz_lab_time_program(
            ctypes.byref(work.native),
            ctypes.c_uint64(queue_limit_ns),
            ctypes.c_int(repeats),
            _pointer(readings),
        )
    )
    return readings


def time_exec(graph_exec: int, repeats: int, *, queue_limit_ns: int = 0) -> IntArray:
    """Launch an executable; return its readings as :func:`time_program` does."""
    readings = np.empty((repeats, 3), np.int64)
    _check(
        _library().gviz_lab_time_exec(
            ctypes.c_void_p(graph_exec),
            ctypes.c_uint64(queue_limit_ns),
            ctypes.c_int(repeats),
            _pointer(readings),
        )
    )
    return readings


@contextmanager
def captured(work: Program) -> Iterator[int]:
    """Hold the graph of a program while the block runs."""
    graph = ctypes.c_void_p()
    try:
        _check(_library().gviz_lab_capture(ctypes.byref(work.native), ctypes.byref(graph)))
        yield graph.value or 0
    finally:
        _library().gviz_lab_destroy(graph, None)


@contextmanager
def instantiated(graph: int) -> Iterator[int]:
    """Hold an executable of a graph while the block runs."""
    graph_exec = ctypes.c_void_p()
    try:
        _check(_library().gviz_lab_instantiate(ctypes.c_void_p(graph), ctypes.byref(graph_exec)))
        yield graph_exec.value or 0
    finally:
        _library().gviz_lab_destroy(None, graph_exec)


# -- a graph's life ----------------------------------------------------------------------------


def time_capture(work: Program, repeats: int) -> IntArray:
    """Capture a program again and again; return the times in nanoseconds."""
    times = np.empty(repeats, np.int64)
    _check(
        _library().gviz_lab_time_capture(
            ctypes.byref(work.native), ctypes.c_int(repeats), _pointer(times)
        )
    )
    return times


def time_life(graph: int, repeats: int, *, upload: bool) -> IntArray:
    """Instantiate, upload (or not), launch twice and destroy; return the times.

    Returns
    -------
    int64 array (repeats, 8)
        Nanoseconds, in the order of LIFE_COLUMNS; -1 for what was not done.
    """
    lives = np.empty((repeats, len(LIFE_COLUMNS)), np.int64)
    _check(
        _library().gviz_lab_time_life(
            ctypes.c_void_p(graph), ctypes.c_int(upload), ctypes.c_int(repeats), _pointer(lives)
        )
    )
    return lives


def time_update(graph_exec: int, one: int, other: int, repeats: int) -> IntArray:
    """Update an executable from two graphs of its shape in turn; return the times, ns."""
    times = np.empty(repeats, np.int64)
    _check(
        _library().gviz_lab_time_update(
            ctypes.c_void_p(graph_exec),
            ctypes.c_void_p(one),
            ctypes.c_void_p(other),
            ctypes.c_int(repeats),
            _pointer(times),
        )
    )
    return times


def time_node_updates(graph_exec: int, graph: int, repeats: int) -> IntArray:
    """Give every node new parameters, a call each; return the times of all calls together."""
    times = np.empty(repeats, np.int64)
    _check(
        _library().gviz_lab_time_node_updates(
            ctypes.c_void_p(graph_exec),
            ctypes.c_void_p(graph),
            ctypes.c_int(repeats),
            _pointer(times),
        )
    )
    return times


def time_enabling(graph_exec: int, graph: int, repeats: int) -> tuple[IntArray, IntArray]:
    """Disable and enable every node, a call each; return the times of both, all calls together."""
    off, on = np.empty(repeats, np.int64), np.empty(repeats, np.int64)
    _check(
        _library().gviz_lab_time_enabling(
            ctypes.c_void_p(graph_exec),
            ctypes.c_void_p(graph),
            ctypes.c_int(repeats),
            _pointer(off),
            _pointer(on),
        )
    )
    return off, on


def time_loop(how: Loop, work: Program, iterations: int) -> int:
    """Launch a program's work ``iterations`` times; return the nanoseconds until it finished."""
    time = ctypes.c_int64()
    _check(
        _library().gviz_lab_time_loop(
            ctypes.c_int(how),
            ctypes.byref(work.native),
            ctypes.c_int(iterations),
            ctypes.byref(time),
        )
    )
    return time.value


# -- threads -----------------------------------------------------------------------------------


def contend(work: Program, graph: int | None, threads: int, launches: int) -> IntArray:
    """Launch from several threads at once, each into a stream of its own, and wait each time.

    Parameters
    ----------
    work
        A program of one stream; sent into streams where ``graph`` is None.
    graph
        Its graph; every thread gets an executable of its own.
    threads, launches
        How many threads, and how often each launches.

    Returns
    -------
    int64 array (threads, launches, 3)
        HOST and FINISH times in nanoseconds; DEVICE is -1.
    """
    readings = np.empty((threads, launches, 3), np.int64)
    _check(
        _library().gviz_lab_contend(
            ctypes.byref(work.native),
            ctypes.c_void_p(graph),
            ctypes.c_int(threads),
            ctypes.c_int(launches),
            _pointer(readings),
        )
    )
    return readings


@contextmanager
def busy_host(threads: int) -> Iterator[None]:
    """Keep so many threads computing while the block runs."""
    try:
        _check(_library().gviz_lab_load_host(ctypes.c_int(threads)))
        yield
    finally:
        _library().gviz_lab_leave_host()


def launch_for(work: Program, graph_exec: int | None, duration_ns: int, ahead: int) -> int:
    """Launch back to back for a while, ``ahead`` launches at a time; return how many there were.

    Waits without the interpreter's lock, so that another thread can look at the GPU.
    """
    count = int(
        _library().gviz_lab_launch_for(
            ctypes.byref(work.native),
            ctypes.c_void_p(graph_exec),
            ctypes.c_int64(duration_ns),
            ctypes.c_int(ahead),
        )
    )
    _check(0 if count >= 0 else -1)
    return count


# -- launching from the device -------------------------------------------------------------------


@contextmanager
def device_launching(library: Path) -> Iterator[None]:
    """Link the kernels that launch graphs with a copy of libcudadevrt.a; hold them."""
    try:
        _check(_library().gviz_lab_open_device_launch(str(library).encode()))
        yield
    finally:
        _library().gviz_lab_close_device_launch()


def time_device_launch(
    work: Program, stream: int, count: int, repeats: int
) -> tuple[IntArray, IntArray]:
    """Let a kernel launch a program's graph ``count`` times into TAIL or FIRE_AND_FORGET.

    Returns
    -------
    readings, spent
        int64 arrays (repeats, 3), as of :func:`time_program`, and (repeats): how long the
        kernel was launching, in nanoseconds.
    """
    readings, spent = np.empty((repeats, 3), np.int64), np.empty(repeats, np.int64)
    _check(
        _library().gviz_lab_time_device_launch(
            ctypes.byref(work.native),
            ctypes.c_uint64(stream),
            ctypes.c_uint32(count),
            ctypes.c_int(repeats),
            _pointer(readings),
            _pointer(spent),
        )
    )
    return readings, spent


def time_self_launch(work: Program, launches: int, repeats: int) -> tuple[IntArray, IntArray]:
    """Let a graph launch itself until it ran ``launches`` times, and let the host launch it so.

    Returns
    -------
    device, host
        int64 arrays (repeats): nanoseconds until the last launch had finished.
    """
    device, host = np.empty(repeats, np.int64), np.empty(repeats, np.int64)
    _check(
        _library().gviz_lab_time_self_launch(
            ctypes.byref(work.native),
            ctypes.c_uint32(launches),
            ctypes.c_int(repeats),
            _pointer(device),
            _pointer(host),
        )
    )
    return device, host
