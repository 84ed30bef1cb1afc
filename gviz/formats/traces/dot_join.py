"""Nodes of a DOT dump joined with those of a trace: by their ids, else by work and dependencies."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gviz.cuda import TIMED_TYPES, EdgeType, NodeType
from gviz.dataclass import dataclass
from gviz.formats.dot import DotGraph, DotNode, Parent
from gviz.formats.traces.graph_rows import TraceGraph
from gviz.formats.traces.signatures import can_be_same, common_tokens
from gviz.matching import (
    NO_WORK,
    NOT_MATCHED,
    GraphWork,
    NodeMatch,
    RecordedWork,
    contradicted,
    match_nodes,
)
from gviz.stats import UNKNOWN, BoolArray, IntArray

#: A dump and a trace are of one graph if so many of the nodes of each are the other's.
LEAST_FRACTION = 0.8
#: Ids are trusted if so many of the trace's nodes are the same work as the dump's of that id.
_LEAST_BY_ID = 0.5

#: A node of a dump: number of its level, and its id there.
DotKey = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Family:
    """A graph of a dump with everything that runs in it; the outermost level first."""

    levels: tuple[DotGraph, ...]
    parents: Mapping[int, Parent]

    @property
    def name(self) -> str:
        """The name of the outermost level."""
        return self.levels[0].name

    @property
    def has_edge_kinds(self) -> bool:
        """Return whether the dump distinguishes programmatic edges, as the driver's do not."""
        return all(level.is_own for level in self.levels)

    def timed_nodes(self) -> list[tuple[DotKey, DotNode]]:
        """Return the nodes that a profiler has times of."""
        return [
            ((level.number, node.node_id), node)
            for level in self.levels
            for node in level.nodes
            if node.type in TIMED_TYPES
        ]


@dataclass(frozen=True, slots=True)
class Join:
    """The match of a dump's nodes and a trace's.

    Attributes
    ----------
    exec_node_id, match_class
        One a node of the dump, level by level (int64). The first is the trace's node, UNKNOWN
        for none; the second equal for nodes that can be exchanged, UNKNOWN for all others.
    by_id
        How many of them were matched by their ids; the others by work and dependencies.
    as_kernels
        Names of the driver's kernels that ran copies and memsets of the dump, one each.
    dot_left, trace_left
        Timed nodes of either side without a partner.
    undecided_count
        Nodes that can be exchanged of which the search for an exchange was given up.
    contradicted_count, worst_ns
        Dependencies that times contradict, in all launches together, and by how much the worst.
    overlapped_count
        Dependencies that are taken to be programmatic, because both nodes ran at once.
    new_ids
        In launches that are matched each by itself: by launch, pairs of a trace's node id and the
        one that this work has in the first launch.
    """

    exec_node_id: IntArray
    match_class: IntArray
    by_id: int
    as_kernels: tuple[str, ...]
    dot_left: int
    trace_left: int
    undecided_count: int
    contradicted_count: int
    worst_ns: int
    overlapped_count: int
    new_ids: tuple[tuple[IntArray, IntArray], ...]


def families(graphs: Sequence[DotGraph], parents: Mapping[int, Parent]) -> list[Family]:
    """Return a dump's graphs, each with its child graphs and bodies."""
    children: dict[int, list[DotGraph]] = defaultdict(list)
    for graph in graphs:
        if graph.number in parents:
            children[parents[graph.number].graph_number].append(graph)
    found = []
    for graph in graphs:
        if graph.number not in parents:
            levels = [graph]
            for level in levels:
                levels += children[level.number]
            found.append(Family(tuple(levels), parents))
    return found


class JoinedPair:
    """A graph of a dump and one of a trace, held against each other.

    Parameters
    ----------
    family
        The dump's.
    graph
        The trace's.
    """

    def __init__(self, family: Family, graph: TraceGraph) -> None:
        self._family = family
        self._graph = graph
        self._timed = family.timed_nodes()
        #: By column of the recorded work, the trace's id.
        self._ids = graph.columns["node_id"]
        self._by_id = self._find_by_id()
        self._node_token, self._work_token = self._tokens(self._by_id)
        left, right = Counter(self._node_token.tolist()), Counter(self._work_token.tolist())
        self.matched_count = (left & right).total()

    @property
    def left_over(self) -> tuple[int, int]:
        """Numbers of timed nodes of the dump and of the trace that have no partner."""
        return len(self._timed) - self.matched_count, len(self._ids) - self.matched_count

    @property
    def is_one_graph(self) -> bool:
        """Return whether both sides are of one graph."""
        larger = self.matched_count + max(self.left_over)
        return self.matched_count >= LEAST_FRACTION * larger and self.matched_count > 0

    def join(self, recorded: RecordedWork) -> Join:
        """Match the nodes.

        A node id of the dump is that of the trace in the outermost level, where the dump is of the
        graph that was instantiated; in bodies CUDA numbers nodes anew. What ids leave over, and
        everything if they disagree or contradict the times where dependencies do not, is matched
        by kind, kernel, launch shape, size and dependencies.

        Parameters
        ----------
        recorded
            Times of the trace's nodes, by id; tokens are none of it.
        """
        flat = _Flat(self._family)
        by_id = self._by_id
        tokens = self._node_token, self._work_token
        match, overlapped = _match(flat, *tokens, recorded)
        if by_id and match.contradicted.total:
            without = self._tokens({})
            other, other_overlapped = _match(flat, *without, recorded)
            if other.contradicted.total < match.contradicted.total:
                match, overlapped, by_id = other, other_overlapped, {}
        return self._result(flat, match, overlapped, len(by_id))

    def _find_by_id(self) -> dict[int, int]:
        """Return, by place among the timed nodes, the column of the trace's node of that id."""
        if not self._graph.ids_reported:
            return {}
        top = self._family.levels[0].number
        column = {node_id: i for i, node_id in enumerate(self._ids.tolist())}
        kinds, symbols = self._graph.columns["type"].tolist(), self._graph.symbols
        found = {
            i: at
            for i, ((level, node_id), node) in enumerate(self._timed)
            if level == top
            and (at := column.get(node_id)) is not None
            and can_be_same(node, kinds[at], symbols[at])
        }
        return found if len(found) >= _LEAST_BY_ID * len(kinds) else {}

    def _tokens(self, by_id: Mapping[int, int]) -> tuple[IntArray, IntArray]:
        """Return tokens of both sides; nodes that are matched by id have one of their own."""
        taken = set(by_id.values())
        rest = [i for i in range(len(self._timed)) if i not in by_id]
        columns = [i for i in range(len(self._ids)) if i not in taken]
        left, right = common_tokens(
            [self._timed[i][1] for i in rest],
            self._graph.columns[columns],
            [self._graph.symbols[i] for i in columns],
        )
        node_token = np.zeros(len(self._timed), np.int64)
        work_token = np.zeros(len(self._ids), np.int64)
        node_token[rest], work_token[columns] = left, right
        own = len(self._timed) + len(self._ids) + np.arange(len(by_id))
        node_token[list(by_id)] = work_token[list(by_id.values())] = own
        return node_token, work_token

    def _result(self, flat: _Flat, match: NodeMatch, overlapped: int, by_id: int) -> Join:
        ids = self._ids
        first = match.work[0] if len(match.work) else np.zeros(0, np.int64)
        matched = np.flatnonzero(first != NOT_MATCHED)
        exec_node_id = np.full(flat.node_count, UNKNOWN)
        exec_node_id[matched] = ids[first[matched]]
        is_other = flat.types[matched] != self._graph.columns["type"][first[matched]]
        as_kernels = tuple(
            self._graph.symbols[place] for place in first[matched[is_other]].tolist()
        )
        match_class = match.match_class[: flat.node_count]
        return Join(
            exec_node_id=exec_node_id,
            match_class=np.where(match_class == NOT_MATCHED, UNKNOWN, match_class),
            by_id=by_id,
            as_kernels=as_kernels,
            dot_left=self.left_over[0],
            trace_left=self.left_over[1],
            undecided_count=match.undecided_count,
            contradicted_count=match.contradicted.total,
            worst_ns=match.contradicted.worst,
            overlapped_count=overlapped,
            new_ids=tuple(
                (ids[moved], ids[moved_to])
                for moved, moved_to in _moves(match.work, self._work_token)
            ),
        )


class _Flat:
    """All levels of a family as one graph.

    A node with bodies is two vertices: what it waits for is handed on to the roots of its bodies,
    and what waits for it waits for a vertex after their last nodes.

    Attributes
    ----------
    node_count
        Vertices that are nodes; those after bodies come last.
    types
        CUgraphNodeType of each vertex, EMPTY after bodies.
    timed
        Vertices of timed nodes, in the order of :meth:`Family.timed_nodes`.
    edges, programmatic, is_of_kernels
        One an edge: its vertices, its kind, and whether both nodes are kernels.
    """

    def __init__(self, family: Family) -> None:
        vertex: dict[DotKey, int] = {}
        types: list[int] = []
        for level in family.levels:
            for node in level.nodes:
                vertex[level.number, node.node_id] = len(types)
                types.append(node.type)
        self.node_count = len(types)
        self.timed = np.flatnonzero(np.isin(types, list(TIMED_TYPES)))
        # Where what waits for a node starts from: the node, or the end of its bodies.
        leave = dict(vertex)
        inside = {level.number for level in family.levels}
        for number, parent in family.parents.items():
            key = (parent.graph_number, parent.node_id)
            if number in inside and key in vertex and leave[key] == vertex[key]:
                leave[key] = len(types)
                types.append(int(NodeType.EMPTY))
        pairs = [(vertex[key], leave[key], False) for key in vertex if leave[key] != vertex[key]]
        for level in family.levels:
            heads = {edge.to_node for edge in level.edges}
            tails = {edge.from_node for edge in level.edges}
            for edge in level.edges:
                tail, head = (level.number, edge.from_node), (level.number, edge.to_node)
                if tail in vertex and head in vertex:
                    is_early = edge.type == EdgeType.PROGRAMMATIC
                    pairs.append((leave[tail], vertex[head], is_early))
            if level.number not in family.parents:
                continue
            parent = family.parents[level.number]
            outer = (parent.graph_number, parent.node_id)
            for node in level.nodes:
                key = (level.number, node.node_id)
                if node.node_id not in heads:
                    pairs.append((vertex[outer], vertex[key], False))
                if node.node_id not in tails:
                    pairs.append((leave[key], leave[outer], False))
        self.edges = np.array([pair[:2] for pair in pairs], np.int64).reshape(-1, 2)
        self.programmatic = np.array([pair[2] for pair in pairs], bool)
        self.types = np.array(types, np.int64)
        is_kernel = self.types == NodeType.KERNEL
        self.is_of_kernels: BoolArray = is_kernel[self.edges].all(axis=1)
        self.has_edge_kinds = family.has_edge_kinds


def _match(
    flat: _Flat, node_token: IntArray, work_token: IntArray, recorded: RecordedWork
) -> tuple[NodeMatch, int]:
    """Return the match, and how many edges are taken to be programmatic, since kernels overlap."""
    token = np.full(len(flat.types), NO_WORK, np.int64)
    token[flat.timed] = node_token
    work = replace(recorded, token=work_token)
    graph = GraphWork(token, flat.edges, flat.programmatic)
    match = match_nodes(graph, work)
    if not match.contradicted.total or flat.has_edge_kinds:
        return match, 0
    # The dump has no kinds of edges: kernels that overlap may depend on each other so.
    early = match_nodes(GraphWork(token, flat.edges, flat.is_of_kernels), work)
    if early.contradicted.total >= match.contradicted.total:
        return match, 0
    overlapped = contradicted(graph, work, early.work).edge_count > 0
    return early, int((overlapped & flat.is_of_kernels).sum())


def _moves(work: IntArray, work_token: IntArray) -> list[tuple[IntArray, IntArray]]:
    """Return, by launch, columns and the columns that the same nodes have in the first launch."""
    found = []
    for row in work:
        both = (row != NOT_MATCHED) & (work[0] != NOT_MATCHED)
        column, first = row[both], work[0][both]
        # What a launch matched and the first did not takes the places that are left, by token.
        every = np.arange(len(work_token))
        rest, free = (every[~np.isin(every, used)] for used in (column, first))
        rest, free = (x[np.argsort(work_token[x], kind="stable")] for x in (rest, free))
        column, first = np.concatenate((column, rest)), np.concatenate((first, free))
        moved = column != first
        found.append((column[moved], first[moved]))
    return found
