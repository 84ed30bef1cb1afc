"""Watching without CUPTI: programs plain, behind the gate, and recorded, in turns.

Sides: plain; the gate preloaded, with nobody listening; told, `gviz run --collector topology`
behind it, without CUPTI; copies, `--collector events`; `gviz run` with CUPTI, past its windows.
First calls of the driver by the gate's stub and bare, in turns in one process: what a stub costs,
or, in part told, what recording does.
Measured: a launch that is waited for, the launch call, queued launches, how many launches queue,
launches of three threads beside 200 closings. Results and exit codes must be equal. Needs a GPU;
frameworks that are not there are left out. Results are written after each process, and none is
started once --seconds are over.

Part told asks in two minutes whether recording without CUPTI works on this driver: two programs on
the sides told, copies and cupti, graphs compared node by node, times by copies with CUPTI's, and
whether anybody uses CUPTI.

Run: python -P bench/gpu_gate.py [--part all|told|calls] [--times 2] [--only torch,static,...]
[--sides gate,told,copies,cupti] [--seconds 3600] [OUTPUT.json]; a process takes 5 to 20 s.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gate.recordings import compare_recordings

from gviz.collectors import native

SOURCES = Path(__file__).parent / "gate"
#: Each program: the framework that it needs, and the nodes of its graph.
PROGRAMS = {
    "torch": ("torch", 10),
    "torch, 500 nodes": ("torch", 500),
    "training": ("torch", 20),
    "compile": ("torch", 10),
    "cupy": ("cupy", 10),
    "jax": ("jax", 10),
    "static": (None, 10),
    "static, 2,000 nodes": (None, 2000),
}
FIGURES = ("waited p50", "waited p99", "call p50", "queued", "queue depth")
THREADS = "launches a second, three threads"
LIMIT_S = 180
#: What part told runs, the short one first.
TOLD = ("static", "training")
#: What must be equal on all sides, and what is shown of the last process of a side.
EQUAL = ("status", "result")
SHOWN = ("answers", "gate", "holes", "CUPTI loaded", "cuptiSubscribe answers")
#: Nodes of the graphs whose launches are made by the stub and bare.
CALLED_NODES = (10, 500)


def build(folder: Path) -> Path | None:
    """Compile the program without Python; None where there is no nvcc."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        return None
    target = folder / "static"
    command = [nvcc, "-O2", "-cudart", "static", "-arch=native", str(SOURCES / "static.cu")]
    subprocess.run([*command, "-o", str(target)], check=True)
    return target


def command(name: str, static: Path | None) -> list[str] | None:
    """Return how a program is started, or None where what it needs is not there."""
    framework, nodes = PROGRAMS[name]
    if framework is None:
        return None if static is None else [str(static), str(nodes)]
    if importlib.util.find_spec(framework) is None:
        return None
    kind = name.partition(",")[0]
    return [sys.executable, "-P", str(SOURCES / "program.py"), kind, str(nodes)]


def start(side: str, program: list[str], gate: Path, folder: Path) -> dict[str, Any]:
    """Run a program on a side; return its figures and exit code."""
    record = [sys.executable, "-P", "-m", "gviz", "run", "--overwrite"]
    record += ["-o", str(folder / f"{side}.gviz")]
    script = program[program.index("-P") + 1 :] if "-P" in program else ["--", *program]
    match side:
        case "gate":
            preload = ":".join(filter(None, [os.environ.get("LD_PRELOAD"), str(gate)]))
            return run(program, {"LD_PRELOAD": preload})
        case "told" | "copies":
            collector = "topology" if side == "told" else "events"
            return run([*record, "--collector", collector, *script], {"GVIZ_GATE": "1"})
        case "cupti":
            return run([*record, *script], {})
        case _:
            return run(program, {})


def run(program: list[str], variables: dict[str, str]) -> dict[str, Any]:
    """Run a program; return its figures and exit code."""
    environment = {**os.environ, **variables}
    try:
        done = subprocess.run(
            program, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return {"status": "time limit"}
    found: dict[str, Any] = {"status": done.returncode}
    if done.stderr:
        found["stderr"] = done.stderr[-500:]
    try:
        found |= json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        found["status"] = f"{done.returncode}, no figures"
    return found


def medians(runs: list[dict[str, Any]]) -> dict[str, float]:
    """Return the medians of the figures that runs have."""
    names = [name for name in (*FIGURES, THREADS) if all(name in found for found in runs)]
    return {name: statistics.median(found[name] for found in runs) for name in names}


def compare(name: str, sides: dict[str, list[dict[str, Any]]]) -> None:
    """Print the figures of plain and each other side, and what differs that must not."""
    plain = sides["plain"]
    for side, runs in [(s, r) for s, r in sides.items() if s != "plain"]:
        print(f"{name}: plain, {side}, ratio; plain's spread")
        before, after = medians(plain), medians(runs)
        for figure in [f for f in before if f in after]:
            spread = [found[figure] for found in plain]
            ratio = after[figure] / before[figure] if before[figure] else float("nan")
            line = f"{before[figure]:10.2f} {after[figure]:10.2f} {ratio:7.3f}"
            print(f"  {figure:34} {line}   {min(spread):.2f} to {max(spread):.2f}")
        for key in EQUAL:
            ends = {json.dumps(found.get(key)) for found in plain + runs}
            print(
                f"  {key}: {'equal' if len(ends) == 1 else 'DIFFERS: ' + ', '.join(sorted(ends))}"
            )
        for found in [f for f in runs if "stderr" in f][:1]:
            print(f"  {found['stderr']}")
        for key in [k for k in SHOWN if k in runs[-1]]:
            print(f"  {key}: {runs[-1][key]}")
    sys.stdout.flush()


def measure_calls(side: str, gate: Path, results: dict[str, Any]) -> None:
    """Measure and print calls by the stub and bare, on the side gate or told."""
    for nodes in CALLED_NODES:
        program = [sys.executable, "-P", str(SOURCES / "calls.py"), str(nodes)]
        with tempfile.TemporaryDirectory() as name:
            found = start(side, program, gate, Path(name))
        results[f"calls, {nodes} nodes, {side}"] = found
        print(f"calls, {nodes} nodes, {side}, us")
        for figure, value in sorted(found.items()):
            print(f"  {figure:34} {value}")


def measure_programs(
    arguments: argparse.Namespace, gate: Path, results: dict[str, Any], until: float
) -> None:
    """Run each program in turns on all sides; compare what they print and what is recorded."""
    only = None if arguments.only is None else set(arguments.only.split(","))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        static = build(folder)
        for title in TOLD if arguments.part == "told" else PROGRAMS:
            program = command(title, static)
            if program is None or (only is not None and title.partition(",")[0] not in only):
                continue
            sides: dict[str, list[dict[str, Any]]] = {
                side: [] for side in ("plain", *arguments.sides.split(","))
            }
            results[title] = sides
            for side in [*sides] * arguments.times:
                if time.monotonic() > until:
                    print(f"{title}: out of time before {side}")
                    break
                sides[side].append(start(side, program, gate, folder))
                write(arguments.output, results)
            if all(sides.values()):
                compare(title, sides)
            compare_recorded(title, folder, results)
            write(arguments.output, results)


def compare_recorded(title: str, folder: Path, results: dict[str, Any]) -> None:
    """Compare what the sides without CUPTI recorded with what CUPTI did; remove the recordings."""
    cupti = folder / "cupti.gviz"
    for side in ("told", "copies"):
        path = folder / f"{side}.gviz"
        if path.exists() and cupti.exists():
            results[f"{title}, recorded by {side}"] = found = compare_recordings(path, cupti)
            print(f"{title}, recorded by {side}: {json.dumps(found, indent=1)}", flush=True)
        path.unlink(missing_ok=True)
    cupti.unlink(missing_ok=True)


def write(output: Path | None, results: dict[str, Any]) -> None:
    """Write what there is so far."""
    if output is not None:
        output.write_text(json.dumps(results, indent=0) + "\n")


def main() -> int:
    """Run everything in turns; print and write the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("output", nargs="?", type=Path)
    parser.add_argument("--part", choices=("all", "told", "calls"), default="all")
    parser.add_argument("--times", type=int, default=2, help="processes of each kind")
    parser.add_argument("--sides", help="beside plain: gate, told, copies, cupti")
    parser.add_argument("--only", default=None, help="programs, by comma: torch, static, ...")
    parser.add_argument("--seconds", type=float, default=3600.0, help="start none after so long")
    arguments = parser.parse_args()
    if arguments.sides is None:
        arguments.sides = "told,copies,cupti" if arguments.part == "told" else "gate,told"
    gate = native.gate_path()
    if gate is None:
        raise SystemExit("the gate was not built; install gcc and gviz again")
    until = time.monotonic() + arguments.seconds
    results: dict[str, Any] = {}
    measure_calls("told" if arguments.part == "told" else "gate", gate, results)
    write(arguments.output, results)
    if arguments.part != "calls":
        measure_programs(arguments, gate, results, until)
    return 0


if __name__ == "__main__":
    sys.exit(main())
