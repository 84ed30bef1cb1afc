"""The memory that each node of a graph is given, as far as arguments and copies show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gviz.cuda import NodeType
from gviz.dataclass import dataclass
from gviz.model import Access, GivenArguments, MemoryOperations, TreeNodes, find_uses
from gviz.recording import Blobs, rows
from gviz.stats import BoolArray

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Of larger graphs the arguments are not read: they may be kilobytes a node.
MOST_NODES = 20_000
#: Stands for an address that is not recorded.
_NO_ADDRESS = np.iinfo(np.int64).min
#: What is known of a use, and not only looks like one.
_KNOWN = (Access.GIVEN, Access.READ, Access.WRITTEN)


@dataclass(frozen=True, slots=True)
class NodeMemory:
    """Memory by the index of a node of the outermost level.

    An allocation may be a segment of a framework's allocator that holds many tensors. A kernel
    may also use memory that no argument points to; nothing records that.

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
    recording: Recording, graph: rows.Graph, nodes: TreeNodes, *, opaque: BoolArray
) -> NodeMemory:
    """Return the memory of the nodes of a graph's outermost level.

    Parameters
    ----------
    opaque
        bool, one a node: its arguments do not lead to all of its memory, as those of collectives,
        whose work lists lie in device memory.
    """
    columns = ("node_id", "position", "value", "allocation_address", "allocation_bytes")
    found = recording.fetch_columns(rows.Argument, columns, {"graph_id": graph.graph_id}, "node_id")
    place = {node_id: i for i, node_id in enumerate(nodes.integers("node_id").tolist())}
    names = nodes.listed("name")
    slots: dict[tuple[str, int], int] = {}
    given = [
        (place[n], slots.setdefault((names[place[n]], position), len(slots)), *rest, position)
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
        known=frozenset(_known_nodes(nodes, addresses)) - {*np.flatnonzero(opaque).tolist()},
        arguments=tuple(b"".join(v) for v in values),
    )


def _arguments(given: Sequence[tuple[Any, ...]]) -> GivenArguments:
    return GivenArguments(
        node=np.array([g[0] for g in given], np.int64),
        slot=np.array([g[1] for g in given], np.int64),
        value=Blobs.of([g[2] for g in given]),
        allocation_address=np.array([g[3] or 0 for g in given], np.uint64),
        allocation_bytes=np.array([g[4] or 0 for g in given], np.int64),
        position=np.array([g[5] for g in given], np.int64),
        # What the kernel declares of them makes no difference here.
        read_only=np.zeros(len(given), bool),
        parameter=np.full(len(given), -1),
    )


def _operations(nodes: TreeNodes) -> MemoryOperations:
    """Return what copies and memsets do."""
    sizes = nodes.integers("bytes", -1)
    writing = np.isin(nodes.integers("type"), (NodeType.MEMCPY, NodeType.MEMSET))
    node, access, address = [], [], []
    for column, kind in (("source_address", Access.READ), ("destination_address", Access.WRITTEN)):
        given = nodes.integers(column, _NO_ADDRESS)
        at = np.flatnonzero(writing & (given != _NO_ADDRESS))
        node.append(at)
        access.append(np.full(len(at), kind, np.uint8))
        address.append(given[at])
    of = np.concatenate(node)
    order = np.argsort(of, kind="stable")
    return MemoryOperations(
        node=of[order],
        access=np.concatenate(access)[order],
        address=np.concatenate(address)[order].astype(np.uint64),
        bytes=sizes[of[order]],
    )


def _known_nodes(nodes: TreeNodes, addresses: Sequence[set[int]]) -> Iterator[int]:
    """Yield the nodes of which all memory is known."""
    columns = (nodes.integers("type").tolist(), nodes.listed("destination_address"), addresses)
    for node, (kind, destination, given) in enumerate(zip(*columns, strict=True)):
        # Of a copy a side in host memory lies in no allocation of the device; one side must.
        if (kind in (NodeType.KERNEL, NodeType.MEMCPY) and given) or (
            kind == NodeType.MEMSET and destination in given
        ):
            yield node
