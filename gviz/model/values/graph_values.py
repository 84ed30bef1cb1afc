"""Values of a graph's nodes: all that was read of one of its executables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gviz.dataclass import dataclass
from gviz.model.parameters import FittedParameters, KernelParameter, read_declared
from gviz.model.tree import GraphTree
from gviz.model.values.data_flow import DataFlow, trace_data
from gviz.model.values.given_memory import GivenMemory, MemoryContents, given_memory
from gviz.recording import NodeValue, ValueReading, contents_folder, contents_name, rows

if TYPE_CHECKING:
    from gviz.recording import Recording

_NO_FUNCTION = -1


@dataclass(frozen=True)
class GraphValues:
    """Values that were read of a graph.

    Attributes
    ----------
    graph_exec_id
        The executable; None: nothing was read, or stream calls were.
    readings
        All of the graph, in the order they were made, refusals too.
    given
        Memory that its nodes are given, in the order in which the copy ran them.
    contents
        Folder of what memory held, where that was kept; None: it is not shown.
    """

    graph_exec_id: int | None
    readings: tuple[ValueReading, ...]
    given: tuple[GivenMemory, ...]
    contents: Path | None = None

    @property
    def was_requested(self) -> bool:
        """Return whether values were asked for when the recording was made."""
        return bool(self.readings)

    @property
    def refusals(self) -> tuple[str, ...]:
        """Return why not all was read, each reason once."""
        return tuple(dict.fromkeys(r.refusal for r in self.readings if r.refusal))

    @property
    def used_readings(self) -> tuple[ValueReading, ...]:
        """Return the readings that the values are of."""
        used = {memory.reading_id for memory in self.given}
        return tuple(reading for reading in self.readings if reading.reading_id in used)

    @cached_property
    def by_node(self) -> Mapping[int, Sequence[GivenMemory]]:
        """Memory by the node that is given it, an index of the tree."""
        found: dict[int, list[GivenMemory]] = {}
        for memory in self.given:
            found.setdefault(memory.node, []).append(memory)
        return found

    @cached_property
    def _places(self) -> Mapping[tuple[int, int, int, int], int]:
        """Places in ``given`` by node, position, offset and start."""
        return {memory.key: at for at, memory in enumerate(self.given)}

    @cached_property
    def flow(self) -> DataFlow:
        """The way of data: who wrote what each node is given, and who is given it next."""
        return trace_data(self.given)

    def writers(self, memory: GivenMemory) -> tuple[int, ...]:
        """Return the nodes that wrote what memory held before its node, or may have."""
        return self._nodes(self.flow.sources[self._places[memory.key]])

    def readers(self, memory: GivenMemory) -> tuple[int, ...]:
        """Return the later nodes that are given what its node left in memory."""
        return self._nodes(self.flow.readers[self._places[memory.key]])

    def kept_file(self, memory: GivenMemory, held: MemoryContents) -> Path | None:
        """Return the file of what memory held before or after its node; None: it was not kept."""
        name = contents_name(held.hash, memory.bytes, memory.address, memory.element)
        kept = None if self.contents is None else self.contents / f"{name}.npy"
        return kept if kept is not None and kept.exists() else None

    def _nodes(self, places: Iterable[int]) -> tuple[int, ...]:
        """Return the nodes at places in ``given``, indices of the tree, each once."""
        return tuple(dict.fromkeys(self.given[place].node for place in places))


def read_graph_values(recording: Recording, tree: GraphTree) -> GraphValues:
    """Return the values that were read of a graph: of the executable of which most nodes were.

    A node that was read several times has its last values.
    """
    readings = recording.fetch_value_readings(tree.graph.graph_id)
    of_copies = tuple(reading for reading in readings if not reading.is_of_calls)
    return _read_values(recording, tree, of_copies)


def read_eager_values(recording: Recording, tree: GraphTree) -> GraphValues:
    """Return the values of the same work by stream calls, in the order in which they were made.

    Each call is the node that the capture made of it. The values have no executable.
    """
    readings = recording.fetch_value_readings(tree.graph.graph_id)
    of_calls = tuple(reading for reading in readings if reading.is_of_calls)
    return _read_values(recording, tree, of_calls[-1:])


def _read_values(
    recording: Recording, tree: GraphTree, readings: tuple[ValueReading, ...]
) -> GraphValues:
    folder = contents_folder(recording.path)
    made = [reading for reading in readings if reading.refusal is None]
    values = {r.reading_id: recording.fetch_node_values(r.reading_id) for r in made}
    counts: Counter[int | None] = Counter()
    for reading in made:
        counts[reading.graph_exec_id] += len(values[reading.reading_id])
    most = max(counts.values(), default=0)
    if not most:
        return GraphValues(None, readings, (), folder)
    chosen = next(r.graph_exec_id for r in reversed(made) if counts[r.graph_exec_id] == most)
    last: dict[tuple[int, int], list[NodeValue]] = {}
    for reading in made:
        if reading.graph_exec_id == chosen:
            own = values[reading.reading_id]
            for key, of_node in groupby(own, lambda value: (value.graph_id, value.node_id)):
                last[key] = list(of_node)
    given = _Given(recording, tree)
    found = [memory for of_one in last.values() for memory in given.of_node(of_one)]
    found.sort(key=lambda memory: (memory.place, memory.position, memory.offset, memory.start))
    return GraphValues(chosen, readings, tuple(found), folder)


class _Given:
    """Rows of nodes to memory, with the parameters of their kernels."""

    def __init__(self, recording: Recording, tree: GraphTree) -> None:
        self._recording = recording
        self._tree = tree
        self._level = {level.graph.graph_id: level.at for level in tree.levels}
        self._declared = read_declared(recording, tree.graph.run_id)
        self._fitted = FittedParameters(self._declared)
        self._functions = tree.nodes.integers("function_id", _NO_FUNCTION)
        self._sizes: dict[int, dict[int, dict[int, int]]] = {}

    def of_node(self, values: Sequence[NodeValue]) -> Iterable[GivenMemory]:
        """Yield the memory that a node is given; nothing of a node that is not in the tree."""
        first = values[0]
        level = self._level.get(first.graph_id)
        if level is None:
            return
        node = int(self._tree.nodes_in(level, np.array([first.node_id], np.int64))[0])
        if node < 0:
            return
        parameters = self._parameters(node, first)
        after = {_key(v): v for v in values if v.side == "after"}
        for value in values:
            if value.side == "before":
                parameter = parameters.get(value.position)
                yield given_memory(node, value, after.get(_key(value)), parameter)

    def _parameters(self, node: int, value: NodeValue) -> Mapping[int, KernelParameter]:
        """Return the parameters of a node's kernel by position; empty: of no kernel."""
        function_id = int(self._functions[node])
        if function_id == _NO_FUNCTION:
            return {}
        sizes = self._sizes_in(value.graph_id).get(value.node_id)
        if sizes is None:
            declared = self._declared.get(function_id, ())
            sizes = {p.position: p.size_bytes or 8 for one in declared[:1] for p in one}
        return self._fitted.of(function_id, sizes)

    def _sizes_in(self, graph_id: int) -> Mapping[int, Mapping[int, int]]:
        """Return the sizes of arguments of a level by node and position."""
        if graph_id not in self._sizes:
            names = ("node_id", "position", "size_bytes")
            found = self._recording.fetch_columns(
                rows.Argument, names, {"graph_id": graph_id}, "node_id"
            )
            sizes = self._sizes.setdefault(graph_id, {})
            for node_id, position, size in found:
                sizes.setdefault(node_id, {})[position] = size
        return self._sizes[graph_id]


def _key(value: NodeValue) -> tuple[int, int, int]:
    return value.position, value.offset, value.start
