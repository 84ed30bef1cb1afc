"""Addresses among the parameters of nodes, and the blocks of memory that they lie in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from gviz.cuda import NodeType
from gviz.spool.folding.graphs import FoldedGraph
from gviz.spool.records import BlockRecord
from gviz.stats import UNKNOWN

ALLOCATED, FREED, UNSEEN = "allocated", "freed", "unknown"
_ADDRESS_BYTES = 8


class Place(NamedTuple):
    """The state of an address, and the block it lies in, or lay in."""

    state: str
    block_address: int | None = None
    block_bytes: int | None = None
    freed_ns: int | None = None


class HeldBlocks:
    """The blocks of device memory that a program had, when it ended."""

    def __init__(self, records: Iterable[BlockRecord]) -> None:
        self._held: dict[int, int] = {}
        self._freed: list[tuple[int, int, int]] = []
        for record in records:
            if record.freed:
                self._free(record)
            else:
                self._held[record.address] = record.bytes
        self._addresses = np.array(sorted(self._held), np.int64)

    def _free(self, record: BlockRecord) -> None:
        end = record.address + max(record.bytes, 1)
        for address in [a for a in self._held if record.address <= a < end]:
            self._freed.append((address, self._held.pop(address), record.time_ns))

    def place_of(self, address: int) -> Place:
        """Return what is known of an address; of blocks that were freed, the latest."""
        at = int(np.searchsorted(self._addresses, address, "right")) - 1
        if at >= 0:
            start = int(self._addresses[at])
            if address < start + self._held[start]:
                return Place(ALLOCATED, start, self._held[start])
        for start, size, freed_ns in reversed(self._freed):
            if start <= address < start + size:
                return Place(FREED, start, size, freed_ns)
        return Place(UNSEEN)


class GivenAddress(NamedTuple):
    """An address among a node's parameters; ``argument``: the kernel's that it is."""

    argument: int | None
    address: int


def addresses_of(level: FoldedGraph, node_id: int, blocks: HeldBlocks) -> Iterator[GivenAddress]:
    """Yield the addresses that a node is given.

    An argument of eight bytes is one if it pointed into an allocation when the graph was
    instantiated, or lies in a block by now, or did once.
    """
    node = level.find(node_id)
    if node is None:
        return
    for row in level.arguments[level.arguments["node_id"] == node_id]:
        value = bytes(row["value"])
        if len(value) != _ADDRESS_BYTES:
            continue
        address = int.from_bytes(value, "little")
        known = int(row["allocation_address"]) != UNKNOWN
        if known or blocks.place_of(address).state != UNSEEN or _looks_like_one(address):
            yield GivenAddress(int(row["position"]), address)
    if node["type"] in (NodeType.MEMCPY, NodeType.MEMSET):
        for name in ("source_address", "destination_address"):
            if int(node[name]) > 0:
                yield GivenAddress(None, int(node[name]))


def _looks_like_one(address: int) -> bool:
    """Return whether a number is as high as addresses of a GPU are, and no higher than any."""
    return 1 << 32 <= address < 1 << 57
