"""check_c_walls.py [ROOT]: fail where C code includes what stands beside or above its wing.

A wing is a folder of collectors/csrc. It has one header for the others, named as the wing, and
may have one for its own parts. The gate is a library of its own, which others only know by its
header. The launch costs' library is one folder over core.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

#: The wings, lowest first; those of one layer do not include each other.
LAYERS = (
    ("core", "gate"),
    ("records",),
    ("state",),
    ("spool",),
    ("calls", "ids"),
    ("blocks", "graph", "told", "window"),
    ("life",),
    ("launch",),
    ("events",),
    ("blackbox", "trial"),
    ("values",),
    ("subscriber",),
    ("entry",),
)
RANKS = {wing: rank for rank, layer in enumerate(LAYERS) for wing in layer}
PARTS = "parts.h"
MAX_FILES = 20
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]*)"', re.MULTILINE)


def find_includes(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each quoted include."""
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match[1]


def find_fault(wing: str, header: str) -> str | None:
    """Return why a file of a wing may not include a header, or None."""
    other, _, name = header.partition("/")
    if other not in RANKS or name not in (f"{other}.h", PARTS):
        return f"includes {header}, which is no wing's header (WING/WING.h)"
    if other == wing:
        return None
    if name == PARTS:
        return f"includes {header}, which is for {other} only"
    if RANKS[other] >= RANKS[wing]:
        return f"includes {header}, which does not stand below {wing}"
    return None


def check_wing(folder: Path) -> Iterator[str]:
    """Yield what is wrong with a wing: its files, its headers, what they include."""
    wing = folder.name
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if wing not in RANKS:
        yield f"{folder}: no wing of this name; give it a place in LAYERS of check_c_walls.py"
        return
    if len(files) > MAX_FILES:
        yield f"{folder}: {len(files)} files, at most {MAX_FILES}; split the wing"
    if folder / f"{wing}.h" not in files:
        yield f"{folder}: {wing}.h is missing"
    for path in files:
        if path.suffix == ".h" and path.name not in (f"{wing}.h", PARTS):
            yield f"{path}: a second header; put it into {wing}.h, or {PARTS} for the wing only"
        for line, header in find_includes(path):
            fault = find_fault(wing, header)
            if fault is not None:
                yield f"{path}:{line}: {fault}"


def check_launchcost(folder: Path) -> Iterator[str]:
    """Yield what the launch costs' library has or includes beside its header and core's."""
    for path in sorted(folder.iterdir()):
        if path.suffix == ".h" and path.name != "launchcost.h":
            yield f"{path}: a second header; put it into launchcost.h"
        for line, header in find_includes(path):
            if header not in ("launchcost.h", "core/core.h"):
                yield f"{path}:{line}: includes {header}; launchcost.h and core/core.h are for it"


def main(root: Path) -> int:
    """Check every wing; return 1 after naming the breaches."""
    csrc, launchcost = root / "collectors" / "csrc", root / "collectors" / "launchcost" / "csrc"
    faults = [f"{path}: stands in no wing" for path in sorted(csrc.iterdir()) if path.is_file()]
    wings = sorted(path for path in csrc.iterdir() if path.is_dir())
    for wing in wings:
        faults += check_wing(wing)
    faults += check_launchcost(launchcost)
    faults = [fault.removeprefix(f"{root}/") for fault in faults]
    print("\n".join(faults) or f"C walls: {len(wings)} wings include downwards only")
    return 1 if faults or not wings else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent))
