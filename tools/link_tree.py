"""link_tree.py DIRECTORY: an import path that holds gviz in place, without installing anything.

For a machine without network, where an editable install would need packages it lacks:
symbolic links map the folders to their import names, and the native libraries are compiled
beside the modules that load them.
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
    """Compile the native libraries into the packages that look for them, as setup.py does."""
    csrc, launchcost = ROOT / "collectors" / "csrc", ROOT / "collectors" / "launchcost"
    flags = ["-std=c11", "-O2", "-fvisibility=hidden", "-fPIC", "-shared", f"-I{csrc}"]
    gate = sorted((csrc / "gate").glob("*.c"))
    libraries = {
        ROOT / "collectors" / "_native.abi3.so": set(csrc.rglob("*.c")).difference(gate),
        ROOT / "collectors" / "_gate.abi3.so": gate,
        launchcost / "_launchcost.abi3.so": [
            *(launchcost / "csrc").glob("*.c"),
            csrc / "core" / "cuda.c",
        ],
    }
    for output, sources in libraries.items():
        paths = sorted(str(path) for path in sources)
        compiler = os.environ.get("CC", "cc")
        command = [compiler, *flags, "-o", str(output), *paths, "-ldl", "-lpthread"]
        subprocess.run(command, check=True)


def main(target: str) -> int:
    """Build the tree of links and the native libraries."""
    link(Path(target).resolve())
    compile_native()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
