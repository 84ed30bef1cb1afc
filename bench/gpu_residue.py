"""The cost that stays behind: launches and captures before gviz, while it is paused, and after it.

One process, one graph of ten small kernels launched back to back, so that every microsecond on
the host shows. Prints a table and a JSON line.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch

import gviz

ROUNDS = 7
LAUNCHES = 3000
CAPTURED_KERNELS = 1000

Costs = dict[str, float]


def captured(kernels: int) -> torch.cuda.CUDAGraph:
    """Capture and instantiate a chain of small kernels."""
    x = torch.ones(1024, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(kernels):
            x.add_(1.0)
    return graph


def cost(graph: torch.cuda.CUDAGraph) -> Costs:
    """Return what a launch takes, launched back to back, and what a capture takes."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(50):
        graph.replay()
    torch.cuda.synchronize()
    start.record()
    before = time.perf_counter()
    for _ in range(LAUNCHES):
        graph.replay()
    host = time.perf_counter() - before
    end.record()
    torch.cuda.synchronize()
    before = time.perf_counter()
    captured(CAPTURED_KERNELS)
    capture = time.perf_counter() - before
    return {
        "launch, host us": host * 1e6 / LAUNCHES,
        "launch, GPU us": start.elapsed_time(end) * 1e3 / LAUNCHES,
        "capture, ms": capture * 1e3,
    }


def main() -> int:
    """Measure and print."""
    graph = captured(10)
    for _ in range(3):
        cost(graph)  # clocks, caches
    found: dict[str, list[Costs]] = {"before": [cost(graph) for _ in range(ROUNDS)]}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            with gviz.profile(Path(folder) / "x.gviz", node_launches=2) as profile:
                found.setdefault("outside windows", []).append(cost(graph))
                profile.stop()
                found.setdefault("stopped", []).append(cost(graph))
            found.setdefault("after", []).append(cost(graph))
    # The least disturbed round and the typical one: the machine has noise of its own.
    result = {
        side: {
            name: {
                "median": statistics.median(c[name] for c in costs),
                "least": min(c[name] for c in costs),
            }
            for name in costs[0]
        }
        for side, costs in found.items()
    }
    for name in result["before"]:
        print(name)
        for side, values in result.items():
            ratio = values[name]["median"] / result["before"][name]["median"]
            print(f"  {side:16} {values[name]['median']:10.2f}  {ratio:6.3f} x before")
    print(json.dumps({"bench": "gpu_residue", "gpu": torch.cuda.get_device_name(), **result}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
