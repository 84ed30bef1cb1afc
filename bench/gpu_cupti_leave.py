"""CUPTI that comes and goes beside a program's waits, captures and launches, and what else a
profiler wants to do there: event copies, writes between kernels, hashes of device memory.

Each question is a process of its own with a time limit, asked several times. Prints a line for
each answer and writes them as JSON. Needs a GPU, nvcc with CUDA's headers, and CUPTI 13.

Run: python -P bench/gpu_cupti_leave.py [--times 3] [--only leave,contexts,...] [OUTPUT.json]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gviz.cuda.cupti_library import find_cupti

SOURCES = Path(__file__).parent / "cupti_leave"
#: Files of each program, besides what all share.
PROGRAMS = {
    "leave": ("leave.c", "attach.c", "situations.c"),
    "contexts": ("contexts.c", "attach.c"),
    "copies": ("copies.c", "situations.c"),
    "crumbs": ("crumbs.c",),
    "hashing": ("hashing.c",),
}
#: Situations that end by themselves over and over, and those that last: windows beside each.
LASTING = (
    "nothing",
    "spin",
    "spin in a graph",
    "wait value",
    "host function",
    "in cuStreamSynchronize",
    "in cuEventSynchronize",
    "in cuStreamSynchronize, GPU idle",
    "in cuMemcpyDtoH",
    "capture global",
    "capture thread local",
    "capture relaxed",
)
REPEATING = ("copying", "in cuModuleLoadData", "one thread launches", "three threads launch")
LIMIT_S = 45


def questions() -> Iterator[list[str]]:
    """Yield the command line of each question."""
    for situation in LASTING:
        modes = ("as-is", "relaxed") if situation.startswith("capture") else ("as-is",)
        for mode in modes:
            yield ["leave", situation, "whole", "5", mode]
            yield ["leave", situation, "leave", "1", mode]
    for situation in REPEATING:
        yield ["leave", situation, "whole", "20", "as-is"]
    for contexts, cycles in ((1, 500), (2, 20), (4, 20), (8, 20)):
        yield ["contexts", str(contexts), str(cycles)]
    for situation in ("nothing", "spin", "wait value", "three threads launch"):
        yield ["copies", situation]
    yield ["crumbs", "cost"]
    for place in ("path", "leaf"):
        for node in (5, 37, 80, 99):
            yield ["crumbs", "fault", str(node), "1", place]
    for how in ("off", "light", "full"):
        yield ["crumbs", "dump", how, f"core_{how}"]
    for gib in (1, 16, 64):
        yield ["hashing", str(gib)]


def library(name: str) -> str:
    """Load a shared library and return the path of its file."""
    ctypes.CDLL(name)
    for line in Path("/proc/self/maps").read_text().splitlines():
        if re.search(rf"/{re.escape(Path(name).name.split('.so')[0])}\.so", line):
            return line.split(maxsplit=5)[5]
    raise OSError(f"{name} is loaded from no file")


def build(folder: Path) -> None:
    """Compile kernels and programs into a folder."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise SystemExit("gpu_cupti_leave needs nvcc; install a CUDA 13 toolkit")
    cupti = str(next(c.path for c in find_cupti() if c.major == 13))
    include = [Path(nvcc).resolve().parents[1] / "include"]
    include += [Path(p) / "nvidia" / "cu13" / "include" for p in sys.path]
    include += [i.parent / "extras" / "CUPTI" / "include" for i in include]
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-pthread"]
    flags += [f"-I{path}" for path in include if path.is_dir()]
    cubin = str(folder / "kernels.cubin")
    kernels = str(SOURCES / "kernels.cu")
    subprocess.run([nvcc, "-cubin", "-arch=native", "-o", cubin, kernels], check=True)
    libraries = [library("libcuda.so.1"), cupti, f"-Wl,-rpath,{Path(cupti).parent}"]
    for name, files in PROGRAMS.items():
        sources = [str(SOURCES / file) for file in ("common.c", *files)]
        command = ["cc", *flags, *sources, "-o", str(folder / name), *libraries]
        subprocess.run(command, check=True)


def request(folder: Path, question: list[str]) -> dict[str, Any]:
    """Run a program; return what it printed and how it ended."""
    try:
        done = subprocess.run(
            [str(folder / question[0]), *question[1:]],
            cwd=folder,
            env=os.environ | {"CUPTI_LEAVE_KERNELS": str(folder / "kernels.cubin")},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"question": question, "status": "time limit"}
    line = done.stdout.strip().splitlines()[-1:] or ["{}"]
    try:
        answer = json.loads(line[0])
    except ValueError:
        answer = {"printed": done.stdout[-500:]}
    answer = {"question": question, "status": done.returncode, **answer}
    if done.stderr:
        answer["stderr"] = done.stderr[-300:]
    if question[:2] == ["crumbs", "dump"]:
        answer["dumps"] = [file.stat().st_size for file in folder.glob("core_*")]
        for file in folder.glob("core_*"):
            file.unlink()
    return answer


def main() -> int:
    """Ask everything; print and write the answers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("output", nargs="?", type=Path)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", default=",".join(PROGRAMS), help="programs, by comma")
    arguments = parser.parse_args()
    only = arguments.only.split(",")
    answers: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        for question in questions():
            for _ in range(arguments.times if question[0] in only else 0):
                answers.append(request(folder, question))
                print(json.dumps(answers[-1]), flush=True)
                if arguments.output:
                    arguments.output.write_text(json.dumps(answers, indent=0) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
