"""The Compare page on the server: from two recordings to the answers its views wait for.

Two synthetic transformers, the second a layer longer and one kernel in twenty a tenth slower, 24
launches each. ``gviz view`` serves both in a process of its own and is asked as a browser asks,
over HTTP, one after the other: the page itself until it says what changed (the recordings are read
and compared for that), then the payloads of the union's DAG, of both launches on one axis, and of
the table of nodes. "again" is the page once more. "cpu" is the server's processor time until all
is answered, "peak" its most memory. Then ``gviz diff --json`` of the same pair, as a process from
its start.
Run: python -P bench/compare_page.py [--repeat R] [--nodes N ...]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from measuring.processes import serve
from measuring.report import Figure, Report
from recordings import Shape, transformer_shape, write_recording
from viewer_client import Client

SIZES = (1_000, 5_000, 20_000)
#: Nodes of a layer of the shape.
_LAYER = 15
LAUNCHES = 24
#: The most that a figure should be (s), by name and size.
GOALS = {("diff s", 5_000): 3.0}
SEARCH = "?a=before&b=after&graph=1"


def write_pair(folder: Path, nodes: int) -> tuple[Path, Path]:
    """Write a graph of about so many nodes and a changed one."""
    layers = max(2, round(nodes / _LAYER))
    shape, longer = transformer_shape(layers), transformer_shape(layers + 1)
    works = [
        replace(work, duration_ns=round(1.1 * work.duration_ns)) if i % 20 == 0 else work
        for i, work in enumerate(longer.works)
    ]
    slower = Shape(longer.name, tuple(works))
    paths = folder / "before.gviz", folder / "after.gviz"
    for seed, (path, one) in enumerate(zip(paths, (shape, slower), strict=True), 1):
        write_recording(path, one, launches=LAUNCHES, eager=False, seed=seed, overwrite=True)
    return paths


def measure(paths: tuple[Path, Path]) -> dict[str, float]:
    """Ask a fresh server once, and the command once; seconds and MiB."""
    found: dict[str, float] = {}

    def timed(name: str, request: Callable[[], object]) -> None:
        start = time.perf_counter()
        request()
        found[name] = time.perf_counter() - start

    command = ["-m", "gviz", "view", *map(str, paths), "--no-browser", "--port", "0"]
    with serve(command) as server:
        client = Client(server.url)
        idle = server.cpu_s()
        payload = f"payload/compared/%s{SEARCH}"
        timed("page s", lambda: client.compare(SEARCH))
        timed("DAG s", lambda: client.get(payload % "dag"))
        timed("timeline s", lambda: client.get(payload % "timeline"))
        timed("nodes s", lambda: client.get(f"{payload % 'table'}&rows=nodes"))
        timed("again s", lambda: client.compare(SEARCH))
        found["cpu s"] = server.cpu_s() - idle
        found["peak MiB"] = server.memory_bytes()[1] / 2**20
    diff = [sys.executable, "-P", "-m", "gviz", "diff", *map(str, paths), "--json"]
    timed("diff s", lambda: subprocess.run(diff, check=True, stdout=subprocess.DEVNULL))
    return found


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--nodes", type=int, nargs="+", default=SIZES)
    arguments = parser.parse_args()
    report = Report("compare_page", {"launches": LAUNCHES, "repeat": arguments.repeat})
    with tempfile.TemporaryDirectory() as folder:
        for nodes in arguments.nodes:
            paths = write_pair(Path(folder), nodes)
            runs = [measure(paths) for _ in range(arguments.repeat)]
            report.rows[f"{nodes:,} nodes"] = {
                name: Figure([run[name] for run in runs], GOALS.get((name, nodes)))
                for name in runs[0]
            }
    report.print()


if __name__ == "__main__":
    main()
