"""Two speeds of a graph on a GPU: which launches outside graphs decide, and what gviz changes.

Part "rule": on one stream 20 kernels were launched in the ordinary way, on a second one what the
table says: o a kernel by cuLaunchKernel, x one by cuLaunchKernelEx without attributes, p one with
programmatic stream serialization, e an event. Shown is the time a node (ns) of a graph of 100 empty
kernels afterwards. Part "step": PyTorch runs a
decode step ten times, captures it and launches it, each launch between two events of its own:
plain, plain with 300 more small kernels on the stream before the capture (``tiny``), on the default
stream before all (``first``) or after 60 launches (``late``), and under ``gviz run`` with the
options given, each in a process of its own. Shown are medians (us) of the launches up to the 28th,
which copies make there, to the 60th, and of the rest. ::

    python -P bench/gpu_speeds.py [--part rule step] [--launches 360] [--times 1]
        [--options "--eager-operations 0" ...]
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gpu_eager import WARM_STEPS, decode_step

KERNELS = 300
#: Launches up to which a median is taken: copies are among the first, see docs/limits.md.
COPIES, SETTLED = 28, 60
PLAIN = ("", "tiny", "first", "late")
OPTIONS = ("", "--eager-operations 1000", "--eager-operations 0", "--paused")
PARTS = ("rule", "step")
#: On the second stream, 20 times each where there is a "*".
RULE = (
    "", "o" * 5, "o" * 6, "o" * 7, "o" * 8, "o" * 12, "o" * 20, "x" * 20, "o" * 20 + "p",
    "o" * 20 + "p" + "o" * 5, "o" * 20 + "p" + "o" * 8, "o" * 20 + "ep", "o" * 20 + "pe",
    "*ooooooooop", "*" + "eoe" * 9 + "epe", "*" + "eoe" * 9 + "epep", "*" + "eoe" * 9 + "epepp",
)  # fmt: skip
NODES, ROUNDS, REPEATS = 100, 15, 20
PTX = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry nothing() { ret; }\n\0"
PROGRAMMATIC = 6  # CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION


# -- the rule --------------------------------------------------------------------------------------


class Streams:
    """A context with a graph of empty kernels, by the driver's calls."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        self.driver = driver
        self.call(driver.cuInit(0))
        device = self.call(driver.cuDeviceGet(0))
        self.call(driver.cuCtxSetCurrent(self.call(driver.cuDevicePrimaryCtxRetain(device))))
        module = self.call(driver.cuModuleLoadData(PTX))
        self.kernel = self.call(driver.cuModuleGetFunction(module, b"nothing"))
        self.first, self.second = (self.call(driver.cuStreamCreate(1)) for _ in range(2))
        self.events = [self.call(driver.cuEventCreate(0)) for _ in range(64)]
        self.graph = self._capture()

    @staticmethod
    def call(result: tuple[Any, ...]) -> Any:
        """Return what a call returns; raise if it failed."""
        if int(result[0]) != 0:
            raise RuntimeError(str(result[0]))
        return result[1] if len(result) > 1 else None

    def _capture(self) -> Any:
        driver = self.driver
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        self.call(driver.cuStreamBeginCapture(self.second, mode))
        self.send("o" * NODES, self.second, wait=False)
        graph = self.call(driver.cuStreamEndCapture(self.second))
        return self.call(driver.cuGraphInstantiate(graph, 0))

    def send(self, letters: str, stream: Any, *, wait: bool = True) -> None:
        """Launch kernels and record events: o, x, p, e."""
        driver = self.driver
        for at, letter in enumerate(letters):
            if letter == "e":
                self.call(driver.cuEventRecord(self.events[at % len(self.events)], stream))
                continue
            if letter == "o":
                shape = (1, 1, 1, 32, 1, 1, 0)
                self.call(driver.cuLaunchKernel(self.kernel, *shape, stream, 0, 0))
                continue
            config = driver.CUlaunchConfig()
            config.gridDimX = config.gridDimY = config.gridDimZ = 1
            config.blockDimX, config.blockDimY, config.blockDimZ = 32, 1, 1
            config.hStream = stream
            if letter == "p":
                attribute = driver.CUlaunchAttribute()
                attribute.id = driver.CUlaunchAttributeID(PROGRAMMATIC)
                attribute.value.programmaticStreamSerializationAllowed = 1
                config.attrs, config.numAttrs = [attribute], 1
            self.call(driver.cuLaunchKernelEx(config, self.kernel, 0, 0))
        if wait:
            self.call(driver.cuCtxSynchronize())

    def node_ns(self) -> float:
        """Return the median time a node of launches that are waited for."""
        driver, took = self.driver, []
        for _ in range(ROUNDS):
            self.call(driver.cuEventRecord(self.events[0], self.second))
            self.call(driver.cuGraphLaunch(self.graph, self.second))
            self.call(driver.cuEventRecord(self.events[1], self.second))
            self.call(driver.cuStreamSynchronize(self.second))
            took.append(self.call(driver.cuEventElapsedTime(*self.events[:2])))
        return statistics.median(took) * 1e6 / NODES


def measure_rule() -> dict[str, float]:
    """Return the time a node (ns) after each row of `RULE`."""
    streams, found = Streams(), {}
    for row in RULE:
        for stream in (streams.first, streams.second):
            streams.send("pp", stream)
        streams.send("o" * 20, streams.first)
        times = REPEATS if row.startswith("*") else 1
        streams.send(row.removeprefix("*") * times, streams.second)
        found[row] = streams.node_ns()
        print(f"{row:36}{found[row]:10.0f}", flush=True)
    return found


# -- a step of a program --------------------------------------------------------------------------


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


def measure_step(options: list[str], launches: int, times: int) -> dict[str, list[list[float]]]:
    """Return the medians (us) of each side's processes."""
    sides: list[tuple[str, str | None]] = [(mode, None) for mode in PLAIN]
    sides += [("", one) for one in options]
    found: dict[str, list[list[float]]] = {}
    for mode, one in sides * times:
        name = f"plain {mode}".strip() if one is None else f"gviz run {one}".strip()
        took = child(mode, one, launches)
        parts = took[:COPIES], took[COPIES:SETTLED], took[SETTLED:]
        found.setdefault(name, []).append([statistics.median(part) for part in parts if part])
        print(f"{name:36}" + "".join(f"{x:10.1f}" for x in found[name][-1]), flush=True)
    return found


def main() -> int:
    """Measure each side in a process of its own, or be one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--part", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--launches", type=int, default=360)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--options", nargs="*", default=OPTIONS)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(launch_all(arguments.child, arguments.launches)))
        return 0
    measures: dict[str, Callable[[], Any]] = {
        "rule": measure_rule,
        "step": lambda: measure_step(list(arguments.options), arguments.launches, arguments.times),
    }
    found = {part: measures[part]() for part in arguments.part}
    print(
        json.dumps(
            {"bench": "gpu_speeds", "rule_ns": found.get("rule"), "step_us": found.get("step")}
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
