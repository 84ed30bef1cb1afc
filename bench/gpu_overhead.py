"""The cost of watching, on a GPU: launches with and without gviz, in one process, in turn.

The same graph is measured plain, under gviz as it comes (the first 20 launches recorded, then
whole launches only), under gviz node by node, and under torch.profiler, one after another and
several times over, so that clocks drift alike. Prints a table and a JSON line.
Run: python -P bench/gpu_overhead.py [ten] [encoder] [training]
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

import gviz

REPEATS = 5


def encoder() -> Callable[[], object]:
    """Return the step of an 8-layer encoder, forward: 88 nodes."""
    layer = torch.nn.TransformerEncoderLayer(
        1024, 16, 4096, dropout=0.0, batch_first=True, device="cuda", dtype=torch.float16
    )
    model = torch.nn.TransformerEncoder(layer, 8, enable_nested_tensor=False).eval()
    inputs = torch.randn(1, 16, 1024, device="cuda", dtype=torch.float16)
    return lambda: model(inputs)


def training() -> Callable[[], object]:
    """Return a training step of 24 layers: about 2,500 nodes."""
    layer = torch.nn.TransformerEncoderLayer(
        512, 8, 2048, dropout=0.0, batch_first=True, device="cuda"
    )
    model = torch.nn.TransformerEncoder(layer, 24, enable_nested_tensor=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)
    inputs = torch.randn(4, 16, 512, device="cuda")

    def step() -> None:
        model(inputs).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)

    return step


def ten() -> Callable[[], object]:
    """Return ten small kernels in a chain."""
    x = torch.ones(1024, device="cuda")

    def step() -> None:
        for _ in range(10):
            x.add_(1.0)

    return step


def capture(step: Callable[[], object], *, grad: bool) -> torch.cuda.CUDAGraph:
    """Capture and instantiate ``step``."""
    graph = torch.cuda.CUDAGraph()
    with torch.set_grad_enabled(grad), torch.cuda.graph(graph):
        step()
    return graph


def launch_times(graph: torch.cuda.CUDAGraph, launches: int) -> tuple[float, float]:
    """Return GPU and host microseconds a launch, launched back to back."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    graph.replay()
    start.record()
    before = time.perf_counter()
    for _ in range(launches):
        graph.replay()
    host = time.perf_counter() - before
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 1e3 / launches, host * 1e6 / launches


def prepared(
    make: Callable[[], Callable[[], object]], launches: int, *, grad: bool
) -> torch.cuda.CUDAGraph:
    """Return the graph of a step that was warmed up, launched a number of times."""
    step = make()
    with torch.set_grad_enabled(grad), torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = capture(step, grad=grad)
    launch_times(graph, launches)
    return graph


def watched(
    graph: torch.cuda.CUDAGraph, launches: int, node_launches: int | str
) -> tuple[float, float]:
    """Return the launch times inside a profile, past its windows unless ``all``.

    Also with ``all`` it leaves five launches of each executable plain, the 51st to 55th.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        gviz.profile(Path(folder) / "x.gviz", node_launches=node_launches),
    ):
        # Past the window, the few launches until it closes, and those that "all" leaves plain.
        for _ in range(60):
            graph.replay()
        torch.cuda.synchronize()
        return launch_times(graph, launches)


def under_torch_profiler(graph: torch.cuda.CUDAGraph, launches: int) -> tuple[float, float]:
    """Return the launch times under torch.profiler."""
    from torch.profiler import ProfilerActivity

    with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        graph.replay()
        return launch_times(graph, launches)


def measure(name: str, make: Callable[[], Callable[[], object]], launches: int) -> dict[str, float]:
    """Measure one workload; medians over REPEATS rounds."""
    graph = prepared(make, launches, grad=name == "training")
    sides: dict[str, Callable[[], tuple[float, float]]] = {
        "plain": lambda: launch_times(graph, launches),
        "gviz default": lambda: watched(graph, launches, 20),
        "gviz node level": lambda: watched(graph, launches, "all"),
    }
    found: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
    for _ in range(REPEATS):
        for side_name, run in sides.items():
            found[side_name].append(run())
    # Last: once torch.profiler was on, its subscription stays.
    found["torch.profiler"] = [under_torch_profiler(graph, launches) for _ in range(REPEATS)]
    row: dict[str, float] = {}
    for side_name, times in found.items():
        row[f"{side_name}, GPU us"] = statistics.median(t[0] for t in times)
        row[f"{side_name}, host us"] = statistics.median(t[1] for t in times)
    return row


def main() -> int:
    """Measure the workload named on the command line, or all, each in this process."""
    workloads = {"ten": (ten, 2000), "encoder": (encoder, 200), "training": (training, 20)}
    chosen = sys.argv[1:] or list(workloads)
    results = {name: measure(name, *workloads[name]) for name in chosen}
    for name, row in results.items():
        plain = row["plain, GPU us"]
        print(name)
        for label, value in row.items():
            ratio = f"{value / plain:8.3f} x plain" if "GPU" in label else ""
            print(f"  {label:28} {value:10.2f}  {ratio}")
    print(json.dumps({"bench": "gpu_overhead", "gpu": torch.cuda.get_device_name(), **results}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
