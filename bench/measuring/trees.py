"""Trees of gviz that are measured beside each other: the one of the benchmark, and another."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Tree:
    """A working tree with gviz installed in it.

    Attributes
    ----------
    name
        What reports call it; empty: that of the benchmark.
    python
        The interpreter that has its gviz.
    """

    name: str
    python: str


@dataclass(frozen=True, slots=True)
class Written:
    """Cost of a saved file: time, processor time and peak memory of writing it, and its size."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    size_mb: float


def trees_of(against: Path | None) -> list[Tree]:
    """Return the tree of this benchmark, and the one it is compared with.

    SystemExit where that has no gviz.
    """
    mine = Tree("", sys.executable)
    if against is None:
        return [mine]
    python = against / ".venv" / "bin" / "python"
    if not python.exists():
        raise SystemExit(f"{python} is not there: make .venv/.gviz-test in {against}")
    return [mine, Tree("against", str(python))]


#: Runs a command; prints the most memory (kB) that it, or a process of its own, took, and the
#: processor time (s) of all of them.
_WATCHED = """import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss, used.ru_utime + used.ru_stime)
sys.exit(done.returncode)"""


def save_page(tree: Tree, recording: Path, output: Path) -> Written:
    """Write a recording's graph 1 as an HTML file."""
    command = [
        tree.python, "-P", "-m", "gviz", "export", "--html", "--graph", "1", str(recording),
        "-o", str(output), "--overwrite",
    ]  # fmt: skip
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED, *command], capture_output=True, text=True, check=True
    )
    wall = time.perf_counter() - start
    peak_kb, cpu = done.stdout.split()
    return Written(wall, float(cpu), int(peak_kb) / 1e3, output.stat().st_size / 1e6)
