"""Times of work: sums, unions, idle shares and medians, as their definitions say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import TypeVar

from oracle.raw import Work

Key = TypeVar("Key")


def union_ns(intervals: Iterable[tuple[float, float]]) -> float:
    """Return for how long at least one of these ran: from moment to moment, how many do."""
    changes: Counter[float] = Counter()
    for start, end in intervals:
        changes[start] += 1
        changes[end] -= 1
    running, since, total = 0, 0.0, 0.0
    for at in sorted(changes):
        if running:
            total += at - since
        running, since = running + changes[at], at
    return total


def most_at_once(intervals: Iterable[tuple[float, float]]) -> int:
    """Return how many of these ran at the same moment at most; none of those of no length."""
    changes: Counter[float] = Counter()
    for start, end in intervals:
        if end > start:
            changes[start] += 1
            changes[end] -= 1
    running = most = 0
    for at in sorted(changes):
        running += changes[at]
        most = max(most, running)
    return most


def idle_fraction(work: Sequence[Work]) -> Fraction:
    """Return the share of a launch, first start to last end, in which nothing ran."""
    begin, end = min(w.start_ns for w in work), max(w.end_ns for w in work)
    busy = union_ns((w.start_ns, w.end_ns) for w in work)
    return 1 - Fraction(int(busy), end - begin)


def sums_by_kernel(work: Iterable[Work]) -> dict[str, tuple[int, int]]:
    """Return how often each kernel ran, and for how long together."""
    found: dict[str, tuple[int, int]] = {}
    for one in work:
        if one.kind == "kernel":
            count, total = found.get(one.name, (0, 0))
            found[one.name] = count + 1, total + one.duration_ns
    return found


@dataclass(frozen=True, slots=True)
class Execution:
    """An execution of a node in a launch, from the launch's first start; its hardware queue."""

    start_ns: float
    end_ns: float
    queue: tuple[int, int]


def executions(launch: Mapping[Key, Work]) -> dict[Key, Execution]:
    """Return a launch from its own first start."""
    first = min(work.start_ns for work in launch.values())
    return {
        key: Execution(work.start_ns - first, work.end_ns - first, (work.device, work.stream))
        for key, work in launch.items()
    }


def median_launch(launches: Sequence[Mapping[Key, Work]]) -> dict[Key, Execution]:
    """Return the median launch: of each node the median start and the median duration.

    Nodes that fewer than half of the launches ran are left out. A node's queue is the one that it
    ran on most often. Starts count from the earliest median.
    """
    each = [executions(launch) for launch in launches]
    found: dict[Key, Execution] = {}
    for key in {key: None for launch in each for key in launch}:
        mine = [launch[key] for launch in each if key in launch]
        if 2 * len(mine) < len(launches):
            continue
        start = median(x.start_ns for x in mine)
        queues = Counter(x.queue for x in mine)
        most = max(queues.values())
        found[key] = Execution(
            start,
            start + median(x.end_ns - x.start_ns for x in mine),
            min(queue for queue, count in queues.items() if count == most),
        )
    first = min((x.start_ns for x in found.values()), default=0)
    return {k: Execution(x.start_ns - first, x.end_ns - first, x.queue) for k, x in found.items()}
