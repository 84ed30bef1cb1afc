"""The memory that the nodes of a graph level are given, read from the recording."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gviz.app.graph_level import GraphLevel, read_level
from gviz.app.graph_view import GraphView
from gviz.app.library import Library
from gviz.memory_use import Access, GivenArguments, MemoryOperations, MemoryUses, find_uses
from gviz.node_type import NodeType
from gviz.recording import nesting_rows, rows

if TYPE_CHECKING:
    from gviz.recording.reader import Recording

IntArray = npt.NDArray[np.int64]

_ARGUMENT = ("node_id", "position", "value", "allocation_address", "allocation_bytes")
_NODE = ("node_id", "type", "name", "source_address", "destination_address", "bytes")
#: Operations of a batch memory node as collectors/csrc/parameters.c words them.
_OPERATION = re.compile(r"(WAIT|WRITE)_VALUE_(32|64) 0x([0-9a-f]+)")

#: node, access, address, bytes (-1: not known)
_Operation = tuple[int, Access, int, int]


@dataclass(frozen=True, slots=True)
class LevelMemory:
    """The uses of a level's nodes, which are counted by index; and whether any can be known.

    Attributes
    ----------
    uses
        Also those of nodes nested in a node of the level, as that node's.
    order
        int64, one a node: greater than those of all that the node waits for.
    argument_count
        Kernel arguments in the recording; 0: none were recorded.
    graph_ids
        The level and those nested in it.
    """

    uses: MemoryUses
    order: IntArray
    argument_count: int
    graph_ids: frozenset[int]


def read_memory(recording: Recording, level: GraphLevel) -> LevelMemory:
    """Return what memory the nodes of a level, and the nodes nested in them, are given."""
    arguments: list[tuple[Any, ...]] = []
    operations: list[_Operation] = []
    slots: dict[tuple[str, int], int] = {}
    levels = list(_levels(level))
    for graph_id, holder in levels:
        nodes = recording.fetch_columns(rows.Node, _NODE, {"graph_id": graph_id}, "node_id")
        index = {n[0]: at if holder is None else holder for at, n in enumerate(nodes)}
        name = {n[0]: n[2] for n in nodes}
        key = {"graph_id": graph_id}
        for node_id, position, *rest in recording.fetch_columns(
            rows.Argument, _ARGUMENT, key, "node_id"
        ):
            slot = slots.setdefault((name.get(node_id, ""), position), len(slots))
            if node_id in index:
                arguments.append((index[node_id], slot, *rest))
        operations += _operations(recording, graph_id, nodes, index.__getitem__)
    shown = frozenset(graph_id for graph_id, _ in levels)
    elsewhere = [
        (a.address, a.bytes)
        for a in recording.fetch_allocations(level.graph.run_id)
        if a.graph_id not in shown and a.bytes > 0
    ]
    # Without edges the order of creation is the best that is known.
    known = level.graph.topology_id is not None
    order = level.row if known else np.arange(len(level.nodes), dtype=np.int64)
    columns = _argument_columns(arguments), _operation_columns(operations)
    return LevelMemory(find_uses(*columns, order, elsewhere), order, len(arguments), shown)


def kept_memory(library: Library, file: str, view: GraphView) -> LevelMemory:
    """Return the memory of the level that a view is of: what its payloads are made of too."""
    opened = library.file(file)
    recording = opened.recording
    key = view.tree.graph.graph_id, view.at

    def read() -> LevelMemory:
        level = opened.derive(
            ("read", "level", *key), lambda: read_level(recording, view.tree, view.at)
        )
        return read_memory(recording, level)

    return opened.derive(("read", "memory", *key), read)


def why_no_lifetimes(
    memory: LevelMemory,
    allocated: Sequence[nesting_rows.Allocation],
    samples: Sequence[nesting_rows.GraphMemory],
) -> str | None:
    """Return why no memory lives along a launch, and what was looked at; None where some does.

    Parameters
    ----------
    memory
        Of the level.
    allocated, samples
        Of the run.
    """
    uses = memory.uses
    makes = np.isin(uses.access, (Access.ALLOCATED, Access.FREED)) & (uses.allocation >= 0)
    if makes.any():
        return None
    found = ["No node of this graph allocates or frees memory (MEM_ALLOC, MEM_FREE)."]
    if allocated:
        found.append("Other graphs of this run do.")
    elif not samples:
        found.append(
            "The pool for graphs (cuDeviceGetGraphMemAttribute) was not asked: it is once a graph "
            "with an alloc node was instantiated."
        )
    if not memory.argument_count:
        found.append("No kernel arguments were recorded, so no address is known either.")
    elif not len(uses):
        found.append("No address is known among the arguments of its nodes.")
    return " ".join(found)


def _levels(level: GraphLevel) -> Iterator[tuple[int, int | None]]:
    """Yield the level's graph, and those nested in it with the node of the level around each."""
    yield level.graph.graph_id, None
    tree = level.tree
    for node in level.holders:
        for at in tree.levels_inside(level.first + node):
            yield tree.levels[at].graph.graph_id, node


def _operations(
    recording: Recording,
    graph_id: int,
    nodes: list[tuple[Any, ...]],
    index: Callable[[int], int],
) -> Iterator[_Operation]:
    for node_id, kind, _, source, destination, size in nodes:
        bytes_ = -1 if size is None else size
        if kind == NodeType.MEM_ALLOC:
            if destination is not None:
                yield index(node_id), Access.ALLOCATED, destination, bytes_
        elif kind == NodeType.MEM_FREE:
            if destination is not None:
                yield index(node_id), Access.FREED, destination, -1
        else:
            if source is not None:
                yield index(node_id), Access.READ, source, bytes_
            if destination is not None:
                yield index(node_id), Access.WRITTEN, destination, bytes_
    if any(n[1] == NodeType.BATCH_MEM_OP for n in nodes):
        for parameter in recording.fetch_graph_parameters(graph_id):
            if found := _OPERATION.match(parameter.value):
                way, bits, address = found.groups()
                access = Access.READ if way == "WAIT" else Access.WRITTEN
                yield index(parameter.node_id), access, int(address, 16), int(bits) // 8


def _argument_columns(found: list[tuple[Any, ...]]) -> GivenArguments:
    node, slot, value, address, size = zip(*found, strict=True) if found else ((),) * 5
    return GivenArguments(
        np.array(node, np.int64),
        np.array(slot, np.int64),
        value,
        np.array([a or 0 for a in address], np.uint64),
        np.array([n or 0 for n in size], np.int64),
    )


def _operation_columns(found: list[_Operation]) -> MemoryOperations:
    node, access, address, size = zip(*found, strict=True) if found else ((),) * 4
    return MemoryOperations(
        np.array(node, np.int64),
        np.array(access, np.uint8),
        np.array(address, np.uint64),
        np.array(size, np.int64),
    )
