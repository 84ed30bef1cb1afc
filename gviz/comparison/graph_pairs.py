"""Pairs of graphs of two runs: by shape, by name, by their nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from gviz.dataclass import dataclass
from gviz.model import SHAPE, is_failed, read_level_columns

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Graphs that share less of their work than this are not taken for one another.
LEAST_LIKENESS = 0.5
#: Where a name was made from a line of code: the line's number changes with any edit above it.
_LINE = re.compile(r":\d+")

How = Literal["shape", "name", "work", "asked"]


class GraphPair(NamedTuple):
    """Two graphs that are taken for the same.

    Attributes
    ----------
    first, second
        Their graph_id.
    how
        ``shape``: equal node types, kernels and edges; ``name``: called the same, with work in
        common; ``work``: most of their work in common; ``asked``: given by the user.
    likeness
        Share of their work that they have in common, 0..1.
    """

    first: int
    second: int
    how: How
    likeness: float


@dataclass(frozen=True, slots=True)
class GraphTraits:
    """Traits of a top-level graph of a run, by which it is identified.

    Attributes
    ----------
    graph_id
        In its file.
    name
        As shown.
    shape
        Hash of its topology; None: edges unknown.
    work
        How often each (type, name, grid, block, bytes) occurs.
    """

    graph_id: int
    name: str
    shape: str | None
    work: Counter[tuple[object, ...]]


_WORK = ("type", "name", *SHAPE)


def read_graph_traits(recording: Recording, run_id: int) -> list[GraphTraits]:
    """Return the top-level graphs of a run that could be launched, in order of graph_id."""
    found = []
    for graph in recording.fetch_graphs(run_id):
        if graph.parent_graph_id is not None or is_failed(graph):
            continue
        shape = graph.topology_id and recording.fetch_topology(graph.topology_id).hash
        nodes = read_level_columns(recording, graph.graph_id, _WORK)
        work = Counter(zip(*map(nodes.listed, _WORK), strict=True))
        found.append(GraphTraits(graph.graph_id, graph.name, shape or None, work))
    return found


def pair_graphs(first: Sequence[GraphTraits], second: Sequence[GraphTraits]) -> list[GraphPair]:
    """Return pairs of graphs, each in one pair at most, in order of the first.

    Equal shapes come first, then equal names, then the most alike. Of several that are
    equal in all this, the first is paired with the first: programs capture in one order.
    """
    candidates = [
        (rank, -alike, abs(i - j), i, j, how)
        for i, one in enumerate(first)
        for j, two in enumerate(second)
        for rank, how, alike in _judge(one, two)
    ]
    taken: tuple[set[int], set[int]] = (set(), set())
    found = []
    for _, alike, _, i, j, how in sorted(candidates):
        if i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            found.append(GraphPair(first[i].graph_id, second[j].graph_id, how, -alike))
    return sorted(found)


def _judge(one: GraphTraits, two: GraphTraits) -> list[tuple[int, How, float]]:
    """Return how two graphs could be the same: rank (0 is best), how, likeness."""
    alike = likeness(one, two)
    named = _plain(one.name) == _plain(two.name)
    if one.shape is not None and one.shape == two.shape:
        return [(0 if named else 1, "shape", alike)]
    if named and alike > 0:
        return [(2, "name", alike)]
    return [(3, "work", alike)] if alike >= LEAST_LIKENESS else []


def likeness(one: GraphTraits, two: GraphTraits) -> float:
    """Return the share of nodes in common (Sørensen and Dice)."""
    total = one.work.total() + two.work.total()
    return 2 * (one.work & two.work).total() / total if total else 1.0


def _plain(name: str) -> str:
    return _LINE.sub("", name)
