"""make_probe.py: compile the kernel of the probes, and write it as text of the C library.

Needs nvcc. The driver compiles PTX for the GPU that is there; nothing is compiled when gviz is
installed. The text names the oldest GPUs and drivers that have all of its instructions, which
ptxas checks here.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "collectors" / "csrc" / "values"
SOURCE, TARGET = FOLDER / "probe.cu", FOLDER / "probe.c"
#: nvcc writes for no older architecture; what it writes runs on these all the same.
COMPILED_FOR, VERSION, ARCHITECTURE = "compute_75", "6.0", "sm_50"
CHECKED_ON = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")


def digest() -> str:
    """Return the hash of the source, which stands in what is made of it."""
    return hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]


def compile_ptx(folder: Path) -> str:
    """Return the PTX, without comments and with its oldest target."""
    compiled = folder / "probe.ptx"
    options = ["--ptx", f"--gpu-architecture={COMPILED_FOR}", "--fmad=false"]
    subprocess.run(["nvcc", *options, str(SOURCE), "-o", str(compiled)], check=True)
    text = re.sub(r"//.*", "", compiled.read_text())
    text = re.sub(r"\.version .*", f".version {VERSION}", text)
    text = re.sub(r"\.target .*", f".target {ARCHITECTURE}", text)
    lines = (line.strip() for line in text.splitlines() if "nounroll" not in line)
    text = "\n".join(line for line in lines if line)
    compiled.write_text(text)
    for checked in CHECKED_ON:
        command = ["ptxas", f"--gpu-name={checked}", str(compiled), "-o", "/dev/null"]
        subprocess.run(command, check=True)
    return text


def render(ptx: str) -> str:
    """Return the C file."""
    lines = [f'    "{line.replace(chr(9), " ")}\\n"' for line in ptx.splitlines()]
    return (
        "/* The kernel of the probes.\n *\n"
        f" * Generated from probe.cu ({digest()}) by tools/make_probe.py. */\n"
        '#include "values/parts.h"\n\n'
        "const char probe_ptx[] =\n" + "\n".join(lines) + ";\n"
    )


def main() -> int:
    """Write it."""
    with tempfile.TemporaryDirectory() as folder:
        TARGET.write_text(render(compile_ptx(Path(folder))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
