"""The memory that the nodes of a graph level are given, read from the recording."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gviz.cuda import NodeType
from gviz.dataclass import dataclass
from gviz.model.memory.buffers import Extents, buffer_names, find_extents
from gviz.model.memory.uses import (
    Access,
    GivenArguments,
    MemoryOperations,
    MemoryUses,
    find_uses,
)
from gviz.model.parameters import (
    Declarations,
    KernelParameter,
    fitting_parameters,
    read_declared,
)
from gviz.model.tree import GraphLevel, read_level_columns
from gviz.recording import Columns, Texts, join_blobs, rows
from gviz.stats import IntArray

if TYPE_CHECKING:
    from gviz.recording import Recording

_ARGUMENT = ("node_id", "position", "value", "allocation_address", "allocation_bytes")
_NODE = (
    "node_id",
    "type",
    "name",
    "function_id",
    "source_address",
    "destination_address",
    "bytes",
)
#: Stands for a node without a kernel.
_NO_FUNCTION = -1
#: Kernels have 4 KiB of arguments at most.
_MOST_POSITIONS = 1 << 16
#: Operations of a batch memory node as collectors/csrc/graph/parameters.c words them.
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
    extents
        How far the memory of each use reaches.
    names
        Of each place (:func:`gviz.model.memory.buffers.buffer_names`).
    order
        int64, one a node: greater than those of all that the node waits for.
    argument_count
        Kernel arguments in the recording; 0: none were recorded.
    graph_ids
        The level and those nested in it.
    """

    uses: MemoryUses
    extents: Extents
    names: tuple[str | None, ...]
    order: IntArray
    argument_count: int
    graph_ids: frozenset[int]


def read_memory(recording: Recording, level: GraphLevel) -> LevelMemory:
    """Return what memory the nodes of a level, and the nodes nested in them, are given."""
    levels = list(_levels(level))
    nodes = [
        _LevelNodes(graph_id, read_level_columns(recording, graph_id, _NODE), around)
        for graph_id, around in levels
    ]
    parameters: list[KernelParameter] = []
    declared = read_declared(recording, level.graph.run_id)
    arguments = _arguments(recording, nodes, declared, parameters)
    operations = _operation_columns([o for of in nodes for o in _operations(recording, of)])
    shown = frozenset(graph_id for graph_id, _ in levels)
    elsewhere = [
        (a.address, a.bytes)
        for a in recording.fetch_allocations(level.graph.run_id)
        if a.graph_id not in shown and a.bytes > 0
    ]
    # Without edges the order of creation is the best that is known.
    known = level.graph.topology_id is not None
    order = level.row if known else np.arange(len(level.nodes), dtype=np.int64)
    uses = find_uses(arguments, operations, order, elsewhere)
    names = buffer_names(uses, parameters)
    return LevelMemory(uses, find_extents(uses), names, order, len(arguments.node), shown)


class _LevelNodes(NamedTuple):
    """Nodes of one of the graphs of a level; ``around``: the node that all of them count as."""

    graph_id: int
    nodes: Columns
    around: int | None

    def owner(self, at: IntArray) -> IntArray:
        """Return the node of the level that those at some positions count as."""
        return at if self.around is None else np.full(len(at), self.around)

    def find(self, node_ids: IntArray) -> IntArray:
        """Return the positions of nodes; -1: not here."""
        ids = self.nodes.integers("node_id")
        if not len(ids):
            return np.full(len(node_ids), -1, np.int64)
        at = np.minimum(np.searchsorted(ids, node_ids), len(ids) - 1)
        return np.where(ids[at] == node_ids, at, -1)


def _arguments(
    recording: Recording,
    levels: Sequence[_LevelNodes],
    declared: Mapping[int, Declarations],
    parameters: list[KernelParameter],
) -> GivenArguments:
    """Return the arguments of all nodes; slots are numbered by kernel name and position.

    What they are numbers of is added to ``parameters``.
    """
    names: dict[str, int] = {}
    parts = [_level_arguments(recording, of, names, declared, parameters) for of in levels]
    columns = [f.name for f in fields(GivenArguments) if f.name != "value"]
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in columns}
    return GivenArguments(value=join_blobs([part.value for part in parts]), **joined)


def _level_arguments(
    recording: Recording,
    of: _LevelNodes,
    names: dict[str, int],
    declared: Mapping[int, Declarations],
    parameters: list[KernelParameter],
) -> GivenArguments:
    found = recording.fetch_arrays(rows.Argument, {"graph_id": of.graph_id}, _ARGUMENT)
    at = of.find(found.integers("node_id"))
    here = at >= 0
    at = at[here]
    position = found.integers("position")[here]
    value = found.blobs("value").take(here)
    function = of.nodes.integers("function_id", _NO_FUNCTION)[at]
    number, own = number_parameters(declared, function, position, np.diff(value.offset))
    read_only = np.array([parameter.is_read_only for parameter in own], bool)
    first = len(parameters)
    parameters += own
    return GivenArguments(
        node=of.owner(at),
        slot=_codes(of.nodes.texts("name"), names)[at] * _MOST_POSITIONS + position,
        value=value,
        allocation_address=found.integers("allocation_address", 0)[here].astype(np.uint64),
        allocation_bytes=found.integers("allocation_bytes", 0)[here],
        position=position,
        read_only=read_only[number],
        parameter=first + number,
    )


def _codes(column: Texts, known: dict[str, int]) -> IntArray:
    """Return a number for each text of a column, adding what is new; NULL is 0."""
    numbers = [known.setdefault(text, len(known) + 1) for text in column.values]
    return np.array([*numbers, 0], np.int64)[column.codes]


def number_parameters(
    declared: Mapping[int, Declarations],
    function: IntArray,
    position: IntArray,
    size: IntArray,
) -> tuple[IntArray, list[KernelParameter]]:
    """Return a number for each argument, and the parameter that each number is of.

    Parameters
    ----------
    declared
        What declares the parameters, by function_id.
    function, position, size
        int64, one an argument: its kernel, parameter and bytes; of one kernel all are alike.
    """
    if not len(function):
        return np.zeros(0, np.int64), []
    keys, first, which = np.unique(
        function * _MOST_POSITIONS + position, return_index=True, return_inverse=True
    )
    pairs = [divmod(key, _MOST_POSITIONS) for key in keys.tolist()]
    sizes: dict[int, dict[int, int]] = {}
    for (function_id, at), bytes_ in zip(pairs, size[first].tolist(), strict=True):
        sizes.setdefault(function_id, {})[at] = bytes_
    fitting = {f: fitting_parameters(declared.get(f, ()), of) for f, of in sizes.items()}
    return which.reshape(-1), [fitting[f][at] for f, at in pairs]


def _levels(level: GraphLevel) -> Iterator[tuple[int, int | None]]:
    """Yield the level's graph, and those nested in it with the node of the level around each."""
    yield level.graph.graph_id, None
    tree = level.tree
    for node in level.parents:
        for at in tree.levels_inside(level.first + node):
            yield tree.levels[at].graph.graph_id, node


def _operations(recording: Recording, of: _LevelNodes) -> Iterator[_Operation]:
    nodes = of.nodes
    kinds, size = nodes.integers("type"), nodes.integers("bytes", -1)
    source, target = (nodes.integers(f"{end}_address", -1) for end in ("source", "destination"))
    at = np.flatnonzero((source >= 0) | (target >= 0))
    columns = (of.owner(at), kinds[at], source[at], target[at], size[at])
    for node, kind, read, written, bytes_ in zip(*(c.tolist() for c in columns), strict=True):
        if kind == NodeType.MEM_ALLOC:
            if written >= 0:
                yield node, Access.ALLOCATED, written, bytes_
        elif kind == NodeType.MEM_FREE:
            if written >= 0:
                yield node, Access.FREED, written, -1
        else:
            if read >= 0:
                yield node, Access.READ, read, bytes_
            if written >= 0:
                yield node, Access.WRITTEN, written, bytes_
    if (kinds == NodeType.BATCH_MEM_OP).any():
        for parameter in recording.fetch_graph_parameters(of.graph_id):
            if found := _OPERATION.match(parameter.value):
                way, bits, address = found.groups()
                access = Access.READ if way == "WAIT" else Access.WRITTEN
                node = int(of.owner(of.find(np.array([parameter.node_id])))[0])
                yield node, access, int(address, 16), int(bits) // 8


def _operation_columns(found: list[_Operation]) -> MemoryOperations:
    node, access, address, size = zip(*found, strict=True) if found else ((),) * 4
    return MemoryOperations(
        np.array(node, np.int64),
        np.array(access, np.uint8),
        np.array(address, np.uint64),
        np.array(size, np.int64),
    )
