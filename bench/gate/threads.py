"""A program whose three threads launch a graph each for so long, and count what they launched.

Run by bench/gpu_long_run.py, plain and watched: threads.py KIND SECONDS NODES, where KIND is
driver (no framework), torch, compile or jax. Prints a line of JSON: launches of each thread, the
longest that one took with its wait, and results.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from calls import Driver, make_graph
from program import THREADS, make_work

#: Launches of each thread before any is measured.
SETTLE = 200

#: How a launch is made and waited for, on its own thread, and what it gave in the end.
Step = Callable[[], None]


def driver_step(nodes: int) -> tuple[Step, Callable[[], float]]:
    """Return launches by the driver's functions alone."""
    driver = Driver()
    made = make_graph(driver, nodes)
    executable, stream = made.executable, made.stream

    def step() -> None:
        driver.call("cuGraphLaunch", executable, stream)
        driver.call("cuStreamSynchronize", stream)

    return step, lambda: 0.0


def framework_step(kind: str, nodes: int) -> tuple[Step, Callable[[], float]]:
    """Return launches of a framework."""
    work = make_work(kind, nodes)

    def step() -> None:
        work.launch()
        work.wait()

    return step, work.result


def main(kind: str, seconds: float, nodes: int) -> int:
    """Launch and wait; print the figures."""
    steps = [
        driver_step(nodes) if kind == "driver" else framework_step(kind, nodes)
        for _ in range(THREADS)
    ]
    launches, longest = [0] * len(steps), [0.0] * len(steps)
    start = threading.Barrier(len(steps))

    def launch(number: int) -> None:
        step = steps[number][0]
        if kind == "driver":
            Driver().make_current()
        for _ in range(SETTLE):
            step()
        start.wait()
        end = time.perf_counter() + seconds
        before = time.perf_counter()
        while before < end:
            step()
            after = time.perf_counter()
            longest[number] = max(longest[number], after - before)
            launches[number] += 1
            before = after

    threads = [threading.Thread(target=launch, args=(n,)) for n in range(len(steps))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found: dict[str, Any] = {
        "launches": launches,
        "all_launches": sum(launches) + SETTLE * len(steps),
        "longest_ms": [round(each * 1e3, 2) for each in longest],
        "results": [result() for _, result in steps],
    }
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3])))
