"""A graph level as it is compared: what its nodes do and wait for, without addresses and times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gviz.matching import UNKNOWN
from gviz.model import edge_indices, nvtx_texts
from gviz.recording import rows
from gviz.stats import IntArray

if TYPE_CHECKING:
    from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class ComparedGraph:
    """The nodes of a graph level, in order of creation, and its edges.

    Attributes
    ----------
    node_id
        int64, ascending.
    type
        int64 CUgraphNodeType.
    name
        What tells the work of two nodes of a type apart: a kernel's mangled name, else the
        name shown.
    title
        The name shown: of a kernel without parameters and most template arguments.
    grid, block
        int64 of shape (n, 3); -1: none.
    bytes
        int64: copied, set or allocated; -1: none.
    context
        NVTX ranges that a node was created in, outermost first; "": none.
    source, target
        int64 node indices of each edge's dependency and dependent.
    edge_type
        int64 CUgraphDependencyType.
    edges_known
        Without edges only the order of creation tells where a node stands.
    """

    node_id: IntArray
    type: IntArray
    name: tuple[str, ...]
    title: tuple[str, ...]
    grid: IntArray
    block: IntArray
    bytes: IntArray
    context: tuple[str, ...]
    source: IntArray
    target: IntArray
    edge_type: IntArray
    edges_known: bool = True

    def __len__(self) -> int:
        return len(self.node_id)


class _Node(NamedTuple):
    """The columns of table node that are read."""

    node_id: int
    type: int
    name: str
    function_id: int | None
    nvtx_path_id: int | None
    grid_x: int | None
    grid_y: int | None
    grid_z: int | None
    block_x: int | None
    block_y: int | None
    block_z: int | None
    bytes: int | None


def read_graph(recording: Recording, graph_id: int) -> ComparedGraph:
    """Return a graph level of a recording; RecordingError if there is no such graph."""
    graph = recording.fetch_graph(graph_id)
    key = {"graph_id": graph_id}
    nodes = [
        _Node._make(n) for n in recording.fetch_columns(rows.Node, _Node._fields, key, "node_id")
    ]
    functions = recording.fetch_functions(graph.run_id)
    symbols = {key: function.mangled_name for key, function in functions.items()}
    paths = nvtx_texts(recording.fetch_nvtx_paths(graph.run_id))
    node_id = np.array([n.node_id for n in nodes], np.int64)
    edges = edge_indices(recording, graph, node_id)
    return ComparedGraph(
        node_id=node_id,
        type=np.array([n.type for n in nodes], np.int64),
        name=tuple(symbols.get(n.function_id or 0, n.name) for n in nodes),
        title=tuple(n.name for n in nodes),
        grid=_numbers([(n.grid_x, n.grid_y, n.grid_z) for n in nodes]),
        block=_numbers([(n.block_x, n.block_y, n.block_z) for n in nodes]),
        bytes=_numbers([(n.bytes,) for n in nodes])[:, 0],
        context=tuple(paths.get(n.nvtx_path_id or 0, "") for n in nodes),
        source=edges.source,
        target=edges.target,
        edge_type=edges.type,
        edges_known=graph.topology_id is not None,
    )


def _numbers(values: list[tuple[int | None, ...]]) -> IntArray:
    known = [[UNKNOWN if v is None else v for v in row] for row in values]
    return np.array(known, np.int64).reshape(len(values), len(values[0]) if values else 3)
