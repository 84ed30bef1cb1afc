"""Which nodes of a graph are given addresses in the same memory.

CUDA says of copies and memsets what they read and write. Of a kernel it keeps the bytes of the
arguments only: an address among them says that the kernel is given it, not what it does there.
Addresses inside structures are found by their value: a word that lies in an allocation that some
other argument points into. An allocation may be a segment of a framework's allocator that holds
many tensors; the same address is a stronger sign than the same allocation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Access = Literal["given", "read", "written"]

_WORD = 8


class GivenArgument(NamedTuple):
    """An argument of a kernel node; ``address`` and ``bytes`` of the allocation it points into."""

    node_id: int
    value: bytes
    address: int | None
    bytes: int | None


class MemoryOperation(NamedTuple):
    """What a copy or memset node reads and writes; None: not device memory, or not known."""

    node_id: int
    read: int | None
    written: int | None
    bytes: int | None


@dataclass(frozen=True, slots=True, order=True)
class Use:
    """A node's way to an address.

    Attributes
    ----------
    node_id
        The node.
    access
        'read' and 'written' where CUDA says so; 'given': the address is among its arguments.
    address
        Where.
    bytes
        How much is read or written; None where CUDA does not say.
    """

    node_id: int
    access: Access
    address: int
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class UsedAllocation:
    """An allocation and the nodes that are given addresses in it, by node and address."""

    address: int
    bytes: int
    uses: tuple[Use, ...]

    def of_node(self, node_id: int) -> tuple[Use, ...]:
        """Return the uses of one node."""
        return tuple(use for use in self.uses if use.node_id == node_id)


def memory_uses(
    arguments: Sequence[GivenArgument],
    operations: Sequence[MemoryOperation],
    allocations: Iterable[tuple[int, int]] = (),
) -> list[UsedAllocation]:
    """Return the allocations that nodes of a graph use, by address.

    Parameters
    ----------
    arguments, operations
        Of the nodes of one graph level.
    allocations
        Address and bytes of further allocations that are known, such as those of alloc nodes.
    """
    known = dict(allocations)
    for argument in arguments:
        if argument.address is not None and argument.bytes:
            known[argument.address] = max(known.get(argument.address, 0), argument.bytes)
    start = np.array(sorted(known), np.uint64)
    size = np.array([known[int(a)] for a in start], np.uint64)
    found: list[set[Use]] = [set() for _ in start]
    for node_id, at, address in _given(arguments, start, size):
        found[at].add(Use(node_id, "given", address))
    for operation in operations:
        for access, where in (("read", operation.read), ("written", operation.written)):
            at = -1 if where is None else _locate(np.array([where], np.uint64), start, size)[0]
            if at >= 0 and where is not None:
                use = Use(operation.node_id, _access(access), where, operation.bytes)
                found[at].add(use)
    return [
        UsedAllocation(int(a), int(n), tuple(sorted(uses, key=_order)))
        for a, n, uses in zip(start, size, found, strict=True)
        if uses
    ]


def _access(name: str) -> Access:
    return "read" if name == "read" else "written"


def _order(use: Use) -> tuple[int, int, str]:
    return use.node_id, use.address, use.access


def _given(
    arguments: Sequence[GivenArgument], start: npt.NDArray[np.uint64], size: npt.NDArray[np.uint64]
) -> Iterable[tuple[int, int, int]]:
    """Yield node, index of the allocation, and address, for words of arguments that are one."""
    words, nodes = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    for argument in arguments:
        whole = len(argument.value) // _WORD
        if whole:
            words.append(np.frombuffer(argument.value, "<u8", whole))
            nodes.append(np.full(whole, argument.node_id, np.int64))
    word, node = np.concatenate(words), np.concatenate(nodes)
    at = _locate(word, start, size)
    hit = np.flatnonzero(at >= 0)
    return zip(node[hit].tolist(), at[hit].tolist(), word[hit].tolist(), strict=True)


def _locate(
    word: npt.NDArray[np.uint64], start: npt.NDArray[np.uint64], size: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """Return the allocation that each address lies in, -1 for none."""
    if not len(start):
        return np.full(len(word), -1, np.int64)
    at = np.searchsorted(start, word, side="right") - 1
    known = np.maximum(at, 0)
    inside = (at >= 0) & (word - start[known] < size[known])
    return np.where(inside, at, -1)
