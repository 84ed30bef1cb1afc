"""wall_figures.py [ROOT]: the size and shape of the product's Python code, as a table and JSON.

The longest chain is of modules that import each other, each counted by where the imported name is
defined; in a circle it ends where it comes back. Import time is that of the installed gviz, the
least of seven processes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from walls.circles import defining_modules
from walls.class_names import modules_by_class
from walls.folders import MOST_MODULES
from walls.modules import Product, parent

_ROUNDS = 7
#: Modules that a package has at its top: not loose.
_AT_TOP = frozenset({"gviz.__main__", "gviz.errors"})


def longest_chain(edges: Mapping[str, set[str]]) -> list[str]:
    """Return the modules of the longest chain of imports, the importer first."""
    best: dict[str, list[str]] = {}
    around: set[str] = set()

    def chain(name: str) -> list[str]:
        if name not in best:
            around.add(name)
            below = [chain(t) for t in sorted(edges[name]) if t not in around]
            around.discard(name)
            best[name] = [name, *max(below, key=len, default=[])]
        return best[name]

    return max((chain(name) for name in sorted(edges)), key=len)


def import_time_ms() -> float:
    """Return the least time (ms) that the installed gviz takes to be imported."""
    command = [sys.executable, "-P", "-X", "importtime", "-c", "import gviz"]
    times = []
    for _ in range(_ROUNDS):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        times.append(int(done.stderr.splitlines()[-1].split("|")[1]))
    return min(times) / 1000


def main(root: Path) -> int:
    """Print the figures."""
    sys.setrecursionlimit(10_000)
    product = Product(root)
    modules = [name for name, module in product.modules.items() if not module.is_package]
    counts = Counter(str(product.modules[name].path.parent) for name in modules)
    counts += Counter(
        str(path.parent.relative_to(root))
        for suffix in ("js", "c")
        for folder in ("assets/web", "collectors")
        for path in (root / folder).rglob(f"*.{suffix}")
        if ".min." not in path.name
    )
    chain = longest_chain(defining_modules(product))
    classes = modules_by_class(product)
    figures = {
        "modules": len(modules),
        "folders_above_20": sum(count > MOST_MODULES for count in counts.values()),
        "modules_of_the_fullest_folder": max(counts.values()),
        "loose_modules": sum(parent(name) == "gviz" and name not in _AT_TOP for name in modules),
        "longest_chain": len(chain),
        "class_names_of_two_meanings": sum(len(places) > 1 for places in classes.values()),
        "import_time_ms": import_time_ms(),
    }
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):32}{value:>10}")
    print("longest chain:", " > ".join(chain))
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent))
