"""Folds of NVTX ranges: what occurrences are, and that they are split only where they must be."""

from __future__ import annotations

from itertools import groupby

import networkx as nx
import numpy as np
from folding_graphs import LabelledGraph, check_tree, random_graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from gviz.layout.folds.ranges import RangePaths, find_ranges

Path = tuple[str, ...]
Occurrence = tuple[Path, frozenset[int]]


@st.composite
def ranged_graphs(draw: st.DrawFn) -> tuple[LabelledGraph, list[Path]]:
    """A random DAG with a path of ranges a node; neighbours often share theirs."""
    graph = draw(random_graphs())
    count = len(graph.labels)
    path = st.lists(st.sampled_from("ab"), max_size=3).map(tuple)
    few = draw(st.lists(path, min_size=1, max_size=4))
    paths: list[Path] = []
    while len(paths) < count:
        paths += [draw(st.sampled_from(few))] * draw(st.integers(1, 5))
    return graph, paths[:count]


def occurrences(nodes: list[int], paths: list[Path], depth: int = 1) -> list[list[Occurrence]]:
    """Return the occurrences of ranges among neighbouring nodes, one list a level."""
    level: list[Occurrence] = []
    deeper: list[list[Occurrence]] = []
    for prefix, group in groupby(nodes, key=lambda n: paths[n][:depth]):
        members = list(group)
        if len(prefix) == depth:
            level.append((prefix, frozenset(members)))
            deeper += occurrences(members, paths, depth + 1)
    return [level, *deeper] if level else deeper


def is_acyclic_folded(graph: LabelledGraph, level: list[Occurrence], nodes: set[int]) -> bool:
    """Return whether nodes with the occurrences of a level folded form no cycle."""
    item = {n: n for n in nodes}
    for k, (_, members) in enumerate(level):
        item |= dict.fromkeys(members, -1 - k)
    inside = [(item[a], item[b]) for a, b in graph.edges if a in nodes and b in nodes]
    return nx.is_directed_acyclic_graph(nx.DiGraph((a, b) for a, b in inside if a != b))


@given(drawn=ranged_graphs())
@settings(deadline=None, max_examples=200)
def test_find_ranges_in_a_topological_order_are_the_occurrences_of_two_nodes_or_more(
    drawn: tuple[LabelledGraph, list[Path]],
) -> None:
    graph, paths = drawn
    tree = find_ranges(graph.source, graph.target, graph.order, RangePaths.from_texts(paths))
    check_tree(tree, graph)
    assert tree.broken == ()
    assert tree.order.tolist() == graph.order.tolist()
    expected: dict[frozenset[int], list[str]] = {}
    for level in occurrences(graph.order.tolist(), paths):
        for prefix, members in level:
            if len(members) > 1:
                expected.setdefault(members, []).append(prefix[-1])
    found = {frozenset(f.nodes.tolist()): f.title for f in tree.walk()}
    assert found == {members: " / ".join(texts) for members, texts in expected.items()}


@given(drawn=ranged_graphs(), data=st.data())
@settings(deadline=None, max_examples=300)
def test_find_ranges_in_any_order_are_split_exactly_where_the_folded_graph_is_cyclic(
    drawn: tuple[LabelledGraph, list[Path]], data: st.DataObject
) -> None:
    graph, by_place = drawn
    order = data.draw(st.permutations(graph.order.tolist()))
    paths = [()] * len(order)
    for place, node in enumerate(order):
        paths[node] = by_place[place]
    tree = find_ranges(
        graph.source, graph.target, np.array(order, np.int64), RangePaths.from_texts(paths)
    )
    check_tree(tree, graph)
    levels = occurrences(order, paths)
    is_acyclic = all(
        is_acyclic_folded(graph, level, enclosing(level, levels, set(order))) for level in levels
    )
    assert (tree.broken == ()) == is_acyclic
    known = {(prefix, members) for level in levels for prefix, members in level}
    for broken in tree.broken:
        assert len(broken.pieces) > 1
        parts = [frozenset(piece.tolist()) for piece in broken.pieces]
        whole = frozenset().union(*parts)
        assert sum(map(len, parts)) == len(whole)
        assert (broken.path, whole) in known
    whole_or_part = {frozenset(p.tolist()) for b in tree.broken for p in b.pieces}
    whole_or_part |= {members for _, members in known}
    assert all(frozenset(fold.nodes.tolist()) in whole_or_part for fold in tree.walk())


def enclosing(
    level: list[Occurrence], levels: list[list[Occurrence]], everything: set[int]
) -> set[int]:
    """Return the nodes of the occurrence right around those of a level; all where none is."""
    prefix, members = level[0]
    for other in levels:
        for around, nodes in other:
            if around == prefix[:-1] and members <= nodes:
                return set(nodes)
    return everything
