"""Error of computed gains on machines that share the GPU by blocks, and not as the model does.

Machines: tests/planted_machine.py. Delays behind every second kernel are the trials; then each
kernel's time is halved, which is what is scored. It checks the program: its figures are no
measurement of a GPU.
Run: python -P bench/what_if.py [--graphs N] [--seed N]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from planned_recordings import subject_of
from planted_machine import Machine, branching, plan_of

from gviz.analysis.launch import LaunchChange
from gviz.analysis.subject import GraphSubject

#: (measured gain, computed, low, high, by the longest path, by the sum of durations), ns.
Row = tuple[float, float, float, float, float, float]


def score(machine: Machine, folder: Path, *, trials: bool) -> Iterator[Row]:
    """Yield a row for each kernel of a machine whose time is halved."""
    tried = range(0, len(machine.kernels), 2) if trials else ()
    path = folder / f"{len(list(folder.iterdir()))}.gviz"
    subject = subject_of(plan_of(machine, tried).write(path))
    whole = machine.length_ns()
    for n, kernel in enumerate(machine.kernels):
        faster = replace(kernel, block_ns=kernel.block_ns // 2)
        yield _row(subject, n, whole - machine.changed(n, faster).length_ns())
    subject.recording.close()


def _row(subject: GraphSubject, kernel: int, measured: float) -> Row:
    model = subject.model
    half = np.where(np.arange(len(model.row)) == kernel, 0.5, 1.0)
    change = LaunchChange(duration_ns=model.duration_ns * half)
    found = subject.gains.gain(change)
    path = model.whole_ns - model.length_ns(change)
    total = float(model.duration_ns[kernel]) / 2
    return measured, found.gain_ns, found.low_ns, found.high_ns, path, total


def summarize(rows: Sequence[Row]) -> dict[str, float]:
    """Return errors of gains in parts of the mean measured gain, and the share inside the range."""
    mean = sum(abs(row[0]) for row in rows) / len(rows)
    inside = sum(low <= gain <= high for gain, _, low, high, *_ in rows)
    return {
        "model": round(fmean(abs(row[1] - row[0]) for row in rows) / mean, 4),
        "longest_path": round(fmean(abs(row[4] - row[0]) for row in rows) / mean, 4),
        "sum_of_durations": round(fmean(abs(row[5] - row[0]) for row in rows) / mean, 4),
        "inside": round(inside / len(rows), 4),
    }


def main() -> None:
    """Plant, compute, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for trials in (False, True):
            rows = []
            for seed in range(arguments.seed, arguments.seed + arguments.graphs):
                rows += list(score(branching(Random(seed)), Path(folder), trials=trials))
            results["fitted" if trials else "untried"] = summarize(rows)
    print(f"{'':10}{'model':>10}{'longest path':>15}{'sum':>10}{'in range':>10}")
    for name, found in results.items():
        print(f"{name:10}{found['model']:10.1%}{found['longest_path']:15.1%}"
              f"{found['sum_of_durations']:10.1%}{found['inside']:10.1%}")  # fmt: skip
    print(json.dumps({"bench": "what_if", "graphs": arguments.graphs, **results}))


if __name__ == "__main__":
    main()
