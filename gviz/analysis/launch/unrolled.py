"""A launch unrolled: every execution of every node, loops included, as one DAG.

A launch runs a node of a loop's body many times, one after the other. Here each execution is a
vertex of its own, and a body's executions follow each other, so that the dependencies of one
execution are those of a plain DAG.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.cuda import EdgeType
from gviz.dag import rank_rows
from gviz.dataclass import dataclass
from gviz.model import EdgeIndices, GraphTree, LaunchSpans, TimeArray, TreeEdges, TreeLevel
from gviz.stats import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class EdgesInto:
    """Edges by head, then tail; int64 arrays of one length.

    Attributes
    ----------
    edge
        Which edge it is.
    tail, head
        Its vertices.
    """

    edge: IntArray
    tail: IntArray
    head: IntArray

    @classmethod
    def of(cls, tail: IntArray, head: IntArray) -> EdgesInto:
        """Return edges given in any order."""
        edge = np.lexsort((tail, head))
        return cls(edge, tail[edge], head[edge])

    def take(self, chosen: BoolArray) -> EdgesInto:
        """Return some of them."""
        if chosen.all():
            return self
        return EdgesInto(self.edge[chosen], self.tail[chosen], self.head[chosen])


@dataclass(frozen=True, slots=True)
class Unrolled:
    """Executions as vertices; arrays of one length a vertex, then an edge.

    A node with bodies is two vertices: its own, where the bodies may begin, and a mark
    after their end; every execution of a body lies between two marks as well. Marks take no
    time.

    Attributes
    ----------
    node
        int64, one a vertex: the node; of a mark: the node with bodies.
    is_mark
        bool, one a vertex.
    iteration
        int64, one a vertex: which of the node's executions; 0 of marks.
    first, executions
        int64, one a level: its first vertex, and how often it ran.
    tail, head
        int64, one an edge: vertices of the dependency and the dependent.
    programmatic
        bool, one an edge: the dependent may start while the dependency runs.
    row
        int64, one a vertex: longest path from a root, in edges.
    into
        The edges by what they lead to.
    """

    node: IntArray
    is_mark: BoolArray
    iteration: IntArray
    first: IntArray
    executions: IntArray
    tail: IntArray
    head: IntArray
    programmatic: BoolArray
    row: IntArray
    into: EdgesInto

    def __len__(self) -> int:
        return len(self.node)

    def executions_of(self, nodes: IntArray) -> BoolArray:
        """Return which vertices are executions of some nodes, their marks not among them."""
        found: BoolArray = np.isin(self.node, nodes) & ~self.is_mark
        return found

    def vertex_of(self, graph: GraphTree, node: IntArray, iteration: IntArray) -> IntArray:
        """Return the vertices of executions of nodes."""
        level = graph.level[node]
        count = np.array([x.count for x in graph.levels], np.int64)[level]
        first = np.array([x.first for x in graph.levels], np.int64)[level]
        return self.first[level] + iteration * count + node - first


class Unroller:
    """Unrolls launches of one graph; without conditional nodes all launches share one result.

    Raises
    ------
    RecordingError
        From :meth:`unroll`, if the edges form a cycle.
    """

    def __init__(self, graph: GraphTree, edges: TreeEdges) -> None:
        self._graph = graph
        self._edges = edges
        self._fixed: Unrolled | None = None

    def unroll(self, spans: LaunchSpans) -> Unrolled:
        """Return the executions of one launch."""
        # A node that ran twice where nothing repeats is a damaged record: no other launch's shape.
        if any(level.repeats for level in self._graph.levels) or spans.iteration.any():
            return _build(self._graph, self._edges, spans)
        if self._fixed is None:
            self._fixed = _build(self._graph, self._edges, spans)
        return self._fixed


def _build(graph: GraphTree, edges: TreeEdges, spans: LaunchSpans) -> Unrolled:
    of_level = [edges.of(level) for level in graph.levels]
    iterations = _Iterations(graph, of_level, spans)
    counts = np.array([level.count for level in graph.levels], np.int64)
    sizes = counts * iterations.executions
    first = np.cumsum(sizes) - sizes
    builder = _Builder(graph, of_level, iterations, first, int(sizes.sum()))
    for number in range(len(graph.levels)):
        builder.add_level_edges(number)
    for parent, bodies in iterations.bodies.items():
        builder.add_bodies(parent, bodies)
    return builder.build()


class _Iterations:
    """Runs of each level, and the execution of the level around it that each is in."""

    def __init__(self, graph: GraphTree, edges: Sequence[EdgeIndices], spans: LaunchSpans) -> None:
        self._graph = graph
        self._edges = edges
        level = graph.level[spans.node]
        ran = np.zeros(len(graph.levels), np.int64)
        np.maximum.at(ran, level, spans.iteration + 1)
        self.bodies: dict[int, list[int]] = {}
        for number, body in enumerate(graph.levels):
            if body.parent >= 0:
                self.bodies.setdefault(body.parent, []).append(number)
        # A body runs if something in it ran; a child graph always does.
        for number in reversed(range(len(graph.levels))):
            body = graph.levels[number]
            if not body.repeats:
                ran[number] = max(ran[number], 1)
            if body.parent >= 0 and ran[number]:
                around = int(graph.level[body.parent])
                ran[around] = max(ran[around], 1)
        self.executions = ran
        self.begin = [self._firsts(spans, level, n, np.inf) for n in range(len(ran))]

    def _firsts(
        self, spans: LaunchSpans, level: IntArray, number: int, missing: float
    ) -> TimeArray:
        """Return when each execution of a level started: its own first span."""
        found = np.full(int(self.executions[number]), missing)
        inside = level == number
        np.minimum.at(found, spans.iteration[inside], spans.start_ns[inside].astype(np.float64))
        return found

    def around(self, number: int) -> IntArray:
        """Return, for each execution of a body, the execution of the level around it."""
        body = self._graph.levels[number]
        parent = int(self._graph.level[body.parent])
        count = int(self.executions[number])
        if self.executions[parent] == count and not body.repeats:
            return np.arange(count)
        if self.executions[parent] <= 1 or not np.isfinite(self.begin[parent]).any():
            return np.zeros(count, np.int64)
        # The executions of the outer level that have begun by then. The parent node may itself be
        # the first thing in its level: then the outer execution's first span comes after it.
        begun = np.searchsorted(self.begin[parent], self.begin[number], side="right")
        late = 0 if self._is_first(body, self._graph.levels[parent]) else 1
        last = int(self.executions[parent]) - 1
        return np.clip(begun - late, 0, last).astype(np.int64)

    def _is_first(self, body: TreeLevel, parent: TreeLevel) -> bool:
        """Return whether no timed node of the level comes before the parent node."""
        edges = self._edges[parent.at]
        seen, stack = {body.parent - parent.first}, [body.parent - parent.first]
        while stack:
            for before in edges.source[edges.target == stack.pop()].tolist():
                if self._graph.nodes[parent.first + before].not_timed_reason is None:
                    return False
                if before not in seen:
                    seen.add(before)
                    stack.append(before)
        return True


class _Builder:
    """Collects vertices and edges of an unrolled launch."""

    def __init__(
        self,
        graph: GraphTree,
        edges: Sequence[EdgeIndices],
        iterations: _Iterations,
        first: IntArray,
        vertices: int,
    ) -> None:
        self._graph, self._level_edges = graph, edges
        self._iterations, self._first = iterations, first
        self._node = [
            np.tile(np.arange(x.first, x.first + x.count), int(n))
            for x, n in zip(graph.levels, iterations.executions, strict=True)
        ]
        self._marks: list[int] = []
        self._vertices = vertices
        self._tail: list[IntArray] = []
        self._head: list[IntArray] = []
        self._kind: list[BoolArray] = []
        #: Whether an edge waits for the end of its tail's bodies, and not for the tail itself.
        self._waits: list[BoolArray] = []
        #: The mark after the end of each vertex with bodies, else the vertex itself.
        self._after = np.arange(vertices)

    def add_level_edges(self, number: int) -> None:
        """Add the edges of a level, once for each of its executions."""
        level, edges = self._graph.levels[number], self._level_edges[number]
        step = self._first[number] + level.count * np.arange(self._iterations.executions[number])
        self._edges(
            (step[:, None] + edges.source).ravel(),
            (step[:, None] + edges.target).ravel(),
            np.tile(edges.type == EdgeType.PROGRAMMATIC, len(step)),
        )

    def add_bodies(self, parent: int, bodies: list[int]) -> None:
        """Add the executions of a node's bodies, one after the other, and the marks around."""
        around = int(self._graph.level[parent])
        level = self._graph.levels[around]
        vertex = self._first[around] + parent - level.first
        vertices = vertex + level.count * np.arange(self._iterations.executions[around])
        ends = {int(v): self._mark(parent) for v in vertices}
        last = {int(v): int(v) for v in vertices}
        iterations = [
            (float(begin), number, iteration, int(vertices[outer]))
            for number in bodies
            for iteration, (begin, outer) in enumerate(
                zip(self._iterations.begin[number], self._iterations.around(number), strict=True)
            )
            if len(vertices)
        ]
        for _, number, iteration, outer_vertex in sorted(iterations):
            begin, end = self._mark(parent), self._mark(parent)
            self._begin(last[outer_vertex], begin)
            self._add_iteration(number, iteration, begin, end)
            last[outer_vertex] = end
        for v, end in ends.items():
            self._begin(last[v], end)
            self._after[v] = end

    def _add_iteration(self, number: int, iteration: int, begin: int, end: int) -> None:
        level, edges = self._graph.levels[number], self._level_edges[number]
        base = int(self._first[number]) + iteration * level.count
        here = np.arange(level.count)
        roots = base + here[~np.isin(here, edges.target)]
        sinks = base + here[~np.isin(here, edges.source)]
        self._begin(begin, end)
        self._edges(np.full(len(roots), begin), roots)
        self._edges(sinks, np.full(len(sinks), end))

    def _mark(self, parent: int) -> int:
        self._marks.append(parent)
        return self._vertices + len(self._marks) - 1

    def _edges(self, tail: IntArray, head: IntArray, programmatic: BoolArray | None = None) -> None:
        self._tail.append(tail)
        self._head.append(head)
        self._kind.append(np.zeros(len(tail), bool) if programmatic is None else programmatic)
        self._waits.append(np.ones(len(tail), bool))

    def _begin(self, tail: int, head: int) -> None:
        """Add an edge from a vertex itself, not from the end of its bodies."""
        self._edges(np.array([tail]), np.array([head]))
        self._waits[-1][:] = False

    def build(self) -> Unrolled:
        """Return what was collected."""
        count = self._vertices + len(self._marks)
        after = np.concatenate((self._after, np.arange(self._vertices, count)))
        tail, head = (
            np.concatenate([np.zeros(0, np.int64), *part]) for part in (self._tail, self._head)
        )
        kind, waits = (
            np.concatenate([np.zeros(0, bool), *part]) for part in (self._kind, self._waits)
        )
        tail = np.where(waits, after[tail], tail)
        is_mark = np.zeros(count, bool)
        is_mark[self._vertices :] = True
        return Unrolled(
            node=np.concatenate((*self._node, np.array(self._marks, np.int64))),
            is_mark=is_mark,
            iteration=self._number_iterations(count),
            first=self._first,
            executions=self._iterations.executions,
            tail=tail,
            head=head,
            programmatic=kind,
            row=rank_rows(count, tail, head),
            into=EdgesInto.of(tail, head),
        )

    def _number_iterations(self, count: int) -> IntArray:
        found = np.zeros(count, np.int64)
        sizes = zip(self._graph.levels, self._iterations.executions.tolist(), strict=True)
        parts = [np.repeat(np.arange(times), level.count) for level, times in sizes]
        found[: self._vertices] = np.concatenate(parts)
        return found
