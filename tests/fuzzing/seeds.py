"""Seeds that the tests read: of each target those that run lines of gviz which smaller do not.

Most changed inputs go where others went before. Run: python -P -m fuzzing.seeds [TARGET]..., with
tests/ on PYTHONPATH, chooses anew, after a change of a target or of how inputs are changed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fuzzing.campaign import read_input, read_path, write_corpus
from fuzzing.inputs import Inputs
from fuzzing.kept import lines_run

_FILE = Path(__file__).parent / "seeds.json"
#: Seeds of each target from which some are chosen. Of these the first few are read anyway.
LOOKED_AT = {
    "dot": 800,
    "hip": 300,
    "own dot": 300,
    "kineto": 560,
    "rocprof": 300,
    "nsys": 200,
    "gviz": 80,
    "commands": 24,
    "two": 28,
    "older": 40,
    "written": 12,
    "joined": 100,
    "overlay": 400,
    "configuration": 160,
    "http": 300,
    "spool": 100,
}
_ALWAYS = 4


def chosen_seeds() -> dict[str, list[int]]:
    """Return the seeds of each target."""
    found: dict[str, list[int]] = json.loads(_FILE.read_text())
    return found


def choose(target: str, count: int) -> list[int]:
    """Return the first seeds, and those up to ``count`` that run lines which none before ran.

    Nor did the honest inputs.
    """
    chosen: list[int] = []
    with tempfile.TemporaryDirectory() as name, lines_run() as ran:
        corpus = write_corpus(target, Path(name) / "corpus")
        inputs = Inputs(target, Path(name), corpus)
        for at, data in enumerate(inputs.honest(corpus)):
            read_path(target, inputs.write(data, Path(name) / str(at)))
        for seed in range(count):
            before = len(ran)
            with tempfile.TemporaryDirectory() as folder:
                read_input(target, seed, corpus, Path(folder))
            if seed < _ALWAYS or len(ran) > before:
                chosen.append(seed)
    return chosen


def main(targets: Sequence[str]) -> None:
    """Choose the seeds of some targets, or of all, and write them."""
    seeds = chosen_seeds() if _FILE.exists() else {}
    for target in targets or LOOKED_AT:
        seeds[target] = choose(target, LOOKED_AT[target])
        print(target, len(seeds[target]), flush=True)
        lines = (f'  "{name}": {json.dumps(seeds[name])}' for name in LOOKED_AT if name in seeds)
        _FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
