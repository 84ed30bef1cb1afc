"""Graphs against eager iterations on a GPU: the truth without a profiler, and what gviz says of it.

Each program is timed in processes of its own without CUPTI: launches and eager iterations next to
each other, on an idle GPU, between events. Their means over several processes are the truth, and
how far these lie apart is what no interval of one process can know. Then gviz.compare_stream times
it in a fresh process, and ``gviz run`` records it: the first must hold the truth in its interval,
the second says "at most" and must not be below it. Prints a table, and writes gpu_eager.json into
$OUT or build/gpu_eager, after each program. Needs PyTorch; the chain needs CuPy. ::

    python -P bench/gpu_eager.py [--only decode,encoder,chain] [--processes N] [--launches N]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gviz
from gviz.analysis.analysis import GraphAnalysis, analyze
from gviz.recording.reader import Recording
from gviz.stats import NotComputed

Step = Callable[[], object]
PROGRAMS = ("decode", "encoder", "chain")
#: Of the decode step, which imitates a server's: layers, width, sequences and their cached tokens.
LAYERS, WIDTH, BATCH, CACHED = 16, 1024, 8, 256
WARM_STEPS = 10


def decode_step() -> Step:
    """Return one token of a transformer with a cache, of eight sequences: many small kernels."""
    import torch

    torch.manual_seed(0)
    heads, size = 16, WIDTH // 16
    options: dict[str, Any] = {"device": "cuda", "dtype": torch.float16}
    norms = [torch.nn.LayerNorm(WIDTH, **options) for _ in range(2 * LAYERS)]
    joined = [torch.nn.Linear(WIDTH, 3 * WIDTH, **options) for _ in range(LAYERS)]
    out = [torch.nn.Linear(WIDTH, WIDTH, **options) for _ in range(LAYERS)]
    up = [torch.nn.Linear(WIDTH, 4 * WIDTH, **options) for _ in range(LAYERS)]
    down = [torch.nn.Linear(4 * WIDTH, WIDTH, **options) for _ in range(LAYERS)]
    cache = [torch.randn(2, BATCH, heads, CACHED, size, **options) for _ in range(LAYERS)]
    token = torch.randn(BATCH, 1, WIDTH, **options)

    @torch.no_grad()
    def step() -> object:
        x = token
        for at in range(LAYERS):
            q, k, v = (
                part.view(BATCH, 1, heads, size).transpose(1, 2)
                for part in joined[at](norms[2 * at](x)).chunk(3, dim=-1)
            )
            cache[at][0, :, :, -1:], cache[at][1, :, :, -1:] = k, v
            scores = q @ cache[at][0].transpose(-1, -2) / size**0.5
            seen = scores.softmax(dim=-1) @ cache[at][1]
            x = x + out[at](seen.transpose(1, 2).reshape(BATCH, 1, WIDTH))
            x = x + down[at](torch.nn.functional.gelu(up[at](norms[2 * at + 1](x))))
        return x

    return step


def encoder_step() -> Step:
    """Return the forward of an encoder with many tokens: the GPU is behind, not the host."""
    import torch

    layer = torch.nn.TransformerEncoderLayer(
        WIDTH, 16, 4 * WIDTH, dropout=0.0, batch_first=True, device="cuda", dtype=torch.float16
    )
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).eval()
    inputs = torch.randn(32, 256, WIDTH, device="cuda", dtype=torch.float16)

    @torch.no_grad()
    def step() -> object:
        return model(inputs)

    return step


def chain_step() -> Step:
    """Return a chain of small CuPy kernels."""
    import cupy

    values = cupy.arange(1 << 12, dtype=cupy.float32)
    add = cupy.ElementwiseKernel("float32 x", "float32 y", "y = x * 1.0001f + 1.0f", "step")

    def step() -> object:
        for _ in range(60):
            add(values, values)
        return values

    return step


STEPS: dict[str, Callable[[], Step]] = {
    "decode": decode_step, "encoder": encoder_step, "chain": chain_step,
}  # fmt: skip


# -- in processes of their own -----------------------------------------------------------


def time_without_profiler(program: str, launches: int) -> dict[str, Any]:
    """Return means and medians (us) of both sides, timed alternately without CUPTI."""
    from gviz.collectors.comparing.capturing import choose

    step = STEPS[program]()
    library = choose("cupy" if program == "chain" else "torch", step)
    readings: list[list[tuple[float, float]]] = [[], []]
    with library.scope():
        for _ in range(WARM_STEPS):
            step()
        launch, _ = library.capture(step)
        for at in range(launches + WARM_STEPS):
            for side, call in enumerate((launch, step)):
                found = library.time(call)
                if at >= WARM_STEPS:
                    readings[side].append(found)
    named = {}
    for name, at in (("elapsed", 0), ("host", 1)):
        graph, eager = ([one[at] / 1e3 for one in side] for side in readings)
        named[name] = {
            "graph": statistics.mean(graph), "eager": statistics.mean(eager),
            "saved": statistics.mean(eager) - statistics.mean(graph),
            "median_saved": statistics.median(eager) - statistics.median(graph),
        }  # fmt: skip
    return named


def compare(program: str, launches: int) -> dict[str, Any]:
    """Return what gviz.compare_stream says (us)."""
    path = Path(tempfile.mkdtemp()) / "compared.gviz"
    capture = "cupy" if program == "chain" else "torch"
    found = gviz.compare_stream(
        STEPS[program](), warmup=WARM_STEPS, launches=launches, capture=capture, path=path,
        name=program,
    )  # fmt: skip
    assert found.alternation is not None
    sides = {
        name: {
            "graph": one.graph_ns / 1e3, "eager": one.eager_ns / 1e3, "saved": one.saved_ns / 1e3,
            "low": (one.interval.low or 0) / 1e3, "high": (one.interval.high or 0) / 1e3,
        }
        for name, one in (("elapsed", found.alternation.elapsed), ("host", found.alternation.host))
    }  # fmt: skip
    again = recorded(path)
    return sides | {"state": found.alternation.state.value, "recording": again, "text": str(found)}


def run_alone(program: str, launches: int) -> dict[str, Any]:
    """Run the program as a user would: warm-up, capture, launches with a wait after each."""
    from gviz.collectors.comparing.capturing import choose

    step = STEPS[program]()
    library = choose("cupy" if program == "chain" else "torch", step)
    with library.scope():
        for _ in range(WARM_STEPS):
            step()
            library.synchronize()
        launch, _ = library.capture(step)
        for _ in range(launches):
            launch()
            library.synchronize()
    return {}


CHILDREN = {"truth": time_without_profiler, "compare": compare, "alone": run_alone}


# -- beside them -------------------------------------------------------------------------


def recorded(path: Path) -> dict[str, Any]:
    """Return what the analysis of a recording says first of what the graph saves (us)."""
    with Recording(path) as recording:
        graphs: tuple[GraphAnalysis, ...] = analyze(recording).runs[0].graphs
    for graph in graphs:
        found = graph.stream_comparison
        if isinstance(found, NotComputed):
            continue
        first = found.headline
        return {
            "graph": first.graph_ns / 1e3, "eager": first.eager_ns / 1e3,
            "saved": first.saved.mean_ns / 1e3, "is_at_most": first.evidence.is_at_most,
            "state": first.evidence.state, "is_cold": first.evidence.is_cold,
        }  # fmt: skip
    return {"not_computed": [g.stream_comparison.not_computed for g in graphs
                             if isinstance(g.stream_comparison, NotComputed)]}  # fmt: skip


def child(what: str, program: str, launches: int, prefix: list[str] | None = None) -> Any:
    """Run a part of this script in a process of its own; return what it reports."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        own = [sys.executable, "-P", __file__, "--child", what, "--only", program]
        own += ["--launches", str(launches), "--report", str(report)]
        done = subprocess.run([*(prefix or []), *own], capture_output=True, text=True, check=False)
        if done.returncode or not report.exists():
            return {"error": done.stderr[-2000:]}
        return json.loads(report.read_text())


def under_gviz_run(program: str, launches: int) -> dict[str, Any]:
    """Return what ``gviz run`` recorded of the program says."""
    path = Path(tempfile.mkdtemp()) / "run.gviz"
    found = child(
        "alone", program, launches, [sys.executable, "-P", "-m", "gviz", "run", "-o", str(path)]
    )
    return found if "error" in found else recorded(path)


def judge(truth: list[dict[str, Any]], compared: dict[str, Any], run: dict[str, Any]) -> list[str]:
    """Return the lines of a program's table."""
    lines = []
    for name in ("elapsed", "host"):
        saved = [one[name]["saved"] for one in truth]
        mean, least, most = statistics.mean(saved), min(saved), max(saved)
        eager, graph = (statistics.mean(one[name][s] for one in truth) for s in ("eager", "graph"))
        lines.append(
            f"  {name:8} truth: graph {graph:9.1f}  eager {eager:9.1f}  saves {mean:9.1f} us "
            f"({least:.1f} to {most:.1f} in {len(truth)} processes)"
        )
        if "error" in compared:
            continue
        one = compared[name]
        holds = "holds it" if one["low"] <= mean <= one["high"] else "does NOT hold it"
        near = "" if one["low"] <= most and one["high"] >= least else ", nor any of its processes"
        lines.append(
            f"  {name:8} compare_stream: graph {one['graph']:.1f}  eager {one['eager']:.1f}  "
            f"saves {one['saved']:.1f} us, {one['low']:.1f} to {one['high']:.1f}, "
            f"{one['high'] - one['low']:.1f} wide, {compared['state']}: {holds}{near}"
        )
    for label, found in (("compare_stream", compared), ("gviz run", run)):
        if "error" in found or "not_computed" in found:
            lines.append(f"  {label}: {found.get('error') or found['not_computed']}")
    if "saved" in run:
        bound = "at most " if run["is_at_most"] else ""
        mean = statistics.mean(one["elapsed"]["saved"] for one in truth)
        right = "right" if mean <= run["saved"] else "WRONG"
        lines.append(
            f"  gviz run: graph {run['graph']:.1f}  eager {run['eager']:.1f}  saves {bound}"
            f"{run['saved']:.1f} us ({run['state']}): {right}"
        )
    return lines


def main() -> int:
    """Measure the programs that are asked for, or be a child."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(PROGRAMS))
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--child", choices=sorted(CHILDREN), help=argparse.SUPPRESS)
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        found = CHILDREN[given.child](given.only, given.launches)
        given.report.write_text(json.dumps(found))
        return 0
    output = Path(os.environ.get("OUT", "build/gpu_eager"))
    output.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {}
    for program in given.only.split(","):
        truth = [child("truth", program, 3 * given.launches) for _ in range(given.processes)]
        compared = child("compare", program, given.launches)
        run = under_gviz_run(program, given.launches)
        results[program] = {"truth": truth, "compare_stream": compared, "gviz_run": run}
        (output / "gpu_eager.json").write_text(json.dumps(results, indent=1))
        print(program)
        failed = [one["error"] for one in truth if "error" in one]
        print("\n".join(failed or judge(truth, compared, run)), flush=True)
    print(json.dumps(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
