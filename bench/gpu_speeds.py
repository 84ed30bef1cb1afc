"""Two speeds of a graph on a GPU: what before a capture, and which options of gviz, decide.

A program of PyTorch runs a decode step ten times, captures it and launches it, each launch between
two events of its own. Sides: plain, plain with 300 more small kernels on the stream before the
capture (``tiny``), on the default stream before all (``first``) or after 60 launches (``late``),
and under ``gviz run`` with the options given. Prints medians (us) of the launches up to the 28th,
which copies make there, to the 60th, and of the rest. ::

    python -P bench/gpu_speeds.py [--launches 360] [--options "--eager-operations 0" ...]
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gpu_eager import WARM_STEPS, decode_step

KERNELS = 300
#: Launches up to which a median is taken: copies are among the first, see docs/limits.md.
COPIES, SETTLED = 28, 60
PLAIN = ("", "tiny", "first", "late")
OPTIONS = ("", "--eager-operations 1000", "--eager-operations 0", "--paused")


def launch_all(mode: str, launches: int) -> list[float]:
    """Return how long each launch of the captured step took (us)."""
    import torch

    from gviz.collectors.comparing.capturing import choose

    step = decode_step()
    library = choose("torch", step)
    x = torch.ones(1024, device="cuda")

    def spend(when: str) -> None:
        for _ in range(KERNELS if mode == when else 0):
            x.add_(1)
        torch.cuda.synchronize()

    spend("first")
    with library.scope():
        for _ in range(WARM_STEPS):
            step()
            library.synchronize()
        spend("tiny")
        launch, _ = library.capture(step)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        took = []
        for number in range(launches):
            if number == SETTLED:
                spend("late")
            start.record()
            launch()
            end.record()
            library.synchronize()
            took.append(start.elapsed_time(end) * 1e3)
    return took


def child(mode: str, options: str | None, launches: int) -> list[float]:
    """Return the launches of a process of its own; ``options``: of gviz run, None: plain."""
    with tempfile.TemporaryDirectory() as folder:
        gviz = ["-m", "gviz", "run", "-o", str(Path(folder) / "x.gviz")]
        watched = [] if options is None else [*gviz, *shlex.split(options)]
        own = [__file__, "--child", mode or "plain", "--launches", str(launches)]
        done = subprocess.run(
            [sys.executable, "-P", *watched, *own], capture_output=True, text=True, check=True
        )
    took: list[float] = json.loads(done.stdout)
    return took


def main() -> int:
    """Measure each side in a process of its own, or be one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--launches", type=int, default=360)
    parser.add_argument("--options", nargs="*", default=OPTIONS)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(launch_all(arguments.child, arguments.launches)))
        return 0
    sides: list[tuple[str, str | None]] = [(mode, None) for mode in PLAIN]
    sides += [("", options) for options in arguments.options]
    found = {}
    for mode, options in sides:
        name = f"plain {mode}".strip() if options is None else f"gviz run {options}".strip()
        took = child(mode, options, arguments.launches)
        parts = took[:COPIES], took[COPIES:SETTLED], took[SETTLED:]
        found[name] = [statistics.median(part) for part in parts if part]
        print(f"{name:36}" + "".join(f"{one:10.1f}" for one in found[name]), flush=True)
    print(json.dumps({"bench": "gpu_speeds", "medians_us": found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
