"""Cures of faults, taken out of a copy of gviz one by one: does the test of the fault notice?

tests/cures.json has, for each fault of docs/faults.md, its test, and the text of the cure with what
stands there without it. A test notices if it fails without the cure and passes with it. A cure that
cannot be tried, as in a copy that does not build, is said at the end, and the others are tried.
Run: python -P bench/cures.py [--only WORDS] [--work DIR]; needs pytest: make .venv/.gviz-test
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from cures import read_cures
from mutating.cured import try_cures
from mutating.tree import Tree

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Take each cure out and print what its test says; return 1 if one says nothing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", metavar="WORDS", help="faults with these words")
    parser.add_argument("--work", type=Path, default=ROOT / "build/cures", metavar="DIR")
    arguments = parser.parse_args()
    if find_spec("pytest") is None:
        parser.error("pytest is not here; run: make .venv/.gviz-test")
    begun = time.monotonic()
    tree = Tree(ROOT, arguments.work.resolve() / "copy")
    chosen = [cure for cure in read_cures() if arguments.only in cure.fault]
    said = try_cures(chosen, tree)
    for cure, complaint in said.items():
        if complaint:
            print(f"{cure.test} {complaint}: {cure.fault}")
    silent = sum(map(bool, said.values()))
    row = {"bench": "cures", "cures": len(chosen), "noticed": len(chosen) - silent}
    print(json.dumps(row | {"seconds": round(time.monotonic() - begun)}))
    return int(bool(silent))


if __name__ == "__main__":
    sys.exit(main())
