"""Turns DOT text, of the CUDA driver or of gviz itself, into a recording without times."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import gviz
from gviz.dag import describe_cycle, find_cycle
from gviz.errors import DotError, UsageError
from gviz.formats.dot.lexer import to_nobody
from gviz.formats.dot.model import UNKNOWN_TYPE, DotGraph, DotNode, Parent
from gviz.formats.dot.nodes import node_columns, shown_name
from gviz.formats.dot.parse import read_dot
from gviz.recording import RecordingWriter, rows
from gviz.runs import IdCounter, Rows, RunBuilder, integers
from gviz.stats import UNKNOWN, IntArray
from gviz.system import ShareRead

_LIMIT = (
    "Imported from DOT text, which has no times, no Python lines and no NVTX ranges, and "
    "does not distinguish programmatic edges from others."
)
_OWN_LIMIT = (
    "Imported from DOT text that gviz exported, which has no times, no Python lines, no "
    "arguments and no NVTX ranges."
)


#: Changes the columns of a level's nodes, of rows.Node, in place.
ChangeNodes = Callable[[DotGraph, Rows], None]


def import_dot(
    path: Path,
    output: Path,
    *,
    overwrite: bool = False,
    name: str | None = None,
    progress: ShareRead | None = None,
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
    progress
        Called with the share of the text that was read.

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
    report = progress or to_nobody
    text, graphs = read_graphs(path, report)
    report(1.0)
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


def read_graphs(path: Path, progress: ShareRead = to_nobody) -> tuple[str, tuple[DotGraph, ...]]:
    """Read a dump; return its text and its graph levels, none of which has a cycle.

    Raises
    ------
    DotError
        If the dump cannot be read, or has a cycle.
    """
    text, graphs = read_dot(path, progress)
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
    names = {node.node_id: shown_name(node) for node in graph.nodes}
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
        change: ChangeNodes | None = None,
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
        change
            Changes the nodes of each level before they are written, in the order of the levels.
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
            functions = integers(self._function(node) for node in graph.nodes)
            nodes = node_columns(graph.nodes, row.graph_id, functions)
            if change is not None:
                change(graph, nodes)
            self._builder.add_graph(row, nodes, topology, edges)
        return graph_ids

    def _topology(self, graph: DotGraph, edges: IntArray) -> rows.Topology:
        names = [node.kernel.mangled_name if node.kernel else "" for node in graph.nodes]
        return self._builder.topology([node.type for node in graph.nodes], names, edges)

    def _function(self, node: DotNode) -> int:
        if node.kernel is None or not node.kernel.mangled_name:
            return UNKNOWN
        return self._builder.kernels.number_of_symbol(node.kernel.mangled_name)


def _edge_columns(graph: DotGraph) -> IntArray:
    """Return the edges of a level, each once, as RunBuilder takes them."""
    edges = {(e.from_node, e.to_node, e.type, e.from_port, e.to_port) for e in graph.edges}
    return integers(chain.from_iterable(sorted(edges))).reshape(-1, 5)
