"""Nodes of a graph that are given addresses in the same memory.

CUDA says of copies, memsets and memory operations what they read and write, and of alloc and free
nodes what they allocate. Of a kernel it keeps the bytes of the arguments only: an address among
them says that the kernel is given it, not what it does there. Addresses inside structures are found
by their value: a word that lies in an allocation that some argument points into, or, where none is
known, a word that looks like an address (:func:`_looks_like_addresses`).

An allocation may be a segment of a framework's allocator that holds many tensors; the same address
is a stronger sign than the same allocation. Graphs may give one address to several alloc nodes, one
after the other: a use belongs to the last of them that is before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.recording import Blobs
from gviz.stats import AddressArray, BoolArray, IntArray, distinct_values

#: Blocks of the allocators of CUDA, PyTorch and CuPy start at multiples of 256 or 512 bytes.
_ALIGNMENT = 512
#: A lower half below this is rather a number beside padding than half an address.
_LEAST_LOW_HALF = 1 << 28


class Access(IntEnum):
    """The relation of a node to an address.

    GIVEN: it is among the arguments; READ_ONLY: among them as a pointer to const; LOOKS: a word of
    the arguments looks like it. The others are reported by CUDA.
    """

    GIVEN = 0
    READ = 1
    WRITTEN = 2
    ALLOCATED = 3
    FREED = 4
    LOOKS = 5
    READ_ONLY = 6


@dataclass(frozen=True, slots=True)
class GivenArguments:
    """Arguments of kernel nodes, as columns of one length.

    Attributes
    ----------
    node
        int64: index of the node.
    slot
        int64: equal where they are the same argument of the same kernel.
    value
        Bytes of the argument.
    allocation_address, allocation_bytes
        uint64, int64: the allocation it points into; 0 bytes: none is known.
    position
        int64: of the parameter.
    read_only
        bool: its kernel declares it as a pointer to const.
    parameter
        int64: number of what its kernel declares of it, -1: not read.
    """

    node: IntArray
    slot: IntArray
    value: Blobs
    allocation_address: AddressArray
    allocation_bytes: IntArray
    position: IntArray
    read_only: BoolArray
    parameter: IntArray


@dataclass(frozen=True, slots=True)
class MemoryOperations:
    """Operations of nodes on memory as CUDA reports them, as columns of one length.

    Attributes
    ----------
    node
        int64: index of the node.
    access
        uint8: READ, WRITTEN, ALLOCATED or FREED of :class:`Access`.
    address
        uint64.
    bytes
        int64; -1: not known. Of frees the size of what is freed is taken.
    """

    node: IntArray
    access: npt.NDArray[np.uint8]
    address: AddressArray
    bytes: IntArray


@dataclass(frozen=True, slots=True)
class MemoryUses:
    """Uses of memory by nodes, as arrays.

    A *place* is an address that a use starts at, inside one allocation; a use of known size covers
    the places that lie in it as well. Two uses have memory in common when they cover one place.

    Attributes
    ----------
    allocation_address, allocation_bytes, allocation_node
        uint64, int64, int64, one an allocation: the index of the alloc node, -1 where another
        graph or no graph allocates it.
    place_address, place_allocation
        uint64, int64 (-1: no allocation known), one a place, by (allocation, address).
    node, access, address, bytes, allocation, place, reach
        One a use, by (place, order of the node): index of the node (int64), :class:`Access`
        (uint8), uint64, int64 (-1: not known), int64 (-1), first place and number of places
        that it covers (int64).
    position, offset
        One a use, int64: where the address stands in what the node is given: position of the
        parameter, and the first byte of the word in it. What a copy or memset writes is at
        position 0, what a copy reads at 1. One address is one use of a parameter, however often it
        stands in it.
    parameter
        One a use, int64: number of what the kernel declares of it, as in GivenArguments; -1: none,
        for the node runs no kernel, or it was not read.
    """

    allocation_address: AddressArray
    allocation_bytes: IntArray
    allocation_node: IntArray
    place_address: AddressArray
    place_allocation: IntArray
    node: IntArray
    access: npt.NDArray[np.uint8]
    address: AddressArray
    bytes: IntArray
    allocation: IntArray
    place: IntArray
    reach: IntArray
    position: IntArray
    offset: IntArray
    parameter: IntArray
    _by_node: IntArray = field(init=False, repr=False)
    _node: IntArray = field(init=False, repr=False)
    _wide: IntArray = field(init=False, repr=False)
    _of_nodes: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_node", np.lexsort((self.place, self.node)))
        object.__setattr__(self, "_node", self.node[self._by_node])
        object.__setattr__(self, "_wide", np.flatnonzero(self.reach > 1))
        known = self.allocation >= 0
        keys = self.node[known] * (len(self.allocation_address) + 1) + self.allocation[known]
        object.__setattr__(self, "_of_nodes", distinct_values(keys))

    def __len__(self) -> int:
        return len(self.node)

    @property
    def by_node(self) -> IntArray:
        """Return the indices of uses by (node, place)."""
        return self._by_node

    @property
    def allocations_of_nodes(self) -> tuple[IntArray, IntArray]:
        """Return node and allocation where the one has addresses in the other, each pair once."""
        width = len(self.allocation_address) + 1
        return self._of_nodes // width, self._of_nodes % width

    def of_node(self, node: int) -> IntArray:
        """Return the indices of a node's uses, by place."""
        first, last = np.searchsorted(self._node, [node, node + 1])
        return self._by_node[first:last]

    def of_place(self, place: int) -> IntArray:
        """Return the indices of the uses that cover a place; those that start there by order."""
        first, last = np.searchsorted(self.place, [place, place + 1])
        wide = self._wide
        over = wide[(self.place[wide] < place) & (self.place[wide] + self.reach[wide] > place)]
        return np.concatenate((over, np.arange(first, last)))

    def sharing(self, use: int) -> IntArray:
        """Return the indices of all uses that have a place in common with one, itself included."""
        first, last = self.place[use], self.place[use] + self.reach[use]
        begin, end = np.searchsorted(self.place, [first, last])
        wide = self._wide
        over = wide[(self.place[wide] < first) & (self.place[wide] + self.reach[wide] > first)]
        return np.concatenate((over, np.arange(begin, end)))


def find_uses(
    arguments: GivenArguments,
    operations: MemoryOperations,
    order: IntArray,
    elsewhere: Sequence[tuple[int, int]] = (),
) -> MemoryUses:
    """Return who is given what memory.

    Parameters
    ----------
    arguments, operations
        Of the nodes of one graph level, with those of what is nested in them.
    order
        int64, one a node: greater than those of all that the node waits for.
    elsewhere
        Address and bytes of further allocations that are known, such as those of alloc nodes of
        other graphs.
    """
    memory = _known_memory(arguments, operations, order, elsewhere)
    row, place, word = arguments.value.words()
    node, slot = arguments.node[row], _word_slots(arguments.slot[row], place)
    at = memory.locate(node, word, order)
    given = at >= 0
    looks = ~given
    looks[looks] = _looks_like_addresses(word[looks], slot[looks], memory, operations.address)
    chosen = given | looks
    named = np.where(arguments.read_only[row], Access.READ_ONLY, Access.GIVEN)
    access = np.where(given, named, Access.LOOKS).astype(np.uint8)[chosen]
    of_operation = memory.locate(operations.node, operations.address, order)
    freed = (operations.access == Access.FREED) & (of_operation >= 0)
    size = operations.bytes.copy()
    size[freed] = memory.bytes[of_operation[freed]]
    reads = (operations.access == Access.READ).astype(np.int64)
    columns = _Uses(
        node=np.concatenate((node[chosen], operations.node)),
        access=np.concatenate((access, operations.access)),
        address=np.concatenate((word[chosen], operations.address)),
        bytes=np.concatenate((np.full(int(chosen.sum()), -1), size)),
        allocation=np.concatenate((at[chosen], of_operation)),
        position=np.concatenate((arguments.position[row[chosen]], reads)),
        offset=np.concatenate((8 * place[chosen], np.zeros(len(reads), np.int64))),
        parameter=np.concatenate((arguments.parameter[row[chosen]], np.full(len(reads), -1))),
    )
    return _assemble(memory, columns, order)


class _Uses(NamedTuple):
    """Uses as MemoryUses has them, in no order and with equal ones."""

    node: IntArray
    access: npt.NDArray[np.uint8]
    address: AddressArray
    bytes: IntArray
    allocation: IntArray
    position: IntArray
    offset: IntArray
    parameter: IntArray


@dataclass(frozen=True, slots=True)
class _Memory:
    """The allocations that are known: plain ones do not overlap, those of alloc nodes may.

    ``node`` and ``order`` are -1 for plain ones.
    """

    address: AddressArray
    bytes: IntArray
    node: IntArray
    order: IntArray

    @property
    def end(self) -> AddressArray:
        return self.address + self.bytes.astype(np.uint64)

    def locate(self, node: IntArray, word: AddressArray, order: IntArray) -> IntArray:
        """Return the allocation that each address of a node lies in, -1 for none."""
        found = np.full(len(word), -1, np.int64)
        plain = np.flatnonzero(self.node < 0)
        if len(plain) and len(word):
            at = np.searchsorted(self.address[plain], word, side="right") - 1
            which = plain[np.maximum(at, 0)]
            inside = (at >= 0) & (word < self.end[which])
            found[inside] = which[inside]
        self._locate_own(node, word, order, found)
        return found

    def _locate_own(
        self, node: IntArray, word: AddressArray, order: IntArray, found: IntArray
    ) -> None:
        """Give each address in memory of alloc nodes to the last of them that is before it."""
        own = np.flatnonzero(self.node >= 0)
        if not len(own):
            return
        by_word = np.argsort(word, kind="stable")
        in_order, end = word[by_word], self.end
        for i in own[np.argsort(self.order[own], kind="stable")].tolist():
            first, last = np.searchsorted(in_order, np.array([self.address[i], end[i]]))
            mine = by_word[first:last]
            after = (order[node[mine]] > self.order[i]) | (node[mine] == self.node[i])
            found[mine[after]] = i


def _known_memory(
    arguments: GivenArguments,
    operations: MemoryOperations,
    order: IntArray,
    elsewhere: Sequence[tuple[int, int]],
) -> _Memory:
    allocs = (operations.access == Access.ALLOCATED) & (operations.bytes > 0)
    columns = (operations.address, operations.bytes, operations.node)
    own = list(zip(*(c[allocs].tolist() for c in columns), strict=True))
    pointed = arguments.allocation_bytes > 0
    pairs = zip(
        arguments.allocation_address[pointed].tolist(),
        arguments.allocation_bytes[pointed].tolist(),
        strict=True,
    )
    outermost = _outermost({*pairs, *elsewhere})
    apart = ~_overlap(outermost, [(a, n) for a, n, _ in own])
    plain = [(a, n, -1) for (a, n), keep in zip(outermost, apart.tolist(), strict=True) if keep]
    found = sorted([*plain, *own], key=lambda f: (f[0], -1 if f[2] < 0 else int(order[f[2]])))
    node = np.array([f[2] for f in found], np.int64)
    of_node = order[np.maximum(node, 0)] if len(order) else node
    return _Memory(
        np.array([f[0] for f in found], np.uint64),
        np.array([f[1] for f in found], np.int64),
        node,
        np.where(node < 0, -1, of_node),
    )


def _outermost(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges (address, bytes) by address, without those that lie inside another."""
    found: list[tuple[int, int]] = []
    for address, size in sorted(ranges, key=lambda r: (r[0], -r[1])):
        if not found or address + size > found[-1][0] + found[-1][1]:
            found.append((address, size))
    return found


def _overlap(
    ranges: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]
) -> npt.NDArray[np.bool_]:
    """Return which ranges (address, bytes) overlap any of the others."""
    if not ranges or not others:
        return np.zeros(len(ranges), bool)
    start, size = np.array(sorted(others), np.uint64).T
    furthest = np.maximum.accumulate(start + size)
    first, count = np.array(ranges, np.uint64).T
    before = np.searchsorted(start, first + count)
    found: npt.NDArray[np.bool_] = (before > 0) & (furthest[np.maximum(before - 1, 0)] > first)
    return found


def _word_slots(slot: IntArray, place: IntArray) -> IntArray:
    """Return the slots of words, numbered apart for each place in an argument."""
    most = int(place.max(initial=0)) + 1
    slots: IntArray = slot * most + place
    return slots


def _looks_like_addresses(
    word: AddressArray, slot: IntArray, memory: _Memory, certain: AddressArray
) -> npt.NDArray[np.bool_]:
    """Return which words, that lie in no known allocation, look like addresses all the same.

    Drivers are queried about arguments that are pointers, not about pointers in structures. Such a
    word counts when a copy, memset or alloc node uses the very address; or when it starts a block
    in a 4 GiB region that holds a known allocation, and stands in two arguments or more: what is
    left on the stack stands in the padding of one.
    """
    known = np.isin(word, certain)
    half = np.uint64(32)
    regions = distinct_values(np.concatenate((memory.address, memory.end)) >> half)
    likely = (word % np.uint64(_ALIGNMENT) == 0) & np.isin(word >> half, regions)
    likely &= (word & np.uint64(0xFFFFFFFF)) >= _LEAST_LOW_HALF
    at = np.flatnonzero(likely)
    address, which = np.unique(word[at], return_inverse=True)
    width = int(slot.max(initial=0)) + 1
    slots = distinct_values(which * width + slot[at]) // width
    often = np.bincount(slots, minlength=len(address)) > 1
    known[at[often[which]]] = True
    return known


def _assemble(memory: _Memory, found: _Uses, order: IntArray) -> MemoryUses:
    """Number the places, and put the uses in order; equal ones are one."""
    node, access, address, size = found.node, found.access, found.address, found.bytes
    extent = np.maximum(size, 1).astype(np.uint64)
    bounds, rank = np.unique(np.concatenate((address, address + extent)), return_inverse=True)
    width = len(bounds) + 1
    key = (found.allocation + 1) * width + rank[: len(node)]
    end = (found.allocation + 1) * width + rank[len(node) :]
    places, place = np.unique(key, return_inverse=True)
    reach = np.searchsorted(places, end) - place
    own_order = order[node] if len(order) else node
    columns = (found.position, size, access, node, own_order, place)
    by = np.lexsort((found.offset, *columns))
    new = np.ones(len(by), bool)
    new[1:] = np.any([c[by[1:]] != c[by[:-1]] for c in columns], axis=0)
    first = by[new]
    return MemoryUses(
        allocation_address=memory.address,
        allocation_bytes=memory.bytes,
        allocation_node=memory.node,
        place_address=bounds[places % width] if len(places) else np.zeros(0, np.uint64),
        place_allocation=places // width - 1,
        place=place[first],
        reach=reach[first],
        **{name: column[first] for name, column in found._asdict().items()},
    )
