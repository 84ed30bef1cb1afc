"""Turns DOT text, of the CUDA driver or of gviz itself, into a recording without times."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import gviz
from gviz.cuda import CopyKind, node_type_name, short_name
from gviz.dag import describe_cycle, find_cycle
from gviz.errors import DotError, UsageError
from gviz.formats.dot.model import UNKNOWN_TYPE, DotGraph, DotNode, Parent
from gviz.formats.dot.parse import read_dot
from gviz.recording import RecordingWriter, number_range, rows
from gviz.runs import IdCounter, RunBuilder, integers, pack_rows
from gviz.stats import IntArray

_NOT_TIMED = "imported from DOT: no times"
_LIMIT = (
    "Imported from DOT text, which has no times, no Python lines and no NVTX ranges, and "
    "does not distinguish programmatic edges from others."
)
_OWN_LIMIT = (
    "Imported from DOT text that gviz exported, which has no times, no Python lines, no "
    "arguments and no NVTX ranges."
)
#: What SQLite can store in an INTEGER.
_INTEGER_LIMIT = 2**63


class NodeRow(Protocol):
    """Maker of a node's row."""

    def __call__(self, graph: DotGraph, node: DotNode, row: rows.Node, /) -> rows.Node:
        """Return the row to write, given the one that the dump alone makes."""


def import_dot(
    path: Path, output: Path, *, overwrite: bool = False, name: str | None = None
) -> Path:
    """Write a recording of what a DOT dump says, and return its place.

    Every top-level graph of the dump becomes a graph of origin ``dot``, every child graph
    and conditional body one of origin ``body``. The text is kept with the first graph.

    Parameters
    ----------
    path
        The dump, verbose or plain.
    output
        Where the recording goes.
    overwrite
        Replace an existing file at ``output``.
    name
        Name of the run; by default the dump's file name without its suffix.

    Raises
    ------
    DotError
        If the dump cannot be read.
    RecordingError
        If the recording cannot be written.
    UsageError
        If ``output`` is the dump itself.
    """
    if output.exists() and path.exists() and output.samefile(path):
        raise UsageError(f"the recording would replace the dump {path}; choose another --output")
    text, graphs = read_graphs(path)
    parents = find_parents(graphs)
    with RecordingWriter(output, overwrite=overwrite) as writer:
        builder = RunBuilder(writer, IdCounter())
        builder.add_run(
            name=name or path.stem,
            state="completed",
            source="import",
            collector="dot",
            collector_reason=f"imported from {path.name}",
            gviz_version=gviz.__version__,
        )
        builder.notes += _notes(graphs, parents)
        DotWriter(builder).write(graphs, parents, zlib.compress(text.encode()))
        builder.finish()
    return output


def read_graphs(path: Path) -> tuple[str, tuple[DotGraph, ...]]:
    """Read a dump; return its text and its graph levels, none of which has a cycle.

    Raises
    ------
    DotError
        If the dump cannot be read, or has a cycle.
    """
    text, graphs = read_dot(path)
    for graph in graphs:
        _check_acyclic(path, graph)
    return text, graphs


def find_parents(graphs: tuple[DotGraph, ...]) -> dict[int, Parent]:
    """Return, by graph number, the child-graph or conditional node that runs each body.

    A level has one parent, the first that names it; a reference that would make a level
    contain itself is left out.
    """
    known = {graph.number for graph in graphs}
    parents = {graph.number: graph.parent for graph in graphs if graph.parent is not None}
    for graph in graphs:
        for node in graph.nodes:
            for number, branch in _bodies(node):
                is_free = number in known and number not in parents
                if is_free and not _is_inside(graph.number, number, parents):
                    parents[number] = Parent(graph.number, node.node_id, branch)
    return parents


def _bodies(node: DotNode) -> list[tuple[int, int | None]]:
    """Return the (graph number, branch) that a node runs."""
    if node.child_graph is not None:
        return [(node.child_graph, None)]
    if node.conditional is not None:
        return [(number, branch) for branch, number in enumerate(node.conditional.bodies)]
    return []


def _is_inside(number: int, ancestor: int, parents: dict[int, Parent]) -> bool:
    while number != ancestor:
        if number not in parents:
            return False
        number = parents[number].graph_number
    return True


def _check_acyclic(path: Path, graph: DotGraph) -> None:
    ids = sorted({n for edge in graph.edges for n in (edge.from_node, edge.to_node)})
    index = {node_id: i for i, node_id in enumerate(ids)}
    edges = ((index[edge.from_node], index[edge.to_node]) for edge in graph.edges)
    cycle = find_cycle(len(ids), edges)
    if not cycle:
        return
    names = {node.node_id: _shown_name(node) for node in graph.nodes}
    described = describe_cycle([f"{names.get(ids[i], '?')} (node {ids[i]})" for i in cycle])
    raise DotError(
        f"{path}, line {graph.line}: {graph.name} has a cycle, {described}, which no CUDA graph "
        "can have; take out one of these edges, or have the driver write the dump again"
    )


def _notes(graphs: tuple[DotGraph, ...], parents: dict[int, Parent]) -> Iterator[tuple[str, str]]:
    if any(graph.is_own for graph in graphs):
        yield "limit", _OWN_LIMIT
        return
    yield "limit", _LIMIT
    nodes = [node for graph in graphs for node in graph.nodes]
    kernels = [node.kernel for node in nodes if node.kernel is not None]
    if any(kernel.grid_dim is None for kernel in kernels):
        yield (
            "limit",
            "The dump is a plain one: it has no launch shapes and no addresses. "
            "cudaGraphDebugDotPrint with cudaGraphDebugDotFlagsVerbose writes them.",
        )
    unknown = sorted({node.kind for node in nodes if node.type == UNKNOWN_TYPE})
    if unknown:
        yield (
            "warning",
            f"Node kinds that this gviz does not know, shown by name only: {', '.join(unknown)}.",
        )
    known = {graph.number for graph in graphs}
    wanted = {number for node in nodes for number, _ in _bodies(node)}
    for number in sorted(wanted - known):
        yield "warning", f"The dump names graph_{number} as a body but does not describe it."
    if len(parents) < sum(number in known for node in nodes for number, _ in _bodies(node)):
        yield "warning", "Some body is named by several nodes; it is shown under the first."


class DotWriter:
    """Writes graphs of dumps into a run.

    Parameters
    ----------
    builder
        Of the run.
    """

    def __init__(self, builder: RunBuilder) -> None:
        self._builder = builder

    def write(
        self,
        graphs: Sequence[DotGraph],
        parents: Mapping[int, Parent],
        text: bytes,
        node_row: NodeRow | None = None,
    ) -> dict[int, int]:
        """Write graph levels; return their graph_id by number.

        Parameters
        ----------
        graphs
            The levels, with those that run in them.
        parents
            The result of :func:`find_parents`.
        text
            The dump, compressed; kept with the first level that has no parent.
        node_row
            Changes the rows of nodes.
        """
        graph_ids = {graph.number: self._builder.numbers.take("graph") for graph in graphs}
        first_top = next(graph.number for graph in graphs if graph.number not in parents)
        for graph in graphs:
            parent = parents.get(graph.number)
            edges = _edge_columns(graph)
            topology = self._topology(graph, edges) if graph.edges_known else None
            row = rows.Graph(
                graph_id=graph_ids[graph.number],
                run_id=self._builder.run_id,
                name=graph.name,
                origin="body" if parent else "trace" if graph.edges_inferred else "dot",
                parent_graph_id=None if parent is None else graph_ids[parent.graph_number],
                parent_node_id=None if parent is None else parent.node_id,
                branch=None if parent is None else parent.branch,
                topology_id=None if topology is None else topology.topology_id,
                dot=text if graph.number == first_top else None,
            )
            nodes = []
            for node in graph.nodes:
                found = build_node_row(node, row.graph_id, self._function(node))
                nodes.append(found if node_row is None else node_row(graph, node, found))
            self._builder.add_graph(row, pack_rows(rows.Node, nodes), topology, edges)
        return graph_ids

    def _topology(self, graph: DotGraph, edges: IntArray) -> rows.Topology:
        names = [node.kernel.mangled_name if node.kernel else "" for node in graph.nodes]
        return self._builder.topology([node.type for node in graph.nodes], names, edges)

    def _function(self, node: DotNode) -> int | None:
        if node.kernel is None or not node.kernel.mangled_name:
            return None
        return self._builder.kernels.number_of_symbol(node.kernel.mangled_name)


def _edge_columns(graph: DotGraph) -> IntArray:
    """Return the edges of a level, each once, as RunBuilder takes them."""
    edges = {(e.from_node, e.to_node, e.type, e.from_port, e.to_port) for e in graph.edges}
    return integers(chain.from_iterable(sorted(edges))).reshape(-1, 5)


def build_node_row(node: DotNode, graph_id: int, function_id: int | None) -> rows.Node:
    """Build the recording's row of a node."""
    if node.columns:
        bare = rows.Node(
            graph_id=graph_id,
            node_id=node.node_id,
            exec_node_id=None,
            type=node.type,
            name="",
            function_id=function_id,
            not_timed_reason=_NOT_TIMED,
        )
        columns: dict[str, Any] = dict(node.columns)
        return replace(bare, **columns)
    kernel, memcpy, memset, memory = node.kernel, node.memcpy, node.memset, node.memory
    grid = (kernel and kernel.grid_dim) or (None, None, None)
    block = (kernel and kernel.block_dim) or (None, None, None)
    sized = memcpy or memset or memory
    target = memset or memory
    destination = memcpy.destination_address if memcpy else target.address if target else None
    return rows.Node(
        graph_id=graph_id,
        node_id=node.node_id,
        exec_node_id=None,
        type=node.type,
        name=_shown_name(node),
        function_id=function_id,
        grid_x=_stored(grid[0], "grid_x"),
        grid_y=_stored(grid[1], "grid_y"),
        grid_z=_stored(grid[2], "grid_z"),
        block_x=_stored(block[0], "block_x"),
        block_y=_stored(block[1], "block_y"),
        block_z=_stored(block[2], "block_z"),
        shared_mem_bytes=_stored(kernel.shared_mem_bytes, "shared_mem_bytes") if kernel else None,
        priority=_stored(kernel.priority, "priority") if kernel else None,
        cooperative=_stored(kernel.cooperative, "cooperative") if kernel else None,
        copy_kind=_copy_kind(memcpy.direction) if memcpy else None,
        bytes=_stored(sized.bytes, "bytes") if sized else None,
        source_address=_stored(memcpy.source_address, "source_address") if memcpy else None,
        destination_address=_stored(destination, "destination_address"),
        memset_value=_stored(memset.value, "memset_value") if memset else None,
        memset_element_bytes=_stored(memset.element_bytes, "memset_element_bytes")
        if memset
        else None,
        not_timed_reason=_NOT_TIMED,
        conditional_type=node.conditional.type.lower()
        if node.conditional is not None and node.conditional.type
        else None,
    )


def _shown_name(node: DotNode) -> str:
    if node.columns:
        return str(dict(node.columns)["name"])
    if node.kernel is not None:
        return short_name(node.kernel.mangled_name)
    if node.type == UNKNOWN_TYPE:
        return node.kind
    name = node_type_name(node.type)
    if node.memcpy is not None and node.memcpy.direction:
        return f"{name} {node.memcpy.direction}"
    if node.conditional is not None and node.conditional.type:
        return f"{name} {node.conditional.type}"
    return name


def _copy_kind(direction: str | None) -> int:
    return CopyKind.__members__.get((direction or "").upper(), CopyKind.UNKNOWN)


def _stored(number: int | None, column: str) -> int | None:
    """Return a number as a column can hold it, None for one that no real dump has."""
    if number is None or not -_INTEGER_LIMIT < number < _INTEGER_LIMIT:
        return None
    least, most = number_range(column) or (number, number)
    return number if least <= number <= most else None
