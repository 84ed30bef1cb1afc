"""A DOT dump of the CUDA driver, as values.

A verbose dump (flag 1) fills most fields, a plain one (flags 0) only kind, name and,
for copies and sets, direction and size. What is not printed is None.
"""

from __future__ import annotations

from typing import NamedTuple

from gviz.dataclass import dataclass

#: Node type of a kind that gviz does not know; its printed name is kept.
UNKNOWN_TYPE = -1

Dim3 = tuple[int, int, int]


class Parent(NamedTuple):
    """The node that runs a graph level, and as which branch."""

    graph_number: int
    node_id: int
    branch: int | None


@dataclass(frozen=True, slots=True)
class DotKernel:
    """A kernel launch: symbol, launch shape and attributes."""

    mangled_name: str
    grid_dim: Dim3 | None = None
    block_dim: Dim3 | None = None
    shared_mem_bytes: int | None = None
    function_handle: int | None = None
    cooperative: int | None = None
    priority: int | None = None
    cluster_dim: Dim3 | None = None


@dataclass(frozen=True, slots=True)
class DotMemcpy:
    """A copy: direction as printed (``DtoD``), extent, and both ends."""

    direction: str | None
    bytes: int | None
    extent: Dim3 | None = None
    source_address: int | None = None
    destination_address: int | None = None


@dataclass(frozen=True, slots=True)
class DotMemset:
    """A set: value, size of an element, and width (elements) times height (rows)."""

    value: int | None
    bytes: int | None
    address: int | None = None
    element_bytes: int | None = None
    width: int | None = None
    height: int | None = None
    pitch_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class DotMemory:
    """An allocation or a free."""

    address: int | None
    bytes: int | None


@dataclass(frozen=True, slots=True)
class DotConditional:
    """A conditional node; ``bodies`` are the numbers of its body graphs by branch."""

    type: str | None
    handle: int | None
    bodies: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DotNode:
    """A node of a cluster.

    Attributes
    ----------
    node_id
        The number at the end of ``graph_<n>_node_<id>``.
    type
        CUgraphNodeType, or UNKNOWN_TYPE.
    kind
        The kind as printed (``EVENT_WAIT``); for a child graph node ``GRAPH``.
    topo_id
        The driver's topological number; 0 is a node without dependents.
    child_graph
        Number of the cluster that a child graph node runs.
    fields
        Every (name, value) that the label printed, as text, in its order.
    columns
        Columns of table node, of text that gviz wrote; no driver writes them.
    """

    node_id: int
    type: int
    kind: str
    topo_id: int | None = None
    handle: int | None = None
    kernel: DotKernel | None = None
    memcpy: DotMemcpy | None = None
    memset: DotMemset | None = None
    memory: DotMemory | None = None
    conditional: DotConditional | None = None
    child_graph: int | None = None
    event: int | None = None
    host_function: int | None = None
    user_data: int | None = None
    fields: tuple[tuple[str, str], ...] = ()
    columns: tuple[tuple[str, int | str], ...] = ()


@dataclass(frozen=True, slots=True)
class DotEdge:
    """A dependency between nodes of one cluster.

    Drivers up to CUDA 13.0 print programmatic and launch-order edges like any other
    (measured): the text does not have the kind of an edge.

    Attributes
    ----------
    position
        Place of this edge among the dependencies of ``to_node`` (``headlabel``).
    attributes
        Every other (name, value) that the edge carries, as text.
    type, from_port, to_port
        As in table edge; only in text that gviz wrote.
    """

    from_node: int
    to_node: int
    position: int | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    type: int = 0
    from_port: int = 0
    to_port: int = 0


@dataclass(frozen=True, slots=True)
class DotGraph:
    """A cluster: one graph level, with its nodes by node_id and its edges.

    Attributes
    ----------
    number
        The driver's number in ``graph_<number>``.
    name
        The cluster's label.
    line
        Line of the text where the cluster begins, from 1.
    is_own
        Whether gviz wrote the text (:mod:`gviz.formats.dot.own`); the rest is only in such text
        only.
    parent
        Where the level is a body, whatever its nodes name.
    edges_known, edges_inferred
        Whether the edges are known at all, and whether from stream order only.
    """

    number: int
    name: str
    line: int
    nodes: tuple[DotNode, ...]
    edges: tuple[DotEdge, ...]
    is_own: bool = False
    parent: Parent | None = None
    edges_known: bool = True
    edges_inferred: bool = False
