"""gviz and Nsight Systems on one program: what each costs it.

run: a program with a captured encoder (88 nodes) and training step (about 2,500) is run plain,
under `gviz run`, under `nsys profile` node by node and by whole graphs (its default), each in
turn and three times over, a process each; launches are timed as the program sees them, the first
hundred left out. report: that as a table and a JSON line.
Run: python -P bench/gpu_nsys.py run --nsys NSYS FOLDER; python -P bench/gpu_nsys.py report FOLDER
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

ITERATIONS = 3
WAYS = ("plain", "gviz", "nsys-node", "nsys-graph")
WORKLOADS = {"encoder": 400, "training": 100}
#: Launches before those that are timed: gviz's windows are closed then.
SETTLE = 100
NSYS = (
    "profile",
    "--trace=cuda,nvtx",
    "--sample=none",
    "--cpuctxsw=none",
    "--force-overwrite=true",
)


def program(output: Path) -> None:
    """Capture each workload, launch it and write its launch times."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from gpu_overhead import encoder, launch_times, prepared, training

    found = {}
    for name, make in (("encoder", encoder), ("training", training)):
        graph = prepared(make, SETTLE, grad=name == "training")
        found[name] = launch_times(graph, WORKLOADS[name])
    output.write_text(json.dumps(found))


def command(way: str, iteration: int, folder: Path, nsys: str) -> list[str]:
    """Return how the program is run."""
    stem = folder / f"{way}-{iteration}"
    own = ["-P", str(Path(__file__).resolve()), "program", f"{stem}.json"]
    if way == "plain":
        return [sys.executable, *own]
    if way == "gviz":
        return [sys.executable, "-P", "-m", "gviz", "run", "-o", f"{stem}.gviz", "--overwrite",
                "--", sys.executable, *own]  # fmt: skip
    mode = f"--cuda-graph-trace={way.removeprefix('nsys-')}"
    return [nsys, *NSYS, mode, "-o", str(stem), sys.executable, *own]


def run(folder: Path, nsys: str) -> None:
    """Run the program in all ways, in turn."""
    failed = set()
    for iteration in range(ITERATIONS):
        for way in WAYS:
            if way in failed:
                continue
            words = command(way, iteration, folder, nsys)
            done = subprocess.run(words, check=False, stdout=subprocess.DEVNULL)
            # Under a release that is older than the driver the program may end by a signal.
            if done.returncode:
                print(f"{way} failed with {done.returncode}, and is left out")
                failed.add(way)


def costs(folder: Path) -> dict[str, dict[str, list[float]]]:
    """Return medians of GPU and host us a launch, by workload and way."""
    found: dict[str, dict[str, list[float]]] = {}
    for way in WAYS:
        if not (folder / f"{way}-{ITERATIONS - 1}.json").exists():
            continue
        iterations = [
            json.loads((folder / f"{way}-{i}.json").read_text()) for i in range(ITERATIONS)
        ]
        for name in WORKLOADS:
            times = list(zip(*(iteration[name] for iteration in iterations), strict=True))
            found.setdefault(name, {})[way] = [statistics.median(one) for one in times]
    return found


def report(folder: Path) -> None:
    """Print a table and a JSON line."""
    launch = costs(folder)
    for name, ways in launch.items():
        for way, (gpu, host) in ways.items():
            ratios = f"{gpu / ways['plain'][0]:8.3f} {host / ways['plain'][1]:8.3f}"
            print(f"{name:10} {way:12} GPU {gpu:10.2f} us  host {host:10.2f} us {ratios} x plain")
    print(json.dumps({"bench": "gpu_nsys", "launch": launch}))


def main() -> int:
    """Run the program, or tell what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("run", "report", "program"))
    parser.add_argument("path", type=Path, help="the folder of results")
    parser.add_argument("--nsys", default="nsys", help="the program")
    arguments = parser.parse_args()
    if arguments.what == "program":
        program(arguments.path)
    elif arguments.what == "run":
        run(arguments.path, arguments.nsys)
    else:
        report(arguments.path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
