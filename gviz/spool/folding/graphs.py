"""Graphs, their nodes and executables, from what the spool says about them."""

from __future__ import annotations

import zlib
from dataclasses import field, replace
from pathlib import Path

import numpy as np

from gviz.cuda import (
    NodeType,
    conditional_type_name,
)
from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.runs import Activities, NodeKeys, Rows, RunBuilder, blank_rows, integers
from gviz.spool.folding.nodes import NodeColumns
from gviz.spool.folding.origins import Origins
from gviz.spool.records import (
    NO_STREAM,
    GraphWalk,
    LifeRecord,
)
from gviz.spool.streams import Contents, Numbering, body_name
from gviz.stats import UNKNOWN, BoolArray, IntArray

#: Levels of graphs inside graphs; the collector follows 16 child graphs into each other.
_MOST_NESTED = 64
#: Origins of graphs of which there is no executable.
FAILED_CAPTURE, FAILED_INSTANTIATION = "failed capture", "failed instantiation"


@dataclass(slots=True)
class FoldedGraph:
    """One graph level: its rows, and the executables that were made of it.

    Attributes
    ----------
    nodes, arguments, parameters
        Columns of rows.Node, by node_id, of rows.Argument and of rows.NodeParameter.
    edges
        As RunBuilder takes them.
    numbers
        The number of each node in the executable (int64), also of nodes that are not timed;
        UNKNOWN where the driver's numbering is not known.
    """

    row: rows.Graph
    nodes: Rows
    edges: IntArray
    numbers: IntArray
    arguments: Rows = field(default_factory=lambda: blank_rows(rows.Argument, 0))
    parameters: Rows = field(default_factory=lambda: blank_rows(rows.NodeParameter, 0))
    topology: rows.Topology | None = None

    def find(self, node_id: int) -> Rows | None:
        """Return the row of a node, which may be changed; None: there is none of this id."""
        (at,), (is_node,) = self.places(np.array([node_id]))
        return self.nodes[at] if is_node else None

    def places(self, node_ids: IntArray) -> tuple[IntArray, BoolArray]:
        """Return where nodes stand, and which of these ids are those of nodes."""
        ids = self.nodes["node_id"]
        if not len(ids):
            return np.zeros(len(node_ids), np.int64), np.zeros(len(node_ids), bool)
        at = np.minimum(np.searchsorted(ids, node_ids), len(ids) - 1)
        return at, ids[at] == node_ids

    def has_type(self, kind: NodeType) -> bool:
        """Return whether a node is of a type."""
        return bool((self.nodes["type"] == kind).any())


@dataclass(slots=True)
class Graphs:
    """All graphs of a run and where the nodes of their executables are.

    Attributes
    ----------
    levels
        By graph_id of the recording, bodies included.
    execs
        By CUDA's executable id.
    """

    run_id: int
    levels: dict[int, FoldedGraph] = field(default_factory=dict)
    execs: dict[int, rows.GraphExec] = field(default_factory=dict)
    unknown_bodies: list[tuple[int, int]] = field(default_factory=list)  # (graph_id, node_id)
    _bodies: dict[int, list[FoldedGraph]] = field(default_factory=dict)  # by their parent

    def add(self, level: FoldedGraph) -> None:
        """Take a level in."""
        self.levels[level.row.graph_id] = level
        if level.row.parent_graph_id is not None:
            self._bodies.setdefault(level.row.parent_graph_id, []).append(level)

    def top_id(self, graph_id: int) -> int:
        """Return the top-level graph that a level is nested in, or itself."""
        parent = self.levels[graph_id].row.parent_graph_id
        return graph_id if parent is None else self.top_id(parent)

    def top_of(self, exec_id: int) -> FoldedGraph:
        """Return the top level of an executable's graph."""
        return self.levels[self.execs[exec_id].graph_id]

    def ids_of(self, exec_ids: IntArray) -> tuple[IntArray, IntArray]:
        """Return graph_id and graph_exec_id of executables, given CUDA's ids (int64)."""
        ids, place = np.unique(exec_ids, return_inverse=True)
        rows_of = [self.execs[i] for i in ids.tolist()]
        pairs = np.array([(row.graph_id, row.graph_exec_id) for row in rows_of], np.int64)
        graph_id, graph_exec_id = pairs.reshape(-1, 2)[place.reshape(-1)].T
        return graph_id, graph_exec_id

    def family(self, graph_id: int) -> list[FoldedGraph]:
        """Return a top-level graph with the bodies nested in it."""
        found = [self.levels[graph_id]]
        for level in found:  # which grows meanwhile
            found += self._bodies.get(level.row.graph_id, ())
        return found

    def keys_of(self, graph_id: int) -> NodeKeys:
        """Return the keys of the nodes of a top-level graph and of its bodies."""
        levels = self.family(graph_id)
        columns = (
            np.concatenate([level.nodes[name] for level in levels])
            for name in ("exec_node_id", "graph_id", "node_id")
        )
        return NodeKeys.of(graph_id, *columns)


class GraphFolder:
    """Builds :class:`Graphs` out of a spool's contents."""

    def __init__(self, contents: Contents, builder: RunBuilder, spool: Path) -> None:
        self._contents = contents
        self._builder = builder
        self._spool = spool
        self._captures = _captures(contents)
        self._nodes = NodeColumns(contents, builder.kernels)
        self.origins = Origins(contents)
        self._lives: dict[int, list[LifeRecord]] = {}  # by executable
        for life in contents.lives:
            if life.result == 0:
                self._lives.setdefault(life.exec_id, []).append(life)
        self._unknown: dict[int, list[tuple[int, int]]] = {}  # parent nodes, by top graph_id
        self.graphs = Graphs(builder.run_id)

    def fold(self) -> Graphs:
        """Return the graphs of every walk, in order of instantiation."""
        by_exec: dict[int, dict[int, GraphWalk]] = {}
        for walk in self._contents.walks:
            # A level that is recorded twice of one executable is one level.
            by_exec.setdefault(walk.exec_id, {}).setdefault(walk.graph_id, walk)
        known: dict[tuple[int, str], int] = {}
        for exec_id, found in by_exec.items():
            walks = self._sound(list(found.values()))
            if not walks:
                continue
            levels = self._levels(walks)
            key = (walks[0].graph_id, "/".join(str(t.topology) for t in levels))
            if key not in known:  # else the same template, instantiated again
                known[key] = levels[0].row.graph_id
                for level in levels:
                    self.graphs.add(level)
                self.graphs.unknown_bodies += self._unknown[levels[0].row.graph_id]
            self.graphs.execs[exec_id] = self._exec(exec_id, known[key])
        return self.graphs

    def _sound(self, walks: list[GraphWalk]) -> list[GraphWalk]:
        """Return the levels that lie in no more levels than there can be, nor in themselves.

        Only a damaged spool has others; they are left out, and counted.
        """
        parents = {walk.graph_id: walk.parent_graph_id for walk in walks if walk.parent_graph_id}
        sound = [walk for walk in walks if _ends(parents, walk.graph_id)]
        if len(sound) < len(walks):
            self._contents.unreadable["graph"] += len(walks) - len(sound)
        return sound

    def _levels(self, walks: list[GraphWalk]) -> list[FoldedGraph]:
        first = max(self.graphs.levels, default=0) + 1
        ids = {walk.graph_id: first + i for i, walk in enumerate(walks)}
        numbering = Numbering(walks)
        exec_ids = numbering.exec_ids
        by_id = {walk.graph_id: walk for walk in walks}
        levels = []
        for walk in walks:
            graph_id = ids[walk.graph_id]
            records = list({n.node_id: n for n in sorted(walk.nodes)}.values())
            numbers = integers(exec_ids.get((walk.graph_id, n.node_id), UNKNOWN) for n in records)
            nodes = self._nodes.of_walk(walk, records, graph_id, numbers)
            parent = by_id.get(walk.parent_graph_id)
            row = self._graph(walk, graph_id, ids, parent)
            level = FoldedGraph(row, nodes, walk.edges, numbers)
            level.parameters = _parameters(walk, graph_id)
            level.topology = self._topology(walk)
            level.row = replace(level.row, topology_id=level.topology.topology_id)
            level.arguments = _arguments(walk, graph_id)
            levels.append(level)
        self._unknown[first] = [(ids[graph], node) for graph, node in numbering.unknown]
        return levels

    def _graph(
        self, walk: GraphWalk, graph_id: int, ids: dict[int, int], parent: GraphWalk | None
    ) -> rows.Graph:
        begin, end = self._captures.get(walk.graph_id, (None, None))
        nested = walk.parent_graph_id != 0
        origin = "body" if nested else "capture" if end else "explicit"
        row = rows.Graph(
            graph_id=graph_id,
            run_id=self.graphs.run_id,
            name=body_name(
                walk.parent_node_id,
                walk.branch,
                parent.conditionals.get(walk.parent_node_id) if parent else None,
            ),
            origin=origin,
            cuda_graph_id=walk.graph_id,
            parent_graph_id=ids.get(walk.parent_graph_id) if nested else None,
            parent_node_id=walk.parent_node_id if nested else None,
            branch=walk.branch if parent and _is_conditional(parent, walk) else None,
            capture_start_ns=begin.start_ns if begin else None,
            capture_end_ns=end.end_ns if end else None,
            capture_mode=begin.mode if begin else None,
            capture_thread_id=begin.thread_id if begin else None,
            capture_stream_id=begin.stream_id if begin and begin.stream_id != NO_STREAM else None,
            dot=self._dot(walk.graph_id),
        )
        return row if nested else self.origins.applied(row)

    def _dot(self, cuda_graph_id: int) -> bytes | None:
        if cuda_graph_id not in self._contents.dots:
            return None
        try:
            return zlib.compress((self._spool / f"graph_{cuda_graph_id}.dot").read_bytes(), 6)
        except FileNotFoundError:
            return None  # a spool kept without its DOT files

    def _topology(self, walk: GraphWalk) -> rows.Topology:
        nodes = sorted(walk.nodes)
        found = [self._contents.functions.get(n.function) for n in nodes]
        names = [function.name if function else "" for function in found]
        return self._builder.topology([n.type for n in nodes], names, walk.edges)

    def _exec(self, exec_id: int, graph_id: int) -> rows.GraphExec:
        row = rows.GraphExec(
            graph_exec_id=len(self.graphs.execs) + 1,
            run_id=self.graphs.run_id,
            graph_id=graph_id,
            cuda_exec_id=exec_id,
        )
        for life in self._lives.get(exec_id, ()):
            row = _with_life(row, life, self._contents.call_names.get(life.call, ""))
        return row

    def add_failed(self, walks: list[GraphWalk], origin: str, *, edges_known: bool) -> int:
        """Add a graph of which no executable could be made; return its graph_id."""
        levels = self._levels(walks)
        levels[0].row = replace(levels[0].row, origin=origin)
        for level in levels:
            level.nodes["exec_node_id"] = UNKNOWN
            if not edges_known:
                level.topology = None
                level.row = replace(level.row, topology_id=None)
            self.graphs.add(level)
        return levels[0].row.graph_id

    def add_late(self, exec_id: int, records: Activities) -> None:
        """Add a graph that was instantiated before gviz attached.

        Parameters
        ----------
        records
            One of each of its nodes, by id (dtype ACTIVITY).
        """
        graph_id = max(self.graphs.levels, default=0) + 1
        row = rows.Graph(
            graph_id=graph_id,
            run_id=self.graphs.run_id,
            name="",
            origin="late",
        )
        self._add_known_by_records(row, records)
        self.graphs.execs[exec_id] = self._exec(exec_id, graph_id)

    def add_unknown_body(self, parent: FoldedGraph, records: Activities) -> None:
        """Add nodes that ran inside ``parent``'s executables but stand in no known level."""
        graph_id = max(self.graphs.levels) + 1
        conditional = parent.nodes["node_id"][parent.nodes["type"] == NodeType.CONDITIONAL]
        row = rows.Graph(
            graph_id=graph_id,
            run_id=self.graphs.run_id,
            name="nodes of bodies",
            origin="body",
            parent_graph_id=parent.row.graph_id,
            parent_node_id=int(conditional[0]) if len(conditional) == 1 else None,
        )
        self._add_known_by_records(row, records)

    def _add_known_by_records(self, row: rows.Graph, records: Activities) -> None:
        nodes = self._nodes.of_records(records)
        nodes["graph_id"] = row.graph_id
        no_edges, no_numbers = np.zeros((0, 5), np.int64), np.full(len(nodes), UNKNOWN)
        self.graphs.add(FoldedGraph(row, nodes, no_edges, no_numbers))


def _ends(parents: dict[int, int], graph_id: int) -> bool:
    """Return whether the way from a graph to the graphs around it has an end."""
    for _ in range(_MOST_NESTED):
        if graph_id not in parents:
            return True
        graph_id = parents[graph_id]
    return False


def _is_conditional(parent: GraphWalk, body: GraphWalk) -> bool:
    """Return whether the parent node of a body is a conditional one, not a child graph."""
    return any(
        n.node_id == body.parent_node_id and n.type == NodeType.CONDITIONAL for n in parent.nodes
    )


def _parameters(walk: GraphWalk, graph_id: int) -> Rows:
    """Return the parameters of a level's nodes as columns of rows.NodeParameter."""
    found = {(n, name): value for n, name, value in walk.parameters}
    for n, conditional in walk.conditionals.items():
        found[n, "conditional"] = conditional_type_name(conditional.type)
        found[n, "branches"] = str(conditional.size)
        found[n, "handle"] = str(conditional.handle)
    return blank_rows(
        rows.NodeParameter,
        len(found),
        graph_id=graph_id,
        node_id=integers(node_id for node_id, _ in found),
        position=np.arange(len(found)),
        name=[name for _, name in found],
        value=list(found.values()),
    )


def _arguments(walk: GraphWalk, graph_id: int) -> Rows:
    """Return the arguments of a level's kernels as columns of rows.Argument."""
    found = [
        (node.node_id, position, argument)
        for node in walk.nodes
        for position, argument in enumerate(node.arguments)
    ]
    arguments = [argument for *_, argument in found]
    return blank_rows(
        rows.Argument,
        len(found),
        graph_id=graph_id,
        node_id=integers(node_id for node_id, *_ in found),
        position=integers(position for _, position, _ in found),
        size_bytes=integers(argument.size for argument in arguments),
        value=[argument.value for argument in arguments],
        allocation_address=integers(a.allocation or UNKNOWN for a in arguments),
        allocation_bytes=integers(
            a.allocation_bytes if a.allocation else UNKNOWN for a in arguments
        ),
        offset_bytes=integers(
            argument.start - 1 if argument.start else UNKNOWN for argument in arguments
        ),
    )


def _captures(contents: Contents) -> dict[int, tuple[LifeRecord | None, LifeRecord]]:
    """Return the begin and end call of each captured graph, by CUDA graph id."""
    open_by_stream: dict[int, LifeRecord] = {}
    found = {}
    for life in sorted(contents.lives, key=lambda life: life.start_ns):
        name = contents.call_names.get(life.call, "")
        if name.startswith("cuStreamBeginCapture") and life.result == 0:
            open_by_stream[life.stream_id] = life
        elif name.startswith("cuStreamEndCapture"):
            begin = open_by_stream.pop(life.stream_id, None)
            if life.graph_id:
                found[life.graph_id] = (begin, life)
    return found


def _with_life(row: rows.GraphExec, life: LifeRecord, name: str) -> rows.GraphExec:
    if name.startswith("cuGraphInstantiate"):
        return replace(
            row, instantiate_start_ns=life.start_ns, instantiate_end_ns=life.end_ns,
            flags=life.flags, instantiate_thread_id=life.thread_id,
        )  # fmt: skip
    if name.startswith("cuGraphUpload") and row.upload_start_ns is None:
        return replace(row, upload_start_ns=life.start_ns, upload_end_ns=life.end_ns)
    if name.startswith("cuGraphExecDestroy"):
        return replace(row, destroyed_ns=life.end_ns)
    return row
