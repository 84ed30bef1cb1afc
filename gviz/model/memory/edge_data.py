"""Data that the edges of a graph carry: addresses that the nodes at both ends are given.

An edge says that one node waits for another, not why. Where both are given an address in common,
that is likely why; of kernels CUDA does not say whether they read or write there.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from gviz.model.memory.uses import Access, MemoryUses
from gviz.stats import FloatArray, IntArray


class Common(IntEnum):
    """The memory that the ends of an edge have in common; the greater implies the smaller."""

    NOTHING = 0
    ALLOCATION = 1
    LOOKS = 2
    ADDRESS = 3


@dataclass(frozen=True, slots=True)
class DataEdges:
    """One value an edge, or a group of edges.

    Attributes
    ----------
    common
        uint8, :class:`Common`: ALLOCATION where addresses differ but lie in one allocation, LOOKS
        where the common address is one by its looks only.
    count
        int64: places that both ends are given.
    bytes
        float64: bytes that copies, memsets and memory operations at an end read or write there,
        each counted once; NaN where no end is such a node.
    place
        int64: the first of the places, -1 for none.
    allocation
        int64: an allocation that both ends are given addresses in, -1 for none.
    source_access, target_access
        uint8: what the nodes at each end do at the common places, ``1 << Access`` each.
    """

    common: npt.NDArray[np.uint8]
    count: IntArray
    bytes: FloatArray
    place: IntArray
    allocation: IntArray
    source_access: npt.NDArray[np.uint8]
    target_access: npt.NDArray[np.uint8]


def data_edges(
    uses: MemoryUses,
    source: IntArray,
    target: IntArray,
    group: IntArray | None = None,
    group_count: int | None = None,
) -> DataEdges:
    """Return what edges carry.

    Parameters
    ----------
    uses
        Of the nodes.
    source, target
        int64 node indices, one an edge.
    group, group_count
        int64, one an edge: which of so many groups it belongs to, -1 for none. A group carries
        what its edges do together. None: each edge is a group.
    """
    owner = np.arange(len(source)) if group is None else group
    count = len(source) if group_count is None else group_count
    edges = np.flatnonzero(owner >= 0)
    edge, left, right = _meetings(uses, source[edges], target[edges])
    at = owner[edges[edge]]
    place = np.maximum(uses.place[left], uses.place[right])
    looks = (uses.access[left] == Access.LOOKS) & (uses.access[right] == Access.LOOKS)
    common = np.full(count, Common.NOTHING, np.uint8)
    allocation = _common_allocation(uses, source[edges], target[edges], owner[edges], count)
    common[allocation >= 0] = Common.ALLOCATION
    np.maximum.at(common, at, np.where(looks, Common.LOOKS, Common.ADDRESS).astype(np.uint8))
    first = np.full(count, len(uses.place_address))
    np.minimum.at(first, at, place)
    has = first < len(uses.place_address)
    of_place = uses.place_allocation[first[has]]
    allocation[has] = np.where(of_place >= 0, of_place, allocation[has])
    width = len(uses.place_address) + 1
    return DataEdges(
        common=common,
        count=np.bincount(np.unique(at * width + place) // width, minlength=count),
        bytes=_moved(uses, at, left, right, count),
        place=np.where(has, first, -1),
        allocation=allocation,
        source_access=_accesses(uses, at, left, count),
        target_access=_accesses(uses, at, right, count),
    )


def _meetings(
    uses: MemoryUses, source: IntArray, target: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return (edge, use of its source, use of its target) for all pairs that overlap."""
    # A use that starts in another: found from the other, once from either end.
    edge, left, right = _starting_in(uses, source, target, 0)
    back, other, mine = _starting_in(uses, target, source, 1)
    return (
        np.concatenate((edge, back)),
        np.concatenate((left, mine)),
        np.concatenate((right, other)),
    )


def _starting_in(
    uses: MemoryUses, here: IntArray, there: IntArray, after: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return (edge, use of ``here``, use of ``there`` that starts at a place of the former).

    ``after``: how many places after the first one this begins to count.
    """
    width = len(uses.place_address) + 1
    order = uses.by_node
    key = uses.node[order] * width + uses.place[order]
    first, last = (np.searchsorted(uses.node[order], here + more) for more in (0, 1))
    edge, use = _expand(first, last)
    use = order[use]
    if after:
        wide = uses.reach[use] > after
        edge, use = edge[wide], use[wide]
    base = there[edge] * width + uses.place[use]
    row, at = _expand(
        np.searchsorted(key, base + after), np.searchsorted(key, base + uses.reach[use])
    )
    return edge[row], use[row], order[at]


def _expand(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """Return the row and the number, for all numbers from ``first`` to before ``last``."""
    counts = np.maximum(last - first, 0)
    row = np.repeat(np.arange(len(first)), counts)
    before = np.cumsum(counts) - counts
    return row, np.arange(int(counts.sum())) - before[row] + first[row]


def _common_allocation(
    uses: MemoryUses, source: IntArray, target: IntArray, owner: IntArray, count: int
) -> IntArray:
    """Return an allocation that both ends of any edge of a group have addresses in, else -1."""
    width = len(uses.allocation_address) + 1
    node, allocation = uses.allocations_of_nodes
    key = node * width + allocation
    edge, at = _expand(np.searchsorted(node, source), np.searchsorted(node, source + 1))
    found = allocation[at]
    wanted = target[edge] * width + found
    place = np.minimum(np.searchsorted(key, wanted), max(0, len(key) - 1))
    hit = key[place] == wanted if len(key) else np.zeros(0, bool)
    least = np.full(count, width)
    np.minimum.at(least, owner[edge[hit]], found[hit])
    return np.where(least < width, least, -1)


def _moved(
    uses: MemoryUses, at: IntArray, left: IntArray, right: IntArray, count: int
) -> FloatArray:
    """Return the bytes that nodes move at common places, each use of theirs once a group."""
    moves = np.isin(uses.access, (Access.READ, Access.WRITTEN)) & (uses.bytes >= 0)
    either = moves[left] | moves[right]
    at, left, right = at[either], left[either], right[either]
    mover = np.where(moves[left], left, right)
    other = np.where(moves[left], right, left)
    amount = uses.bytes[mover]
    both = moves[other]
    start = np.maximum(uses.address[mover], uses.address[other])
    size = np.maximum(uses.bytes, 0).astype(np.uint64)
    ends = np.minimum(uses.address[mover] + size[mover], uses.address[other] + size[other])
    amount = np.where(both, (ends - np.minimum(start, ends)).astype(np.int64), amount)
    key = at * (len(uses) + 1) + mover
    known, which = np.unique(key, return_inverse=True)
    most = np.zeros(len(known), np.int64)
    np.maximum.at(most, which, amount)
    group = known // (len(uses) + 1)
    found = np.full(count, np.nan)
    found[group] = 0.0
    np.add.at(found, group, most)
    return found


def _accesses(uses: MemoryUses, at: IntArray, use: IntArray, count: int) -> npt.NDArray[np.uint8]:
    found = np.zeros(count, np.uint8)
    np.bitwise_or.at(found, at, np.left_shift(1, uses.access[use]).astype(np.uint8))
    return found
