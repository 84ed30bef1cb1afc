"""gviz bench beside NVIDIA's cudaGraphsPerfScaling: the same quantities, one after the other.

GVIZ_CUDA_SAMPLES names a folder with the sample's binary, built from its public source
(github.com/NVIDIA/cuda-samples). Processes of the sample and of ours take turns, so that both meet
the same machine: of each the median trial is taken, of those the median. Other binaries of the
sample, such as one whose calls are the driver's as gviz's are, are compared too when they are
named. ::

    GVIZ_CUDA_SAMPLES=folder python -P bench/gpu_launch_costs.py [BINARY ...]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gviz.analysis.launch_costs.shape import straight_line
from gviz.collectors.launchcost import native
from gviz.collectors.launchcost.launches import queue_limit_ns
from gviz.collectors.launchcost.opening import opened
from gviz.collectors.launchcost.plan import quick_plan

LENGTHS = (20, 100, 500, 2000)
ROUNDS = 12
TRIALS = 20
#: The sample's column, and where ours is in native.LIFE_COLUMNS.
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
    """Return gviz's readings of the same, in microseconds, each trial's in the sample's order."""
    work = native.program(straight_line(length))
    limit = queue_limit_ns(length)
    found: dict[str, list[float]] = defaultdict(list)
    # The sample's first trial is not among those it prints.
    for trial in range(TRIALS + 1):
        read = {"capture": float(native.time_capture(work, 1)[0])}
        with native.captured(work) as graph:
            life = native.time_life(graph, 1, upload=False)[0]
            for theirs, ours in LIFE.items():
                read[theirs] = float(life[native.LIFE_COLUMNS.index(ours)])
            with native.instantiated(graph) as graph_exec:
                on_device = native.time_exec(graph_exec, 2, queue_limit_ns=limit)[:, native.DEVICE]
        read["first_launch_device"], read["repeat_launch_device"] = map(float, on_device)
        for name, value in read.items() if trial else ():
            found[name].append(value / 1e3)
    return found


def run_process(length: int) -> dict[str, list[float]]:
    """Return gviz's readings of one process, as the sample's are."""
    command = [sys.executable, "-P", __file__, "--ours", str(length)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[float]] = json.loads(output)
    return found


def compare(binaries: list[Path], length: int) -> Iterator[dict[str, Any]]:
    """Yield for each quantity and binary the quartiles of its processes, and those of gviz."""
    sides: dict[str, dict[str, list[float]]] = {}
    for _ in range(ROUNDS):
        found = {binary.name: run_sample(binary, length) for binary in binaries}
        found["gviz"] = run_process(length)
        for side, readings in found.items():
            medians = sides.setdefault(side, defaultdict(list))
            for name, values in readings.items():
                medians[name].append(statistics.median(values))
    for name, ours in sides.pop("gviz").items():
        for side, readings in sides.items():
            yield {"nodes": length, "quantity": name, "sample": side} | {
                f"{who}_us": np.percentile(values, [25, 50, 75]).round(3).tolist()
                for who, values in (("sample", readings[name]), ("gviz", ours))
            }


def main() -> int:
    """Print the table and one line of JSON."""
    if sys.argv[1:2] == ["--ours"]:
        with opened(quick_plan()):
            print(json.dumps(run_ours(int(sys.argv[2]))))
        return 0
    folder = os.environ.get("GVIZ_CUDA_SAMPLES")
    if not folder:
        print("set GVIZ_CUDA_SAMPLES to the folder of cudaGraphsPerfScaling", file=sys.stderr)
        return 2
    binaries = [Path(folder) / name for name in sys.argv[1:] or ["cudaGraphsPerfScaling"]]
    results = []
    print(
        f"{'nodes':>6} {'quantity':22} {'sample':30} {'sample us':>10} {'gviz us':>10} {'ratio':>6}"
    )
    for length in LENGTHS:
        for row in compare(binaries, length):
            results.append(row)
            sample, ours = row["sample_us"][1], row["gviz_us"][1]
            print(
                f"{length:6} {row['quantity']:22} {row['sample']:30} {sample:10.2f} {ours:10.2f} "
                f"{ours / sample:6.2f}"
            )
    print(json.dumps({"bench": "gpu_launch_costs", "results": results}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
