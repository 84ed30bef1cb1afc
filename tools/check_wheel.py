"""check_wheel.py DIRECTORY: fail unless the wheel in it holds what a user needs, and only that."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
#: Nothing below these folders, and no file of these suffixes, belongs into a wheel.
UNWANTED_FOLDERS = {"tests", "bench", "docs", "tools", "csrc", "__pycache__"}
UNWANTED_SUFFIXES = {".c", ".h", ".o", ".pyc", ".part"}
#: The compiled libraries, without the suffix that names the platform.
LIBRARIES = {
    "native library": "gviz/collectors/_native",
    "gate": "gviz/collectors/_gate",
    "launch costs' library": "gviz/collectors/launchcost/_launchcost",
}


def expected_files() -> set[str]:
    """Return the names that the wheel must hold: every module of the tree and every asset."""
    names = {"gviz/py.typed"}
    names |= {p.relative_to(ROOT).as_posix() for p in (ROOT / "gviz").rglob("*.py")}
    for folder in ("app", "collectors"):
        names |= {f"gviz/{p.relative_to(ROOT).as_posix()}" for p in (ROOT / folder).rglob("*.py")}
    names |= {
        f"gviz/{path.relative_to(ROOT).as_posix()}"
        for path in (ROOT / "assets").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return names


def find_faults(wheel: Path) -> list[str]:
    """Return what is wrong with the wheel, one sentence each."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    faults = [f"{name} is missing" for name in sorted(expected_files() - names)]
    for noun, stem in LIBRARIES.items():
        built = [name for name in names if name.startswith(stem) and name.endswith(".so")]
        if len(built) != 1:
            faults.append(
                f"the {noun} is there {len(built)} times instead of once; without a C compiler "
                "it is left out: install one (apt-get install gcc libc6-dev) and build again"
            )
    if "-py3-none-linux" not in wheel.name and "-py3-none-manylinux" not in wheel.name:
        faults.append(f"{wheel.name} is not a wheel for every Python on one platform")
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
        faults.append("the licence file is missing")
    for name in sorted(names):
        path = PurePosixPath(name)
        if path.suffix in UNWANTED_SUFFIXES or UNWANTED_FOLDERS & set(path.parts):
            faults.append(f"{name} does not belong into the wheel")
    return faults


def main(directory: str) -> int:
    """Check the one wheel in ``directory``; return 1 after naming its faults."""
    wheels = list(Path(directory).glob("*.whl"))
    if len(wheels) != 1:
        print(f"{directory} holds {len(wheels)} wheels instead of one; run 'make clean'")
        return 1
    faults = find_faults(wheels[0])
    size = wheels[0].stat().st_size
    print("\n".join(faults) or f"wheel: {wheels[0].name}, {size / 1e6:.2f} MB, content as expected")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
