"""link_tree.py DIRECTORY [SANITIZERS]: an import path that holds gviz, without an installation.

For a machine without network, where an editable install would need packages it lacks:
symbolic links map the folders to their import names, and the native libraries are compiled
beside the modules that load them. With SANITIZERS, such as address,undefined, the libraries are
compiled with these, and stand in the directory alone.
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


#: What undefined behaviour is said with is each library's own: a shared one would leave the path of
#: reports to AddressSanitizer, which has it for itself.
_OWN_RUNTIME = ("-static-libubsan", "-Wl,-Bsymbolic")
#: Packages with a native library, in the tree of links.
COMPILED = ("collectors", "collectors/launchcost")


def link(target: Path, *, own_libraries: bool) -> None:
    """Fill ``target/gviz`` with links to the packages and modules of this tree.

    With ``own_libraries`` the packages that load native libraries are folders of links, for
    libraries of their own.
    """
    package = target / "gviz"
    shutil.rmtree(target, ignore_errors=True)
    package.mkdir(parents=True)
    _link_all(ROOT / "gviz", package)
    for folder, name in MAPPED.items():
        (package / name).symlink_to(ROOT / folder)
    for name in COMPILED if own_libraries else ():
        source = (package / name).resolve()
        (package / name).unlink()
        (package / name).mkdir()
        _link_all(source, package / name)


def _link_all(source: Path, target: Path) -> None:
    for entry in source.iterdir():
        if entry.name != "__pycache__" and entry.suffix != ".so":
            (target / entry.name).symlink_to(entry)


def compile_native(collectors: Path, sanitizers: tuple[str, ...] = ()) -> None:
    """Compile the native libraries into the packages that look for them, as setup.py does."""
    csrc, launchcost = ROOT / "collectors" / "csrc", ROOT / "collectors" / "launchcost"
    # Not optimized, a library with sanitizers is compiled in half the time, and hides nothing.
    level = "-O0" if sanitizers else "-O2"
    flags = ["-std=c11", level, "-fvisibility=hidden", "-fPIC", "-shared", f"-I{csrc}"]
    gate = sorted((csrc / "gate").glob("*.c"))
    libraries = {
        collectors / "_native.abi3.so": set(csrc.rglob("*.c")).difference(gate),
        collectors / "_gate.abi3.so": gate,
        collectors / "launchcost" / "_launchcost.abi3.so": [
            *(launchcost / "csrc").glob("*.c"),
            csrc / "core" / "cuda.c",
        ],
    }
    for output, sources in libraries.items():
        paths = sorted(str(path) for path in sources)
        compiler = os.environ.get("CC", "cc")
        # The gate works before a sanitizer has begun, and in threads that it has done with.
        named = [s for s in sanitizers if s == "undefined" or "gate" not in output.name]
        checks = ["-g", f"-fsanitize={','.join(named)}", *_OWN_RUNTIME] if named else []
        command = [compiler, *flags, *checks, "-o", str(output), *paths, "-ldl", "-lpthread"]
        subprocess.run(command, check=True)


def main(target: str, sanitizers: str = "") -> int:
    """Build the tree of links and the native libraries."""
    tree = Path(target).resolve()
    link(tree, own_libraries=bool(sanitizers))
    if sanitizers:
        compile_native(tree / "gviz" / "collectors", tuple(sanitizers.split(",")))
    else:
        compile_native(ROOT / "collectors")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
