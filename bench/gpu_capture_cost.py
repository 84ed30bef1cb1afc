"""The cost of watching a capture, on a GPU: capture and instantiation with and without gviz.

The same step is captured plain, under gviz without Python stacks, and under gviz with them, in
turn. gviz is attached before the clock starts. Prints a table and a JSON line.
Run: python -P bench/gpu_capture_cost.py [--repeat R]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import torch

import gviz
from gviz.collectors import native

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gpu_overhead import encoder, training

SIDES = ("plain", "gviz, no stacks", "gviz")


@contextmanager
def watching(side: str) -> Iterator[None]:
    """Attach gviz, with Python stacks or without."""
    with tempfile.TemporaryDirectory() as folder, gviz.profile(Path(folder) / "x.gviz"):
        if side == "gviz, no stacks":
            native.set_stack_callback(None)
        yield


def capture_times(step: Callable[[], object], *, grad: bool, side: str) -> tuple[float, float]:
    """Return the milliseconds of one capture, and of its instantiation."""
    with nullcontext() if side == "plain" else watching(side):
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        torch.cuda.synchronize()
        start = time.perf_counter()
        with torch.set_grad_enabled(grad), torch.cuda.graph(graph):
            step()
        captured = time.perf_counter()
        graph.instantiate()
        end = time.perf_counter()
        graph.replay()
        torch.cuda.synchronize()
        del graph
    return (captured - start) * 1e3, (end - captured) * 1e3


def measure(
    make: Callable[[], Callable[[], object]], repeat: int, *, grad: bool
) -> dict[str, float]:
    """Return the medians over ``repeat`` rounds, in milliseconds."""
    step = make()
    with torch.set_grad_enabled(grad), torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    capture_times(step, grad=grad, side="plain")
    found: dict[str, list[tuple[float, float]]] = {side: [] for side in SIDES}
    for _ in range(repeat):
        for side in SIDES:
            found[side].append(capture_times(step, grad=grad, side=side))
    row = {}
    for side, times in found.items():
        row[f"{side}, capture ms"] = statistics.median(t[0] for t in times)
        row[f"{side}, instantiate ms"] = statistics.median(t[1] for t in times)
    return row


def main() -> int:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=9)
    arguments = parser.parse_args()
    results = {
        "encoder": measure(encoder, arguments.repeat, grad=False),
        "training": measure(training, arguments.repeat, grad=True),
    }
    for name, row in results.items():
        print(name)
        for label, value in row.items():
            plain = row[f"plain, {label.rpartition(', ')[2]}"]
            print(f"  {label:32} {value:9.2f} ms  {value / plain:7.3f} x plain")
    print(json.dumps({"bench": "gpu_capture_cost", "gpu": torch.cuda.get_device_name(), **results}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
