"""Recall and precision of the advice on synthetic graphs with planted faults.

What is planted and how it is judged: tests/planted_faults.py.
Run: python -P bench/findings.py [--graphs N] [--seed N]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from planted_faults import judge


def main() -> None:
    """Plant, look, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.graphs)
    with tempfile.TemporaryDirectory() as folder:
        score = judge(seeds, Path(folder))
    print(f"{'rule':32}{'planted':>9}{'found':>9}{'false':>9}")
    for rule in sorted(score.planted | score.false):
        print(f"{rule:32}{score.planted[rule]:9}{score.found[rule]:9}{score.false[rule]:9}")
    totals = (score.planted.total(), score.found.total(), score.false.total())
    print(f"{'all':32}{totals[0]:9}{totals[1]:9}{totals[2]:9}"
          f"   recall {score.recall:.3f}, precision {score.precision:.3f}")  # fmt: skip
    print("\n".join(score.wrong[:10]), file=sys.stderr)
    print(json.dumps({
        "bench": "findings", "graphs": arguments.graphs, "seed": arguments.seed,
        "kinds": len(score.planted), "planted": totals[0],
        "recall": round(score.recall, 4), "precision": round(score.precision, 4),
        "by_rule": {
            rule: [score.planted[rule], score.found[rule], score.false[rule]]
            for rule in sorted(score.planted | score.false)
        },
    }))  # fmt: skip


if __name__ == "__main__":
    main()
