"""The black box on a GPU: are planted faults found, and what does being ready cost?

Part ``faults``: programs of CuPy, PyTorch and cuda-bindings launch a graph some times; then one
node of it, kernel ``bad``, writes to a wild address or a freed buffer, or spins for ever. Each runs
under ``gviz run --black-box`` with crumbs of layers, and of nodes; it is compared which nodes the
recording says may have been running, and which kernel the core dump names. One at a time: beside
eight others an H100 was "no CUDA-capable device" from the tenth fault on. Part ``cost``: an
encoder of PyTorch times its own launches without gviz, and in the black box.
Writes gpu_blackbox.json and the recordings into $OUT or build/gpu_blackbox. ::

    python -P bench/gpu_blackbox.py [faults | cost] [--faults 40] [--parallel 1] [--budget-s S]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gviz.model import summarize_faults
from gviz.recording import Recording
from gviz.report import fault_paragraph

Facts = dict[str, Any]
ROOT = Path(__file__).resolve().parent.parent
LIMIT_S = 90.0
SHAPES = ("chain", "branch", "encoder", "explicit")
KINDS = ("wild", "freed", "spin")
LEVELS = ("layer", "node")
#: The planted node is one that may have run, the only one, behind them, or just before them.
FOUND = ("among", "exact", "behind", "before")

KERNELS = r"""
extern "C" __global__ void step(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 1.0001f + 0.5f;
}
extern "C" __global__ void bad(float *x, float *to, int *flag, int spins) {
    if (atomicAdd(flag, 0)) {
        if (spins) while (atomicAdd(flag, 0)) ;
        else to[threadIdx.x] = 1.f;
    }
    x[threadIdx.x] += 1.f;
}
"""
#: Arguments: shape, kind, seed. The fault comes with the sixth launch.
PROGRAM = f'''
import ctypes, os, random, signal, sys, threading
import cupy as cp
KERNELS = r"""{KERNELS}"""
shape, kind, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = random.Random(seed)
module = cp.RawModule(code=KERNELS)
step, bad = module.get_function("step"), module.get_function("bad")
n = 1 << 16
x, flag = cp.zeros(n, cp.float32), cp.zeros(1, cp.int32)
buffer = cp.cuda.runtime.malloc(256 << 20)
to = (1 << 46) if kind == "wild" else buffer + (8 << 20)
spins = int(kind == "spin")
stream = cp.cuda.Stream(non_blocking=True)
def put_step(array=x):
    step((n // 256,), (256,), (array, cp.int32(n)))
def put_bad():
    bad((1,), (32,), (x, cp.uint64(to), flag, cp.int32(spins)))
put_step(), put_bad()
cp.cuda.Device().synchronize()
def chain():
    count = 60
    at = rng.randrange(count)
    for i in range(count):
        put_bad() if i == at else put_step()
def branch():
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(3)]
    arrays = [cp.zeros(n, cp.float32) for _ in streams]
    at = rng.randrange(36)
    numbers = iter(range(36))
    for _ in range(4):
        begin = stream.record()
        for other, array in zip(streams, arrays):
            other.wait_event(begin)
            with other:
                for _ in range(3):
                    put_bad() if next(numbers) == at else put_step(array)
            stream.wait_event(other.record())
        put_step()
def capture(work):
    with stream:
        stream.begin_capture()
        work()
        graph = stream.end_capture()
    return lambda: graph.launch(stream), stream.synchronize
def encoder():
    import torch
    encoder = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(1024, 16, batch_first=True, dtype=torch.float16), 8,
        enable_nested_tensor=False).cuda().eval()
    given = torch.randn(1, 16, 1024, device="cuda", dtype=torch.float16)
    at, kept = rng.randrange(8), []
    def before(layer, _):
        index = list(encoder.layers).index(layer)
        torch.cuda.nvtx.range_push(f"layer {{index}}")
    def after(layer, *_):
        if list(encoder.layers).index(layer) == at:
            with cp.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
                put_bad()
        torch.cuda.nvtx.range_pop()
    for layer in encoder.layers:
        layer.register_forward_pre_hook(before)
        layer.register_forward_hook(after)
    with torch.no_grad():
        for _ in range(3):
            encoder(given)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            encoder(given)
    return graph.replay, torch.cuda.synchronize
def explicit():
    from cuda.bindings import driver
    def good(answer):
        assert int(answer[0]) == 0, answer[0]
        return answer[1] if len(answer) > 1 else None
    ptx, _ = cp.cuda.compiler.compile_using_nvrtc(KERNELS)
    loaded = good(driver.cuModuleLoadData(ptx if isinstance(ptx, bytes) else ptx.encode()))
    functions = {{
        name: good(driver.cuModuleGetFunction(loaded, name)) for name in (b"step", b"bad")
    }}
    graph, nodes, kept = good(driver.cuGraphCreate(0)), [], []
    count = 40
    at = rng.randrange(count)
    for i in range(count):
        given = [ctypes.c_uint64(x.data.ptr), ctypes.c_int(n)]
        if i == at:
            given = [ctypes.c_uint64(x.data.ptr), ctypes.c_uint64(to),
                     ctypes.c_uint64(flag.data.ptr), ctypes.c_int(spins)]
        pointers = (ctypes.c_void_p * len(given))(*(ctypes.addressof(one) for one in given))
        kept.append((given, pointers))
        params = driver.CUDA_KERNEL_NODE_PARAMS()
        params.func = functions[b"bad" if i == at else b"step"]
        params.gridDimX, params.blockDimX = (1, 32) if i == at else (n // 256, 256)
        params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1
        params.kernelParams = ctypes.addressof(pointers)
        after = [one for one in nodes[-3:] if rng.random() < 0.6] or nodes[-1:]
        nodes.append(good(driver.cuGraphAddKernelNode(graph, after, len(after), params)))
    executable = good(driver.cuGraphInstantiate(graph, 0))
    return lambda: good(driver.cuGraphLaunch(executable, stream.ptr)), stream.synchronize
made = {{"encoder": encoder, "explicit": explicit}}.get(shape)
launch, wait = made() if made else capture({{"chain": chain, "branch": branch}}.get(shape))
for _ in range(5):
    launch()
    wait()
flag.fill(1)
if kind == "freed":
    cp.cuda.runtime.free(buffer)
cp.cuda.Device().synchronize()
if kind == "spin":
    timer = threading.Timer(6.0, lambda: os.kill(os.getpid(), signal.SIGKILL))
    timer.daemon = True
    timer.start()
try:
    launch()
    wait()
except Exception as error:
    print(type(error).__name__, str(error)[:100], flush=True)
    os._exit(9)
print("no error", flush=True)
'''
#: Times launches that are waited for, and launches one behind the other.
COST = """
import json, statistics, time
import torch
encoder = torch.nn.TransformerEncoder(
    torch.nn.TransformerEncoderLayer(1024, 16, batch_first=True, dtype=torch.float16), 8,
    enable_nested_tensor=False).cuda().eval()
given = torch.randn(1, 16, 1024, device="cuda", dtype=torch.float16)
def begins(layer, *_):
    torch.cuda.nvtx.range_push(f"layer {list(encoder.layers).index(layer)}")
def ends(*_):
    torch.cuda.nvtx.range_pop()
for layer in encoder.layers:
    layer.register_forward_pre_hook(begins)
    layer.register_forward_hook(ends)
with torch.no_grad():
    for _ in range(3):
        encoder(given)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        encoder(given)
for _ in range(200):
    graph.replay()
torch.cuda.synchronize()
waited, behind = [], []
for _ in range(300):
    begin = time.perf_counter()
    graph.replay()
    torch.cuda.synchronize()
    waited.append(1e6 * (time.perf_counter() - begin))
start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
for _ in range(10):
    start.record()
    for _ in range(60):
        graph.replay()
    end.record()
    torch.cuda.synchronize()
    behind.append(start.elapsed_time(end) / 60 * 1e3)
print(json.dumps({"waited_us": statistics.median(waited), "behind_us": statistics.median(behind)}))
"""
WAYS = {
    "plain": None,
    "topology": ["--collector", "topology"],
    "core": ["--black-box", "--collector", "topology"],
    "layer": ["--black-box=layer"],
    "node": ["--black-box=node"],
}


def gviz_run(output: Path, *options: str) -> list[str]:
    """Return the command in front of a script that is recorded."""
    return [sys.executable, "-P", "-m", "gviz", "run", "--overwrite", "-o", str(output), *options]


# -- faults -----------------------------------------------------------------------------------


def plan(count: int) -> Iterator[tuple[str, str, int]]:
    """Yield shape, kind and seed of each planted fault."""
    rng = random.Random(40)
    for shape, kind in itertools.islice(itertools.cycle(itertools.product(SHAPES, KINDS)), count):
        yield shape, kind, rng.randrange(1 << 30)


def plant(case: tuple[str, str, int], level: str, output: Path) -> Facts:
    """Run one program with a fault; return what was planted and what was found."""
    shape, kind, seed = case
    recording = output / f"{shape}-{kind}-{seed}-{level}.gviz"
    command = gviz_run(recording, f"--black-box={level}", "--stall", "2s", str(output / "fault.py"))
    facts: Facts = {"shape": shape, "kind": kind, "seed": seed, "level": level}
    try:
        done = subprocess.run(
            [*command, shape, kind, str(seed)], capture_output=True, text=True, timeout=LIMIT_S,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return facts | {"failure": f"it did not end in {LIMIT_S} s"}
    facts |= {"code": done.returncode, "printed": done.stdout.strip(), "said": done.stderr[-3000:]}
    return facts | (found_in(recording) if recording.exists() else {"failure": "no recording"})


def found_in(path: Path) -> Facts:
    """Return where the fault was, and where the recording says it was."""
    with Recording(path) as recording:
        planted = [
            node.node_id
            for graph in recording.fetch_graphs()
            for node in recording.fetch_nodes(graph.graph_id)
            if node.name == "bad"
        ]
        found = [
            f for run in recording.fetch_runs() for f in summarize_faults(recording, run.run_id)
        ]
        notes = [
            n.text for run in recording.fetch_runs() for n in recording.fetch_notes(run.run_id)
        ]
        rows = [one for f in found for one in recording.fetch_fault_nodes(f.fault.fault_id)]
    roles: dict[str, list[int]] = {}
    for row in rows:
        roles.setdefault(row.role, []).append(row.node_id)
    running = roles.get("running", [])
    return {
        **({} if planted else {"failure": "its graph was not recorded"}),
        "planted": planted,
        "roles": roles,
        "kinds": [f.fault.kind for f in found],
        "kernel": next((f.fault.kernel for f in found if f.fault.kernel), None),
        "core_dump": any(f.fault.core_dump for f in found),
        "states": sorted({a.state for f in found for p in f.running for a in p.addresses}),
        "among": bool(planted) and planted[0] in running,
        "exact": bool(planted) and running == planted[:1],
        "behind": bool(planted) and bool(running) and planted[0] - max(running) > 0,
        "before": bool(planted) and planted[0] in roles.get("last", []),
        "paragraphs": [fault_paragraph(f) for f in found],
        "notes": notes,
    }


def find_faults(count: int, parallel: int, ends_s: float, output: Path) -> Facts:
    """Plant faults, some at a time; return each, and how many were found."""
    (output / "fault.py").write_text(PROGRAM)

    def attempt(given: tuple[tuple[str, str, int], str]) -> Facts:
        if time.monotonic() > ends_s - LIMIT_S / 3:
            return {"failure": "no time is left", "level": given[1]}
        facts = plant(*given, output)
        brief = {key: facts.get(key) for key in ("shape", "kind", "level", "planted", "roles")}
        print(json.dumps(brief), facts.get("kernel"), facts.get("failure", ""), flush=True)
        return facts

    with ThreadPoolExecutor(parallel) as pool:
        cases = list(pool.map(attempt, itertools.product(plan(count), LEVELS)))
    return {"cases": cases, "found": dict(sums(cases))}


def sums(cases: Iterable[Facts]) -> Iterator[tuple[str, Facts]]:
    """Yield what was found at each level."""
    all_cases = list(cases)
    for level in LEVELS:
        mine = [one for one in all_cases if one["level"] == level]
        done = [one for one in mine if "failure" not in one]
        yield (
            level,
            {
                "planted": len(mine),
                "done": len(done),
                **{key: sum(bool(one[key]) for one in done) for key in FOUND},
                "kernel": sum(one["kernel"] == "bad" for one in done),
                "core_dump": sum(one["core_dump"] for one in done),
            },
        )


# -- cost -------------------------------------------------------------------------------------


def measure_cost(rounds: int, output: Path) -> Facts:
    """Return launch times in microseconds of each way: medians over rounds, in turns."""
    script = output / "cost.py"
    script.write_text(COST)
    times: dict[str, list[Facts]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, options in WAYS.items():
            front = [sys.executable, "-P"]
            if options is not None:
                front = gviz_run(output / f"cost-{way}.gviz", *options)
            done = subprocess.run(
                [*front, str(script)], capture_output=True, text=True, timeout=LIMIT_S, check=False
            )
            if done.returncode != 0:
                return {"failure": done.stderr[-2000:], "way": way}
            times[way].append(json.loads(done.stdout))
            print(way, times[way][-1], flush=True)
    return {
        way: {key: statistics.median(one[key] for one in found) for key in found[0]}
        | {"rounds": found}
        for way, found in times.items()
    }


def main() -> int:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=("faults", "cost"))
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget-s", type=float, default=480.0)
    args = parser.parse_args()
    output = Path(os.environ.get("OUT") or ROOT / "build" / "gpu_blackbox").resolve()
    output.mkdir(parents=True, exist_ok=True)
    ends_s = time.monotonic() + args.budget_s
    facts: Facts = {}
    if args.part != "faults":
        facts["cost"] = measure_cost(args.rounds, output)
        (output / "gpu_blackbox.json").write_text(json.dumps(facts, indent=1))
    if args.part != "cost":
        facts["faults"] = find_faults(args.faults, args.parallel, ends_s, output)
        print(json.dumps(facts["faults"]["found"], indent=1))
        (output / "gpu_blackbox.json").write_text(json.dumps(facts, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
