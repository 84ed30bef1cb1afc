"""Lifetimes of memory that a graph allocates in a launch, and how much of it lives at a time.

Alloc and free nodes have no times of their own: the caller says when each ran
(:mod:`gviz.dag.untimed`), or in which order where nothing has a time. All of this is derived; what
the driver holds for a graph is its own, and reserved for the whole launch.
"""

from __future__ import annotations

import numpy as np

from gviz.dataclass import dataclass
from gviz.model.memory.uses import Access, MemoryUses
from gviz.stats import AddressArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Allocations that a graph makes, frees or both: arrays of one length, by start.

    Attributes
    ----------
    allocation
        int64: index among those of the :class:`gviz.model.memory.uses.MemoryUses`.
    alloc, free
        int64: node indices. -1: another graph allocates it; no node of this graph frees it.
    start, end
        float64; NaN where ``alloc`` or ``free`` is -1: it lives before or beyond the launch.
    address, bytes
        uint64, int64.
    """

    allocation: IntArray
    alloc: IntArray
    free: IntArray
    start: FloatArray
    end: FloatArray
    address: AddressArray
    bytes: IntArray

    def __len__(self) -> int:
        return len(self.allocation)


@dataclass(frozen=True, slots=True)
class UsedSteps:
    """The bytes of these allocations that live at a time: steps.

    Attributes
    ----------
    time
        float64, rising: from then on so much is allocated.
    bytes
        int64.
    """

    time: FloatArray
    bytes: IntArray

    @property
    def peak(self) -> int | None:
        """Return the index of the (first) highest step; None without any."""
        return int(np.argmax(self.bytes)) if len(self.bytes) else None


@dataclass(frozen=True, slots=True)
class AddressBands:
    """Address ranges laid end to end, so that what lies between them takes no room.

    Attributes
    ----------
    offset
        int64, one an allocation: where it starts among all ranges, in bytes.
    range_address, range_offset, range_bytes
        uint64, int64, int64, one a range: addresses without a gap.
    """

    offset: IntArray
    range_address: AddressArray
    range_offset: IntArray
    range_bytes: IntArray


def find_lifetimes(uses: MemoryUses, start: FloatArray, end: FloatArray) -> Lifetimes:
    """Return the lifetimes of what a graph allocates or frees.

    Parameters
    ----------
    uses
        Of the graph's nodes.
    start, end
        float64, one a node: when it ran, in a unit of the caller's. Memory lives from the start of
        its alloc node to the end of its free node.
    """
    count = len(uses.allocation_address)
    free = np.full(count, -1, np.int64)
    frees = np.flatnonzero((uses.access == Access.FREED) & (uses.allocation >= 0))[::-1]
    free[uses.allocation[frees]] = uses.node[frees]
    alloc = uses.allocation_node
    chosen = np.flatnonzero((alloc >= 0) | (free >= 0))
    born = np.where(alloc >= 0, _of_node(start, alloc), np.nan)
    died = np.where(free >= 0, _of_node(end, free), np.nan)
    first = np.nan_to_num(born[chosen], nan=-np.inf)
    chosen = chosen[np.lexsort((uses.allocation_address[chosen], first))]
    return Lifetimes(
        allocation=chosen,
        alloc=alloc[chosen],
        free=free[chosen],
        start=born[chosen],
        end=died[chosen],
        address=uses.allocation_address[chosen],
        bytes=uses.allocation_bytes[chosen],
    )


def _of_node(values: FloatArray, node: IntArray) -> FloatArray:
    if not len(values):
        return np.full(len(node), np.nan)
    found: FloatArray = values[np.maximum(node, 0)]
    return found


def used_steps(found: Lifetimes, order: IntArray) -> UsedSteps:
    """Return how much is allocated at a time.

    Parameters
    ----------
    found
        The lifetimes.
    order
        int64, one a node: greater than those of all that it waits for. It decides between alloc
        and free nodes at one time; of two that nothing orders the alloc node counts as the first,
        so that a peak is never too low.
    """
    born = np.nan_to_num(found.start, nan=-np.inf)
    ends = np.flatnonzero(found.free >= 0)
    time = np.concatenate((born, found.end[ends]))
    change = np.concatenate((found.bytes, -found.bytes[ends]))
    rank = np.concatenate(
        (np.where(found.alloc >= 0, _rank(order, found.alloc), -1), _rank(order, found.free[ends]))
    )
    by = np.lexsort((change < 0, rank, time))
    return UsedSteps(time[by], np.cumsum(change[by]))


def _rank(order: IntArray, node: IntArray) -> IntArray:
    return order[np.maximum(node, 0)] if len(order) else node


def address_bands(address: AddressArray, size: IntArray) -> AddressBands:
    """Return where each allocation stands when the ranges that are in use are laid end to end."""
    by = np.argsort(address, kind="stable")
    start, end = address[by], address[by] + size[by].astype(np.uint64)
    furthest = np.maximum.accumulate(end) if len(end) else end
    new = np.ones(len(by), bool)
    new[1:] = start[1:] > furthest[:-1]
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(by)) - 1
    begin = start[first]
    length = (furthest[last] - begin).astype(np.int64) if len(first) else np.zeros(0, np.int64)
    before = np.cumsum(length) - length
    which = np.cumsum(new) - 1
    offset = np.zeros(len(by), np.int64)
    offset[by] = before[which] + (start - begin[which]).astype(np.int64)
    return AddressBands(offset, begin, before, length)
