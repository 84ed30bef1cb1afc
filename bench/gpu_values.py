"""Values on a GPU: is a planted fault named, do programs go on as without, what does it cost?

Part ``faults``: pairs of a random graph of CuPy, of which the second has a fault (another constant,
another input, one bit, an input that is NaN) at one node: the node that a comparison of values
names is compared with the planted one. Part ``cost``: an encoder, a decode step and a training step
of PyTorch run plainly and under ``gviz run --values``; exit code and digest of
all that their launches left must be equal. Writes gpu_values.json and the recordings into $OUT or
build/gpu_values. ::

    python -P bench/gpu_values.py [faults | cost] [--faults 30] [--budget-s S]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from gviz.comparison import GraphValuesDiff, compare_values
from gviz.recording import Recording

Facts = dict[str, Any]
ROOT = Path(__file__).resolve().parent.parent
LIMIT_S = 60.0
KINDS = ("constant", "input", "bit", "nan")
#: Arguments: seed, kind; kind "none" has no fault. Each node writes an array of its own, from
#: arrays of earlier nodes or the inputs; the fault is at the node that stdout names.
FAULTY = """
import json, random, sys, time
import cupy as cp
seed, kind = int(sys.argv[1]), sys.argv[2]
rng = random.Random(seed)
code = '''__global__ void mix(float *out, const float *a, const float *b, float f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = f * a[i] + __sinf(b[i]);
}
__global__ void flip(float *out, const float *a, const float *b, float f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __int_as_float(__float_as_int(f * a[i] + __sinf(b[i])) ^ (i == 77));
}'''
module = cp.RawModule(code=code, options=("-std=c++11",), name_expressions=("mix", "flip"))
mix, flip = module.get_function("mix"), module.get_function("flip")
n, count = 1 << 16, 24
inputs = [cp.linspace(-1 - i, 1 + i, n, dtype=cp.float32) for i in range(3)]
spare = cp.full(n, float("nan") if kind == "nan" else 0.25, cp.float32)
outs = [cp.zeros(n, cp.float32) for _ in range(count)]
planted = rng.randrange(count)
stream = cp.cuda.Stream(non_blocking=True)
def put(kernel, i, a, b, f):
    kernel((n // 256,), (256,), (outs[i], a, b, cp.float32(f), cp.int32(n)))
def all_nodes():
    for i in range(count):
        a, b = (rng.choice([*inputs, *outs[:i]]) for _ in range(2))
        f = rng.choice((0.5, 0.9, 1.1))
        spoil = i == planted and kind != "none"
        kernel = flip if spoil and kind == "bit" else mix
        a = spare if spoil and kind in ("input", "nan") else a
        put(kernel, i, a, b, f + 0.25 * (spoil and kind == "constant"))
with stream:
    put(mix, 0, inputs[0], inputs[1], 1.0), put(flip, 0, inputs[0], inputs[1], 1.0)
    stream.synchronize()
    stream.begin_capture()
    all_nodes()
    graph = stream.end_capture()
for _ in range(60):
    graph.launch(stream)
    stream.synchronize()
    time.sleep(0.001)
print(json.dumps(planted))
"""
TORCH = """
import hashlib, sys, time
import torch
kind = sys.argv[1]
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(512, 8, device="cuda", dtype=torch.float16, dropout=0.0)
stack = torch.nn.Sequential(*(torch.nn.Linear(512, 512, device="cuda") for _ in range(8)))
dtype = torch.float16 if kind == "encoder" else torch.float32
x = torch.randn(16, 4, 512, device="cuda", dtype=dtype)
token, cache = torch.randn(1, 512, device="cuda"), torch.zeros(64, 512, device="cuda")
optimizer = torch.optim.SGD(stack.parameters(), lr=1e-3)
def encoder():
    with torch.no_grad():
        x.copy_(layer.eval()(x) * 0.5)
def decode():
    with torch.no_grad():
        cache.copy_(torch.roll(cache, 1, 0))
        cache[0].copy_(token[0])
        scores = torch.softmax(token @ cache.T, -1)
        token.copy_(torch.tanh(stack(scores @ cache)))
def training():
    optimizer.zero_grad(set_to_none=False)
    (stack(x) ** 2).mean().backward()
    optimizer.step()
step = {"encoder": encoder, "decode": decode, "training": training}[kind]
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for _ in range(200):
    graph.replay()
    torch.cuda.synchronize()
    time.sleep(0.001)
left = [x, token, cache, *stack.parameters()]
print(hashlib.sha256(b"".join(t.detach().cpu().numpy().tobytes() for t in left)).hexdigest())
"""


def run(text: str, arguments: list[str], recording: Path | None) -> Facts:
    """Run a program, under ``gviz run --values`` where a recording is wanted."""
    script = [sys.executable, "-P", "-c", text, *arguments]
    if recording is not None:
        recording.unlink(missing_ok=True)
        program = recording.with_suffix(".py")
        program.write_text(text)
        gviz = [sys.executable, "-P", "-m", "gviz", "run", "--values", "-o", str(recording)]
        script = [*gviz, str(program), *arguments]
    begun_s = time.monotonic()
    done = subprocess.run(
        script, capture_output=True, text=True, timeout=LIMIT_S, cwd=ROOT, check=False
    )
    took_s = time.monotonic() - begun_s
    return {"code": done.returncode, "out": done.stdout.strip(), "err": done.stderr[-2000:],
            "took_s": took_s}  # fmt: skip


def try_fault(number: int, output: Path) -> Facts:
    """Record a graph with and without a fault; return whether the planted node was named."""
    kind = KINDS[number % len(KINDS)]
    paths = [output / f"fault-{number}-{side}.gviz" for side in ("plain", "faulty")]
    runs = [
        run(FAULTY, [str(number), planted], path)
        for planted, path in zip(("none", kind), paths, strict=True)
    ]
    if any(one["code"] for one in runs):
        return {"kind": kind, "failed": [one["err"] for one in runs]}
    planted = int(json.loads(runs[0]["out"]))
    with Recording(paths[0]) as before, Recording(paths[1]) as after:
        graphs = compare_values(before, after).graphs
    found = next((graph for graph in graphs if isinstance(graph, GraphValuesDiff)), None)
    if found is None:
        return {"kind": kind, "planted": planted, "not_compared": [str(graph) for graph in graphs]}
    first = None if found.first is None else found.first.outputs[0].before.node_id
    return {"kind": kind, "planted": planted, "named": first, "exact": first == planted,
            "not_compared_ranges": found.not_compared_count}  # fmt: skip


def try_cost(name: str, output: Path) -> Facts:
    """Run a program plainly and with values; return whether it went on as without, and the cost."""
    path = output / f"{name}.gviz"
    plain, read = run(TORCH, [name], None), run(TORCH, [name], path)
    facts: Facts = {"as_plain": (plain["code"], plain["out"]) == (read["code"], read["out"]),
                    "plain_s": plain["took_s"], "read_s": read["took_s"]}  # fmt: skip
    if read["code"] or not path.exists():
        return {**facts, "error": read["err"]}
    with Recording(path) as recording:
        readings = [r for g in recording.fetch_graphs()
                    for r in recording.fetch_value_readings(g.graph_id)]  # fmt: skip
    facts["readings"] = [
        {"refusal": r.refusal, "results": r.results, "repeats": r.repeats, "held_ns": r.held_ns,
         "saved_bytes": r.saved_bytes, "probed_bytes": r.probed_bytes, "plain_ns": r.plain_ns,
         "probed_ns": r.probed_ns, "unexplained_bytes": r.unexplained_bytes}
        for r in readings
    ]  # fmt: skip
    return facts


def main() -> int:
    """Run the parts that were asked for; 1: a program did not go on, or a fault was not named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=("faults", "cost"))
    parser.add_argument("--faults", type=int, default=30)
    parser.add_argument("--budget-s", type=float, default=500.0)
    args = parser.parse_args()
    output = Path(os.environ.get("OUT") or ROOT / "build" / "gpu_values")
    output.mkdir(parents=True, exist_ok=True)
    ends_s = time.monotonic() + args.budget_s
    facts: dict[str, Facts] = {}
    names = ("encoder", "decode", "training") if args.part != "faults" else ()
    numbers = range(args.faults) if args.part != "cost" else ()
    for part in (*names, *numbers):
        if time.monotonic() + LIMIT_S > ends_s:
            print(f"{part}: no time is left", flush=True)
            break
        found = try_cost(part, output) if isinstance(part, str) else try_fault(part, output)
        facts[str(part)] = found
        print(part, json.dumps(found), flush=True)
        (output / "gpu_values.json").write_text(json.dumps(facts, indent=1))
    exact = [found["exact"] for found in facts.values() if "exact" in found]
    print(f"{sum(exact)} of {len(exact)} planted faults at the named node", flush=True)
    return 0 if all(f.get("as_plain", True) and f.get("exact", True) for f in facts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
