"""Experiments about kernels that take time: gain by duration, idle share, kinds of nodes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gviz.analysis import Call, Figure, Subject, make_figures, straight_line
from gviz.collectors.launchcost import native
from gviz.collectors.launchcost.launches import queue_limit_ns
from gviz.collectors.launchcost.native import DEVICE, FINISH, Program
from gviz.collectors.launchcost.opening import opened
from gviz.collectors.launchcost.plan import Gap, Plan
from gviz.errors import CollectorError
from gviz.stats import IntArray

GAIN, IDLE, KINDS = "kernel_time", "idle", "node_kinds"
_GAIN_KERNELS = 50
_ROUNDS = 5
_IDLE_KERNELS, _IDLE_US = 3, 2.0
#: Clocks of the two kernels between which the clock is measured: about 0.1 and 1 ms.
_CLOCKS = (200_000, 2_000_000)
_KIND_LENGTHS = (20, 220)
_CHAINS = {
    "kernel, kernel": (Call.EMPTY,),
    "kernel, memset": (Call.EMPTY, Call.MEMSET),
    "kernel, memcpy": (Call.EMPTY, Call.MEMCPY),
    "memset, memset": (Call.MEMSET,),
    "memcpy, memcpy": (Call.MEMCPY,),
}


def clocks_per_us(plan: Plan) -> float:
    """Return the multiprocessor's clock in clocks a microsecond, from two kernels' difference."""
    shape = straight_line(1, (Call.SPIN,))
    times = []
    for clocks in _CLOCKS:
        work = native.program(shape, clocks)
        readings = native.time_program(work, 20 + plan.warm_up, queue_limit_ns=50_000_000)
        times.append(float(np.median(readings[plan.warm_up :, DEVICE])))
    if times[1] <= times[0] or times[0] <= 0:
        raise CollectorError(
            "the multiprocessors' clock could not be measured; is the GPU busy with other work?"
        )
    return (_CLOCKS[1] - _CLOCKS[0]) / ((times[1] - times[0]) / 1e3)


def measure_gain(plan: Plan) -> Iterator[Figure]:
    """Measure a line of kernels as stream and as graph, by the kernels' duration."""
    shape = straight_line(_GAIN_KERNELS, (Call.SPIN,))
    with opened(plan):
        clock = clocks_per_us(plan)
        for microseconds in plan.kernel_us:
            work = native.program(shape, round(microseconds * clock))
            repeats = plan.repeats if microseconds <= 100 else plan.lives
            stream, relaunch = _alternately(work, max(1, repeats // _ROUNDS), plan.warm_up)
            for subject, readings in (("stream", stream), ("relaunch", relaunch)):
                for quantity, column in (("finish", FINISH), ("elapsed", DEVICE)):
                    about = Subject(GAIN, subject, quantity, shape, "kernel_us", microseconds)
                    yield from make_figures(about, readings[:, column])


def _alternately(work: Program, repeats: int, warm_up: int) -> tuple[IntArray, IntArray]:
    """Return readings of a program and of its graph, taken alternately: both meet the same host."""
    stream, relaunch = [], []
    with native.captured(work) as graph, native.instantiated(graph) as graph_exec:
        for _ in range(_ROUNDS):
            stream.append(native.time_program(work, repeats + warm_up)[warm_up:])
            relaunch.append(native.time_exec(graph_exec, repeats + warm_up)[warm_up:])
    return np.concatenate(stream), np.concatenate(relaunch)


# -- three short kernels -----------------------------------------------------------------------


def measure_idle(plan: Plan) -> Iterator[Figure | Gap]:
    """Measure the idle share of three 2 µs kernels: from Python, from native code, as a graph."""
    shape = straight_line(_IDLE_KERNELS, (Call.SPIN,))
    with opened(plan):
        clocks = round(_IDLE_US * clocks_per_us(plan))
        work = native.program(shape, clocks)
        count = plan.repeats + plan.warm_up
        named = {"stream": native.time_program(work, count)[:, DEVICE]}
        with native.captured(work) as graph, native.instantiated(graph) as graph_exec:
            named["graph"] = native.time_exec(graph_exec, count)[:, DEVICE]
    for subject, times in named.items():
        yield from _idle_figure(plan, subject, work, times)
    launcher = cupy_launcher(plan, clocks)
    if launcher is None:
        yield Gap(f"{IDLE}: stream from Python", "CuPy is not installed, so no Python launches")
    else:
        times = np.array([launcher(_IDLE_KERNELS)[1] for _ in range(count)])
        yield from _idle_figure(plan, "stream from Python", work, times)


def _idle_figure(plan: Plan, subject: str, work: Program, times_ns: Any) -> Iterator[Figure]:
    """Make the idle share: 1 - the kernels' own work / the launch's elapsed time."""
    share = 1 - _IDLE_KERNELS * _IDLE_US * 1e3 / np.asarray(times_ns, np.float64)
    about = Subject(IDLE, subject, "idle share", work.shape, "kernel_us", _IDLE_US, unit="fraction")
    yield from make_figures(about, share, warm_up=plan.warm_up)


def cupy_launcher(plan: Plan, clocks: int) -> Callable[[int], tuple[int, float]] | None:
    """Return a function that launches so many spinning kernels from Python through CuPy.

    It returns the host time in the calls and the time between two events, in nanoseconds;
    None where CuPy is not installed.
    """
    try:
        cupy: Any = importlib.import_module("cupy")
    except ImportError:
        return None
    from time import perf_counter_ns

    source = r"""extern "C" __global__ void spin(unsigned long long clocks) {
        long long start = clock64();
        while ((unsigned long long)(clock64() - start) < clocks) { }
    }"""
    with cupy.cuda.Device(plan.device):
        kernel = cupy.RawKernel(source, "spin")
        stream = cupy.cuda.Stream(non_blocking=True)
        before, after = cupy.cuda.Event(), cupy.cuda.Event()

    def launch(count: int) -> tuple[int, float]:
        with cupy.cuda.Device(plan.device), stream:
            before.record(stream)
            start = perf_counter_ns()
            for _ in range(count):
                kernel((1,), (1,), (np.uint64(clocks),))
            host = perf_counter_ns() - start
            after.record(stream)
            stream.synchronize()
            return host, cupy.cuda.get_elapsed_time(before, after) * 1e6

    return launch


def measure_python(plan: Plan) -> Iterator[Figure | Gap]:
    """Measure the host time of launching from Python, beside which the native stream stands."""
    launcher = cupy_launcher(plan, 0)
    if launcher is None:
        yield Gap("launch: stream from Python", "CuPy is not installed, so no Python launches")
        return
    for length in plan.lengths:
        shape = straight_line(length)
        readings = np.array([launcher(length) for _ in range(plan.lives + plan.warm_up)])
        for quantity, column in (("host", 0), ("elapsed", 1)):
            about = Subject("launch", "stream from Python", quantity, shape)
            yield from make_figures(about, readings[:, column], warm_up=plan.warm_up)


# -- kinds of nodes ------------------------------------------------------------------------------


def measure_kinds(plan: Plan) -> Iterator[Figure]:
    """Measure the device time of one node more in chains of kernels, memsets and copies."""
    with opened(plan):
        for name, kinds in _CHAINS.items():
            works = [native.program(straight_line(length, kinds)) for length in _KIND_LENGTHS]
            for subject, times in (
                ("stream", [_queued(plan, work) for work in works]),
                ("graph", [_queued_graph(plan, work) for work in works]),
            ):
                short, long = (readings[plan.warm_up :] for readings in times)
                nodes = _KIND_LENGTHS[1] - _KIND_LENGTHS[0]
                per_node = (long - np.median(short[short >= 0])) / nodes
                about = Subject(KINDS, f"{name}: {subject}", "device a node")
                yield from make_figures(about, np.where(long >= 0, per_node, -1))


def _queued(plan: Plan, work: Program) -> Any:
    limit = queue_limit_ns(work.shape.node_count)
    return native.time_program(work, plan.repeats + plan.warm_up, queue_limit_ns=limit)[:, DEVICE]


def _queued_graph(plan: Plan, work: Program) -> Any:
    limit = queue_limit_ns(work.shape.node_count)
    with native.captured(work) as graph, native.instantiated(graph) as graph_exec:
        readings = native.time_exec(graph_exec, plan.repeats + plan.warm_up, queue_limit_ns=limit)
    return readings[:, DEVICE]
