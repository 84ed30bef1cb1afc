"""Rules about memory: fills that are overwritten, and work that is done twice."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gviz.analysis.launch import NodeMemory
from gviz.analysis.rules.rule import Fact, Found, rule
from gviz.analysis.rules.work_rules import without
from gviz.analysis.subject import GraphSubject
from gviz.cuda import CopyKind, NodeType
from gviz.dag import Reachability
from gviz.dataclass import dataclass
from gviz.families import kernel_label
from gviz.stats import IntArray

#: Equal nodes that are compared with each other, of one kind.
_MOST_EQUAL = 200
#: Of nodes that could make another needless, so many of the nearest are looked at.
_NEAREST = 3


class _Node(NamedTuple):
    """Columns of a node that say what it does with memory."""

    type: int
    name: str
    function_id: int | None
    grid_x: int | None
    grid_y: int | None
    grid_z: int | None
    block_x: int | None
    block_y: int | None
    block_z: int | None
    shared_mem_bytes: int | None
    copy_kind: int | None
    bytes: int | None
    source_address: int | None
    destination_address: int | None
    memset_value: int | None
    memset_element_bytes: int | None


@dataclass(frozen=True, slots=True)
class _Level:
    """The outermost level: its nodes, what they are given, and who depends on whom."""

    nodes: Sequence[_Node]
    memory: NodeMemory
    reach: Reachability
    #: First addresses of the allocations that any node is given, ascending.
    starts: tuple[int, ...]
    #: Row of each node: every edge leads to a greater one.
    row: IntArray
    #: The copies and memsets that write device memory.
    writers: tuple[int, ...]

    def touches(self, node: int, begin: int, stop: int) -> bool:
        """Return whether a node may read or write in [begin, stop).

        A kernel that is given any address of the same allocation may; so may one of which
        nothing is known.
        """
        row = self.nodes[node]
        if row.type in (NodeType.MEMSET, NodeType.MEMCPY):
            return any(_overlap(a, row.bytes, begin, stop) for a in _device_sides(row))
        if row.type != NodeType.KERNEL:
            return row.type not in (NodeType.EMPTY, NodeType.EVENT_RECORD, NodeType.WAIT_EVENT)
        if node not in self.memory.known:
            return True
        return not self.memory.allocations[node].isdisjoint(self._allocations_at(begin))

    def _allocations_at(self, address: int) -> frozenset[int]:
        at = bisect_right(self.starts, address)
        return frozenset(self.starts[at - 1 : at])

    def between(self, first: int, last: int) -> list[int]:
        """Return the nodes that may run after ``first`` and before ``last`` ends."""
        others = np.arange(len(self.nodes))
        before = self.reach.reaches(others, np.full(len(others), first))
        after = self.reach.reaches(np.full(len(others), last), others)
        found: list[int] = np.flatnonzero(~(before | after)).tolist()
        return found

    def depends(self, first: int, second: int) -> bool:
        """Return whether the second node depends on the first."""
        return bool(self.reach.reaches(np.array([first]), np.array([second]))[0])


def _level(subject: GraphSubject) -> _Level | None:
    memory, level = subject.memory, subject.graph.levels[0]
    if memory is None:
        return None
    row, reach = subject.level_rows[0], subject.level_reachability(level)
    if not reach.is_small_enough:
        return None
    starts = tuple(sorted(frozenset().union(*memory.allocations)))
    nodes = subject.graph.nodes[level.part].tuples(_Node)
    writers = tuple(n for n, node in enumerate(nodes) if _writes(node))
    return _Level(nodes, memory, reach, starts, row, writers)


def _device_sides(row: _Node) -> list[int]:
    """Return the addresses of device memory that a copy or memset reads or writes."""
    sides = [row.destination_address, row.source_address]
    if row.copy_kind == CopyKind.HTOD:
        sides = sides[:1]
    elif row.copy_kind == CopyKind.DTOH:
        sides = sides[1:]
    return [a for a in sides if a is not None]


def _overlap(address: int, size: int | None, begin: int, stop: int) -> bool:
    return size is None or (address < stop and begin < address + size)


def _vertices(subject: GraphSubject, nodes: list[int]) -> list[int]:
    """Return the executions of nodes of the outermost level, which are one each."""
    first = int(subject.unrolled.first[0])
    return [first + n for n in nodes]


@rule(
    "overwritten-fill",
    title="a memset of memory that a later copy or memset overwrites before anything reads it",
    fix="Leave the memset out.",
    source="addresses and sizes of copies, memsets and kernel arguments in this recording",
    assumes="nothing but the recorded arguments leads to that memory, and sizes are contiguous",
)
def overwritten_fill(subject: GraphSubject) -> Iterator[Found]:
    """Yield memsets that something covers before anything can read them."""
    level = _level(subject)
    if level is None:
        return
    fills = [n for n in level.writers if level.nodes[n].type == NodeType.MEMSET]
    found = [fill for fill in fills if _cover_of(level, fill) is not None]
    if not found:
        return
    vertices = np.array(_vertices(subject, found), np.int64)
    vertices = vertices[subject.held.timed[vertices]]
    plural = "s" if len(found) > 1 else ""
    yield Found(
        reason=f"{len(found):,} memset{plural} of memory that is overwritten before it is read",
        vertices=vertices.tolist(),
        evidence=(
            Fact("bytes filled", sum(level.nodes[n].bytes or 0 for n in found), "bytes",
                     "measured"),
            Fact("time of the memsets", float(subject.model.duration_ns[vertices].sum()), "ns",
                     "derived"),
        ),
        gain=without(subject, vertices),
    )  # fmt: skip


def _writes(row: _Node) -> bool:
    kind = row.type in (NodeType.MEMSET, NodeType.MEMCPY) and row.copy_kind != CopyKind.DTOH
    return kind and row.destination_address is not None and bool(row.bytes)


def _cover_of(level: _Level, fill: int) -> int | None:
    """Return a later copy or memset over all of a fill, with nothing in between that may look.

    An equal memset is no cover: it is what :func:`duplicate_node` finds.
    """
    row = level.nodes[fill]
    begin = row.destination_address or 0
    stop = begin + (row.bytes or 0)
    same = _identity(level, fill, row)
    covers = [
        node
        for node in level.writers
        if _covers(level.nodes[node], begin, stop)
        and _identity(level, node, level.nodes[node]) != same
        and level.depends(fill, node)
    ]
    # What comes first after the fill has least in between.
    for node in sorted(covers, key=lambda n: (int(level.row[n]), n))[:_NEAREST]:
        if not any(level.touches(n, begin, stop) for n in level.between(fill, node)):
            return node
    return None


def _covers(row: _Node, begin: int, stop: int) -> bool:
    """Return whether a node writes all of [begin, stop) and reads nothing of it."""
    if not _writes(row):
        return False
    first = row.destination_address or 0
    if first > begin or first + (row.bytes or 0) < stop:
        return False
    source = row.source_address
    return source is None or not _overlap(source, row.bytes, begin, stop)


@rule(
    "duplicate-node",
    title="a node that does again what an equal one has done",
    fix="Leave the second out; if the program does it on purpose, keep one and let both users "
    "depend on it.",
    source="kinds, functions, launch shapes, arguments and addresses in this recording",
    assumes="nothing but the recorded arguments leads to that memory",
)
def duplicate_node(subject: GraphSubject) -> Iterator[Found]:
    """Yield copies and memsets done twice, and equal kernels that nothing puts in order."""
    level = _level(subject)
    if level is None:
        return
    groups: dict[Hashable, list[int]] = {}
    for node, row in enumerate(level.nodes):
        key = _identity(level, node, row)
        if key is not None:
            groups.setdefault(key, []).append(node)
    found = sorted({b for same in groups.values() for b in _repeated(level, same[:_MOST_EQUAL])})
    if not found:
        return
    vertices = np.array(_vertices(subject, found), np.int64)
    vertices = vertices[subject.held.timed[vertices]]
    names = sorted({kernel_label(level.nodes[n].name) for n in found})
    verb = "s repeat equal ones" if len(found) > 1 else " repeats an equal one"
    yield Found(
        reason=f"{len(found):,} node{verb}: {', '.join(names[:3])}",
        vertices=vertices.tolist(),
        evidence=(
            Fact("time of the repetitions", float(subject.model.duration_ns[vertices].sum()),
                     "ns", "derived"),
        ),
        gain=without(subject, vertices),
    )  # fmt: skip


def _identity(level: _Level, node: int, row: _Node) -> Hashable | None:
    """Return what makes a node do the same as another; None: it is not known."""
    if _writes(row):
        return (row.type, row.source_address, row.destination_address, row.bytes,
                row.memset_value, row.memset_element_bytes, row.copy_kind)  # fmt: skip
    if row.type == NodeType.KERNEL and node in level.memory.known:
        shape = (row.grid_x, row.grid_y, row.grid_z, row.block_x, row.block_y, row.block_z)
        return (row.function_id, shape, row.shared_mem_bytes, level.memory.arguments[node])
    return None


def _repeated(level: _Level, same: list[int]) -> Iterator[int]:
    """Yield those of equal nodes that only repeat one shortly before them."""
    ordered = sorted(same, key=lambda n: (int(level.row[n]), n))
    for at, node in enumerate(ordered):
        if any(_repeats(level, earlier, node) for earlier in ordered[max(0, at - _NEAREST) : at]):
            yield node


def _repeats(level: _Level, first: int, second: int) -> bool:
    row = level.nodes[second]
    independent = bool(level.reach.are_independent(np.array([first]), np.array([second]))[0])
    if row.type == NodeType.KERNEL:
        # In order, the second may go on with what the first has made; unordered it cannot.
        return independent
    if not independent and not level.depends(first, second):
        return False
    ranges = [(a, a + (row.bytes or 0)) for a in _device_sides(row)]
    if row.source_address is not None and row.copy_kind == CopyKind.HTOD:
        return False  # what the host has written there meanwhile is not known
    others = level.between(first, second)
    return not any(level.touches(n, *r) for n in others for r in ranges)
