"""Folds of equal blocks: all runs of a sequence, planted layers, and what holds of any graph."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from folding_graphs import (
    LabelledGraph,
    check_repeat,
    check_tree,
    random_graphs,
    repeating_graphs,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gviz.dag.ranks import rank_rows
from gviz.layout.folds.fold import FoldTree
from gviz.layout.folds.folded_graph import fold_graph
from gviz.layout.folds.line import follow_chains
from gviz.layout.folds.repeats import find_repeats
from gviz.layout.folds.runs import find_runs

graphs = st.one_of(random_graphs(), repeating_graphs())


def find(graph: LabelledGraph) -> FoldTree:
    return find_repeats(graph.source, graph.target, graph.order, graph.labels)


def chained(labels: list[int]) -> LabelledGraph:
    return LabelledGraph(labels, list(pairwise(range(len(labels)))))


def is_power(word: list[int]) -> bool:
    """Return whether a word is a shorter one repeated."""
    return any(word == word[:p] * (len(word) // p) for p in range(1, len(word)))


def runs_by_trying(labels: list[int]) -> set[tuple[int, int, int]]:
    """Every run by its definition: maximal, at least two periods, of its smallest period."""
    found: dict[tuple[int, int], int] = {}
    for period in range(1, len(labels) // 2 + 1):
        equal = [a == b for a, b in zip(labels, labels[period:], strict=False)]
        start = 0
        while start < len(equal):
            end = start
            while end < len(equal) and equal[end]:
                end += 1
            if end - start >= period:
                found.setdefault((start, end + period), period)
            start = end + 1
    return {(start, end, period) for (start, end), period in found.items()}


@given(labels=st.lists(st.integers(-1, 2), max_size=40))
@settings(deadline=None, max_examples=300)
def test_find_runs_are_those_found_by_trying(labels: list[int]) -> None:
    runs = find_runs(labels)
    rows = (runs.start.tolist(), runs.end.tolist(), runs.period.tolist())
    found = list(zip(*rows, strict=True))
    assert found == sorted(set(found), key=lambda run: (run[0], run[2]))
    assert set(found) == runs_by_trying(labels)


@given(graph=graphs)
@settings(deadline=None, max_examples=200)
def test_find_repeats_any_graph_folds_are_convex_and_their_blocks_equal(
    graph: LabelledGraph,
) -> None:
    tree = find(graph)
    check_tree(tree, graph)
    for fold in tree.walk():
        assert fold.kind in ("repeat", "block")
        if fold.kind == "repeat":
            check_repeat(fold, graph)
            inside = [[len(f.nodes) for f in child.walk()] for child in fold.children]
            assert all(sizes == inside[0] for sizes in inside)


@given(graph=graphs, data=st.data())
@settings(deadline=None)
def test_find_repeats_ids_depend_on_the_graph_alone(
    graph: LabelledGraph, data: st.DataObject
) -> None:
    shuffled = LabelledGraph(
        [7 * label - 100 for label in graph.labels],
        list(data.draw(st.permutations(graph.edges))),
    )
    assert [f.id for f in find(shuffled).walk()] == [f.id for f in find(graph).walk()]


@given(
    block=st.lists(st.integers(1, 3), min_size=1, max_size=6).filter(lambda b: not is_power(b)),
    repeats=st.integers(2, 7),
    before=st.integers(0, 4),
    after=st.integers(0, 4),
    data=st.data(),
)
@settings(deadline=None, max_examples=200)
def test_find_repeats_planted_layers_are_one_fold(
    block: list[int], repeats: int, before: int, after: int, data: st.DataObject
) -> None:
    """Edges inside blocks are equal; those between blocks and beside them are anything."""
    period = len(block)
    assume(period > 1 or repeats > 2)
    labels = [100 + i for i in range(before)] + block * repeats + [200 + i for i in range(after)]
    inside = st.tuples(st.integers(0, period - 1), st.integers(0, period - 1))
    pattern = data.draw(st.lists(inside, max_size=6))
    edges = {
        (before + k * period + min(p), before + k * period + max(p))
        for k in range(repeats)
        for p in pattern
        if p[0] != p[1]
    }
    layer = [
        (i - before) // period if before <= i < len(labels) - after else -1
        for i in range(len(labels))
    ]
    anywhere = st.integers(0, len(labels) - 1)
    for pair in data.draw(st.lists(st.tuples(anywhere, anywhere), max_size=10)):
        a, b = min(pair), max(pair)
        if a != b and not (layer[a] == layer[b] >= 0):
            edges.add((a, b))
    tree = find(LabelledGraph(labels, sorted(edges)))
    assert len(tree.folds) == 1
    expected = np.arange(before, before + period * repeats).reshape(repeats, period)
    assert tree.folds[0].blocks.tolist() == expected.tolist()


@given(
    period=st.integers(2, 8),
    first=st.integers(2, 5),
    second=st.integers(2, 5),
    at=st.integers(1, 7),
)
@settings(deadline=None)
def test_find_repeats_one_node_more_in_a_block_ends_one_fold_and_begins_another(
    period: int, first: int, second: int, at: int
) -> None:
    assume(at < period)
    block = list(range(1, period + 1))
    labels = [100, *block * first, *block[:at], 99, *block[at:], *block * second, 101]
    tree = find(chained(labels))
    assert sorted((f.repeats, f.period) for f in tree.folds) == sorted(
        [(first, period), (second, period)]
    )
    assert {labels[f.nodes[0]] for f in tree.folds} == {1}, "both begin at the same place"


@given(
    inner=st.integers(1, 3),
    inner_repeats=st.integers(2, 4),
    before=st.integers(0, 3),
    after=st.integers(0, 3),
    repeats=st.integers(2, 5),
)
@settings(deadline=None)
def test_find_repeats_a_repeat_inside_blocks_is_folded_in_each(
    inner: int, inner_repeats: int, before: int, after: int, repeats: int
) -> None:
    assume(before + after > 0)
    assume(inner > 1 or inner_repeats > 2)
    part = [10 + i for i in range(inner)]
    block = [20 + i for i in range(before)] + part * inner_repeats
    block += [30 + i for i in range(after)]
    (outer,) = find(chained([98, *block * repeats, 99])).folds
    assert (outer.repeats, outer.period) == (repeats, len(block))
    for child in outer.children:
        (fold,) = child.children
        assert (fold.repeats, fold.period) == (inner_repeats, inner)
        assert fold.nodes[0] == child.nodes[0] + before


@given(
    periods=st.tuples(st.integers(2, 5), st.integers(2, 5)),
    repeats=st.tuples(st.integers(2, 6), st.integers(2, 6)),
)
@settings(deadline=None)
def test_find_repeats_two_chains_side_by_side_are_folded_one_by_one(
    periods: tuple[int, int], repeats: tuple[int, int]
) -> None:
    labels: list[int] = []
    edges: list[tuple[int, int]] = []
    for chain in range(2):
        start = len(labels)
        block = [10 * chain + i for i in range(periods[chain])]
        labels += [100 + chain, *block * repeats[chain]]
        edges += pairwise(range(start, len(labels)))
    graph = LabelledGraph(labels, edges)
    row = rank_rows(len(labels), graph.source, graph.target)
    order = np.lexsort((np.arange(len(labels)), row))
    tree = find_repeats(graph.source, graph.target, order, labels)
    check_tree(tree, graph)
    # Each chain's first node and its fold; fewer is impossible, as first nodes equal no other.
    assert len(fold_graph(tree)) <= 4


@given(graph=graphs)
@settings(deadline=None)
def test_follow_chains_is_topological_and_leaves_no_node_while_its_dependent_is_ready(
    graph: LabelledGraph,
) -> None:
    count = len(graph.labels)
    order = follow_chains(count, graph.source, graph.target, graph.order).tolist()
    assert sorted(order) == list(range(count))
    place = {node: i for i, node in enumerate(order)}
    assert all(place[a] < place[b] for a, b in graph.edges)
    before = {n: {a for a, b in graph.edges if b == n} for n in range(count)}
    for i, (node, following) in enumerate(pairwise(order)):
        done = set(order[: i + 1])
        ready = [b for a, b in graph.edges if a == node and before[b] <= done]
        assert not ready or following == min(ready)
