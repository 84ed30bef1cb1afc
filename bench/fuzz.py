"""Changed inputs for everything that gviz reads: crashes, hangs above 10 s and 1 GB are faults.

Inputs follow from target and seed; those that show a fault are kept, with what happened. An
input is taken, or refused by a GvizError that says something; all else is a fault.
Run: python -P bench/fuzz.py [--target NAME] [--count N] [--seed FIRST] [--workers N] [--keep DIR]
With --total N the targets share N inputs: those of which one takes long have 1 or 2 of 100.
With --guided SECONDS each target is fuzzed for so long by Atheris (pip install gviz[fuzz]), which
goes on from inputs that reached new code; these are kept for the next time, and fuzzing.kept packs
some of them into tests/fuzzing/kept, which a unit test reads again, beside the inputs of seeds that
fuzzing.seeds has chosen.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from fuzzing.campaign import Outcome, fuzz, write_corpus
from fuzzing.targets import TARGETS

#: Seeds that a worker takes at once: its process imports in a second what it needs.
_AT_ONCE = 1_000
#: Inputs from one line of progress to the next.
_REPORT_EVERY = 2_000


def main() -> int:
    """Fuzz, print a line a target and the faults by kind; return 1 if there is one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--target", choices=TARGETS, action="append", help="default: all")
    parser.add_argument("--count", type=int, default=500, help="inputs a target")
    parser.add_argument("--total", type=int, metavar="N", help="inputs of all, by their shares")
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), metavar="DIR")
    parser.add_argument("--guided", type=int, metavar="SECONDS", help="by coverage, for so long")
    arguments = parser.parse_args()
    if arguments.guided is not None:
        return _fuzz_guided(arguments)
    failed = False
    for target in arguments.target or TARGETS:
        begun, used_before = time.monotonic(), _processor_time()
        outcome = _fuzz(target, _count(target, arguments), arguments)
        took = time.monotonic() - begun
        print(
            f"{target}: {outcome.count:,} inputs, {outcome.taken:,} taken, {outcome.refused:,} "
            f"refused, {len(outcome.faults):,} faults, {took:.0f} s"
        )
        kinds = Counter(_kind(fault.what) for fault in outcome.faults)
        first = {_kind(f.what): f.seed for f in reversed(outcome.faults)}
        for kind, count in kinds.most_common():
            print(f"  {count:6,}  seed {first[kind]}: {kind}")
        figures = {"inputs": outcome.count, "taken": outcome.taken, "refused": outcome.refused}
        figures["faults"] = len(outcome.faults)
        figures["cpu_s"] = round(_processor_time() - used_before)
        stated = {"bench": "fuzz", "target": target, "seed": arguments.seed, **figures}
        print(json.dumps(stated), flush=True)
        failed |= bool(outcome.faults)
    return int(failed)


def _fuzz_guided(arguments: argparse.Namespace) -> int:
    """Return 1 if a target ended before its time: what it met stands on standard error."""
    path = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), sys.path[0]])
    failed = False
    for target in arguments.target or TARGETS:
        corpus = arguments.keep / "guided" / target.replace(" ", "-")
        end, seed, code = time.monotonic() + arguments.guided, arguments.seed, 0
        while code == 0 and (left_s := round(end - time.monotonic())) > 0:
            seed += 1  # the process before has tried as many inputs as one can
            given = [target, str(corpus), str(left_s), str(seed)]
            command = [sys.executable, "-P", "-m", "fuzzing.guided", *given]
            done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False)
            code = done.returncode
        kept = sum(1 for file in corpus.glob("*") if not file.name.startswith("fault-"))
        print(f"{target}: {kept:,} inputs that reach different code, code {code}")
        failed |= code != 0
    return int(failed)


def _processor_time() -> float:
    """Return seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _count(target: str, arguments: argparse.Namespace) -> int:
    if arguments.total is None:
        return int(arguments.count)
    return int(arguments.total) * TARGETS[target].share // 100


def _fuzz(target: str, count: int, arguments: argparse.Namespace) -> Outcome:
    seeds = range(arguments.seed, arguments.seed + count)
    parts = [seeds[at : at + _AT_ONCE] for at in range(0, len(seeds), _AT_ONCE)]
    whole = Outcome()
    # Threads wait, the processes that they start work.
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(arguments.workers) as pool,
    ):
        corpus = write_corpus(target, Path(folder) / "corpus")
        for part in pool.map(lambda some: fuzz(target, some, corpus, arguments.keep), parts):
            whole.taken += part.taken
            whole.refused += part.refused
            whole.faults += part.faults
            if whole.count % _REPORT_EVERY == 0:
                line = f"{target}: {whole.count:,} inputs, {len(whole.faults):,} faults so far"
                print(line, file=sys.stderr, flush=True)
    return whole


def _kind(what: str) -> str:
    """Return the last line of a traceback and where in gviz it was raised."""
    lines = what.strip().splitlines()
    places = [line.strip() for line in lines if line.lstrip().startswith("File ")]
    ours = [p for p in places if any(f"/{part}/" in p for part in ("gviz", "app"))]
    return f"{lines[-1][:110]}  {ours[-1][-95:] if ours else ''}"


if __name__ == "__main__":
    sys.exit(main())
