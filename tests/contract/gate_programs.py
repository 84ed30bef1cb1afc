"""The programs of the gate's tests, compiled, and the driver that counts who is inside."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contract.backend import preloading

SOURCES = Path(__file__).parent / "gate"
CSRC = Path(__file__).parents[2] / "collectors" / "csrc"
#: The slowest takes a second on a quiet machine.
LIMIT_S = 120


@dataclass(frozen=True, slots=True)
class Programs:
    """The compiled driver and programs."""

    folder: Path

    def run(self, *command: str, preload: Sequence[Path | str] = ()) -> tuple[int, str, str]:
        """Run a program; return its exit code, output and messages."""
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.folder)}
        if preload:
            environment["LD_PRELOAD"] = preloading(*preload)
        done = subprocess.run(
            [str(self.folder / command[0]), *command[1:]],
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr


def build(cc: str, output: Path, source: str, *options: str) -> None:
    """Compile a source of these tests."""
    flags = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{CSRC}"]
    subprocess.run([cc, *flags, str(SOURCES / source), "-o", str(output), *options], check=True)


def build_driver(folder: Path, cc: str, fini: str) -> None:
    """Compile the driver; ``fini``, if it has such a function, is its destructor in DT_FINI."""
    shared = ["-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-Bsymbolic"]
    options = [*shared, "-Wl,-soname,libcuda.so.1", f"-Wl,-fini,{fini}", "-ldl"]
    build(cc, folder / "libcuda.so.1", "driver.c", *options)


def build_programs(folder: Path, cc: str) -> Programs:
    """Compile the driver and the programs."""
    shared = ["-shared", "-fPIC", "-ldl"]
    build_driver(folder, cc, "end_of_library")
    build(cc, folder / "program", "program.c", "-rdynamic", "-ldl", "-lpthread")
    build(cc, folder / "direct", "direct.c", f"-L{folder}", "-l:libcuda.so.1")
    build(cc, folder / "libbound.so", "bound.c", *shared)
    build(cc, folder / "libconstructing.so", "constructing.c", *shared)
    build(cc, folder / "libnvidia-bound.so", "bound.c", *shared)
    build(cc, folder / "other.so", "preload.c", *shared)
    build(cc, folder / "stepped_time.so", "stepped_time.c", *shared, "-lpthread")
    return Programs(folder)
