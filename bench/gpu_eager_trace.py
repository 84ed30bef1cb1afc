"""Eager iterations of PyTorch, once as a Kineto trace and once as a recording, on a GPU.

What bench/hta_comparison.py compares, on a machine without a GPU. Three programs: an encoder of
four layers with so few tokens that the host is behind, the same with so many that the GPU is, and
two encoders on two streams. The trace has the synchronisation records that Holistic Trace
Analysis needs (enable_cuda_sync_events). The recording has the same iterations, then a graph
captured of them. Writes PROGRAM.json.gz and PROGRAM.gviz into gpu_eager_trace.tar in $OUT or
build/gpu_eager_trace, each as soon as it is there. ::

    python -P bench/gpu_eager_trace.py [--budget-s S]
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
from collections.abc import Callable
from pathlib import Path

Step = Callable[[], object]
PROGRAMS = ("small", "large", "forked")
#: Sequences and tokens a sequence.
SHAPES = {"small": (1, 16), "large": (64, 256), "forked": (8, 256)}
LAYERS, WIDTH, HEADS = 4, 1024, 16
WARM_STEPS, EAGER_STEPS, LAUNCHES = 3, 6, 10


def make_step(program: str) -> Step:
    """Return the iteration of a program; the caller waits for it."""
    import torch

    def encoder() -> torch.nn.Module:
        layer = torch.nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True, device="cuda",
            dtype=torch.float16,
        )  # fmt: skip
        return torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False).eval()

    model, other = encoder(), encoder()
    inputs = torch.randn(*SHAPES[program], WIDTH, device="cuda", dtype=torch.float16)
    side = torch.cuda.Stream()

    def plain() -> object:
        return model(inputs)

    def forked() -> object:
        here = torch.cuda.current_stream()
        side.wait_stream(here)
        with torch.cuda.stream(side):
            second = other(inputs)
        first = model(inputs)
        here.wait_stream(side)
        return first + second

    return forked if program == "forked" else plain


def warmed(program: str) -> Step:
    """Return the iteration, after a few of them."""
    import torch

    step = make_step(program)
    for _ in range(WARM_STEPS):
        step()
        torch.cuda.synchronize()
    return step


def trace(program: str, folder: Path) -> None:
    """Write the Kineto trace of one iteration."""
    import torch
    from torch.profiler import ProfilerActivity, profile, schedule

    step = warmed(program)
    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        schedule=schedule(wait=1, warmup=1, active=1),
        on_trace_ready=lambda p: p.export_chrome_trace(str(folder / f"{program}.json.gz")),
        experimental_config=torch.profiler._ExperimentalConfig(enable_cuda_sync_events=True),
    ) as profiler:
        for _ in range(3):
            step()
            torch.cuda.synchronize()
            profiler.step()


def record(program: str, folder: Path) -> None:
    """Record iterations, and launches of a graph captured of one."""
    import torch

    import gviz

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        step = warmed(program)
        with gviz.profile(folder / f"{program}.gviz", overwrite=True):
            for _ in range(EAGER_STEPS):
                step()
                torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=side):
                kept = step()
            for _ in range(LAUNCHES):
                graph.replay()
                torch.cuda.synchronize()
    del kept


def run_children(budget_s: float) -> list[dict[str, object]]:
    """Run both kinds of process, a while each; return how they ended."""
    until, found = time.monotonic() + budget_s, []
    for kind in ("trace", "record"):
        began = time.monotonic()
        command = [sys.executable, "-P", str(Path(__file__).resolve()), f"--{kind}"]
        limit = max(1.0, (until - began) / (2 if kind == "trace" else 1))
        facts: dict[str, object] = {"kind": kind}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=limit, check=False
            )
            facts |= {"exit_code": done.returncode, "output": (done.stdout + done.stderr)[-2000:]}
        except subprocess.TimeoutExpired:
            facts["output"] = f"took longer than {limit:.0f} s"
        found.append({**facts, "wall_s": round(time.monotonic() - began, 1)})
        print(json.dumps(found[-1]), flush=True)
    return found


def main() -> int:
    """Run both processes, or be one of them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--budget-s", type=float, default=300.0)
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    folder = Path(os.environ.get("OUT") or "build/gpu_eager_trace")
    folder.mkdir(parents=True, exist_ok=True)
    if not (arguments.trace or arguments.record):
        (folder / "gpu_eager_trace.tar").unlink(missing_ok=True)
        found = run_children(arguments.budget_s)
        return 0 if all(f.get("exit_code") == 0 for f in found) else 1
    return run_programs(trace if arguments.trace else record, folder / "gpu_eager_trace.tar")


def run_programs(act: Callable[[str, Path], None], archive: Path) -> int:
    """Trace or record every program, and keep what comes of it; return the exit code."""
    import torch

    failed = 0
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            try:
                act(program, Path(folder))
            except Exception:  # one program must not stop the others
                traceback.print_exc()
                failed += 1
            with tarfile.open(archive, "a") as tar:
                for path in sorted(Path(folder).glob(f"{program}.*")):
                    if path.is_file():
                        tar.add(path, path.name)
            print(program, "done", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
