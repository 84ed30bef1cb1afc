"""Folds of equal blocks: the bundled recordings, and edges that decide."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import gviz.assets
from gviz.dag.ranks import rank_rows
from gviz.layout.folds.fold import FIRST_BLOCKS, Fold, FoldTree
from gviz.layout.folds.folded_graph import fold_graph
from gviz.layout.folds.ranges import RangePaths, find_ranges
from gviz.layout.folds.repeats import find_repeats
from gviz.recording import rows
from gviz.recording.reader import Recording

RECORDINGS = Path(gviz.assets.__path__[0]) / "recordings"
ORDERS = ["rows", "creation"]


def read_graph(name: str) -> tuple[list[rows.Node], np.ndarray, np.ndarray, RangePaths]:
    """Return nodes, source, target and ranges of a bundled recording's graph."""
    with Recording(RECORDINGS / f"{name}.gviz") as recording:
        (run,) = recording.fetch_runs()
        (graph,) = recording.fetch_graphs(run.run_id)
        nodes = recording.fetch_nodes(graph.graph_id)
        assert graph.topology_id is not None
        edges = recording.fetch_edges(graph.topology_id)
        known = recording.fetch_nvtx_paths(run.run_id)
    ids = np.array([n.node_id for n in nodes])
    texts = []
    for node in nodes:
        at, path = node.nvtx_path_id, []
        while at is not None:
            path.append(known[at].text)
            at = known[at].parent_id
        texts.append(path[::-1])
    source, target = np.searchsorted(ids, edges.from_node), np.searchsorted(ids, edges.to_node)
    return nodes, source, target, RangePaths.from_texts(texts)


def find_in(name: str, order: str) -> FoldTree:
    nodes, source, target, _ = read_graph(name)
    created = np.arange(len(nodes))
    row = rank_rows(len(nodes), source, target)
    places = created if order == "creation" else np.lexsort((created, row))
    known: dict[object, int] = {}
    works = [(n.type, n.function_id, n.grid_x, n.grid_y, n.block_x, n.bytes) for n in nodes]
    labels = [known.setdefault(work, len(known)) for work in works]
    return find_repeats(source, target, places, labels, [n.name for n in nodes])


def shape_of(fold: Fold) -> tuple[int, int]:
    return fold.repeats, fold.period


def chained(labels: list[int], more: list[tuple[int, int]] | None = None) -> FoldTree:
    """Return the repeats of a chain with some more edges."""
    edges = [*pairwise(range(len(labels))), *(more or [])]
    source, target = np.array(edges).reshape(-1, 2).T
    return find_repeats(source, target, np.arange(len(labels)), labels)


def unlinked(labels: list[int], edges: list[tuple[int, int]]) -> FoldTree:
    """Return the repeats of nodes with these edges alone."""
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    return find_repeats(source, target, np.arange(len(labels)), labels)


# -- the bundled recordings ------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
def test_find_repeats_decode_step_is_16_layers_of_20_nodes(order: str) -> None:
    tree = find_in("decode_step", order)
    (layers,) = tree.folds
    assert shape_of(layers) == (16, 20)
    assert layers.title == "16 × 20 nodes"
    assert [child.title for child in layers.children][:2] == ["1 of 16", "2 of 16"]
    for layer in layers.children:
        (projections,) = layer.children
        assert shape_of(projections) == (3, 1), "query, key and value"
        assert projections.title == "3 × nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_NNT"
    # All of it is the repeat: the first of its blocks is open, the others are one item.
    assert len(fold_graph(tree)) == 18 + 1
    assert len(fold_graph(tree, [layers.id])) == 16


def test_find_repeats_decode_step_layers_are_those_of_its_ranges() -> None:
    nodes, source, target, paths = read_graph("decode_step")
    ranges = find_ranges(source, target, np.arange(len(nodes)), paths)
    (layers,) = find_in("decode_step", "creation").folds
    assert ranges.broken == ()
    assert [fold.title for fold in ranges.folds] == [f"layer {k}" for k in range(16)]
    assert [fold.nodes.tolist() for fold in ranges.folds] == layers.blocks.tolist()


@pytest.mark.parametrize("order", ORDERS)
def test_find_repeats_training_step_is_forward_backward_and_optimizer(order: str) -> None:
    tree = find_in("training_step", order)
    layers = [shape_of(fold) for fold in tree.folds if fold.repeats > 20]
    # The first layer's backward pass differs: nothing needs the gradient of the input.
    assert layers == [(24, 15), (23, 57), (24, 12), (24, 12)]
    assert tree.folds[0].nodes.tolist() == list(range(360))
    assert len(fold_graph(tree)) == 54


@pytest.mark.parametrize("order", ORDERS)
def test_find_repeats_cupy_pipeline_branches_beside_each_other_are_one_fold(order: str) -> None:
    tree = find_in("cupy_pipeline", order)
    assert [shape_of(fold) for fold in tree.folds] == [(4, 3), (3, 1)]


# -- edges -----------------------------------------------------------------------------


def test_find_repeats_blocks_of_two_kinds_of_edges_alternately_are_longer_blocks() -> None:
    labels = [1, 2, 3] * 6
    skips = [(3 * k, 3 * k + 2) for k in range(0, 6, 2)]
    (fold,) = chained(labels, skips).folds
    assert shape_of(fold) == (3, 6)


def test_find_repeats_longer_blocks_are_compared_as_a_whole() -> None:
    # Blocks of two kinds of edges in turn, and one edge more between the first two.
    labels = [1, 2, 3] * 8
    skips = [(3 * k, 3 * k + 2) for k in range(0, 8, 2)]
    (fold,) = chained(labels, [*skips, (0, 4)]).folds
    assert (shape_of(fold), int(fold.nodes[0])) == ((3, 6), 6)


def test_find_repeats_repetitions_that_overlap_share_the_nodes_out() -> None:
    # 1 2 1 2 1 2 and 1 2 3 1 2 3 1 2 3 have two nodes in common.
    labels = [1, 2, 1, 2, 1, 2, 3, 1, 2, 3, 1, 2, 3]
    assert [shape_of(fold) for fold in chained(labels).folds] == [(2, 2), (3, 3)]
    # What is left of the shorter one is compared by its own edges.
    assert [shape_of(fold) for fold in unlinked(labels, [(2, 3)]).folds] == [(3, 3)]


def test_find_repeats_edges_may_be_given_in_any_order() -> None:
    edges = [(3 * k + i, 3 * k + 2) for k in range(4) for i in ((0, 1) if k % 2 else (1, 0))]
    edges += [(3 * k + 2, 3 * k + 3 + i) for k in range(3) for i in (0, 1)]
    (fold,) = unlinked([1, 2, 3] * 4, edges).folds
    assert shape_of(fold) == (4, 3)


def test_find_repeats_other_edges_in_the_second_half_are_two_folds() -> None:
    labels = [1, 2, 3] * 8
    skips = [(3 * k, 3 * k + 2) for k in range(4, 8)]
    folds = chained(labels, skips).folds
    assert [shape_of(fold) for fold in folds] == [(4, 3), (4, 3)]


def test_find_repeats_an_edge_more_in_one_block_ends_the_fold() -> None:
    labels = [1, 2, 3] * 7
    folds = chained(labels, [(9, 11)]).folds
    assert [(shape_of(fold), int(fold.nodes[0])) for fold in folds] == [((3, 3), 0), ((3, 3), 12)]


def test_find_repeats_blocks_begin_where_few_results_are_still_needed() -> None:
    # The first node of the first block looks like the last of a block before it.
    labels = [9, 3, *[1, 2, 3] * 4]
    residual = [(1 + 3 * k, 4 + 3 * k) for k in range(4)]
    (fold,) = chained(labels, residual).folds
    assert (shape_of(fold), int(fold.nodes[0])) == ((4, 3), 2)


def test_find_repeats_roots_that_layers_need_do_not_part_them() -> None:
    # By rows, the four roots stand before everything; by chains, each before what needs it.
    labels = [9, *[5, 1, 2] * 4]
    edges = [(3 * k + i, 3 * k + 3) for k in range(4) for i in (1, 2)]
    edges += [(3 * k, 3 * k + 2) for k in range(4)]
    source, target = np.array(edges).T
    row = rank_rows(13, source, target)
    order = np.lexsort((np.arange(13), row))
    tree = find_repeats(source, target, order, labels)
    assert [shape_of(fold) for fold in tree.folds] == [(4, 3)]


# -- small and wrong -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "shapes"),
    [
        ([], []),
        ([1], []),
        ([1, 1], []),
        ([1, 1, 1], [(3, 1)]),
        ([1, 2, 1, 2], [(2, 2)]),
        ([1, 2, 1], []),
        ([1, 2, 2, 2, 1, 1, 1], [(3, 1), (3, 1)]),
        ([1, 1, 1, 1, 2, 1, 1, 1, 1, 2], [(2, 5)]),
    ],
)
def test_find_repeats_short_chains(labels: list[int], shapes: list[tuple[int, int]]) -> None:
    assert [shape_of(fold) for fold in chained(labels).folds] == shapes


def test_find_repeats_unknown_names_are_nodes() -> None:
    assert chained([1, 1, 1]).folds[0].title == "3 × node"


def test_find_repeats_id_is_the_same_in_every_version() -> None:
    # Ids stand in links: a change of this value breaks them.
    (fold,) = unlinked([4, 4, 4], []).folds
    assert fold.id == "d7edee01a109960f"
    assert unlinked([4, 4, 4, 7], []).find(fold.id) == fold
    assert unlinked([4, 4, 7], []).find(fold.id) is None


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([1, 0, 2], "has node 1 before node 0, on which it depends"),
        ([0, 0, 2], "leaves out node 1"),
        ([0, 1, 3], "outside 0..2"),
    ],
)
def test_find_repeats_bad_order_is_refused(order: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_repeats([0, 1], [1, 2], order, [1, 1, 1])


def test_find_repeats_labels_and_names_are_one_a_node() -> None:
    with pytest.raises(ValueError, match="2 labels for 3 nodes"):
        find_repeats([0, 1], [1, 2], [0, 1, 2], [1, 1])
    with pytest.raises(ValueError, match="1 names for 3 nodes"):
        find_repeats([0, 1], [1, 2], [0, 1, 2], [1, 1, 1], ["a"])


def test_first_blocks_are_open_beside_a_fold_of_the_others() -> None:
    # Twice a pair of nodes four times, around a node of its own.
    labels = [0, 1] * 4 + [5] + [2, 3] * 4
    count = len(labels)
    tree = find_repeats(range(count - 1), range(1, count), range(count), labels)
    assert [fold.title for fold in tree.folds] == ["4 × 2 nodes", "4 × 2 nodes"]
    seen = fold_graph(tree, [FIRST_BLOCKS])
    assert seen.node.tolist() == [0, 1, -1, 8, 9, 10, -1]
    rests = [fold for fold in seen.folds if fold is not None]
    assert [(fold.title, fold.repeats, len(fold.nodes)) for fold in rests] == [
        ("3 × 2 nodes", 3, 6)
    ] * 2
    assert [one.fold.nodes.tolist() for one in tree.opened([FIRST_BLOCKS])] == [[0, 1], [9, 10]]
    # The others open like any fold: block by block.
    wider = fold_graph(tree, [FIRST_BLOCKS, rests[0].id])
    assert wider.node.tolist() == [0, 1, -1, -1, -1, 8, 9, 10, -1]
    assert [one.closed_by for one in tree.opened([FIRST_BLOCKS, rests[0].id])] == [
        FIRST_BLOCKS, rests[0].id, FIRST_BLOCKS
    ]  # fmt: skip
    # A repeat that is open is open as a whole.
    whole = fold_graph(tree, [FIRST_BLOCKS, tree.folds[0].id])
    assert whole.node.tolist() == [-1, -1, -1, -1, 8, 9, 10, -1]
    assert {fold.id for fold in rests} <= {fold.id for fold in tree.every()}


def test_repeats_of_single_nodes_stay_folds_beside_first_blocks() -> None:
    tree = find_repeats(range(3), range(1, 4), range(4), [7] * 4)
    assert fold_graph(tree, [FIRST_BLOCKS]).node.tolist() == [-1]


def test_repeat_that_is_the_whole_graph_is_never_one_box_alone() -> None:
    tree = chained([0, 1] * 4)
    assert fold_graph(tree).node.tolist() == [0, 1, -1]
    # Beside anything else it is one.
    assert fold_graph(chained([2, *[0, 1] * 4])).node.tolist() == [0, -1]


def test_what_is_left_of_two_blocks_opens_at_once() -> None:
    tree = chained([0, 1] * 2)
    (rest,) = filter(None, fold_graph(tree).folds)
    assert fold_graph(tree, [rest.id]).node.tolist() == [0, 1, 2, 3]
