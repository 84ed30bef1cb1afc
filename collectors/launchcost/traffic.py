"""Experiment ``traffic``: bytes over PCIe a launch, stream against graph."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from gviz.analysis import Figure, Subject, make_figures, straight_line
from gviz.collectors.launchcost import native
from gviz.collectors.launchcost.native import Program
from gviz.collectors.launchcost.opening import opened
from gviz.collectors.launchcost.plan import Gap, Plan
from gviz.cuda import NvmlGpu, open_gpu

EXPERIMENT = "traffic"
_LENGTHS = (20, 100)
#: Launches in the queue at once, so that the GPU is never idle.
_AHEAD = 20


def measure_traffic(plan: Plan) -> Iterator[Figure | Gap]:
    """Measure PCIe traffic while the same work is launched again and again."""
    with opened(plan), open_gpu(native.describe().pci_bus_id) as gpu:
        if gpu is None:
            yield Gap(EXPERIMENT, "the management library (libnvidia-ml.so.1) knows no such GPU")
            return
        if gpu.traffic() is None:
            yield Gap(
                EXPERIMENT, "nvmlDeviceGetPcieThroughput is not supported here (virtual machine?)"
            )
            return
        for length in _LENGTHS:
            work = native.program(straight_line(length))
            yield from _figures(plan, gpu, work, "stream", None)
            with native.captured(work) as graph, native.instantiated(graph) as graph_exec:
                yield from _figures(plan, gpu, work, "graph", graph_exec)


def _figures(
    plan: Plan, gpu: NvmlGpu, work: Program, subject: str, graph_exec: int | None
) -> Iterator[Figure]:
    idle = _watch(gpu, plan.traffic_ms / 4)
    with ThreadPoolExecutor(1) as pool:
        started = time.monotonic()
        launching = pool.submit(
            native.launch_for, work, graph_exec, plan.traffic_ms * 1_000_000, _AHEAD
        )
        rates = _watch(gpu, plan.traffic_ms * 0.9)
        launches = launching.result()
        per_second = launches / (time.monotonic() - started)
    for quantity, column in (("to the GPU", 0), ("from the GPU", 1)):
        extra = np.maximum(rates[:, column] - np.median(idle[:, column]), 0)
        about = Subject(EXPERIMENT, subject, quantity, work.shape, unit="bytes")
        yield from make_figures(about, extra / per_second, warm_up=1)


def _watch(gpu: NvmlGpu, milliseconds: float) -> np.ndarray:
    """Return float64 (readings, 2): bytes a second to and from the GPU, read one after another."""
    end = time.monotonic() + milliseconds / 1e3
    readings: list[tuple[int, int]] = []
    while time.monotonic() < end or not readings:
        readings.append(gpu.traffic() or (0, 0))
    return np.array(readings, np.float64)
