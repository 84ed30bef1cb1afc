"""Generated graphs for the tests of folding, and what must hold of every tree of folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from gviz.layout.folds.cover import least_repeats
from gviz.layout.folds.fold import Fold, FoldTree
from gviz.layout.folds.folded_graph import FoldedDag

Edge = tuple[int, int]


@dataclass(frozen=True)
class LabelledGraph:
    """Nodes 0.. in a topological order, their labels and edges."""

    labels: list[int]
    edges: list[Edge]

    @property
    def source(self) -> np.ndarray:
        return np.array([a for a, _ in self.edges], np.int64)

    @property
    def target(self) -> np.ndarray:
        return np.array([b for _, b in self.edges], np.int64)

    @property
    def order(self) -> np.ndarray:
        return np.arange(len(self.labels))

    def digraph(self) -> nx.DiGraph:
        graph = nx.DiGraph(self.edges)
        graph.add_nodes_from(range(len(self.labels)))
        return graph


@st.composite
def random_graphs(draw: st.DrawFn) -> LabelledGraph:
    """A random DAG with few kinds of labels; often with a chain through all nodes."""
    count = draw(st.integers(0, 30))
    kinds = draw(st.integers(1, 4))
    labels = draw(st.lists(st.integers(1, kinds), min_size=count, max_size=count))
    if not count:
        return LabelledGraph([], [])
    place = st.integers(0, count - 1)
    pairs = draw(st.lists(st.tuples(place, place), max_size=40))
    edges = {(min(a, b), max(a, b)) for a, b in pairs if a != b}
    if draw(st.booleans()):
        edges |= set(pairwise(range(count)))
    return LabelledGraph(labels, sorted(edges))


@st.composite
def repeating_graphs(draw: st.DrawFn) -> LabelledGraph:
    """Copies of a small random graph one after the other, a few edges and labels changed."""
    period, repeats = draw(st.integers(1, 5)), draw(st.integers(2, 6))
    block = draw(st.lists(st.integers(1, 3), min_size=period, max_size=period))
    place = st.integers(0, 2 * period - 1)
    pattern = draw(st.lists(st.tuples(place, place), max_size=8))
    labels = block * repeats
    edges = {
        (min(a, b) + k * period, max(a, b) + k * period)
        for k in range(repeats)
        for a, b in pattern
        if a != b and max(a, b) + k * period < len(labels)
    }
    anywhere = st.integers(0, len(labels) - 1)
    for a, b in draw(st.lists(st.tuples(anywhere, anywhere), max_size=2)):
        if a != b:
            edges ^= {(min(a, b), max(a, b))}
    for at in draw(st.lists(anywhere, max_size=1)):
        labels[at] = 9
    return LabelledGraph(labels, sorted(edges))


def check_tree(tree: FoldTree, graph: LabelledGraph) -> None:
    """Assert what every tree of folds is: convex, laminar sets of nodes, in one order."""
    place = {node: i for i, node in enumerate(tree.order.tolist())}
    assert sorted(place) == list(range(len(graph.labels)))
    assert all(place[a] < place[b] for a, b in graph.edges)
    reach = dict(nx.all_pairs_shortest_path_length(graph.digraph()))
    ids = [fold.id for fold in tree.walk()]
    assert len(set(ids)) == len(ids)
    check_siblings(tree.folds, tree.order.tolist())
    for fold in tree.walk():
        members = fold.nodes.tolist()
        assert len(members) > 1
        assert [place[n] for n in members] == list(range(place[members[0]], place[members[-1]] + 1))
        check_siblings(fold.children, members)
        inside = set(members)
        for outside in set(range(len(graph.labels))) - inside:
            enters = any(outside in reach[n] for n in inside)
            assert not (enters and inside & set(reach[outside]))


def check_siblings(folds: Sequence[Fold], within: list[int]) -> None:
    """Assert that folds are disjoint parts of some nodes, in their order."""
    together = [n for fold in folds for n in fold.nodes.tolist()]
    assert len(set(together)) == len(together)
    chosen = set(together)
    assert together == [n for n in within if n in chosen]


def check_repeat(fold: Fold, graph: LabelledGraph) -> None:
    """Assert that the blocks of a repeat are equal in labels and in the edges inside."""
    assert fold.repeats >= least_repeats(fold.period)
    assert fold.blocks.reshape(-1).tolist() == fold.nodes.tolist()
    kinds = {tuple(graph.labels[n] for n in block) for block in fold.blocks.tolist()}
    assert len(kinds) == 1
    edges = set()
    for block in fold.blocks.tolist():
        at = {node: i for i, node in enumerate(block)}
        edges.add(frozenset((at[a], at[b]) for a, b in graph.edges if a in at and b in at))
    assert len(edges) == 1
    blocks = [child.nodes.tolist() for child in fold.children]
    assert blocks == (fold.blocks.tolist() if fold.period > 1 else [])
    assert all(child.kind == "block" for child in fold.children)


def items_of(folded: FoldedDag) -> list[frozenset[int]]:
    """Return the nodes of each item."""
    return [frozenset(folded.nodes_of(i).tolist()) for i in range(len(folded))]
