"""Fences of the records of conditional bodies: what runs around them in each launch.

They carry no launch's correlation id. Launches of one executable run one after another, so
records of nodes before and after the conditional node fence its bodies in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from gviz.cuda import ConditionalType, NodeType
from gviz.dataclass import dataclass
from gviz.spool.records import GraphWalk
from gviz.spool.streams.node_ids import Numbering
from gviz.stats import BoolArray, IntArray

_NONE = np.zeros(0, np.int64)
_AT_MOST_ONCE = (ConditionalType.IF, ConditionalType.SWITCH)


@dataclass(frozen=True, slots=True)
class Fence:
    """A top-level node and the nodes around it, by id in the executable.

    Attributes
    ----------
    inside
        What is nested in it.
    before, after
        Nodes that end before it starts, and that start after it ends; what is nested in them
        included.
    """

    inside: IntArray
    before: IntArray
    after: IntArray


#: For records of nodes that no walk recorded.
NO_FENCE = Fence(_NONE, _NONE, _NONE)


@dataclass(frozen=True, slots=True)
class Fences:
    """The top-level nodes of a graph that hold conditional bodies.

    Attributes
    ----------
    loops
        A body may run more than once in a launch.
    """

    fences: tuple[Fence, ...] = ()
    loops: bool = True

    def split(self, nodes: IntArray) -> Iterator[tuple[int, Fence, IntArray]]:
        """Yield number and fence, and the places of the nodes in it, of each that has some.

        Nodes in none of them come last, with number -1.
        """
        left = np.ones(len(nodes), bool)
        for number, fence in enumerate(self.fences):
            mine = np.isin(nodes, fence.inside)
            left &= ~mine
            if mine.any():
                yield number, fence, np.flatnonzero(mine)
        if left.any():
            yield -1, NO_FENCE, np.flatnonzero(left)


def fences_of(walks: Sequence[GraphWalk]) -> Fences | None:
    """Return the fences of an executable's levels, the top one first; None: no conditional node."""
    if not any(node.type == NodeType.CONDITIONAL for walk in walks for node in walk.nodes):
        return None
    top = walks[0]
    steps = {walk.graph_id: walk for walk in walks}
    exec_ids = Numbering(walks).exec_ids
    top_of = {node.node_id: node.node_id for node in top.nodes}
    holding: set[int] = set()
    loops = False
    for walk in walks:
        step = walk
        while step.parent_graph_id != top.graph_id and step.parent_graph_id in steps:
            step = steps[step.parent_graph_id]
        for node in walk.nodes:
            number = exec_ids.get((walk.graph_id, node.node_id))
            if walk is not top and number is not None:
                top_of[number] = step.parent_node_id
            if node.type == NodeType.CONDITIONAL:
                holding.add(node.node_id if walk is top else step.parent_node_id)
                known = walk.conditionals.get(node.node_id)
                loops |= known is None or known.type not in _AT_MOST_ONCE
    return Fences(tuple(_fence(top, top_of, conditional) for conditional in sorted(holding)), loops)


def _fence(top: GraphWalk, top_of: dict[int, int], conditional: int) -> Fence:
    full = top.edges[top.edges[:, 2] == 0]
    forward: dict[int, list[int]] = {}
    backward: dict[int, list[int]] = {}
    for source, target in full[:, :2].tolist():
        forward.setdefault(source, []).append(target)
        backward.setdefault(target, []).append(source)
    return Fence(
        _inside({conditional}, top_of),
        _inside(_reach(backward, conditional), top_of),
        _inside(_reach(forward, conditional), top_of),
    )


def _inside(top_nodes: Iterable[int], top_of: dict[int, int]) -> IntArray:
    wanted = set(top_nodes)
    return np.array([n for n, top in top_of.items() if top in wanted], np.int64)


def _reach(edges: dict[int, list[int]], start: int) -> set[int]:
    found: set[int] = set()
    open_nodes = [start]
    while open_nodes:
        for node in edges.get(open_nodes.pop(), ()):
            if node not in found:
                found.add(node)
                open_nodes.append(node)
    return found


@dataclass(frozen=True, slots=True)
class Extent:
    """The start and end of some nodes in each launch; the launches differ, in any order."""

    launch: IntArray
    begun: IntArray
    ended: IntArray

    @classmethod
    def of(cls, launch: IntArray, start_ns: IntArray, end_ns: IntArray) -> Extent:
        """Return the extents of records, given the launch of each; launches may repeat."""
        found, group = np.unique(launch, return_inverse=True)
        begun = np.full(len(found), np.iinfo(np.int64).max)
        ended = np.zeros(len(found), np.int64)
        np.minimum.at(begun, group, start_ns)
        np.maximum.at(ended, group, end_ns)
        return cls(found, begun, ended)

    @classmethod
    def none(cls) -> Extent:
        """Return the extents of no launch."""
        return cls(_NONE, _NONE, _NONE)

    def joined(self, other: Extent) -> Extent:
        """Return the extents of the nodes of both."""
        return Extent.of(
            np.concatenate((self.launch, other.launch)),
            np.concatenate((self.begun, other.begun)),
            np.concatenate((self.ended, other.ended)),
        )

    def chosen(self, which: BoolArray) -> Extent:
        """Return some of the launches."""
        return Extent(self.launch[which], self.begun[which], self.ended[which])

    def __len__(self) -> int:
        return len(self.launch)


@dataclass(frozen=True, slots=True)
class Placed:
    """Launches of records.

    Attributes
    ----------
    launch
        The launch of each; the nearest known one where it is not ``known``.
    doubtful
        The next launch could be its owner as well.
    """

    launch: IntArray
    known: BoolArray
    doubtful: BoolArray


def place_between(start_ns: IntArray, before: Extent, after: Extent, own: Extent) -> Placed:
    """Return the launches of body records that start then.

    Parameters
    ----------
    before, after
        Of the nodes before and after the node that holds the bodies.
    own
        Of all nodes whose records name their launch; not empty.
    """
    sure = np.zeros(len(start_ns), bool)
    if len(before):
        order = np.argsort(before.begun, kind="stable")
        at = np.searchsorted(before.begun[order], start_ns, "right") - 1
        return Placed(before.launch[order[np.maximum(at, 0)]], at >= 0, sure)
    if len(after):
        order = np.argsort(after.ended, kind="stable")
        at = np.searchsorted(after.ended[order], start_ns, "left")
        return Placed(after.launch[order[np.minimum(at, len(order) - 1)]], at < len(order), sure)
    # Nodes beside the conditional node only.
    order = np.argsort(own.begun, kind="stable")
    at = np.maximum(np.searchsorted(own.begun[order], start_ns, "right") - 1, 0)
    between = (start_ns > own.ended[order[at]]) & (at < len(order) - 1)
    return Placed(own.launch[order[at]], ~sure, between)
