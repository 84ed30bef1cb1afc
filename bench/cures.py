"""Cures of faults, taken out of a copy of gviz one by one: does the test of the fault notice?

tests/cures.json has, for each fault of docs/faults.md, its test, and the text of the cure with what
stands there without it. A test notices if it fails without the cure and passes with it.
Run: python -P bench/cures.py [--only WORDS] [--work DIR]; needs pytest: make .venv/.gviz-test
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from cures import Cure, read_cures, without
from mutating.suite import Suite
from mutating.tree import Tree

ROOT = Path(__file__).resolve().parent.parent
#: A test that has not ended then has noticed.
_LIMIT_S = 180


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
    try:
        said = {cure: _try(cure, tree) for cure in chosen}
    finally:
        _have(tree, {})
    for cure, complaint in said.items():
        if complaint:
            print(f"{cure.test} {complaint}: {cure.fault}")
    silent = sum(map(bool, said.values()))
    row = {"bench": "cures", "cures": len(chosen), "noticed": len(chosen) - silent}
    print(json.dumps(row | {"seconds": round(time.monotonic() - begun)}))
    return int(bool(silent))


def _try(cure: Cure, tree: Tree) -> str:
    """Return what is wrong with a cure's test; "": it fails without the cure alone."""
    _have(tree, {cure.file: without(cure, tree.source)})
    failed = _failure(cure, tree)
    _have(tree, {})
    if not failed:
        complaint = "passes without the cure"
    else:
        again = _failure(cure, tree)
        complaint = f"fails with the cure, too ({again})" if again else ""
    print(f"{cure.fault}: {complaint or failed}"[:200], file=sys.stderr, flush=True)
    return complaint


def _failure(cure: Cure, tree: Tree) -> str:
    """Return how a cure's test fails; "": it passes."""
    run = Suite(tree).run([cure.test], most_failures=1, limit_s=_LIMIT_S, test_limit_s=_LIMIT_S)
    return next(iter(run.failed.values()), "" if run.seconds else "no such test")


def _have(tree: Tree, sources: Mapping[str, bytes]) -> None:
    """Let the copy have these sources, and all others their own; build what is C."""
    of_c = tree.replace(sources)
    if any(name.endswith((".c", ".h")) for name in of_c):
        build = [str(tree.python), "-P", "tools/link_tree.py", "build/link-tree"]
        subprocess.run(build, cwd=tree.path, check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
