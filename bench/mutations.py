"""Small faults put into gviz one line each: does the suite of tests catch them?

Mutations are chosen by a seed from the syntax of the packages named below. Each is tried in a copy
of the tree on the tests that run its line, fastest modules first; with --whole those that are left
run together through all tests, also the browser's, and one behind a failure is found by halves.
With --list those of a file of --keep are found again, also in modules that have moved, and those
that were caught then are tried: one that is not caught any more is an escape.
Run: python -P bench/mutations.py [--count N] [--seed N] [--whole] [--keep FILE] [--list FILE]
A stopped run goes on where it was. Needs pytest: make .venv/.gviz-test
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from mutating.campaign import Campaign, Verdict
from mutating.choice import choose, read_candidates
from mutating.mutation import Candidate, Mutation, find_again
from mutating.tree import Tree

ROOT = Path(__file__).resolve().parent.parent
#: What is mutated; listed mutations are looked for in all of gviz.
FOLDERS = (
    "gviz/analysis",
    "gviz/comparison",
    "gviz/dag",
    "gviz/layout",
    "gviz/model",
    "gviz/runs",
    "gviz/spool",
    "gviz/stats",
)
_FIELDS = ("module", "function", "line", "kind", "was", "now", "ordinal")


def main() -> int:
    """Try mutations, print a table and a JSON line; return 1 if a listed one escapes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=10, help="mutations to choose")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--whole", action="store_true", help="try what is left on all tests")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write the list with results")
    parser.add_argument("--list", type=Path, metavar="FILE", help="try those that were caught")
    parser.add_argument("--work", type=Path, default=ROOT / "build/mutations", metavar="DIR")
    arguments = parser.parse_args()
    if find_spec("pytest") is None:
        parser.error("pytest is not here; run: make .venv/.gviz-test")
    begun = time.monotonic()
    if arguments.list is not None:
        return _try_listed(arguments, begun)
    chosen = choose(ROOT, read_candidates(ROOT, FOLDERS), arguments.count, arguments.seed)
    verdicts = _try(chosen, arguments.work, {}, whole=arguments.whole)
    _print_table(chosen, verdicts)
    if arguments.keep is not None:
        _keep(arguments.keep, arguments.seed, chosen, verdicts)
    _print_json({"seed": arguments.seed, "whole": arguments.whole}, verdicts, begun)
    return 0


def _try_listed(arguments: argparse.Namespace, begun: float) -> int:
    listed = json.loads(arguments.list.read_text())["mutations"]
    caught = [row for row in listed if row["by"]]
    present = read_candidates(ROOT, ("gviz", "app", "collectors"))
    wanted = [Mutation(**{name: row[name] for name in _FIELDS}) for row in caught]
    places = [find_again(mutation, present) for mutation in wanted]
    found = [(row, place) for row, place in zip(caught, places, strict=True) if place is not None]
    chosen = [place for _, place in found]
    known = {n: row["by"] for n, (row, _) in enumerate(found)}
    verdicts = _try(chosen, arguments.work, known, whole=True)
    _print_table(chosen, verdicts)
    lost = [m for m, place in zip(wanted, places, strict=True) if place is None]
    escaped = [v for v in verdicts if not v.caught]
    for mutation in lost:
        print(f"not found again: {mutation.to_text()}")
    for verdict in escaped:
        mutation = chosen[verdict.number].mutation
        print(f"escapes {known[verdict.number]}: {mutation.to_text()}")
    facts = {"listed": len(listed), "caught_before": len(caught), "not_found": len(lost)}
    _print_json({**facts, "escaped": len(escaped)}, verdicts, begun)
    return int(bool(escaped))


def _try(
    chosen: Sequence[Candidate], work: Path, known: dict[int, str], *, whole: bool
) -> list[Verdict]:
    tree = Tree(ROOT, work.resolve() / "copy")
    return Campaign(tree, chosen, work.resolve() / "results", known).run(whole=whole)


def _print_table(chosen: Sequence[Candidate], verdicts: Sequence[Verdict]) -> None:
    """Print how many are caught by package and by kind, and those that are not by name."""
    rows = [(_package(c), c.mutation.kind, v) for c, v in zip(chosen, verdicts, strict=True)]
    names = [*dict.fromkeys(r[0] for r in rows), *sorted({r[1] for r in rows}), "all"]
    print(f"{'':24}{'mutations':>10}{'caught':>8}{'score':>7}{'not run':>9}")
    for name in names:
        some = [v for package, kind, v in rows if name in (package, kind, "all")]
        caught = sum(v.caught for v in some)
        unreached = sum(not v.caught and not v.reached for v in some)
        print(f"{name:24}{len(some):10}{caught:8}{caught / len(some):7.2f}{unreached:9}")
    print("not run: not caught, and no test without a browser runs the line")
    for _, _, verdict in rows:
        if not verdict.caught:
            text = chosen[verdict.number].mutation.to_text()
            print(f"not caught ({verdict.stage}, {verdict.reached} tests run it): {text}")


def _package(candidate: Candidate) -> str:
    return str(Path(candidate.module).parent)


def _keep(path: Path, seed: int, chosen: Sequence[Candidate], verdicts: Sequence[Verdict]) -> None:
    """Write the list, a mutation a line."""
    rows = [
        {**c.mutation.to_dict(), "by": v.by, "stage": v.stage, "reached": v.reached}
        for c, v in zip(chosen, verdicts, strict=True)
    ]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text(f'{{"seed": {seed}, "mutations": [\n{lines}\n]}}\n')


def _print_json(facts: dict[str, Any], verdicts: Sequence[Verdict], begun: float) -> None:
    tiers = Counter(v.by.split("/")[1] for v in verdicts if v.caught)
    row = {"bench": "mutations", "mutations": len(verdicts), **facts}
    row["caught"] = sum(v.caught for v in verdicts)
    row["caught_by"] = dict(tiers.most_common())
    row["seconds"] = round(time.monotonic() - begun)
    print(json.dumps(row))


if __name__ == "__main__":
    sys.exit(main())
