"""Memory that two nodes without an order use, of which one writes: a race, as far as that shows.

Which part of memory a kernel reads or writes is not seen: two that share memory may use different
parts of it. So each is a suspicion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

import numpy as np

from gviz.analysis.subject import GraphSubject
from gviz.analysis.values.value_finding import ValueFinding, finding_of, named
from gviz.dataclass import dataclass
from gviz.model import GivenMemory, GraphTree, GraphValues
from gviz.stats import distinct_values
from gviz.text import byte_size

#: Pairs that are named.
_MOST = 20
_FIX = (
    "Add the dependency that is missing (wait for an event of the other stream before this work), "
    "or give the two memory of their own."
)


def races(subject: GraphSubject, values: GraphValues) -> Iterator[ValueFinding]:
    """Yield pairs of nodes without an order that share memory that one of them writes."""
    if subject.why_no_edges is not None:
        return
    order = _Order(subject)
    given = values.given
    seen: set[tuple[int, int]] = set()
    for first, second in _shared(given, order):
        pair = given[first].node, given[second].node
        if pair not in seen:
            seen.add(pair)
            yield _race(subject, given[first], given[second])
        if len(seen) == _MOST:
            return


def _race(subject: GraphSubject, first: GivenMemory, second: GivenMemory) -> ValueFinding:
    at, end = max(first.address, second.address), min(first.end, second.end)
    names = [named(subject, memory.node) for memory in (first, second)]
    if first.is_written and second.is_written:
        what = f"{names[0]} and {names[1]} both write"
    else:
        writer, other = (0, 1) if first.is_written else (1, 0)
        what = f"{names[writer]} writes, and {names[other]} is given,"
    ids = [subject.ref(memory.node).node_id for memory in (first, second)]
    reason = (
        f"{what} {byte_size(end - at)} at {at:#x}, and neither waits for the other: the dependency "
        f"{ids[0]} → {ids[1]} or {ids[1]} → {ids[0]} is missing, unless they use different parts"
    )
    return finding_of(subject, "race", reason, _FIX, first, second.node, is_suspicion=True)


@dataclass(slots=True)
class _Users:
    """Memory of nodes that used an interval, and that no node that writes it waits for."""

    writers: list[int] = field(default_factory=list)
    readers: list[int] = field(default_factory=list)


def _shared(given: Sequence[GivenMemory], order: _Order) -> Iterator[tuple[int, int]]:
    """Yield pairs, in the order of the second."""
    edges = distinct_values(np.array([a for m in given for a in (m.address, m.end)], np.uint64))
    written = np.zeros(len(edges), bool)
    parts = []
    for memory in given:
        ends = np.searchsorted(edges, np.array([memory.address, memory.end], np.uint64))
        parts.append(range(*ends.tolist()))
        if memory.is_written:
            written[parts[-1].start : parts[-1].stop] = True
    users = {at: _Users() for at in np.flatnonzero(written).tolist()}
    for at, memory in enumerate(given):
        found: set[int] = set()
        for interval in parts[at]:
            if written[interval]:
                found |= _meet(users[interval], at, memory.is_written, given, order)
        for other in sorted(found):
            yield other, at


def _meet(
    users: _Users, at: int, writes: bool, given: Sequence[GivenMemory], order: _Order
) -> set[int]:
    """Return the users that have no order with another, and note that one."""
    node = given[at].node
    found: set[int] = set()
    for own in (users.writers, users.readers) if writes else (users.writers,):
        free = [o for o in own if given[o].node != node and order.is_free(given[o].node, node)]
        found |= {*free}
        if writes:
            own[:] = free
    (users.writers if writes else users.readers).append(at)
    return found


class _Order:
    """Order of nodes of a tree: by the edges of the level where two of them part."""

    def __init__(self, subject: GraphSubject) -> None:
        self._subject = subject
        self._tree: GraphTree = subject.graph
        self._known: dict[tuple[int, int], bool] = {}

    def is_free(self, first: int, second: int) -> bool:
        """Return whether neither of two nodes waits for the other."""
        key = first, second
        if key not in self._known:
            self._known[key] = self._is_free(first, second)
        return self._known[key]

    def _is_free(self, first: int, second: int) -> bool:
        ways = [[node, *self._tree.around(node)][::-1] for node in (first, second)]
        for one, two in zip(*ways, strict=False):
            if self._tree.level[one] != self._tree.level[two]:
                return False
            if one != two:
                return self._part(one, two)
        return False

    def _part(self, one: int, two: int) -> bool:
        level = self._tree.level_of(one)
        reach = self._subject.level_reachability(level)
        if not reach.is_small_enough:
            return False
        ends = (np.array([node - level.first], np.int64) for node in (one, two))
        return bool(reach.are_independent(*ends)[0])
