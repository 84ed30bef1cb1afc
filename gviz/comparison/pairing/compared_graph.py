"""A graph level as it is compared: what its nodes do and wait for, without addresses and times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gviz.dataclass import dataclass
from gviz.model import read_level_edges
from gviz.stats import UNKNOWN, IntArray

if TYPE_CHECKING:
    from gviz.model import GraphTree, TreeLevel, TreeNodes
    from gviz.recording import Recording, rows


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
        What distinguishes the work of two nodes of a type: a kernel's mangled name, else the
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
        Without edges only the order of creation gives a node's place.
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


#: Columns of nodes that are compared.
COMPARED_COLUMNS = (
    *("node_id", "type", "name", "function_id", "nvtx_path_id", "bytes"),
    *("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"),
)


def read_compared_graph(
    recording: Recording,
    tree: GraphTree,
    level: TreeLevel,
    functions: Mapping[int, rows.KernelFunction],
) -> ComparedGraph:
    """Return a level of a tree.

    Parameters
    ----------
    recording, tree, level
        The tree is read with :data:`COMPARED_COLUMNS`.
    functions
        Kernels of the run, by function_id.
    """
    nodes = tree.nodes[level.part]
    edges = read_level_edges(recording, tree, level)
    title = nodes.listed("name")
    kernels = (functions.get(number or 0) for number in nodes.listed("function_id"))
    names = zip(title, kernels, strict=True)
    return ComparedGraph(
        node_id=nodes.integers("node_id"),
        type=nodes.integers("type"),
        name=tuple(name if kernel is None else kernel.mangled_name for name, kernel in names),
        title=tuple(title),
        grid=_sizes(nodes, "grid"),
        block=_sizes(nodes, "block"),
        bytes=nodes.integers("bytes", UNKNOWN),
        context=tuple(tree.nvtx.get(path or 0, "") for path in nodes.listed("nvtx_path_id")),
        source=edges.source,
        target=edges.target,
        edge_type=edges.type,
        edges_known=level.graph.topology_id is not None,
    )


def _sizes(nodes: TreeNodes, name: str) -> IntArray:
    return np.column_stack([nodes.integers(f"{name}_{axis}", UNKNOWN) for axis in "xyz"])
