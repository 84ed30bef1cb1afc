"""gviz bench beside NVIDIA's cudaGraphsPerfScaling: the same quantities, one after the other.

GVIZ_CUDA_SAMPLES names a folder with the sample's binary, built from its public source
(github.com/NVIDIA/cuda-samples). The sample's trials and ours take turns, so that both meet
the same machine; medians are compared. ::

    GVIZ_CUDA_SAMPLES=folder python -P bench/gpu_launch_costs.py
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from gviz.collectors.laboratory import gate
from gviz.collectors.laboratory.launches import queue_limit_ns
from gviz.collectors.laboratory.opening import opened
from gviz.collectors.laboratory.plan import quick_plan
from gviz.launch_cost.shape import straight_line

LENGTHS = (20, 100, 500, 2000)
ROUNDS = 5
TRIALS = 20
#: The sample's column, and where ours is in gate.LIFE_COLUMNS.
LIFE = {
    "instantiation": "instantiate",
    "first_launch_api": "first host",
    "first_launch_total": "first finish",
    "repeat_launch_api": "again host",
    "repeat_launch_total": "again finish",
}


def run_sample(binary: Path, length: int) -> dict[str, list[float]]:
    """Return the sample's readings of one process, in microseconds, by column."""
    command = [str(binary), "3", str(TRIALS), str(length), "1", "0"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [[cell.strip() for cell in line.split(",")] for line in output.splitlines()]
    names = next(line for line in lines if line[0] == "length")
    trials = [line for line in lines if line[0].isdigit()]
    return {
        name: [float(line[index]) for line in trials]
        for index, name in enumerate(names)
        if name and name != "blockingKernelTimeoutDetected"
    }


def run_ours(length: int) -> dict[str, list[float]]:
    """Return gviz's readings of the same, in microseconds."""
    work = gate.program(straight_line(length))
    found: dict[str, list[float]] = {"capture": (gate.time_capture(work, TRIALS) / 1e3).tolist()}
    with gate.captured(work) as graph:
        lives = gate.time_life(graph, TRIALS, upload=False)
        for theirs, ours in LIFE.items():
            found[theirs] = (lives[:, gate.LIFE_COLUMNS.index(ours)] / 1e3).tolist()
        limit = queue_limit_ns(length)
        first, again = [], []
        for _ in range(TRIALS):
            with gate.instantiated(graph) as graph_exec:
                readings = gate.time_exec(graph_exec, 2, queue_limit_ns=limit)[:, gate.DEVICE]
            first.append(float(readings[0]) / 1e3)
            again.append(float(readings[1]) / 1e3)
    found["first_launch_device"], found["repeat_launch_device"] = first, again
    return found


def main() -> int:
    """Print the table and one line of JSON."""
    folder = os.environ.get("GVIZ_CUDA_SAMPLES")
    if not folder:
        print("set GVIZ_CUDA_SAMPLES to the folder of cudaGraphsPerfScaling", file=sys.stderr)
        return 2
    results = []
    print(f"{'nodes':>6} {'quantity':22} {'sample us':>10} {'gviz us':>10} {'ratio':>6}")
    for length in LENGTHS:
        sides: list[dict[str, list[float]]] = [defaultdict(list), defaultdict(list)]
        for _ in range(ROUNDS):
            theirs = run_sample(Path(folder) / "cudaGraphsPerfScaling", length)
            with opened(quick_plan()):
                ours = run_ours(length)
            for side, found in zip(sides, (theirs, ours), strict=True):
                for name, values in found.items():
                    side[name] += values
        for name in sides[1]:
            sample, gviz = (statistics.median(side[name]) for side in sides)
            spread = [np.percentile(side[name], [25, 75]).round(3).tolist() for side in sides]
            results.append(
                {"nodes": length, "quantity": name, "sample_us": sample, "gviz_us": gviz}
                | {"sample_quartiles": spread[0], "gviz_quartiles": spread[1]}
            )
            print(f"{length:6} {name:22} {sample:10.2f} {gviz:10.2f} {gviz / sample:6.2f}")
    print(json.dumps({"bench": "gpu_launch_costs", "results": results}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
