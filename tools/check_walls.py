"""check_walls.py [ROOT]: fail where the product's Python code breaks a wall.

A wall with breaches of today has them by name in tools/walls/breaches/WALL.txt, one a line. A
breach that is not listed fails; so does a listed one that is gone: lists can only get shorter.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from walls import (
    circles,
    class_names,
    columns,
    docstrings,
    faces,
    folders,
    quantities,
    sentences,
    words,
)
from walls.modules import Product

WALLS: dict[str, Callable[[Product], Iterator[str]]] = {
    "folders": folders.find,
    "faces": faces.find,
    "circles": circles.find,
    "class_names": class_names.find,
    "columns": columns.find,
    "sentences": sentences.find,
    "quantities": quantities.find,
    "docstrings": docstrings.find,
    "words": words.find,
}


def listed(root: Path, wall: str) -> list[str]:
    """Return the breaches of today."""
    path = root / "tools" / "walls" / "breaches" / f"{wall}.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def main(root: Path) -> int:
    """Check every wall; return 1 after naming the breaches that are not listed, or gone."""
    product = Product(root)
    faults: list[str] = []
    known = 0
    for wall, find in WALLS.items():
        found, old = sorted(set(find(product))), listed(root, wall)
        known += len(old)
        faults += [f"{wall}: {breach}" for breach in found if breach not in old]
        faults += [
            f"{wall}: {breach!r} is listed and gone: remove its line from breaches/{wall}.txt"
            for breach in old
            if breach not in found
        ]
    names = ", ".join(WALLS)
    print(
        "\n".join(faults)
        or f"walls of {len(product.modules)} modules stand ({names}); {known} breaches are listed"
    )
    return 1 if faults or not product.modules else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent))
