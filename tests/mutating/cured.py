"""Cures taken out of a copy one by one: whether the test of each fault notices."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence

from cures import Cure, without

from mutating.suite import Suite
from mutating.tree import Tree

#: A test that has not ended then has noticed.
LIMIT_S = 180


def try_cures(cures: Sequence[Cure], tree: Tree, limit_s: int = LIMIT_S) -> dict[Cure, str]:
    """Return what is wrong with each cure's test; "": it fails without the cure alone."""
    try:
        return {cure: _try(cure, tree, limit_s) for cure in cures}
    finally:
        _have(tree, {})


def _try(cure: Cure, tree: Tree, limit_s: int) -> str:
    failed = ""
    try:
        _have(tree, {cure.file: without(cure, tree.source)})
        failed = _failure(cure, tree, limit_s)
        _have(tree, {})
        complaint = "" if failed else "passes without the cure"
        if failed and (again := _failure(cure, tree, limit_s)):
            complaint = f"fails with the cure, too ({again})"
    except ValueError as error:
        complaint = f"cannot be tried: {error}"
    except subprocess.CalledProcessError as error:
        complaint = f"cannot be tried: {error} {(error.stderr or b'').decode(errors='replace')}"
    print(f"{cure.fault}: {complaint or failed}"[:200], file=sys.stderr, flush=True)
    return complaint


def _failure(cure: Cure, tree: Tree, limit_s: int) -> str:
    """Return how a cure's test fails; "": it passes."""
    run = Suite(tree).run([cure.test], most_failures=1, limit_s=limit_s, test_limit_s=limit_s)
    return next(iter(run.failed.values()), "" if run.seconds else "no such test")


def _have(tree: Tree, sources: Mapping[str, bytes]) -> None:
    """Let the copy have these sources, and all others their own; build what is C."""
    of_c = tree.replace(sources)
    if any(name.endswith((".c", ".h")) for name in of_c):
        build = [str(tree.python), "-P", "tools/link_tree.py", "build/link-tree"]
        subprocess.run(build, cwd=tree.path, check=True, capture_output=True)
