"""Layers: forks stand over the middle of their branches, chains are straight."""

from __future__ import annotations

import numpy as np
import pytest
from recordings import Shape, fork_join_shape, transformer_shape

from gviz.dag.placement import Placement
from gviz.dag.ranks import rank_rows
from gviz.layout.choice import LAYERS_MOST, place_graph
from gviz.layout.layers import count_dummies, place_layers


def edges_of(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array([(d, i) for i, w in enumerate(shape.works) for d in w.after], np.int64)
    return pairs[:, 0], pairs[:, 1]


def test_place_layers_fork_stands_over_the_middle_of_its_branches() -> None:
    place = place_layers(6, [0, 0, 0, 0, 1, 2, 3, 4], [1, 2, 3, 4, 5, 5, 5, 5])
    branches = np.sort(place.x[1:5])
    middle = branches.mean()
    # Positions are rounded to a grid of 17 px.
    assert abs(place.x[0] - middle) < 9
    assert abs(place.x[5] - middle) < 9


def test_place_layers_chain_beside_a_shortcut_is_straight() -> None:
    # 0 -> 1 -> ... -> 6 with an edge 0 -> 6 past all of them.
    place = place_layers(7, [0, 1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 6, 6])
    assert len(set(place.x[1:6].tolist())) == 1
    first, last = place.route_offset[6], place.route_offset[7]
    shortcut = place.route_x[first:last]
    assert len(set(shortcut.tolist())) == 1
    assert (np.abs(shortcut - place.x[3]) > place.node_width / 2).all()


def test_place_layers_crossed_pairs_are_uncrossed() -> None:
    # Two chains whose nodes are listed in opposite order.
    place = place_layers(4, [0, 1], [3, 2])
    assert (place.x[0] < place.x[1]) == (place.x[3] < place.x[2])


def test_count_dummies_counts_rows_passed() -> None:
    assert count_dummies(np.array([0, 1, 2, 3]), [0, 1, 2, 0], [1, 2, 3, 3]) == 2


@pytest.mark.parametrize(
    ("layers", "edges"), [(20, True), (400, True), (20, False)], ids=["layers", "lanes", "table"]
)
def test_place_graph_every_layout_covers_every_node(layers: int, edges: bool) -> None:
    shape = transformer_shape(layers)
    tail, head = edges_of(shape) if edges else (np.zeros(0, int), np.zeros(0, int))
    place = place_graph(len(shape.works), tail, head)
    assert len(place) == len(shape.works)
    assert len(np.unique(np.column_stack((place.x, place.y)), axis=0)) == len(shape.works)
    assert len(place.route_offset) == len(tail) + 1
    _assert_inside(place)


def _assert_inside(place: Placement) -> None:
    assert (place.x >= place.node_width / 2).all()
    assert (place.y >= place.node_height / 2).all()
    assert (place.x <= place.width - place.node_width / 2 + 1e-6).all()
    assert (place.y <= place.height - place.node_height / 2).all()


def test_place_graph_long_edges_count_towards_the_limit() -> None:
    # A chain with a shortcut from every node to the last: dummies grow with the square.
    count = 95
    tail = np.concatenate((np.arange(count - 1), np.arange(count - 2)))
    head = np.concatenate((np.arange(1, count), np.full(count - 2, count - 1)))
    assert count_dummies(rank_rows(count, tail, head), tail, head) > LAYERS_MOST
    assert place_graph(count, tail, head).style == "lanes"
    # A reader may ask for layers all the same.
    assert place_graph(count, tail, head, layers=True).style == "structure"


def test_place_layers_keeps_structure_of_every_stage_alike() -> None:
    shape = fork_join_shape(stages=2, width=3, depth=2)
    place = place_layers(len(shape.works), *edges_of(shape))
    splits = [i for i, w in enumerate(shape.works) if w.name == "split_kernel"]
    distances = [
        [round(place.x[split + 1 + 2 * b] - place.x[split]) for b in range(3)] for split in splits
    ]
    assert distances[0] == distances[1]
