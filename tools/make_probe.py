"""make_probe.py: compile the kernel of the probes, and write it into the C library.

Needs nvcc. GPUs of listed architectures have it as machine code. For others, and for drivers that
are older than the toolkit, there is PTX, which the driver compiles; it names the oldest GPUs and
drivers that have all of its instructions.
"""

from __future__ import annotations

import hashlib
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "collectors" / "csrc" / "values"
SOURCE, PTX, SASS = (FOLDER / name for name in ("probe.cu", "probe_ptx.c", "probe_sass.c"))
#: nvcc writes for no older architecture; what it writes runs on these all the same.
COMPILED_FOR, VERSION, ARCHITECTURE = "compute_75", "6.0", "sm_50"
#: Compute capabilities with machine code, which later ones of the same major version take as well.
#: For each of them ptxas checks the PTX, too.
LISTED = ((7, 5), (8, 0), (9, 0), (10, 0), (12, 0))
OPTIONS = ("--fmad=false",)


def digest() -> str:
    """Return the hash of the source, which stands in what is made of it."""
    return hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]


def compile_ptx(folder: Path) -> str:
    """Return the PTX, without comments and with its oldest target."""
    compiled = folder / "probe.ptx"
    _compile("--ptx", COMPILED_FOR, compiled)
    text = re.sub(r"//.*", "", compiled.read_text())
    text = re.sub(r"\.version .*", f".version {VERSION}", text)
    text = re.sub(r"\.target .*", f".target {ARCHITECTURE}", text)
    lines = (line.strip() for line in text.splitlines() if "nounroll" not in line)
    text = "\n".join(line for line in lines if line)
    compiled.write_text(text)
    for major, minor in LISTED:
        command = ["ptxas", f"--gpu-name=sm_{major}{minor}", str(compiled), "-o", "/dev/null"]
        subprocess.run(command, check=True)
    return text


def compile_sass(folder: Path, major: int, minor: int) -> bytes:
    """Return the machine code for an architecture, as an ELF file."""
    compiled = folder / f"sm_{major}{minor}.cubin"
    _compile("--cubin", f"sm_{major}{minor}", compiled)
    return compiled.read_bytes()


def _compile(form: str, architecture: str, target: Path) -> None:
    options = [form, f"--gpu-architecture={architecture}", *OPTIONS]
    subprocess.run(["nvcc", *options, str(SOURCE), "-o", str(target)], check=True)


def render_ptx(ptx: str) -> str:
    """Return the C file of the PTX."""
    lines = [f'    "{line.replace(chr(9), " ")}\\n"' for line in ptx.splitlines()]
    return _head("as PTX") + "const char probe_ptx[] =\n" + "\n".join(lines) + ";\n"


def render_sass(images: Mapping[tuple[int, int], bytes]) -> str:
    """Return the C file of the machine code for compute capabilities."""
    arrays = (
        f"static const uint64_t sm_{major}{minor}[] = {{\n{_words(image)}\n}};\n"
        for (major, minor), image in images.items()
    )
    rows = (f"    {{{major}, {minor}, sm_{major}{minor}}},\n" for major, minor in images)
    return (
        _head("as machine code")
        + "\n".join(arrays)
        + "\nconst struct probe_sass probe_sass[] = {\n"
        + "".join(rows)
        + "};\nconst size_t probe_sass_count = sizeof probe_sass / sizeof *probe_sass;\n"
    )


def _words(image: bytes) -> str:
    """Return words, six a line: an ELF file is read where it lies, so it has to be aligned."""
    padded = image + bytes(-len(image) % 8)
    words = [f"0x{word:x}," for (word,) in struct.iter_unpack("<Q", padded)]
    return "\n".join("    " + " ".join(words[i : i + 6]) for i in range(0, len(words), 6))


def _head(form: str) -> str:
    return (
        f"/* The kernel of the probes, {form}.\n *\n"
        f" * Generated from probe.cu ({digest()}) by tools/make_probe.py. */\n"
        '#include "values/parts.h"\n\n'
    )


def main() -> int:
    """Write both files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        PTX.write_text(render_ptx(compile_ptx(folder)))
        SASS.write_text(render_sass({cc: compile_sass(folder, *cc) for cc in LISTED}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
