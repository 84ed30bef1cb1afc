"""Pairs of nodes of a DOT dump and of a trace."""

from __future__ import annotations

import graphlib
import re
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from gviz.cuda import TIMED_TYPES, NodeType, demangle
from gviz.formats.dot import DotGraph, DotNode, Parent
from gviz.formats.traces.trace import COPY_KINDS
from gviz.recording import rows
from gviz.stats import IntArray

#: A dump and a trace are of one graph if so many of the nodes of each are the other's.
LEAST_FRACTION = 0.8
#: Ids are trusted if so many of the trace's nodes are the same work as the dump's of that id.
_LEAST_BY_ID = 0.5
#: Nodes above one that is not timed which are looked at.
_MOST_BEFORE = 64

#: Kernels by which the driver runs some copies and memsets: memcpy128 and memset32 were seen.
_OF_DRIVER = re.compile(r"mem(?:cpy|set)[0-9]*(?:_[a-z0-9_]*)?")

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
    exec_node_of
        By node of the dump, the trace's.
    by_id
        How many of them were matched by their ids; the others by what they do, in order.
    as_kernels
        Names of the driver's kernels that ran copies and memsets of the dump, one each.
    dot_left, trace_left
        Timed nodes of either side without a partner.
    """

    exec_node_of: dict[DotKey, int]
    by_id: int
    as_kernels: tuple[str, ...]
    dot_left: int
    trace_left: int

    @property
    def is_one_graph(self) -> bool:
        """Return whether both sides are of one graph."""
        found = len(self.exec_node_of)
        larger = found + max(self.dot_left, self.trace_left)
        return found >= LEAST_FRACTION * larger and found > 0


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


def join_nodes(
    family: Family,
    nodes: Mapping[int, rows.Node],
    symbols: Mapping[int, str],
    edges: IntArray,
    *,
    ids_told: bool = True,
) -> Join:
    """Match a dump's nodes with a trace's.

    A node id of the dump is that of the trace in the outermost level, where the dump is of the
    graph that was instantiated; in bodies CUDA numbers nodes anew. What ids leave over, and
    everything if they disagree, is matched by kind, kernel, launch shape and size; among equal
    nodes by the order on streams, then the first of the one with the first of the other. A copy
    or memset that is left over then is one that the driver ran as a kernel of its own.

    Parameters
    ----------
    family
        The dump's graph.
    nodes
        The trace's nodes, by id.
    symbols
        Names of their kernels.
    edges
        Its inferred edges, int64 of shape (n, 2).
    ids_told
        Whether the trace's ids are CUDA's.
    """
    timed = dict(family.timed_nodes())
    top = family.levels[0].number
    matched = {
        (top, node_id): node_id
        for node_id, node in nodes.items()
        if ids_told
        and (other := timed.get((top, node_id))) is not None
        and _agree(other, node, symbols.get(node_id, ""))
    }
    if len(matched) < _LEAST_BY_ID * len(nodes):
        matched = {}
    by_id = len(matched)
    order = _in_order_of_dependencies(family)
    _match_by_work(matched, timed, nodes, symbols, order, edges)
    _match_kernels_of_driver(matched, timed, symbols, order, edges)
    as_kernels = tuple(
        symbols[node_id]
        for key, node_id in matched.items()
        if timed[key].type != nodes[node_id].type
    )
    left_over = len(timed) - len(matched), len(nodes) - len(matched)
    return Join(matched, by_id, as_kernels, *left_over)


def _match_by_work(
    matched: dict[DotKey, int],
    timed: Mapping[DotKey, DotNode],
    nodes: Mapping[int, rows.Node],
    symbols: Mapping[int, str],
    order: Mapping[DotKey, Sequence[DotKey]],
    edges: IntArray,
) -> None:
    """Match nodes of the same kind, kernel, shape and size; a copy's direction is asked first."""
    for shaped, directed in ((True, True), (True, False), (False, False)):
        # Without the shape only where the dump tells none: plain dumps do not.
        left = {
            key: _dot_token(timed[key], shaped, directed)
            for key in order
            if key not in matched and (shaped or not _is_shaped(timed[key]))
        }
        taken = set(matched.values())
        others = {
            node_id: _trace_token(node, symbols.get(node_id, ""), shaped, directed)
            for node_id, node in sorted(nodes.items())
            if node_id not in taken
        }
        _match_equal(matched, left, others, order, edges)


def _match_kernels_of_driver(
    matched: dict[DotKey, int],
    timed: Mapping[DotKey, DotNode],
    symbols: Mapping[int, str],
    order: Mapping[DotKey, Sequence[DotKey]],
    edges: IntArray,
) -> None:
    """Match copies and memsets without a partner with kernels that the driver made of such."""
    taken = set(matched.values())
    left = {key: timed[key].type for key in order if key not in matched}
    others = {
        node_id: kind
        for node_id in sorted(symbols)
        if node_id not in taken and (kind := _kind_of_driver(symbols[node_id])) is not None
    }
    _match_equal(matched, left, others, order, edges)


def _kind_of_driver(symbol: str) -> NodeType | None:
    """Return which kind of node the driver runs by a kernel; None: it is no such kernel."""
    if _OF_DRIVER.fullmatch(symbol) is None:
        return None
    return NodeType.MEMCPY if symbol.startswith("memcpy") else NodeType.MEMSET


def _in_order_of_dependencies(family: Family) -> dict[DotKey, list[DotKey]]:
    """Return the timed nodes, each after what it depends on, with that.

    Nodes that are not timed stand for those before them.
    """
    timed = {key for key, _ in family.timed_nodes()}
    found: dict[DotKey, list[DotKey]] = {}
    for level in family.levels:
        before: dict[int, list[int]] = {node.node_id: [] for node in level.nodes}
        for edge in level.edges:
            before.setdefault(edge.to_node, []).append(edge.from_node)
        reached: dict[int, list[DotKey]] = {}
        for node_id in graphlib.TopologicalSorter(before).static_order():
            key = (level.number, node_id)
            own = before.get(node_id, ())
            above = list(dict.fromkeys(k for b in own for k in reached[b]))[:_MOST_BEFORE]
            if key in timed:
                found[key] = above
            reached[node_id] = [key] if key in timed else above
    return found


def _match_equal(
    matched: dict[DotKey, int],
    left: Mapping[DotKey, Hashable],
    right: Mapping[int, Hashable],
    order: Mapping[DotKey, Sequence[DotKey]],
    edges: IntArray,
) -> None:
    """Match nodes of equal tokens, in place.

    Of several, a node gets the one that ran right after a node that it depends on; else one
    that began a stream; else the first. So equal branches that ran beside each other keep
    their nodes together.
    """
    after: dict[int, list[int]] = defaultdict(list)
    for tail, head in edges.tolist():
        after[tail].append(head)
    follows = {head for _, head in edges.tolist()}
    first: dict[Hashable, list[int]] = defaultdict(list)
    every: dict[Hashable, list[int]] = defaultdict(list)
    for node_id, token in reversed(list(right.items())):
        every[token].append(node_id)
        if node_id not in follows:
            first[token].append(node_id)
    free = set(right)
    for key, token in left.items():
        ran = [matched[b] for b in order[key] if b in matched]
        next_to = (n for r in ran for n in after[r] if n in free and right[n] == token)
        found = next(next_to, None)
        for queue in (first[token], every[token]):
            while found is None and queue:
                candidate = queue.pop()
                found = candidate if candidate in free else None
        if found is not None:
            matched[key] = found
            free.remove(found)


def _agree(dot: DotNode, node: rows.Node, symbol: str) -> bool:
    """Return whether a node of a dump and one of a trace can be the same work."""
    if dot.type != node.type:
        return node.type == NodeType.KERNEL and _kind_of_driver(symbol) == dot.type
    if dot.type == NodeType.KERNEL:
        assert dot.kernel is not None
        return demangle(dot.kernel.mangled_name) == demangle(symbol)
    return True


def _dot_token(node: DotNode, shaped: bool, directed: bool) -> Hashable:
    if node.kernel is None:
        direction = node.memcpy.direction if directed and node.memcpy is not None else None
        kind = COPY_KINDS.get((direction or "").lower())
        return node.type, _size(node) if shaped else None, kind
    shape = (node.kernel.grid_dim, node.kernel.block_dim) if shaped else None
    return node.type, demangle(node.kernel.mangled_name), shape


def _trace_token(node: rows.Node, symbol: str, shaped: bool, directed: bool) -> Hashable:
    if node.type != NodeType.KERNEL:
        return node.type, node.bytes if shaped else None, node.copy_kind if directed else None
    grid = (node.grid_x, node.grid_y, node.grid_z)
    block = (node.block_x, node.block_y, node.block_z)
    return node.type, demangle(symbol), (grid, block) if shaped else None


def _is_shaped(node: DotNode) -> bool:
    return _size(node) is not None if node.kernel is None else node.kernel.grid_dim is not None


def _size(node: DotNode) -> int | None:
    sized = node.memcpy or node.memset
    return None if sized is None else sized.bytes
