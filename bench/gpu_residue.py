"""The cost that stays: of programs that gviz watches, and has watched.

Part process: launches and captures before gviz, while it is paused, and after it, in one process,
with one graph of ten small kernels launched back to back, so that every microsecond on the host
shows. The others are a program each, whose processes run in turns: plain, under `gviz run` past
its windows, --collector events past its copies, --paused, --every 1s by copies and in windows of
CUPTI, and after torch.profiler. Figures: a launch that is waited for (p50 and p99), the launch
call, queued launches, how many queue, and launches of three threads. Results and exit codes must
be equal. Each prints a table and a JSON line.

Run: python -P bench/gpu_residue.py
[--part process|ten|encoder|training|serving|compile|jax|cupy|static]
[--sides default,events,paused,every,windows,profiler] [--seconds 75]; no process is started once
the seconds are over.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gpu_gate import SOURCES, build, compare, run

import gviz

if TYPE_CHECKING:
    import torch

ROUNDS = 7
LAUNCHES = 3000
CAPTURED_KERNELS = 1000

#: The programs: what each is to bench/gate/program.py, and its nodes or layers.
PROGRAMS = {
    "ten": ("torch", 10),
    "encoder": ("encoder", 8),
    "training": ("training", 24),
    "serving": ("serving", 16),
    "compile": ("compile", 10),
    "jax": ("jax", 10),
    "cupy": ("cupy", 10),
}
#: Options of gviz run on each side.
WATCHED = {
    "default": (),
    "events": ("--collector", "events"),
    "paused": ("--paused",),
    "every": ("--collector", "events", "--every", "1s"),
    "windows": ("--node-times", "cupti", "--every", "1s"),
}

Costs = dict[str, float]


def captured(kernels: int) -> torch.cuda.CUDAGraph:
    """Capture and instantiate a chain of small kernels."""
    import torch

    x = torch.ones(1024, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(kernels):
            x.add_(1.0)
    return graph


def cost(graph: torch.cuda.CUDAGraph) -> Costs:
    """Return what a launch takes, launched back to back, and what a capture takes."""
    import torch

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


def measure_process() -> int:
    """Measure in one process, and print."""
    import torch

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


def start(side: str, program: list[str], folder: Path) -> dict[str, Any]:
    """Run a program on a side; return its figures and exit code."""
    if side not in WATCHED:
        return run(program, {"GVIZ_BENCH_PROFILER": "1"} if side == "profiler" else {})
    record = [sys.executable, "-P", "-m", "gviz", "run", "--overwrite", *WATCHED[side]]
    script = program[program.index("-P") + 1 :] if "-P" in program else ["--", *program]
    return run([*record, "-o", str(folder / f"{side}.gviz"), *script], {})


def measure_program(part: str, sides: list[str], seconds: float) -> int:
    """Run a program on all sides in turns until the time is over, and print."""
    until = time.monotonic() + seconds
    found: dict[str, list[dict[str, Any]]] = {side: [] for side in ("plain", *sides)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        static = build(folder) if part == "static" else None
        if part == "static" and static is None:
            raise SystemExit("part static needs nvcc")
        kind, nodes = PROGRAMS.get(part, ("", 10))
        script = [sys.executable, "-P", str(SOURCES / "program.py"), kind, str(nodes)]
        program = script if static is None else [str(static), str(nodes)]
        while time.monotonic() < until:
            for side, runs in found.items():
                if time.monotonic() < until:
                    runs.append(start(side, program, folder))
    measured = {side: runs for side, runs in found.items() if runs}
    compare(part, measured)
    print(json.dumps({"bench": "gpu_residue", "part": part, **measured}))
    return 0


def main() -> int:
    """Measure a part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--part", choices=("process", *PROGRAMS, "static"), default="process")
    parser.add_argument("--sides", default=",".join((*WATCHED, "profiler")))
    parser.add_argument("--seconds", type=float, default=75.0, help="start none after so long")
    arguments = parser.parse_args()
    if arguments.part == "process":
        return measure_process()
    sides = [side for side in arguments.sides.split(",") if side]
    if unknown := set(sides) - {*WATCHED, "profiler"}:
        raise SystemExit(f"no side is called {min(unknown)}")
    if arguments.part == "static":
        sides = [side for side in sides if side != "profiler"]
    return measure_program(arguments.part, sides, arguments.seconds)


if __name__ == "__main__":
    sys.exit(main())
