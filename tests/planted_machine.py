"""A machine that runs graphs block by block: to score what-if by something that is not its model.

Blocks of ready kernels take free places of multiprocessors in the order in which kernels became
ready; those that run share the memory's bandwidth. Time passes in steps. gviz's model knows neither
blocks nor steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from planned_recordings import MULTIPROCESSORS, Plan, Planned, PlannedTrial

#: Blocks that run at once: 8 on each multiprocessor, as planned recordings have it.
PLACES = 8 * MULTIPROCESSORS
_STEP_NS = 100


@dataclass(frozen=True)
class Kernel:
    """A kernel of the machine.

    ``bandwidth``: the share of the memory's that a block takes alone, in PLACES-th parts.
    ``delay_ns``: a pause behind it.
    """

    blocks: int
    block_ns: int
    bandwidth: float
    delay_ns: int = 0


@dataclass(frozen=True)
class Machine:
    """A graph of kernels, and the gap before each.

    ``places``: blocks that run at once; more than launch shapes tell where blocks that wait for
    memory leave their multiprocessor to others.
    """

    kernels: tuple[Kernel, ...]
    edges: tuple[tuple[int, int], ...]
    gap_ns: int
    places: int = PLACES

    def run(self) -> list[tuple[int, int]]:
        """Return start and end of each kernel (ns)."""
        count = len(self.kernels)
        waiting = [sum(b == n for _, b in self.edges) for n in range(count)]
        ready = {n: 0 for n in range(count) if not waiting[n]}
        left = [kernel.blocks for kernel in self.kernels]
        running: list[list[float]] = []  # kernel, blocks, ns of work left
        start, end = [-1] * count, [-1] * count
        now = 0
        while min(end) < 0:
            free = self.places - sum(int(group[1]) for group in running)
            for n in sorted(ready, key=lambda n: (ready[n], n)):
                blocks = min(free, left[n])
                if ready[n] <= now and blocks:
                    start[n] = now if start[n] < 0 else start[n]
                    running.append([n, blocks, self.kernels[n].block_ns])
                    left[n] -= blocks
                    free -= blocks
            wanted = sum(g[1] * self.kernels[int(g[0])].bandwidth for g in running) / PLACES
            now += _STEP_NS
            for group in running:
                group[2] -= _STEP_NS / max(1.0, wanted)
            running = [group for group in running if group[2] > 0]
            busy = {int(group[0]) for group in running}
            for n in [n for n in ready if not left[n] and n not in busy]:
                end[n] = now
                del ready[n]
                for a, b in self.edges:
                    waiting[b] -= a == n
                    if a == n and not waiting[b]:
                        ready[b] = now + self.gap_ns + self.kernels[n].delay_ns
        return list(zip(start, end, strict=True))

    def length_ns(self) -> int:
        """Return how long a launch takes."""
        return max(end for _, end in self.run())

    def changed(self, number: int, kernel: Kernel) -> Machine:
        """Return the machine with another kernel in one's place."""
        kernels = list(self.kernels)
        kernels[number] = kernel
        return replace(self, kernels=tuple(kernels))


def branching(random: Random, stages: int = 4, width: int = 3, depth: int = 3) -> Machine:
    """Return stages of parallel branches between joins, at random."""
    kernels, edges = [_kernel(random)], []
    last = [0]
    for _ in range(stages):
        ends = []
        for _ in range(random.randint(1, width)):
            before = last
            for _ in range(random.randint(1, depth)):
                edges += [(a, len(kernels)) for a in before]
                before = [len(kernels)]
                kernels.append(_kernel(random))
            ends += before
        edges += [(a, len(kernels)) for a in ends]
        last = [len(kernels)]
        kernels.append(_kernel(random))
    return Machine(tuple(kernels), tuple(edges), gap_ns=random.choice((400, 1_200)))


def _kernel(random: Random) -> Kernel:
    return Kernel(
        blocks=random.choice((64, 256, 512, PLACES, 2 * PLACES)),
        block_ns=random.randint(20, 100) * 100,
        bandwidth=random.choice((0.3, 0.8, 1.5)),
    )


def plan_of(machine: Machine, tried: Sequence[int] = ()) -> Plan:
    """Return the recording of a machine's launch, with delays of 5 us behind some kernels tried."""
    nodes = [
        Planned(f"k{n}", start, end - start, queue=n, blocks=kernel.blocks)
        for n, (kernel, (start, end)) in enumerate(zip(machine.kernels, machine.run(), strict=True))
    ]
    plan = Plan(nodes, machine.edges)
    whole = machine.length_ns()
    plan.trials = [
        PlannedTrial(
            "delay",
            whole - machine.changed(n, replace(machine.kernels[n], delay_ns=5_000)).length_ns(),
            [(n, None, 5_000)],
        )
        for n in tried
    ]
    return plan
