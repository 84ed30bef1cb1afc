"""The visible graph while any folds are open: acyclic, complete, and independent of clicks."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import numpy as np
from folding_graphs import LabelledGraph, items_of, random_graphs, repeating_graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from gviz.layout.folds.durations import compare_repeats, sum_items
from gviz.layout.folds.fold import FoldTree
from gviz.layout.folds.folded_graph import fold_graph, unfold_to
from gviz.layout.folds.ranges import RangePaths, find_ranges
from gviz.layout.folds.repeats import find_repeats


@st.composite
def folded_trees(draw: st.DrawFn) -> tuple[LabelledGraph, FoldTree]:
    """A graph and its repeats, or its ranges with paths out of few texts."""
    graph = draw(st.one_of(random_graphs(), repeating_graphs()))
    if draw(st.booleans()):
        labels = np.asarray(graph.labels, np.int64)
        # Of two kinds, and in chains wherever there are two nodes; or not.
        kinds = labels % 3 - 1 if draw(st.booleans()) else None
        with (
            patch("gviz.layout.folds.repeats.MOST_READ", 0),
            patch("gviz.layout.folds.chains.LEAST_LONG", 2),
        ):
            repeats = find_repeats(graph.source, graph.target, graph.order, labels, kinds=kinds)
        return graph, repeats
    path = st.lists(st.sampled_from("ab"), max_size=3)
    count = len(graph.labels)
    paths = RangePaths.from_texts(draw(st.lists(path, min_size=count, max_size=count)))
    order = np.array(draw(st.permutations(range(count))), np.int64)
    return graph, find_ranges(graph.source, graph.target, order, paths)


def choose(data: st.DataObject, tree: FoldTree) -> list[str]:
    ids = [fold.id for fold in tree.walk()]
    return data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []


@given(drawn=folded_trees(), data=st.data())
@settings(deadline=None, max_examples=200)
def test_fold_graph_any_folds_open_is_acyclic_and_holds_each_node_once(
    drawn: tuple[LabelledGraph, FoldTree], data: st.DataObject
) -> None:
    graph, tree = drawn
    folded = fold_graph(tree, choose(data, tree))
    items = items_of(folded)
    assert sorted(n for members in items for n in members) == graph.order.tolist()
    assert all(n in items[folded.item_of[n]] for n in graph.order.tolist())
    assert (folded.source < folded.target).all()
    place = {node: i for i, node in enumerate(tree.order.tolist())}
    begins = [min(place[n] for n in members) for members in items]
    assert begins == sorted(begins)
    between = Counter(
        (int(folded.item_of[a]), int(folded.item_of[b]))
        for a, b in graph.edges
        if folded.item_of[a] != folded.item_of[b]
    )
    edges = zip(folded.source.tolist(), folded.target.tolist(), strict=True)
    assert dict(zip(edges, folded.edge_count.tolist(), strict=True)) == between


@given(drawn=folded_trees())
@settings(deadline=None)
def test_fold_graph_all_open_is_the_graph(drawn: tuple[LabelledGraph, FoldTree]) -> None:
    graph, tree = drawn
    folded = fold_graph(tree, [fold.id for fold in tree.walk()])
    assert folded.node.tolist() == tree.order.tolist()
    assert set(folded.folds) <= {None}
    edges = np.column_stack((folded.node[folded.source], folded.node[folded.target]))
    assert sorted(map(tuple, edges.tolist())) == graph.edges
    assert (folded.edge_count == 1).all()


@given(drawn=folded_trees(), data=st.data())
@settings(deadline=None)
def test_fold_graph_opening_a_fold_changes_nothing_but_that_item(
    drawn: tuple[LabelledGraph, FoldTree], data: st.DataObject
) -> None:
    _, tree = drawn
    opened = choose(data, tree)
    before = fold_graph(tree, opened)
    closed = [fold for fold in before.folds if fold is not None]
    if not closed:
        return
    fold = data.draw(st.sampled_from(closed))
    after = fold_graph(tree, [*opened, fold.id])
    gone = set(items_of(before)) - set(items_of(after))
    assert gone == {frozenset(fold.nodes.tolist())}
    for members in set(items_of(after)) - set(items_of(before)):
        assert members < frozenset(fold.nodes.tolist())
    again = fold_graph(tree, [i for i in [*opened, fold.id] if i != fold.id])
    assert items_of(again) == items_of(before)


@given(drawn=folded_trees(), data=st.data())
@settings(deadline=None)
def test_fold_graph_order_of_clicks_is_nothing(
    drawn: tuple[LabelledGraph, FoldTree], data: st.DataObject
) -> None:
    _, tree = drawn
    clicks = choose(data, tree)
    shuffled = data.draw(st.permutations(clicks))
    first, second = fold_graph(tree, clicks), fold_graph(tree, [*shuffled, "none", *shuffled])
    assert items_of(first) == items_of(second)
    assert first.source.tolist() == second.source.tolist()
    assert first.target.tolist() == second.target.tolist()


@given(drawn=folded_trees(), data=st.data())
@settings(deadline=None)
def test_unfold_to_shows_the_node_and_opens_nothing_else(
    drawn: tuple[LabelledGraph, FoldTree], data: st.DataObject
) -> None:
    graph, tree = drawn
    if not graph.labels:
        return
    node = data.draw(st.sampled_from(graph.order.tolist()))
    opened = unfold_to(tree, node)
    folded = fold_graph(tree, opened)
    assert folded.node[folded.item_of[node]] == node
    assert opened == {fold.id for fold in tree.walk() if node in fold.nodes.tolist()}


@given(drawn=folded_trees(), data=st.data())
@settings(deadline=None)
def test_sums_of_items_and_repeats_are_sums_over_their_timed_nodes(
    drawn: tuple[LabelledGraph, FoldTree], data: st.DataObject
) -> None:
    graph, tree = drawn
    time = st.one_of(st.just(float("nan")), st.integers(0, 1000).map(float))
    count = len(graph.labels)
    duration_ns = np.array(data.draw(st.lists(time, min_size=count, max_size=count)), float)
    folded = fold_graph(tree, choose(data, tree))
    sums = sum_items(folded, duration_ns)
    check_sums(sums.total_ns, sums.timed_count, items_of(folded), duration_ns)
    for fold in tree.walk():
        if fold.kind != "repeat":
            continue
        found = compare_repeats(fold.blocks, duration_ns)
        blocks = [frozenset(block) for block in fold.blocks.tolist()]
        check_sums(found.total_ns, found.timed_count, blocks, duration_ns)
        known = found.total_ns[~np.isnan(found.total_ns)]
        if not len(known):
            assert found.slowest is None
            continue
        assert found.least_ns <= found.median_ns <= found.most_ns
        assert found.slowest is not None
        assert found.total_ns[found.slowest] == found.most_ns == max(known)
        assert 0 <= found.spread_ns <= found.most_ns - found.least_ns


def check_sums(
    total_ns: np.ndarray,
    timed_count: np.ndarray,
    sets: list[frozenset[int]],
    duration_ns: np.ndarray,
) -> None:
    for total, count, nodes in zip(total_ns.tolist(), timed_count.tolist(), sets, strict=True):
        known = [duration_ns[n] for n in nodes if not np.isnan(duration_ns[n])]
        assert count == len(known)
        assert total == sum(known) if known else np.isnan(total)
