"""Findings on a GPU: is a planted fault found, and is mending it worth what gviz predicts?

Each program of bench/fault_programs.py runs with its fault and repaired. Both are recorded and
analysed, in processes of their own; then both are timed without gviz, in turn, in a third one.
The gain is measured on launches of an idle GPU, each between two events (``idle``), on such
with the pause before them that recorded launches have (``paused``), and on launches that queue up
behind each other (``queued``); of rebuilds and first launches it is host
time. Beside it stands what the recorded launches differ by, which is what a prediction rests on.
Writes a table, gpu_findings.json and a tar of the recordings into $OUT or build/gpu_findings,
after each program. ::

    python -P bench/gpu_findings.py [--budget-s S] [PROGRAM ...]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fault_programs import FAULTS, Fault, Laboratory

import gviz
from gviz.analysis.analysis import GraphAnalysis, analyze
from gviz.analysis.rules.rule import Finding
from gviz.recording.reader import Recording
from gviz.stats.figure_fields import NotComputed

Facts = dict[str, Any]
#: Recorded launches: with node times, as many as close the window, without.
NODE_LAUNCHES, CLOSING_LAUNCHES, PLAIN_LAUNCHES = 25, 6, 40
REBUILDS = 20
ROUNDS, IDLE_LAUNCHES, QUEUED_LAUNCHES = 20, 8, 12
HOST_ROUNDS, HOST_REPEATS = 15, 6
QUEUE_US = 150
PAUSE_S = 0.0005
CHILD_LIMIT_S = 30.0
LEAST_S = 6.0
#: Gains predicted this near to the measured ones are right.
TOLERANCE = 0.25
RESAMPLES, SEED = 2_000, 1979
SIDES = ("faulty", "repaired")


# -- in a process that records --------------------------------------------------------------


def record(fault: Fault, repaired: bool, path: Path) -> Facts:
    """Record one side of a program; return what the analysis says of it."""
    lab = Laboratory()
    lab.warm_up()
    steps: dict[str, list[int]] = {}
    with gviz.profile(
        path, node_launches=NODE_LAUNCHES, eager_operations=0, overwrite=True, name=path.stem
    ):
        if fault.unit == "rebuild":
            steps = _record_rebuilds(lab, fault, repaired)
        else:
            _record_launches(lab, fault, repaired)
    with Recording(path) as recording:
        facts = summarise(recording)
    # What recording made of the host times that a prediction rests on.
    facts["steps_us"] = {name: float(np.median(ns)) / 1e3 for name, ns in steps.items()}
    return facts


def _record_launches(lab: Laboratory, fault: Fault, repaired: bool) -> None:
    graph = lab.capture(lambda: fault.work(lab, repaired))
    uploaded = repaired or fault.unit != "first launch"
    graph_exec = lab.instantiate(graph) if uploaded else lab.cuda.instantiate(graph)
    for _ in range(NODE_LAUNCHES + CLOSING_LAUNCHES + PLAIN_LAUNCHES):
        lab.cuda.launch_graph(graph_exec, lab.stream)
        lab.cuda.wait(lab.stream)
        time.sleep(PAUSE_S)


def _record_rebuilds(lab: Laboratory, fault: Fault, repaired: bool) -> dict[str, list[int]]:
    rebuilder = Rebuilder(lab, fault, repaired)
    steps: dict[str, list[int]] = {}
    for iteration in range(REBUILDS):
        rebuilder.iterate(iteration)
        for name, ns in rebuilder.steps.items():
            steps.setdefault(name, []).append(ns)
        time.sleep(PAUSE_S)
    return steps


class Rebuilder:
    """Makes a graph and launches it, turn by turn, anew or with what is there already."""

    def __init__(self, lab: Laboratory, fault: Fault, repaired: bool) -> None:
        self._lab, self._fault, self._repaired = lab, fault, repaired
        self._exec: int | None = None
        #: Host time of each step of the last turn, ns.
        self.steps: dict[str, int] = {}

    def iterate(self, iteration: int) -> int:
        """Do one turn; return its host time in ns, waiting included."""
        cuda, lab, fault = self._lab.cuda, self._lab, self._fault
        lab.iteration = iteration if fault.changes else 0
        clock = [time.perf_counter_ns()]
        self.steps = {}

        def done(step: str) -> None:
            clock.append(time.perf_counter_ns())
            self.steps[step] = clock[-1] - clock[-2]

        graph = graph_exec = 0
        if not self._repaired or self._exec is None or fault.changes:
            graph = lab.capture(lambda: fault.work(lab, False))
            done("capture")
        if not self._repaired or self._exec is None:
            graph_exec = cuda.instantiate(graph)
            done("instantiate")
            self._exec = graph_exec
            if self._repaired:
                cuda.upload(graph_exec, lab.stream)
        elif fault.changes:
            if cuda.update(self._exec, graph):
                raise RuntimeError("the update was refused")
            done("update")
        cuda.launch_graph(self._exec, lab.stream)
        done("launch call")
        cuda.wait(lab.stream)
        done("wait")
        if graph_exec and not self._repaired:
            cuda.destroy_exec(graph_exec)
        if graph:
            cuda.destroy_graph(graph)
        done("destroy")
        return clock[-1] - clock[0]


def summarise(recording: Recording) -> Facts:
    """Return what is said of a recording, as far as it matters here."""
    (run,) = analyze(recording).runs
    found = [f for graph in run.graphs for f in graph.findings.findings]
    found += run.findings.findings
    return {
        "findings": [_finding(f) for f in found],
        "graph_count": len(run.graphs),
        "graphs": [_graph(g) for g in run.graphs[:2]],
    }


def _finding(found: Finding) -> Facts:
    return {
        "rule": found.rule,
        "gain_us": found.gain_ns / 1e3,
        "bound": found.gain_bound,
        "per": found.gain_per,
        "nodes": found.node_count,
        "reason": found.reason,
        "evidence": {e.name: e.value for e in found.evidence},
    }


def _graph(found: GraphAnalysis) -> Facts:
    facts: Facts = {
        "name": found.name,
        "nodes": found.node_count,
        "launches": found.launch_count,
        "timed": found.timed_launch_count,
        "noise_us": None if found.noise_ns is None else found.noise_ns / 1e3,
        "doubts": found.doubts,
        "not_checked": found.findings.not_checked,
    }
    ledger = found.ledger
    if isinstance(ledger, NotComputed):
        return {**facts, "ledger": ledger.not_computed}
    facts["recorded_us"] = ledger.median.total_ns / 1e3
    for name in ("event_median_ns", "plain_event_ns"):
        value = getattr(ledger, name)
        facts[name.removesuffix("_ns") + "_us"] = None if value is None else value / 1e3
    return facts


# -- in a process that measures ---------------------------------------------------------------


def measure(fault: Fault) -> Facts:
    """Time both sides of a program without gviz, in turn."""
    lab = Laboratory()
    lab.warm_up()
    if fault.unit == "rebuild":
        return _measure_rebuilds(lab, fault)
    if fault.unit == "first launch":
        return _measure_first_launches(lab, fault)
    return _measure_launches(lab, fault)


def _measure_launches(lab: Laboratory, fault: Fault) -> Facts:
    cuda, stream = lab.cuda, lab.stream
    start, end = cuda.event(), cuda.event()
    execs = [
        lab.instantiate(lab.capture(lambda r=repaired: fault.work(lab, r)))
        for repaired in (False, True)
    ]

    def launch(graph_exec: int, times: int, queue_us: int) -> float:
        if queue_us:
            lab.spin("warm", lab.buffers, queue_us)
        cuda.record(start, stream)
        for _ in range(times):
            cuda.launch_graph(graph_exec, stream)
        cuda.record(end, stream)
        cuda.wait(stream)
        return cuda.elapsed_ns(start, end) / times / 1e3

    for graph_exec in execs:
        launch(graph_exec, QUEUED_LAUNCHES, QUEUE_US)

    def rested(graph_exec: int) -> float:
        time.sleep(PAUSE_S)
        return launch(graph_exec, 1, 0)

    idle, paused, queued = (np.zeros((ROUNDS, 2)) for _ in range(3))
    for iteration in range(ROUNDS):
        for side in (0, 1) if iteration % 2 else (1, 0):
            alone = [launch(execs[side], 1, 0) for _ in range(IDLE_LAUNCHES)]
            idle[iteration, side] = np.median(alone)
            paused[iteration, side] = np.median([rested(execs[side]) for _ in range(IDLE_LAUNCHES)])
            queued[iteration, side] = launch(execs[side], QUEUED_LAUNCHES, QUEUE_US)
    return {"idle": compared(idle), "paused": compared(paused), "queued": compared(queued)}


def _measure_rebuilds(lab: Laboratory, fault: Fault) -> Facts:
    sides = [Rebuilder(lab, fault, repaired) for repaired in (False, True)]
    for rebuilder in sides:
        for iteration in range(HOST_REPEATS):
            rebuilder.iterate(iteration)
    total = np.zeros((HOST_ROUNDS, 2))
    steps: list[dict[str, list[int]]] = [{}, {}]
    for iteration in range(HOST_ROUNDS):
        for side in (0, 1) if iteration % 2 else (1, 0):
            times = []
            for repeat in range(HOST_REPEATS):
                times.append(sides[side].iterate(repeat) / 1e3)
                for name, ns in sides[side].steps.items():
                    steps[side].setdefault(name, []).append(ns)
            total[iteration, side] = np.median(times)
    parts = [{n: float(np.median(v)) / 1e3 for n, v in side.items()} for side in steps]
    return {"idle": compared(total), "steps_us": dict(zip(SIDES, parts, strict=True))}


def _measure_first_launches(lab: Laboratory, fault: Fault) -> Facts:
    graph = lab.capture(lambda: fault.work(lab, False))
    first, uploads = np.zeros((HOST_ROUNDS, 2)), []
    for iteration in range(-1, HOST_ROUNDS):
        for side in (0, 1):
            graph_exec = lab.cuda.instantiate(graph)
            clock = time.perf_counter_ns()
            if side:
                lab.cuda.upload(graph_exec, lab.stream)
                lab.cuda.wait(lab.stream)
                uploads.append((time.perf_counter_ns() - clock) / 1e3)
            lab.cuda.wait(lab.stream)
            clock = time.perf_counter_ns()
            lab.cuda.launch_graph(graph_exec, lab.stream)
            if iteration >= 0:
                first[iteration, side] = (time.perf_counter_ns() - clock) / 1e3
            lab.cuda.wait(lab.stream)
            lab.cuda.destroy_exec(graph_exec)
    return {"idle": compared(first), "upload_us": float(np.median(uploads))}


def compared(rounds: npt.NDArray[np.float64]) -> Facts:
    """Return medians of both sides and of their difference, with its 95% interval (bootstrap)."""
    gains = rounds[:, 0] - rounds[:, 1]
    chosen = np.random.default_rng(SEED).integers(0, len(gains), (RESAMPLES, len(gains)))
    low, high = np.percentile(np.median(gains[chosen], axis=1), [2.5, 97.5])
    faulty, repaired = np.median(rounds, axis=0).tolist()
    return {
        "faulty_us": faulty,
        "repaired_us": repaired,
        "gain_us": float(np.median(gains)),
        "interval_us": [float(low), float(high)],
    }


# -- in the process that looks on ---------------------------------------------------------------


class Bench:
    """Runs the programs, and writes what comes of them as soon as it is there."""

    def __init__(self, folder: Path, budget_s: float) -> None:
        self._folder = folder
        self._until = time.monotonic() + budget_s
        self._results: dict[str, Facts] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._tar = folder / "gpu_findings_recordings.tar"
        self._tar.unlink(missing_ok=True)

    def run(self, name: str) -> None:
        """Record, analyse and time one program."""
        began = time.monotonic()
        facts: Facts = {"rule": FAULTS[name].rule, "unit": FAULTS[name].unit}
        with tempfile.TemporaryDirectory() as scratch:
            for side in SIDES:
                path = Path(scratch) / f"{name.replace(', ', ' ').replace(' ', '_')}-{side}.gviz"
                facts[side] = self._child("--record", name, side, str(path))
                if path.is_file():
                    with tarfile.open(self._tar, "a") as tar:
                        tar.add(path, path.name)
            facts["measured"] = self._child("--measure", name)
        facts["verdict"] = verdict(FAULTS[name], facts)
        facts["wall_s"] = round(time.monotonic() - began, 2)
        self._results[name] = facts
        document = {"bench": "gpu_findings", "results": self._results}
        (self._folder / "gpu_findings.json").write_text(json.dumps(document, indent=1))
        print(line(name, facts), flush=True)

    def _child(self, *arguments: str) -> Facts:
        """Run a step in a process of its own; its last line is what it found."""
        left = min(CHILD_LIMIT_S, self._until - time.monotonic())
        if left < LEAST_S:
            return {"error": "no time was left"}
        command = [sys.executable, "-P", str(Path(__file__).resolve()), *arguments]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=left, check=False
            )
        except subprocess.TimeoutExpired:
            return {"error": f"took longer than {left:.0f} s"}
        try:
            found: Facts = json.loads(done.stdout.splitlines()[-1])
        except (IndexError, ValueError):
            found = {"error": f"exit code {done.returncode}", "output": done.stdout[-500:]}
        return {**found, "stderr": done.stderr[-1500:]} if done.stderr else found


def verdict(fault: Fault, facts: Facts) -> Facts:
    """Return whether the fault was found, what for, and what else was found."""
    faulty, repaired = (facts[side].get("findings", []) for side in SIDES)
    mine = [f for f in faulty if f["rule"] == fault.rule]
    right = {fault.rule, *fault.also}
    predicted = sum(f["gain_us"] for f in mine) if mine else None
    if mine and fault.unit == "rebuild":
        predicted = sum(f["gain_us"] for f in mine) / mine[0]["evidence"]["instantiations"]
    measured = facts["measured"].get("idle", {}).get("gain_us")
    paused, queued = (facts["measured"].get(way, {}).get("gain_us") for way in ("paused", "queued"))
    lengths = [(facts[side].get("graphs") or [{}])[0].get("recorded_us") for side in SIDES]
    recorded = None if None in lengths or fault.unit != "launch" else lengths[0] - lengths[1]
    ratio = predicted / measured if predicted is not None and measured else None
    return {
        "found": bool(mine),
        "bound": mine[0]["bound"] if mine else None,
        "predicted_us": predicted,
        "measured_us": measured,
        "ratio": ratio,
        "is_right": None if ratio is None else abs(ratio - 1) <= TOLERANCE,
        "paused_us": paused,
        "queued_us": queued,
        "recorded_us": recorded,
        "also": sorted({f["rule"] for f in faulty} & fault.also),
        "false": sorted({f["rule"] for f in faulty} - right),
        "false_repaired": sorted({f["rule"] for f in repaired}),
        "errors": [facts[k]["error"] for k in (*SIDES, "measured") if "error" in facts[k]],
    }


HEADER = (
    f"{'program':24}{'found':>6}{'predicted':>11}{'measured':>10}{'95% interval':>18}{'ratio':>7}"
    f"{'paused':>9}{'queued':>9}{'recorded':>10}   "
    "other findings (us a launch, rebuild or first launch)"
)


def line(name: str, facts: Facts) -> str:
    """Return a program's row of the table."""
    found = facts["verdict"]
    low, high = facts["measured"].get("idle", {}).get("interval_us", (None, None))

    def number(value: float | None, width: int, digits: int = 1) -> str:
        return f"{'-' if value is None else format(value, f'.{digits}f'):>{width}}"

    interval = "-" if low is None else f"{low:.1f} to {high:.1f}"
    others = [*found["false"], *(f"repaired: {r}" for r in found["false_repaired"])]
    return (
        f"{name:24}{'yes' if found['found'] else 'no':>6}{number(found['predicted_us'], 11)}"
        f"{number(found['measured_us'], 10)}{interval:>18}{number(found['ratio'], 7, 2)}"
        f"{number(found['paused_us'], 9)}{number(found['queued_us'], 9)}"
        f"{number(found['recorded_us'], 10)}   "
        f"{', '.join(others) or 'none'}{'; '.join(['', *found['errors']])}"
    )


def main() -> int:
    """Run all programs, or those named; or a step of one, in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--budget-s", type=float, default=600.0)
    parser.add_argument("--record", nargs=3, metavar=("PROGRAM", "SIDE", "PATH"))
    parser.add_argument("--measure", metavar="PROGRAM")
    parser.add_argument("programs", nargs="*", choices=[[], *FAULTS], metavar="PROGRAM")
    arguments = parser.parse_args()
    if arguments.record:
        name, side, path = arguments.record
        print(json.dumps(record(FAULTS[name], side == "repaired", Path(path))))
        return 0
    if arguments.measure:
        print(json.dumps(measure(FAULTS[arguments.measure])))
        return 0
    bench = Bench(Path(os.environ.get("OUT") or "build/gpu_findings"), arguments.budget_s)
    print(HEADER, flush=True)
    for name in arguments.programs or FAULTS:
        try:
            bench.run(name)
        except Exception:  # one program must not stop the others
            traceback.print_exc()
    return 0


if __name__ == "__main__":
    sys.exit(main())
