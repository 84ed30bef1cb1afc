"""Which memory each node of a graph is given, as far as arguments and copies tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gviz.analysis.executed_graph import NodeRow
from gviz.memory_use import GivenArgument, MemoryOperation, memory_uses
from gviz.node_type import NodeType
from gviz.recording import rows

if TYPE_CHECKING:
    from gviz.recording.reader import Recording

#: Of larger graphs the arguments are not read: they may be kilobytes a node.
MOST_NODES = 20_000


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
    columns = ("node_id", "value", "allocation_address", "allocation_bytes")
    found = recording.fetch_columns(rows.Argument, columns, {"graph_id": graph.graph_id}, "node_id")
    given = [GivenArgument(*row) for row in found]
    operations = [
        MemoryOperation(n.node_id, n.source_address, n.destination_address, n.bytes)
        for n in nodes
        if n.type in (NodeType.MEMCPY, NodeType.MEMSET)
    ]
    allocated = [(a.address, a.bytes) for a in recording.fetch_allocations(graph.run_id)]
    place = {n.node_id: i for i, n in enumerate(nodes)}
    addresses: list[set[int]] = [set() for _ in nodes]
    allocations: list[set[int]] = [set() for _ in nodes]
    for used in memory_uses(given, operations, allocated):
        for use in used.uses:
            addresses[place[use.node_id]].add(use.address)
            allocations[place[use.node_id]].add(used.address)
    values: list[list[bytes]] = [[] for _ in nodes]
    for argument in given:
        values[place[argument.node_id]].append(argument.value)
    return NodeMemory(
        addresses=tuple(map(frozenset, addresses)),
        allocations=tuple(map(frozenset, allocations)),
        known=frozenset(i for i, n in enumerate(nodes) if _is_known(n, addresses[i])),
        arguments=tuple(b"".join(v) for v in values),
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
