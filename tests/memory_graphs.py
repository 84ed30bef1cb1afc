"""Memory of small graphs for tests: arguments, operations, and what they have in common."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gviz.model.memory.uses import Access, GivenArguments, MemoryOperations
from gviz.recording.columns import Blobs

BASE, SIZE = 0x7F00_8000_0000, 2 << 20


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a kernel node; ``base`` and ``size`` of the allocation it points into."""

    node: int
    value: bytes
    base: int = 0
    size: int = 0
    slot: int = 0
    position: int = 0
    read_only: bool = False
    parameter: int = 0


def pointer(
    node: int,
    address: int,
    base: int = BASE,
    size: int = SIZE,
    *,
    position: int = 0,
    read_only: bool = False,
    parameter: int = 0,
) -> Argument:
    """Return an argument that is an address in a known allocation."""
    value = struct.pack("<Q", address)
    return Argument(
        node, value, base, size, position=position, read_only=read_only, parameter=parameter
    )


def structure(node: int, *words: int, slot: int = 0, position: int = 0) -> Argument:
    """Return an argument of which the driver was not asked: words of a structure."""
    value = struct.pack(f"<{len(words)}Q", *words)
    return Argument(node, value, slot=slot, position=position)


def arguments(*given: Argument) -> GivenArguments:
    """Return arguments as columns."""
    return GivenArguments(
        np.array([a.node for a in given], np.int64),
        np.array([a.slot for a in given], np.int64),
        Blobs.of([a.value for a in given]),
        np.array([a.base for a in given], np.uint64),
        np.array([a.size for a in given], np.int64),
        np.array([a.position for a in given], np.int64),
        np.array([a.read_only for a in given], bool),
        np.array([a.parameter for a in given], np.int64),
    )


Operation = tuple[int, Access, int, int]


def operations(*done: Operation) -> MemoryOperations:
    """Return operations (node, access, address, bytes) as columns."""
    columns: Sequence[Sequence[int]] = list(zip(*done, strict=True)) or [(), (), (), ()]
    return MemoryOperations(
        np.array(columns[0], np.int64),
        np.array(columns[1], np.uint8),
        np.array(columns[2], np.uint64),
        np.array(columns[3], np.int64),
    )
