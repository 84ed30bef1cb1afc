"""Two ranks with NCCL under gviz: what it costs, and whether what is planted is named.

Needs two GPUs. Parts, each a run of bench/gate/ranks.py under torchrun: ``cost``, plain and under
``gviz run`` with event copies, in turns; ``windows``, plain and in windows of CUPTI ten times a
second; ``slow`` and ``other``, a slow rank and one with another graph, recorded with CUPTI;
``mismatch``, a rank that lacks two collectives of its graph, in the black box. Results and exit
codes must be equal to plain. Clocks of the ranks are fitted from ends of collectives, as those of
two machines: both are one machine's, so that what is found is the error. Writes gpu_ranks.json
after each part and the recordings into $OUT or build/gpu_ranks; no run is started once
--seconds are over. ::

    python -P bench/gpu_ranks.py [PART ...] [--seconds S]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gviz.fleet.answers.clocks import fit_clocks

Facts = dict[str, Any]
PROGRAM = Path(__file__).parent / "gate" / "ranks.py"
PARTS = ("cost", "mismatch", "windows", "slow", "other")
#: What the two ranks are run under: options of gviz run.
WATCHED = {
    "copies": (),
    "windows": ("--node-times", "cupti", "--every", "100ms"),
    "cupti": ("--collector", "cupti"),
    "black box": ("--black-box=layer", "--stall", "3s"),
}
LIMIT_S = 60.0
STALL_S = 8.0
FIGURES = ("waited p50", "waited p99", "waited most", "waited over 2 x p50", "queued")


def run(side: str, planted: str, folder: Path) -> Facts:
    """Run the job on a side; return exit code, seconds and each rank's figures."""
    for left in folder.glob("rank_*.json"):
        left.unlink()
    job = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    job += [str(PROGRAM), str(folder), planted]
    command = [sys.executable, *job]
    if side != "plain":
        output = folder / f"{planted}_{side.replace(' ', '_')}.gviz"
        command = [sys.executable, "-P", "-m", "gviz", "run", "--overwrite", "-o", str(output)]
        command += [*WATCHED[side], *job]
    began = time.monotonic()
    with (folder / "out.txt").open("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
        status = end(process, STALL_S if planted == "mismatch" else LIMIT_S, out.name)
        out.seek(0)
        text = out.read()
    found: Facts = {"side": side, "status": status, "seconds": time.monotonic() - began}
    found["ranks"] = [json.loads(path.read_text()) for path in sorted(folder.glob("rank_*.json"))]
    if status or planted == "mismatch":
        found["output"] = text[-3000:]
    return found


def end(process: subprocess.Popen[bytes], limit_s: float, output: str) -> int | str:
    """Wait until a job has ended; one that stands still is told to, the time counts from launch."""
    until = time.monotonic() + LIMIT_S
    stopped = False
    while process.poll() is None:
        if limit_s < LIMIT_S and not stopped and "launching" in Path(output).read_text():
            until, stopped = time.monotonic() + limit_s, True
        if time.monotonic() > until:
            break
        time.sleep(0.1)
    if process.poll() is not None:
        return process.returncode
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(40)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "did not end"


def compare(runs: list[Facts]) -> Facts:
    """Return each watched side beside plain: medians over runs, a rank each, and what differs."""
    plain = [found for found in runs if found["side"] == "plain"]
    compared: Facts = {}
    for side in {found["side"] for found in runs} - {"plain"}:
        watched = [found for found in runs if found["side"] == side]
        for work in ("decode", "training"):
            for rank in (0, 1):
                before, after = (figures(group, work, rank) for group in (plain, watched))
                for name in [name for name in before if name in after]:
                    compared[f"{side}, {work}, rank {rank}, {name}"] = [before[name], after[name]]
        compared[f"{side}, results equal"] = results(plain + watched)
        compared[f"{side}, exit codes"] = [found["status"] for found in watched]
    return compared


def figures(runs: list[Facts], work: str, rank: int) -> dict[str, float]:
    """Return medians of a rank's figures over runs."""
    known = [
        f["ranks"][rank][work] for f in runs if len(f["ranks"]) > rank and work in f["ranks"][rank]
    ]
    return {name: statistics.median(f[name] for f in known) for name in FIGURES} if known else {}


def results(runs: list[Facts]) -> bool:
    """Return whether all runs gave the same bits on each rank."""
    given = [
        [(r["decode result"], r.get("training result")) for r in found["ranks"]] for found in runs
    ]
    return bool(given) and bool(given[0]) and all(one == given[0] for one in given)


def ask(*words: str) -> str:
    """Return what a command of gviz prints."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gviz", *words],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return done.stdout + done.stderr


def answers(recording: Path, folder: Path) -> Facts:
    """Return what skew and a fleet of the ranks say, and the clocks' error."""
    fleet = folder / f"{recording.stem}_fleet"
    found: Facts = {"skew": ask("skew", str(recording))}
    found["build"] = ask("fleet", "build", str(recording), "-o", str(fleet))
    found["fleet"] = ask("fleet", "report", str(fleet))
    found["clocks"] = clocks(recording)
    return found


def clocks(recording: Path) -> Facts | str:
    """Return offset and residual (ns) of rank 1 beside rank 0, from ends of their collectives."""
    query = (
        "SELECT l.run_id, s.ordinal, s.node_id, s.end_ns FROM v_span s JOIN launch l USING"
        " (launch_id) WHERE s.name LIKE 'ncclDevKernel%' ORDER BY s.end_ns"
    )
    try:
        rows = json.loads(ask("query", str(recording), query, "--json", "--limit", "0"))["rows"]
    except (ValueError, KeyError) as error:
        return f"not read: {error}"
    by_rank: dict[int, dict[tuple[int, int], int]] = {}
    for run_id, ordinal, node, end_ns in rows:
        by_rank.setdefault(run_id, {})[ordinal, node] = end_ns
    if len(by_rank) != 2:
        return f"{len(by_rank)} ranks with collectives"
    first, second = by_rank.values()
    both = sorted(first.keys() & second.keys())
    if not both:
        return "no collective on both ranks"
    ends = [np.array([side[key] for key in both]) for side in (first, second)]
    origin = int(ends[0][0])
    fitted = fit_clocks(np.stack([(one - origin).astype(float) for one in ends], axis=1))
    return {name: value[1].item() for name, value in asdict(fitted).items()}


def measure(part: str, folder: Path, until: float) -> Facts:
    """Run one part."""
    match part:
        case "cost" | "windows":
            planted = "none" if part == "cost" else "long"
            sides = ["plain", "copies" if part == "cost" else "windows"]
            runs = []
            for side in sides * (2 if part == "cost" else 1):
                if time.monotonic() < until:
                    runs.append(run(side, planted, folder))
            return {"compared": compare(runs), "runs": runs}
        case "mismatch":
            found = run("black box", "mismatch", folder)
            return found | {"info": ask("info", str(folder / "mismatch_black_box.gviz"))}
        case _:
            found = run("cupti", part, folder)
            return found | answers(folder / f"{part}_cupti.gviz", folder)


def main() -> int:
    """Run parts, and write after each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=PARTS)
    parser.add_argument("--seconds", type=float, default=540)
    arguments = parser.parse_args()
    until = time.monotonic() + arguments.seconds
    out = Path(os.environ.get("OUT", "build/gpu_ranks"))
    out.mkdir(parents=True, exist_ok=True)
    found: Facts = {"bench": "gpu_ranks"}
    with tempfile.TemporaryDirectory(prefix="gviz-ranks-") as name:
        folder = Path(name)
        for part in arguments.parts:
            if time.monotonic() > until:
                break
            try:
                found[part] = measure(part, folder, until)
            except Exception as error:  # the next part may still run
                found[part] = {"error": f"{type(error).__name__}: {error}"}
            (out / "gpu_ranks.json").write_text(json.dumps(found, indent=1))
            print(
                part,
                json.dumps(found[part].get("compared", found[part]), indent=1)[:6000],
                flush=True,
            )
        for recording in folder.glob("*.gviz"):
            if recording.stat().st_size < 4_000_000:
                (out / recording.name).write_bytes(recording.read_bytes())
    return 0


if __name__ == "__main__":
    sys.exit(main())
