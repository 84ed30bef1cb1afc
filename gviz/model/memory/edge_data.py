"""Data that the edges of a graph carry: addresses that the nodes at both ends are given.

An edge says that one node waits for another, not why. Where both are given an address in common,
that is likely why; of kernels CUDA does not say whether they read or write there.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.model.memory.uses import Access, MemoryUses
from gviz.stats import FloatArray, IntArray, distinct_values


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


@dataclass(frozen=True, slots=True)
class Meetings:
    """Pairs of uses at both ends of an edge that cover one place, as arrays.

    Attributes
    ----------
    edge, place
        int64, one a pair: index of the edge, and the first place in common.
    common
        uint8: LOOKS or ADDRESS of :class:`Common`.
    source_access, target_access
        uint8: ``1 << Access`` of the use at each end.
    mover, bytes
        int64: the use of a node that reads or writes there (-1: neither is), and how much of what
        it moves is in common.
    allocation
        int64, one an edge: an allocation that both ends are given addresses in, -1 for none.
    """

    edge: IntArray
    place: IntArray
    common: npt.NDArray[np.uint8]
    source_access: npt.NDArray[np.uint8]
    target_access: npt.NDArray[np.uint8]
    mover: IntArray
    bytes: IntArray
    allocation: IntArray


def find_meetings(uses: MemoryUses, source: IntArray, target: IntArray) -> Meetings:
    """Return where the ends of edges meet: ``source`` and ``target`` are int64 node indices."""
    edge, left, right = _meetings(uses, source, target)
    looks = (uses.access[left] == Access.LOOKS) & (uses.access[right] == Access.LOOKS)
    mover, amount = _moved(uses, left, right)
    return Meetings(
        edge=edge,
        place=np.maximum(uses.place[left], uses.place[right]),
        common=np.where(looks, Common.LOOKS, Common.ADDRESS).astype(np.uint8),
        source_access=np.left_shift(1, uses.access[left]).astype(np.uint8),
        target_access=np.left_shift(1, uses.access[right]).astype(np.uint8),
        mover=mover,
        bytes=amount,
        allocation=_common_allocation(uses, source, target),
    )


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
    met = find_meetings(uses, source[edges], target[edges])
    at, places = owner[edges[met.edge]], len(uses.place_address)
    allocation = _least(owner[edges], met.allocation, met.allocation >= 0, count)
    common = np.where(allocation >= 0, Common.ALLOCATION, Common.NOTHING).astype(np.uint8)
    np.maximum.at(common, at, met.common)
    first = _least(at, met.place, np.ones(len(at), bool), count)
    has = first >= 0
    of_place = uses.place_allocation[first[has]]
    allocation[has] = np.where(of_place >= 0, of_place, allocation[has])
    width = places + 1
    return DataEdges(
        common=common,
        count=np.bincount(distinct_values(at * width + met.place) // width, minlength=count),
        bytes=_sum_moved(at, met, len(uses), count),
        place=first,
        allocation=allocation,
        source_access=_any_access(at, met.source_access, count),
        target_access=_any_access(at, met.target_access, count),
    )


def _least(
    owner: IntArray, values: IntArray, counted: npt.NDArray[np.bool_], count: int
) -> IntArray:
    """Return the least value of each owner, -1 where it has none."""
    none = np.iinfo(np.int64).max
    found = np.full(count, none)
    np.minimum.at(found, owner[counted], values[counted])
    return np.where(found < none, found, -1)


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


def _common_allocation(uses: MemoryUses, source: IntArray, target: IntArray) -> IntArray:
    """Return for each edge an allocation that both ends have addresses in, else -1."""
    width = len(uses.allocation_address) + 1
    node, allocation = uses.allocations_of_nodes
    key = node * width + allocation
    edge, at = _expand(np.searchsorted(node, source), np.searchsorted(node, source + 1))
    found = allocation[at]
    wanted = target[edge] * width + found
    place = np.minimum(np.searchsorted(key, wanted), max(0, len(key) - 1))
    hit = key[place] == wanted if len(key) else np.zeros(0, bool)
    return _least(edge, found, hit, len(source))


def _moved(uses: MemoryUses, left: IntArray, right: IntArray) -> tuple[IntArray, IntArray]:
    """Return the use of each pair that moves bytes, -1 for none, and how many are in common."""
    moves = np.isin(uses.access, (Access.READ, Access.WRITTEN)) & (uses.bytes >= 0)
    mover = np.where(moves[left], left, right)
    other = np.where(moves[left], right, left)
    start = np.maximum(uses.address[mover], uses.address[other])
    size = np.maximum(uses.bytes, 0).astype(np.uint64)
    ends = np.minimum(uses.address[mover] + size[mover], uses.address[other] + size[other])
    shared = (ends - np.minimum(start, ends)).astype(np.int64)
    amount = np.where(moves[other], shared, uses.bytes[mover])
    either = moves[left] | moves[right]
    return np.where(either, mover, -1), np.where(either, amount, 0)


def _sum_moved(at: IntArray, met: Meetings, use_count: int, count: int) -> FloatArray:
    """Return the bytes that nodes move at common places, each use of theirs once a group."""
    is_moved = met.mover >= 0
    key = at[is_moved] * (use_count + 1) + met.mover[is_moved]
    known, which = np.unique(key, return_inverse=True)
    most = np.zeros(len(known), np.int64)
    np.maximum.at(most, which, met.bytes[is_moved])
    group = known // (use_count + 1)
    found = np.full(count, np.nan)
    found[group] = 0.0
    np.add.at(found, group, most)
    return found


def _any_access(at: IntArray, access: npt.NDArray[np.uint8], count: int) -> npt.NDArray[np.uint8]:
    found = np.zeros(count, np.uint8)
    np.bitwise_or.at(found, at, access)
    return found
