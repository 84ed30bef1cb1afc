"""Error of computed gains: on trials that recordings hold, or on planted machines.

With recordings (of ``gviz run --trials``) each delay that was tried is computed from the others of
its graph, and compared with what was measured. "launch" is the error of the launch's time with the
edit, "gain" that of the gain in parts of the mean measured one, "path" and "sum" those of the
longest path and of the sum of what changed; "inside" is the share in the range. Graphs whose trials
were refused are counted, with the reasons.

Without recordings machines are planted that share the GPU by blocks, and not as the model does
(tests/planted_machine.py): delays behind every second kernel are the trials; then each kernel's
time is halved, which is what is scored. It checks the program: its figures are no measurement of a
GPU.
Run: python -P bench/what_if.py [RECORDING...] [--graphs N] [--seed N]
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
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from planned_recordings import subject_of
from planted_machine import Machine, branching, plan_of

from gviz.analysis import GraphSubject
from gviz.analysis.launch import LEAST_TRIALS, GainModel, LaunchChange, fit
from gviz.model import CONTROL_TRIAL
from gviz.recording import Recording


class Row(NamedTuple):
    """A change: the launch without it, what it saved as measured and as computed (ns)."""

    launch: float
    measured: float
    computed: float
    low: float
    high: float
    path: float
    total: float


def score(machine: Machine, folder: Path, *, trials: bool) -> Iterator[Row]:
    """Yield a row for each kernel of a machine whose time is halved."""
    tried = range(0, len(machine.kernels), 2) if trials else ()
    path = folder / f"{len(list(folder.iterdir()))}.gviz"
    subject = subject_of(plan_of(machine, tried).write(path))
    whole = machine.length_ns()
    for n, kernel in enumerate(machine.kernels):
        faster = replace(kernel, block_ns=kernel.block_ns // 2)
        yield _row(subject, n, whole, whole - machine.changed(n, faster).length_ns())
    subject.recording.close()


def _row(subject: GraphSubject, kernel: int, launch: float, measured: float) -> Row:
    model = subject.model
    half = np.where(np.arange(len(model.row)) == kernel, 0.5, 1.0)
    change = LaunchChange(duration_ns=model.duration_ns * half)
    total = float(model.duration_ns[kernel]) / 2
    return _compared(subject.gains, change, launch, measured, total)


def _compared(
    gains: GainModel, change: LaunchChange, launch: float, measured: float, total: float
) -> Row:
    found, model = gains.gain(change), gains.launch
    path = model.whole_ns - model.length_ns(change)
    return Row(launch, measured, found.gain_ns, found.low_ns, found.high_ns, path, total)


def score_trials(path: Path) -> tuple[list[list[Row]], list[str]]:
    """Return the delays that were tried, by graph, each as the others say; and refusals."""
    scored: list[list[Row]] = []
    refused: list[str] = []
    with Recording(path) as recording:
        for row in recording.fetch_graphs():
            if row.parent_graph_id is not None:
                continue
            subject = GraphSubject(recording, row)
            trials = subject.trials
            if why := trials.refusal(CONTROL_TRIAL):
                refused.append(f"{path.stem}, graph {row.graph_id}: {why}")
            elif len(subject.tried) > LEAST_TRIALS:
                control = trials.last(CONTROL_TRIAL)
                assert control is not None
                assert control.unedited_ns is not None
                scored.append(list(_left_out(subject, control.unedited_ns)))
    return scored, refused


def _left_out(subject: GraphSubject, launch: float) -> Iterator[Row]:
    """Yield each trial of a graph, computed from the others."""
    tried, untried = subject.tried, subject.untried_gains
    for at, one in enumerate(tried):
        gains = untried.assuming(fit(untried, [*tried[:at], *tried[at + 1 :]]))
        assert one.change.delay_ns is not None
        total = -float(one.change.delay_ns.sum())
        yield _compared(gains, one.change, launch, one.gain_ns, total)


def summarize(rows: Sequence[Row]) -> dict[str, float]:
    """Return errors of gains in parts of the mean measured gain, and the share inside the range."""
    mean = fmean(abs(row.measured) for row in rows)
    off = [abs(r.measured - r.computed) / (r.launch - r.measured) for r in rows]
    return {
        "n": len(rows),
        "launch": round(fmean(off), 4),
        "gain": round(fmean(abs(r.computed - r.measured) for r in rows) / mean, 4),
        "path": round(fmean(abs(r.path - r.measured) for r in rows) / mean, 4),
        "sum": round(fmean(abs(r.total - r.measured) for r in rows) / mean, 4),
        "inside": round(sum(r.low <= r.measured <= r.high for r in rows) / len(rows), 4),
    }


def score_planted(graphs: range) -> dict[str, dict[str, float]]:
    """Return the errors on planted machines, without trials and with some."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for trials in (False, True):
            rows = []
            for seed in graphs:
                rows += list(score(branching(Random(seed)), Path(folder), trials=trials))
            results["fitted" if trials else "untried"] = summarize(rows)
    return results


def score_recordings(paths: Sequence[Path]) -> dict[str, dict[str, float]]:
    """Return the errors on the trials of each recording, and of all; print what was refused."""
    results, whole, refused = {}, list[Row](), list[str]()
    for path in paths:
        scored, why = score_trials(path)
        refused += why
        rows = [row for graph in scored for row in graph]
        whole += rows
        if rows:
            results[path.stem] = summarize(rows)
    print(f"{len(refused)} graphs refused", *refused, sep="\n  ")
    return results | ({"all": summarize(whole)} if whole else {})


def main() -> None:
    """Score, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--graphs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.recordings:
        results = score_recordings(given.recordings)
    else:
        results = score_planted(range(given.seed, given.seed + given.graphs))
    columns = ("n", "launch", "gain", "path", "sum", "inside")
    print(f"{'':14}" + "".join(f"{name:>9}" for name in columns))
    for name, found in results.items():
        cells = (f"{found[c]:9}" if c == "n" else f"{found[c]:9.1%}" for c in columns)
        print(f"{name:14}" + "".join(cells))
    print(json.dumps({"bench": "what_if", **results}))


if __name__ == "__main__":
    main()
