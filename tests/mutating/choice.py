"""The mutations of a tree: all there are, and some of them chosen by a seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from mutating.kinds import candidates, is_other_program
from mutating.mutation import Candidate


def read_candidates(root: Path, folders: Sequence[str]) -> list[Candidate]:
    """Return the mutations of all modules below folders of the repository, by path and line."""
    paths = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    return [c for path in paths for c in candidates(path.relative_to(root), path.read_bytes())]


def choose(root: Path, present: Sequence[Candidate], count: int, seed: int) -> list[Candidate]:
    """Return as many mutations, each of another line; every line is as likely as any other.

    Raises
    ------
    ValueError
        If there are fewer lines that can be mutated.
    """
    by_line: dict[tuple[str, int], list[Candidate]] = {}
    for candidate in present:
        by_line.setdefault((candidate.module, candidate.place.line), []).append(candidate)
    if len(by_line) < count:
        raise ValueError(f"{count} mutations asked for, {len(by_line)} lines can be mutated")
    chance = Random(seed)
    chosen: list[Candidate] = []
    for line in chance.sample(sorted(by_line), len(by_line)):
        if len(chosen) == count:
            break
        several = by_line[line]
        source = (root / line[0]).read_bytes()
        mixed = chance.sample(several, len(several))
        chosen += [c for c in mixed if is_other_program(source, c)][:1]
    if len(chosen) < count:
        raise ValueError(f"{count} mutations asked for, {len(chosen)} lines can be mutated")
    return sorted(chosen, key=lambda c: (c.module, c.place.line))
