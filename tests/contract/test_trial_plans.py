"""Trials of a graph, planned in one pass over it, are those that the simple way finds."""

from __future__ import annotations

import random
import subprocess
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from fake.build import Fakes, compiler

_SOURCE = Path(__file__).parent / "trial_plans" / "plan.c"
_CSRC = Path(__file__).parents[2] / "collectors" / "csrc"
_LINKED = (
    *(f"trial/{name}.c" for name in ("off", "removal", "edits", "delays", "arrange", "kernels")),
    "graph/walk.c",
    "core/cuda.c",
)
_KINDS = ("implied", "serial", "order", "off")


@dataclass(frozen=True)
class Planned:
    """A graph's nodes: the kernel of each, and what it waits for, which was created before it."""

    kernels: tuple[int, ...]
    waits: tuple[frozenset[int], ...]

    def text(self) -> str:
        """Write it for the program."""
        rows = zip(self.kernels, self.waits, strict=True)
        lines = [f"{kernel} {len(w)} {' '.join(map(str, sorted(w)))}" for kernel, w in rows]
        return "\n".join([str(len(self.kernels)), *lines])

    def before(self) -> list[set[int]]:
        """Return which nodes have ended before each one begins."""
        found: list[set[int]] = []
        for waits in self.waits:
            found.append(waits.union(*(found[i] for i in waits)))
        return found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("plans") / "plan"
    flags = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{_CSRC}"]
    # Of files of other wings only what is called is linked.
    parts = ["-ffunction-sections", "-Wl,--gc-sections"]
    sources = [str(_SOURCE), *(str(_CSRC / name) for name in _LINKED)]
    command = [compiler() or "cc", *flags, *parts, *sources, "-o", str(target), "-ldl", "-lpthread"]
    subprocess.run(command, check=True)
    return target


Pairs = list[tuple[int, int]]


def run(program: Path, fakes: Fakes, graph: Planned, kind: str) -> tuple[Pairs, Pairs]:
    """Return the edits of a kind, and the dependencies of the graph with them."""
    done = subprocess.run(
        [str(program), kind], input=graph.text(), env=fakes.environment(), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Pairs] = {"edit": [], "dependency": []}
    for line in done.stdout.splitlines():
        what, one, other = line.split()
        found[what].append((int(one), int(other)))
    return found["edit"], sorted(found["dependency"])


def at_random(seed: int) -> Planned:
    rng = random.Random(seed)
    count = rng.choice([1, 5, 12, 40])
    share, back, kernels = (
        rng.choice([0.1, 0.3, 0.5, 0.9]),
        rng.choice([2, 6, 60]),
        rng.choice([1, 2, 3]),
    )
    waits = (
        frozenset(j for j in range(max(0, i - back), i) if rng.random() < share)
        for i in range(count)
    )
    return Planned(tuple(rng.randrange(-1, kernels) for _ in range(count)), tuple(waits))


# -- the simple way ------------------------------------------------------------------------------


def plain(graph: Planned) -> Pairs:
    return sorted((j, i) for i, waits in enumerate(graph.waits) for j in waits)


def simply_implied(graph: Planned) -> tuple[Pairs, Pairs]:
    before = graph.before()
    cut = [
        (j, i) for i, waits in enumerate(graph.waits) for j in waits
        if any(j in before[k] for k in waits)
    ]  # fmt: skip
    return sorted(cut), sorted(set(plain(graph)) - set(cut))


def in_order(graph: Planned, height: list[int]) -> list[int]:
    done: list[int] = []
    while len(done) < len(graph.waits):
        rest = (i for i, waits in enumerate(graph.waits) if i not in done and waits <= set(done))
        done.append(min(rest, key=lambda i: (-height[i], i)))
    return done


def simply_serial(graph: Planned) -> tuple[Pairs, Pairs]:
    order = in_order(graph, [0] * len(graph.waits))
    chain = list(pairwise(order))
    return [pair for pair in chain if pair[0] not in graph.waits[pair[1]]], sorted(chain)


def simply_ordered(graph: Planned) -> tuple[Pairs, Pairs]:
    height = [0] * len(graph.waits)
    for i in reversed(range(len(graph.waits))):
        for j in graph.waits[i]:
            height[j] = max(height[j], height[i] + 1)
    order = in_order(graph, height)
    moved = bool(simply_serial(graph)[0]) and order != sorted(order)
    return list(pairwise(order)) if moved else [], plain(graph)


def simply_off(graph: Planned) -> tuple[Pairs, Pairs]:
    """Look through all dependencies for each kernel that leaves."""
    sizes = [graph.kernels.count(k) if k >= 0 else 0 for k in graph.kernels]
    family = graph.kernels[sizes.index(max(sizes))] if max(sizes) else None
    before, waits = graph.before(), [set(w) for w in graph.waits]
    off = [i for i, kernel in enumerate(graph.kernels) if kernel == family]

    def has(of: int, one: int, leaving: int) -> bool:
        return any(k == one or one in before[k] for k in waits[of] - {leaving})

    for at in off:
        waits[at] -= {j for j in waits[at] if any(j in before[k] for k in waits[at])}
        after = [i for i, w in enumerate(waits) if at in w]
        direct = sum(not has(i, j, at) for i in after for j in waits[at])
        through = len(waits[at]) + sum(not has(i, at, at) for i in after)
        for i in after:
            if direct <= through:
                waits[i] |= {j for j in waits[at] if not has(i, j, at)}
            if direct <= through or has(i, at, at):
                waits[i].remove(at)
        if direct <= through:
            waits[at] = set()
    return [(i, 0) for i in off], sorted((j, i) for i, w in enumerate(waits) for j in w)


_SIMPLE = dict(
    zip(_KINDS, (simply_implied, simply_serial, simply_ordered, simply_off), strict=True)
)


@pytest.mark.parametrize("kind", _KINDS)
def test_edits_and_what_they_leave_are_those_of_the_simple_way(
    program: Path, fakes: Fakes, kind: str
) -> None:
    for seed in range(150):
        graph = at_random(seed)
        assert run(program, fakes, graph, kind) == _SIMPLE[kind](graph), seed
