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


def build_programs(folder: Path, cc: str) -> Programs:
    """Compile the driver and the programs."""
    flags = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{CSRC}"]
    shared = ["-shared", "-fPIC"]
    driver = ["-fvisibility=hidden", "-Wl,-Bsymbolic", "-Wl,-soname,libcuda.so.1", "-ldl"]
    build = {
        "libcuda.so.1": ["driver.c", *shared, *driver],
        "program": ["program.c", "-rdynamic", "-ldl", "-lpthread"],
        "direct": ["direct.c", f"-L{folder}", "-l:libcuda.so.1"],
        "libbound.so": ["bound.c", *shared, "-ldl"],
        "libconstructing.so": ["constructing.c", *shared, "-ldl"],
        "libnvidia-bound.so": ["bound.c", *shared, "-ldl"],
        "other.so": ["preload.c", *shared, "-ldl"],
    }
    for target, (source, *options) in build.items():
        output = ["-o", str(folder / target)]
        command = [cc, *flags, str(SOURCES / source), *output, *options]
        subprocess.run(command, check=True)
    return Programs(folder)
