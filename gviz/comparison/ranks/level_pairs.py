"""A graph and the bodies in it on several ranks: which level, and which node, is which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.comparison.compared_tree import ComparedTree
from gviz.comparison.comparison import pair_by_parents
from gviz.comparison.pairing import ComparedGraph, pair_nodes
from gviz.dataclass import dataclass
from gviz.model import Bodies
from gviz.recording import rows
from gviz.stats import IntArray


@dataclass(frozen=True, slots=True)
class LevelPairs:
    """A level (the graph, or a body in it) of the first side, and the same on the others.

    Attributes
    ----------
    body
        Names of the body and of those around it, outermost first; empty: the graph itself.
    around
        Place of the level that its parent node stands in; -1: none.
    graph_ids, graphs
        By side; None: it has no such body.
    partners
        By side the index there of every node of the first (int64, -1: none).
    """

    body: str
    around: int
    graph_ids: tuple[int | None, ...]
    graphs: tuple[ComparedGraph | None, ...]
    partners: tuple[IntArray, ...]

    @property
    def first(self) -> ComparedGraph:
        """The level on the first side, whose nodes are compared."""
        graph = self.graphs[0]
        assert graph is not None  # levels are those of the first side
        return graph

    @property
    def is_shared(self) -> bool:
        """Return whether a side beside the first has it."""
        return any(graph is not None for graph in self.graphs[1:])

    def node_id(self, side: int, node: int) -> int | None:
        """Return the id of a node of the first side on another; None: it is not there."""
        graph, partner = self.graphs[side], int(self.partners[side][node])
        return None if graph is None or partner < 0 else int(graph.node_id[partner])


def pair_levels(trees: Sequence[ComparedTree], bodies: Bodies) -> list[LevelPairs]:
    """Return a graph with all bodies in it on the first side.

    Bodies inside one that no other side has are not among them.

    Parameters
    ----------
    trees
        The graph by side.
    bodies
        Of the sides' runs.

    Raises
    ------
    RecordingError
        If edges form a cycle.
    """
    graph_ids = tuple(tree.tree.graph.graph_id for tree in trees)
    waiting: list[tuple[str, int, tuple[int | None, ...]]] = [("", -1, graph_ids)]
    found: list[LevelPairs] = []
    while waiting:
        level = _pair_level(trees, *waiting.pop(0))
        found.append(level)
        if level.is_shared:
            waiting += _bodies_below(level, len(found) - 1, bodies)
    return found


def _pair_level(
    trees: Sequence[ComparedTree], body: str, around: int, graph_ids: tuple[int | None, ...]
) -> LevelPairs:
    graphs = [
        None if g is None else tree.graph(g) for tree, g in zip(trees, graph_ids, strict=True)
    ]
    first = graphs[0]
    assert first is not None  # bodies are taken from the first side
    nowhere = np.full(len(first), -1, np.int64)
    others = [nowhere if g is None else pair_nodes(first, g) for g in graphs[1:]]
    own = np.arange(len(first), dtype=np.int64)
    return LevelPairs(body, around, graph_ids, tuple(graphs), (own, *others))


def _bodies_below(
    level: LevelPairs, at: int, bodies: Bodies
) -> list[tuple[str, int, tuple[int | None, ...]]]:
    """Return the bodies in a level: what they are called, where they are, on which sides."""
    first = level.first
    own = _below(level.graph_ids[0], bodies)
    there: list[dict[int, int]] = []
    for side, graph_id in enumerate(level.graph_ids[1:], start=1):
        other = level.graphs[side]
        partner = level.partners[side]
        known = np.flatnonzero(partner >= 0)
        ids = [] if other is None else other.node_id[partner[known]].tolist()
        pairs = dict(zip(first.node_id[known].tolist(), ids, strict=True))
        there.append(dict(pair_by_parents(pairs, own, _below(graph_id, bodies))))
    return [
        (
            " › ".join(filter(None, (level.body, body.name))),
            at,
            (body.graph_id, *(found.get(body.graph_id) for found in there)),
        )
        for body in own
    ]


def _below(graph_id: int | None, bodies: Bodies) -> list[rows.Graph]:
    return [] if graph_id is None else bodies.of(graph_id)
