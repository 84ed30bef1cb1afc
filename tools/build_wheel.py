"""build_wheel.py DIRECTORY [MACHINE]: build the wheel that needs no compiler where it is installed.

Its libraries are compiled by zig's C compiler (ziglang, from PyPI) for glibc 2.17, which Linux has
had since 2014, on any machine for x86_64 (the default) or aarch64; auditwheel confirms the first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The oldest glibc that the libraries may meet.
GLIBC = (2, 17)
MACHINES = ("x86_64", "aarch64")
#: Besides the target: no run-time checks of undefined behaviour, which need a library of their own;
#: unreferenced sections stay, for the one of locks is found by its first and last address; no
#: symbols for debuggers.
_FLAGS = ("-fno-sanitize=undefined", "-Wl,--no-gc-sections", "-s")


def platform_of(machine: str) -> str:
    """Return the platform in the name of the wheel."""
    return f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}"


def compiler(folder: Path, machine: str) -> Path:
    """Write a script that compiles for old systems of a machine; return its path."""
    target = f"{machine}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"
    script = folder / "zig-cc"
    flags = " ".join(("-target", target, *_FLAGS))
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang cc {flags} "$@"\n')
    script.chmod(0o755)
    return script


def build(out: Path, machine: str) -> Path:
    """Build the wheel by way of the source distribution; return its path."""
    with tempfile.TemporaryDirectory() as folder:
        cc = compiler(Path(folder), machine)
        environment = os.environ | {"CC": str(cc), "LDSHARED": f"{cc} -shared"}
        option = f"--config-setting=--build-option=--plat-name={platform_of(machine)}"
        command = [sys.executable, "-P", "-m", "build", "--no-isolation", option]
        done = subprocess.run(
            [*command, "--outdir", folder, str(ROOT)],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        (built,) = Path(folder).glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(built, out))


def audit(wheel: Path) -> None:
    """End with an error unless auditwheel finds nothing that an old system lacks."""
    command = [sys.executable, "-P", "-m", "auditwheel", "show", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = " ".join(done.stdout.split())
    if f'constrains the platform tag to "{platform_of("x86_64")}"' not in said:
        sys.exit(f"auditwheel finds {wheel.name} not what its name says:\n{said}{done.stderr}")


def main(directory: str, machine: str = "x86_64") -> int:
    """Build the wheel of a machine into a folder; return 0."""
    if machine not in MACHINES:
        sys.exit(f"there is no wheel for {machine}; there are {', '.join(MACHINES)}")
    wheel = build(Path(directory), machine)
    if machine == "x86_64":
        audit(wheel)
    print(f"{wheel}, for glibc {GLIBC[0]}.{GLIBC[1]} and later, {machine}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
