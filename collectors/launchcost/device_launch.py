"""Experiment ``device_launch``: graphs that the GPU launches itself."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gviz.analysis import Figure, Shape, Subject, make_figures, parallel_lines, straight_line
from gviz.collectors.launchcost import native
from gviz.collectors.launchcost.native import DEVICE, FIRE_AND_FORGET, TAIL
from gviz.collectors.launchcost.opening import opened
from gviz.collectors.launchcost.plan import Gap, Plan
from gviz.errors import CollectorError
from gviz.stats import IntArray

EXPERIMENT = "device_launch"
LIBRARY = "libcudadevrt.a"
#: Wheels that hold it: of CUDA 13, of CUDA 12.
_WHEELS = ("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12")
_SELF_LAUNCHES = 50


def find_library() -> Path | None:
    """Return a copy of libcudadevrt.a: GVIZ_CUDADEVRT, a wheel's, or the toolkit's; or None."""
    named = os.environ.get("GVIZ_CUDADEVRT")
    if named:
        return Path(named)
    for wheel in _WHEELS:
        try:
            files = importlib.metadata.files(wheel) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name == LIBRARY and Path(str(file.locate())).exists():
                return Path(str(file.locate()))
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    folders = ("lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib")
    for root in filter(None, roots):
        for folder in folders:
            if (path := Path(root) / folder / LIBRARY).exists():
                return path
    return None


def _shapes(plan: Plan) -> list[Shape]:
    lengths = [n for n in plan.lengths if n in (1, 8, 32, 100, 512)]
    widths = [w for w in plan.line_widths if w > 1]
    return [straight_line(n) for n in lengths] + [parallel_lines(2 * w + 1, w) for w in widths]


def measure_device_launch(plan: Plan) -> Iterator[Figure | Gap]:
    """Measure fire-and-forget, tail and self launches against launches by the host."""
    library = find_library()
    if library is None:
        yield Gap(
            EXPERIMENT,
            f"{LIBRARY} was not found; pip install nvidia-cuda-runtime, or set GVIZ_CUDADEVRT",
        )
        return
    try:
        with opened(plan), native.device_launching(library):
            for shape in _shapes(plan):
                yield from _launches(plan, shape)
                yield from _self_launches(plan, shape)
    except CollectorError as error:
        yield Gap(EXPERIMENT, str(error))


def _launches(plan: Plan, shape: Shape) -> Iterator[Figure]:
    """Measure one launch by a kernel: what it adds to a graph of that kernel alone."""
    work = native.program(shape)
    repeats = plan.repeats + plan.warm_up
    for name, stream in (("fire and forget", FIRE_AND_FORGET), ("tail", TAIL)):
        alone, _ = native.time_device_launch(work, stream, 0, repeats)
        launched, spent = native.time_device_launch(work, stream, 1, repeats)
        added = launched[:, DEVICE] - np.median(alone[plan.warm_up :, DEVICE])
        yield from _figure(plan, name, "in the kernel", shape, spent)
        yield from _figure(plan, name, "added", shape, added)
    with native.captured(work) as graph, native.instantiated(graph) as graph_exec:
        readings = native.time_exec(graph_exec, repeats)
    yield from _figure(plan, "host launch", "elapsed", shape, readings[:, DEVICE])


def _self_launches(plan: Plan, shape: Shape) -> Iterator[Figure]:
    work = native.program(shape)
    device, host = native.time_self_launch(work, _SELF_LAUNCHES, plan.lives + plan.warm_up)
    for name, times in (("self launch", device), ("host launches", host)):
        yield from _figure(plan, name, "finish a launch", shape, times / _SELF_LAUNCHES)


def _figure(
    plan: Plan, subject: str, quantity: str, shape: Shape, times: IntArray | np.ndarray
) -> Iterator[Figure]:
    about = Subject(EXPERIMENT, subject, quantity, shape)
    yield from make_figures(about, times, warm_up=plan.warm_up)
