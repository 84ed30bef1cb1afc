"""Buffers: the memory that one argument of a node, or one side of a copy, leads to.

The key of a buffer is its node, and the position and offset of the address in what the node is
given: of a kernel the parameter, and the byte of a structure; of a copy 0 is what it writes and 1
what it reads, of a memset 0 is what it writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from gviz.cuda import ElementType
from gviz.dataclass import dataclass
from gviz.model.memory.uses import Access, MemoryUses
from gviz.model.parameters import KernelParameter
from gviz.stats import IntArray


class ExtentKind(IntEnum):
    """Evidence of the end of a buffer; the numbers stand in payloads.

    UNKNOWN: it is not; REPORTED: CUDA says how many bytes; BLOCK: the end of the allocator's block;
    NEXT: the next address in use; ALLOCATION: the end of the allocation.
    """

    UNKNOWN = 0
    REPORTED = 1
    BLOCK = 2
    NEXT = 3
    ALLOCATION = 4


@dataclass(frozen=True, slots=True)
class Extents:
    """The extents of uses, as columns beside those of MemoryUses.

    Attributes
    ----------
    bytes
        int64: from the address on; -1: not known.
    how
        uint8: :class:`ExtentKind`. Of BLOCK, NEXT and ALLOCATION the bytes are
        the most that it can be.
    """

    bytes: IntArray
    how: npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks that allocators gave out, as columns by address; they do not overlap.

    Attributes
    ----------
    address, bytes
        uint64, int64.
    """

    address: npt.NDArray[np.uint64]
    bytes: IntArray


NO_BLOCKS = Blocks(np.zeros(0, np.uint64), np.zeros(0, np.int64))


def find_extents(uses: MemoryUses, blocks: Blocks = NO_BLOCKS) -> Extents:
    """Return how far the memory of each use reaches."""
    size = uses.bytes.copy()
    how = np.where(size >= 0, ExtentKind.REPORTED, ExtentKind.UNKNOWN).astype(np.uint8)
    _within_blocks(uses, blocks, size, how)
    _to_the_next(uses, size, how)
    return Extents(size, how)


def _within_blocks(
    uses: MemoryUses, blocks: Blocks, size: IntArray, how: npt.NDArray[np.uint8]
) -> None:
    open_ = np.flatnonzero(how == ExtentKind.UNKNOWN)
    if not len(blocks.address) or not len(open_):
        return
    address = uses.address[open_]
    at = np.maximum(np.searchsorted(blocks.address, address, side="right") - 1, 0)
    end = blocks.address[at] + blocks.bytes[at].astype(np.uint64)
    inside = (blocks.address[at] <= address) & (address < end)
    which = open_[inside]
    size[which] = (end[inside] - address[inside]).astype(np.int64)
    how[which] = ExtentKind.BLOCK


def _to_the_next(uses: MemoryUses, size: IntArray, how: npt.NDArray[np.uint8]) -> None:
    """Let what is still open end at the next place of its allocation, or with it."""
    open_ = np.flatnonzero((how == ExtentKind.UNKNOWN) & (uses.allocation >= 0))
    if not len(open_):
        return
    place, allocation = uses.place[open_], uses.allocation[open_]
    end = uses.allocation_address + uses.allocation_bytes.astype(np.uint64)
    after = np.minimum(place + 1, len(uses.place_address) - 1)
    follows = (after > place) & (uses.place_allocation[after] == allocation)
    until = np.where(follows, uses.place_address[after], end[allocation])
    size[open_] = (until - uses.address[open_]).astype(np.int64)
    how[open_] = np.where(follows, ExtentKind.NEXT, ExtentKind.ALLOCATION)


def buffer_names(uses: MemoryUses, parameters: Sequence[KernelParameter]) -> tuple[str | None, ...]:
    """Return a name for each place: ``half hidden``, of its elements and the parameter.

    Each is the first that any use of the place has in the order of the graph, so that a buffer is
    called as the node calls it that fills it. None: no parameter that is known to be a pointer is
    given it.
    """
    of_kernels = np.flatnonzero(uses.parameter >= 0)
    pairs = zip(uses.place[of_kernels].tolist(), uses.parameter[of_kernels].tolist(), strict=True)
    names: dict[int, str] = {}
    elements: dict[int, str] = {}
    for place, number in dict.fromkeys(pairs):
        parameter = parameters[number]
        if parameter.type is None or not parameter.type.is_pointer:
            continue
        if parameter.name is not None:
            names.setdefault(place, parameter.name)
        if parameter.points_to != ElementType.BYTES:
            elements.setdefault(place, parameter.points_to.text)
    return tuple(
        " ".join(x for x in (elements.get(place), names.get(place)) if x is not None) or None
        for place in range(len(uses.place_address))
    )


#: Accesses of memory that the node reads, and those of memory that it writes.
READS = (Access.READ, Access.READ_ONLY)
WRITES = (Access.WRITTEN, Access.ALLOCATED)
