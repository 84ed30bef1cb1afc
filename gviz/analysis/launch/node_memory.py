"""The memory that each node of a graph is given, as far as arguments and copies tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gviz.cuda import NodeType
from gviz.model import Access, GivenArguments, MemoryOperations, NodeRow, find_uses
from gviz.recording import Blobs, rows

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Of larger graphs the arguments are not read: they may be kilobytes a node.
MOST_NODES = 20_000
#: What is known of a use, and not only looks like one.
_KNOWN = (Access.GIVEN, Access.READ, Access.WRITTEN)


@dataclass(frozen=True, slots=True)
class NodeMemory:
    """Memory by the index of a node of the outermost level.

    An allocation may be a segment of a framework's allocator that holds many tensors. A kernel
    may also use memory that no argument points to; nothing tells that.

    Attributes
    ----------
    addresses
        Addresses that each node is given, or reads and writes.
    allocations
        The allocations these lie in, by their first address.
    known
        Nodes of which all of that is known: kernels with an address among their arguments, and
        copies and memsets whose device memory lies in a known allocation.
    arguments
        Bytes of each kernel's arguments, joined; empty where there are none.
    """

    addresses: tuple[frozenset[int], ...]
    allocations: tuple[frozenset[int], ...]
    known: frozenset[int]
    arguments: tuple[bytes, ...]


def read_node_memory(
    recording: Recording, graph: rows.Graph, nodes: Sequence[NodeRow]
) -> NodeMemory:
    """Return the memory of the nodes of a graph's outermost level."""
    columns = ("node_id", "position", "value", "allocation_address", "allocation_bytes")
    found = recording.fetch_columns(rows.Argument, columns, {"graph_id": graph.graph_id}, "node_id")
    place = {n.node_id: i for i, n in enumerate(nodes)}
    slots: dict[tuple[str, int], int] = {}
    given = [
        (place[n], slots.setdefault((nodes[place[n]].name, position), len(slots)), *rest)
        for n, position, *rest in found
        if n in place
    ]
    elsewhere = [
        (a.address, a.bytes) for a in recording.fetch_allocations(graph.run_id) if a.bytes > 0
    ]
    order = np.arange(len(nodes), dtype=np.int64)
    uses = find_uses(_arguments(given), _operations(nodes), order, elsewhere)
    addresses: list[set[int]] = [set() for _ in nodes]
    allocations: list[set[int]] = [set() for _ in nodes]
    known = np.isin(uses.access, _KNOWN) & (uses.allocation >= 0)
    for use in np.flatnonzero(known).tolist():
        addresses[int(uses.node[use])].add(int(uses.address[use]))
        allocation = int(uses.allocation_address[uses.allocation[use]])
        allocations[int(uses.node[use])].add(allocation)
    values: list[list[bytes]] = [[] for _ in nodes]
    for node, _, value, *_ in given:
        values[node].append(value)
    return NodeMemory(
        addresses=tuple(map(frozenset, addresses)),
        allocations=tuple(map(frozenset, allocations)),
        known=frozenset(i for i, n in enumerate(nodes) if _is_known(n, addresses[i])),
        arguments=tuple(b"".join(v) for v in values),
    )


def _arguments(given: Sequence[tuple[Any, ...]]) -> GivenArguments:
    return GivenArguments(
        node=np.array([g[0] for g in given], np.int64),
        slot=np.array([g[1] for g in given], np.int64),
        value=Blobs.of([g[2] for g in given]),
        allocation_address=np.array([g[3] or 0 for g in given], np.uint64),
        allocation_bytes=np.array([g[4] or 0 for g in given], np.int64),
    )


def _operations(nodes: Sequence[NodeRow]) -> MemoryOperations:
    """Return what copies and memsets do."""
    found = [
        (i, access, address, -1 if n.bytes is None else n.bytes)
        for i, n in enumerate(nodes)
        if n.type in (NodeType.MEMCPY, NodeType.MEMSET)
        for access, address in (
            (Access.READ, n.source_address),
            (Access.WRITTEN, n.destination_address),
        )
        if address is not None
    ]
    return MemoryOperations(
        node=np.array([f[0] for f in found], np.int64),
        access=np.array([f[1] for f in found], np.uint8),
        address=np.array([f[2] for f in found], np.uint64),
        bytes=np.array([f[3] for f in found], np.int64),
    )


def _is_known(node: NodeRow, addresses: set[int]) -> bool:
    if node.type == NodeType.KERNEL:
        return bool(addresses)
    if node.type == NodeType.MEMSET:
        return node.destination_address in addresses
    if node.type == NodeType.MEMCPY:
        # A side in host memory lies in no allocation of the device; one side at least must.
        return bool(addresses)
    return False
