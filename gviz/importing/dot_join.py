"""Which node of a DOT dump is which node of a trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from gviz.dot.importer import Parent
from gviz.dot.model import DotGraph, DotNode
from gviz.kernel_name import demangle
from gviz.node_type import TIMED_TYPES, NodeType
from gviz.recording import rows

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
    """How a dump's nodes and a trace's were matched.

    Attributes
    ----------
    exec_node_of
        By node of the dump, the trace's.
    by_id
        How many of them were matched by their ids; the others by what they do, in order.
    dot_left, trace_left
        Timed nodes of either side without a partner.
    """

    exec_node_of: dict[DotKey, int]
    by_id: int
    dot_left: int
    trace_left: int

    @property
    def is_one_graph(self) -> bool:
        """Whether both sides are of one graph."""
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
    *,
    ids_told: bool = True,
) -> Join:
    """Match a dump's nodes with a trace's.

    A node id of the dump is that of the trace in the outermost level, where the dump is of the
    graph that was instantiated; in bodies CUDA numbers nodes anew. What ids leave over, and
    everything if they disagree, is matched by kind, kernel, launch shape and size: the first
    such node of the one with the first of the other, and so on.

    Parameters
    ----------
    family
        The dump's graph.
    nodes
        The trace's nodes, by id.
    symbols
        Names of their kernels.
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
    taken = set(matched.values())
    for shaped in (True, False):
        # Without the shape only where the dump tells none: plain dumps do not.
        left = {
            key: _dot_token(node, shaped)
            for key, node in timed.items()
            if key not in matched and (shaped or not _is_shaped(node))
        }
        others = {
            node_id: _trace_token(nodes[node_id], symbols.get(node_id, ""), shaped)
            for node_id in sorted(nodes)
            if node_id not in taken
        }
        matched |= _in_order(left, others)
        taken = set(matched.values())
    return Join(matched, by_id, len(timed) - len(matched), len(nodes) - len(matched))


def _in_order(left: Mapping[DotKey, Hashable], right: Mapping[int, Hashable]) -> dict[DotKey, int]:
    """Match the first of each token with the first, the second with the second, and so on."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for node_id, token in right.items():
        waiting[token].append(node_id)
    queues = {token: iter(ids) for token, ids in waiting.items()}
    found = {}
    for key, token in left.items():
        for node_id in queues.get(token, ()):
            found[key] = node_id
            break
    return found


def _agree(dot: DotNode, node: rows.Node, symbol: str) -> bool:
    """Whether a node of a dump and one of a trace can be the same work."""
    if dot.type != node.type:
        return False
    if dot.type == NodeType.KERNEL:
        assert dot.kernel is not None
        return demangle(dot.kernel.mangled_name) == demangle(symbol)
    return True


def _dot_token(node: DotNode, shaped: bool) -> Hashable:
    if node.kernel is None:
        return node.type, _size(node) if shaped else None
    shape = (node.kernel.grid_dim, node.kernel.block_dim) if shaped else None
    return node.type, demangle(node.kernel.mangled_name), shape


def _trace_token(node: rows.Node, symbol: str, shaped: bool) -> Hashable:
    if node.type != NodeType.KERNEL:
        return node.type, node.bytes if shaped else None
    grid = (node.grid_x, node.grid_y, node.grid_z)
    block = (node.block_x, node.block_y, node.block_z)
    return node.type, demangle(symbol), (grid, block) if shaped else None


def _is_shaped(node: DotNode) -> bool:
    return _size(node) is not None if node.kernel is None else node.kernel.grid_dim is not None


def _size(node: DotNode) -> int | None:
    sized = node.memcpy or node.memset
    return None if sized is None else sized.bytes
