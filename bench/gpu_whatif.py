"""Trials on a GPU: do programs go on as without them, and what do they say?

Part ``sum``: the kernel that compares memory against the same in numpy. Part ``programs``: each
program runs plainly and under ``gviz run --trials``, in turns; exit code and output, a digest of
all that its launches left, must be equal. What was tried or refused is printed, with how far a copy
is from another and from the executable, and what delays in a chain lengthen it by (1 is expected).
Program ``asked`` calls gviz.try_edits, whose answers stand in its errors.
Writes gpu_whatif.json and the recordings into $OUT or build/gpu_whatif. ::

    python -P bench/gpu_whatif.py [sum | programs | PROGRAM] [--budget-s S]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from gviz.model import summarize_trials
from gviz.recording import Recording

Facts = dict[str, Any]
ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "collectors" / "csrc" / "trial" / "kernels.c"
#: Words of a piece of memory that is summed up as a whole.
PIECE_WORDS = 262_144
LIMIT_S = 60.0

#: Launches change what the next one reads; the digest is of all of it.
CUPY = """
import hashlib, sys, time
import cupy as cp
kind = sys.argv[1]
step = cp.RawKernel('''extern "C" __global__ void step(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.9f * y[i] + x[i] * 0.01f;
}''', "step")
mix = cp.RawKernel('''extern "C" __global__ void mix(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __sinf(y[i]) + 0.1f * x[(i * 7) % n];
}''', "mix")
n = 1 << 20
ys = [cp.full(n, 0.5, cp.float32) for _ in range(4)]
x = cp.linspace(-1, 1, n, dtype=cp.float32)
def put(kernel, y):
    kernel((n // 256,), (256,), (y, x, n))
high = -1 if kind == "priority" else 0
streams = [cp.cuda.Stream(non_blocking=True, priority=high * (i == 3)) for i in range(4)]
def chain():
    for i in range(60):
        put(step if i % 3 else mix, ys[0])
def branch():
    for _ in range(6):
        begin = streams[0].record()
        for stream, y in zip(streams[1:], ys[1:]):
            stream.wait_event(begin)
            with stream:
                for _ in range(3):
                    put(step, y)
            streams[0].wait_event(stream.record())
        for y in ys[1:]:
            put(mix, y)
def implied():
    events = []
    for i in range(40):
        for event in events[-6:]:
            streams[0].wait_event(event)
        put(step if i % 2 else mix, ys[0])
        events.append(streams[0].record())
with streams[0]:
    put(step, ys[0]), put(mix, ys[0])
    streams[0].synchronize()
    streams[0].begin_capture()
    {"chain": chain, "branch": branch, "asked": branch, "priority": branch,
     "implied": implied}[kind]()
    graph = streams[0].end_capture()
for at in range(400):
    graph.launch(streams[0])
    streams[0].synchronize()
    time.sleep(0.001)
    if at == 20 and kind == "asked":
        import gviz
        for found in gviz.try_edits(graph):
            print(found, file=sys.stderr)
cp.cuda.Device().synchronize()
print(hashlib.sha256(b"".join(y.get().tobytes() for y in ys)).hexdigest())
sys.exit(3)
"""
TORCH = """
import hashlib, sys, time
import torch
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(512, 8, device="cuda", dtype=torch.float16).eval()
x = torch.randn(16, 4, 512, device="cuda", dtype=torch.float16)
with torch.no_grad():
    for _ in range(3):
        layer(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x.copy_(layer(x) * 0.5)
for _ in range(300):
    graph.replay()
    torch.cuda.synchronize()
    time.sleep(0.001)
print(hashlib.sha256(x.cpu().numpy().tobytes()).hexdigest())
"""
PROGRAMS = {
    "chain": (CUPY, "chain"),
    "branch": (CUPY, "branch"),
    "asked": (CUPY, "asked"),
    "priority": (CUPY, "priority"),
    "implied": (CUPY, "implied"),
    "torch": (TORCH, ""),
}


# -- the sums ---------------------------------------------------------------------------------


def read_ptx() -> str:
    """Return the PTX of the trials' kernels, from their source."""
    text = KERNELS.read_text()
    start = text.index("static const char ptx[]")
    lines = re.findall(r'"((?:[^"\\]|\\.)*)"', text[start : text.index("bool kernels_load")])
    return "".join(lines).replace("\\n", "\n")


def expected_sum(words: np.ndarray[Any, np.dtype[np.uint64]]) -> int:
    """Return the sum of a piece, as kernels.c defines it."""
    place = np.arange(1, len(words) + 1, dtype=np.uint64)
    x = words + place * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return int(x.sum(dtype=np.uint64))


def check_sums(output: Path) -> Facts:
    """Copy and sum up random words of several sizes on the GPU, and sum them up in numpy."""
    import cupy as cp

    path = output / "kernels.ptx"
    path.write_text(read_ptx())
    module = cp.RawModule(path=str(path))
    copy_words, sum_up = (module.get_function(name) for name in ("gviz_copy", "gviz_sum"))
    rng = np.random.default_rng(27)
    pieces = [
        rng.integers(0, 2**64, count, dtype=np.uint64)
        for count in (1, 255, 511, 512, 513, PIECE_WORDS - 1, PIECE_WORDS)
    ]
    there = [cp.asarray(words) for words in pieces]
    saved = [cp.zeros_like(words) for words in there]
    rows = [(a.data.ptr, len(a), b.data.ptr) for a, b in zip(there, saved, strict=True)]
    table, sums = cp.asarray(np.array(rows, np.uint64)), cp.zeros(len(rows), cp.uint64)
    copy_words((len(rows),), (512,), (table,))
    sum_up((len(rows),), (512,), (table, sums))
    big, room = cp.zeros(2**27, cp.uint64), cp.zeros(2**27, cp.uint64)
    at = np.arange(512, dtype=np.uint64) * np.uint64(8 * PIECE_WORDS)
    table = cp.asarray(
        np.stack([at + big.data.ptr, np.full_like(at, PIECE_WORDS), at + room.data.ptr], axis=1)
    )
    facts: Facts = {
        "sums": sums.get().tolist() == [expected_sum(words) for words in pieces],
        "copies": all((a == b).all().item() for a, b in zip(there, saved, strict=True)),
    }
    sums = cp.zeros(512, cp.uint64)
    for name, kernel, given in (("copy", copy_words, (table,)), ("sum", sum_up, (table, sums))):
        cp.cuda.Device().synchronize()
        began = time.perf_counter()
        kernel((512,), (512,), given)
        cp.cuda.Device().synchronize()
        facts[f"{name}_gigabytes_per_s"] = 2**30 / 1e9 / (time.perf_counter() - began)
    return facts


# -- programs ---------------------------------------------------------------------------------


def run(command: list[str]) -> tuple[Facts, float]:
    """Return how a program ended, and how long it took."""
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    ended = {"code": done.returncode, "output": done.stdout, "errors": done.stderr[-2000:]}
    return ended, time.monotonic() - began


def try_program(name: str, output: Path) -> Facts:
    """Run a program plainly and with trials; return both ends and what was tried."""
    text, argument = PROGRAMS[name]
    # Not torch.py: the program would import itself.
    script, recording = output / f"program_{name}.py", output / f"{name}.gviz"
    script.write_text(text)
    command = [str(script), *filter(None, [argument])]
    gviz = ["-m", "gviz", "run", "--trials", "--overwrite", "-o", str(recording)]
    plain, plain_s = run([sys.executable, "-P", *command])
    tried, tried_s = run([sys.executable, "-P", *gviz, *command])
    same = (plain["code"], plain["output"]) == (tried["code"], tried["output"])
    facts: Facts = {"as_plain": same, "plain_s": plain_s, "tried_s": tried_s, "tried": tried}
    if not recording.exists():
        return facts
    with Recording(recording) as opened:
        found = [t for g in opened.fetch_graphs() for t in summarize_trials(opened, g.graph_id)]
        notes = [
            note.text for run in opened.fetch_runs() for note in opened.fetch_notes(run.run_id)
        ]
    facts["trials"] = [
        {
            "kind": one.trial.kind, "n": one.trial.count, "unedited_ns": one.trial.unedited_ns,
            "gain_ns": one.trial.gain_ns, "low_ns": one.trial.low_ns,
            "high_ns": one.trial.high_ns, "results": one.trial.results, "edits": one.edited_count,
            "slope": one.slope, "held_ns": one.trial.held_ns, "refusal": one.trial.refusal,
        }
        for one in found
    ]  # fmt: skip
    facts["notes"] = notes
    return facts


def main() -> int:
    """Run the parts that were asked for; 1: a program did not go on as without trials."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=("sum", "programs", *PROGRAMS))
    parser.add_argument("--budget-s", type=float, default=500.0)
    args = parser.parse_args()
    output = Path(os.environ.get("OUT") or ROOT / "build" / "gpu_whatif")
    output.mkdir(parents=True, exist_ok=True)
    ends_s = time.monotonic() + args.budget_s
    facts: Facts = {}
    if args.part in (None, "sum"):
        facts["sum"] = check_sums(output)
        print("sum", json.dumps(facts["sum"]), flush=True)
    names = [args.part] if args.part in PROGRAMS else PROGRAMS if args.part != "sum" else ()
    for name in names:
        if time.monotonic() + 2 * LIMIT_S > ends_s:
            print(f"{name}: no time is left", flush=True)
            continue
        facts[name] = try_program(name, output)
        print(name, json.dumps(facts[name], indent=1), flush=True)
        (output / "gpu_whatif.json").write_text(json.dumps(facts, indent=1))
    return 0 if all(found.get("as_plain", True) for found in facts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
