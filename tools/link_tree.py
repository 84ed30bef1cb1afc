"""link_tree.py DIRECTORY: an import path that holds gviz in place, without installing anything.

For a machine without network, where an editable install would need packages it lacks:
symbolic links map the folders to their import names, and the native library is compiled
beside its sources' package.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Folder at the top -> its name inside the package gviz (pyproject.toml says the same).
MAPPED = {"app": "app", "assets": "assets", "collectors": "collectors"}


def link(target: Path) -> None:
    """Fill ``target/gviz`` with links to the packages and modules of this tree."""
    package = target / "gviz"
    shutil.rmtree(target, ignore_errors=True)
    package.mkdir(parents=True)
    for entry in (ROOT / "gviz").iterdir():
        if entry.name != "__pycache__":
            (package / entry.name).symlink_to(entry)
    for folder, name in MAPPED.items():
        (package / name).symlink_to(ROOT / folder)


def compile_native() -> None:
    """Compile the native library into collectors/, where the package looks for it."""
    sources = sorted(str(path) for path in (ROOT / "collectors" / "csrc").glob("*.c"))
    output = ROOT / "collectors" / "_native.abi3.so"
    flags = ["-std=c11", "-O2", "-fvisibility=hidden", "-fPIC", "-shared"]
    compiler = os.environ.get("CC", "cc")
    command = [compiler, *flags, "-o", str(output), *sources, "-ldl", "-lpthread"]
    subprocess.run(command, check=True)


def main(target: str) -> int:
    """Build the tree of links and the native library."""
    link(Path(target).resolve())
    compile_native()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
