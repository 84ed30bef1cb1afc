"""Lanes: chains keep their lane, long graphs wrap, long edges stay clear of nodes."""

from __future__ import annotations

import numpy as np
import pytest
from recordings import Shape, fork_join_shape, transformer_shape, wide_shape

from gviz.dag.lanes import ROWS_UNWRAPPED, cover_chains, place_lanes
from gviz.dag.placement import LANE_GAP, NODE_HEIGHT, NODE_WIDTH, NODE_WIDTH_LEAST
from gviz.dag.ranks import count_crossing_edges, cut_rows, rank_rows
from gviz.errors import CycleError


def edges_of(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array([(d, i) for i, w in enumerate(shape.works) for d in w.after], np.int64)
    return pairs[:, 0], pairs[:, 1]


def test_rank_rows_diamond_counts_longest_path() -> None:
    # 0 -> 1 -> 2 -> 3 and the shortcut 0 -> 3.
    row = rank_rows(4, np.array([0, 1, 2, 0]), np.array([1, 2, 3, 3]))
    assert row.tolist() == [0, 1, 2, 3]


def test_rank_rows_cycle_raises() -> None:
    with pytest.raises(CycleError, match="in a cycle, by index 1 → 2 → 3 → 1") as raised:
        rank_rows(4, np.array([0, 1, 2, 3]), np.array([1, 2, 3, 1]))
    assert raised.value.nodes == (1, 2, 3)


def test_cover_chains_diamond_main_line_is_the_longest() -> None:
    # 0 forks to 1 -> 2 -> 4 and to 3 -> 4.
    tail, head = np.array([0, 1, 0, 2, 3]), np.array([1, 2, 3, 4, 4])
    chain = cover_chains(rank_rows(5, tail, head), tail, head)
    assert chain[0] == chain[1] == chain[2] == chain[4]
    assert chain[3] != chain[0]


def test_place_lanes_begins_at_the_edge_of_the_plane() -> None:
    place = place_lanes(2, np.array([0]), np.array([1]))
    assert place.x.tolist() == [(place.node_width + LANE_GAP) / 2] * 2


def test_place_lanes_fork_join_gives_each_branch_a_lane() -> None:
    shape = fork_join_shape(stages=1, width=4, depth=3)
    place = place_lanes(len(shape.works), *edges_of(shape))
    branches = {
        name: {int(place.lane[i]) for i, w in enumerate(shape.works) if w.name.startswith(name)}
        for name in ("branch0", "branch1", "branch2", "branch3")
    }
    assert all(len(lanes) == 1 for lanes in branches.values())
    assert set.union(*branches.values()) == {0, 1, 2, 3}


def test_place_lanes_short_graph_stays_in_one_column() -> None:
    count = ROWS_UNWRAPPED
    place = place_lanes(count, np.arange(count - 1), np.arange(1, count))
    assert place.column.max() == 0
    assert len(set(place.x.tolist())) == 1


@pytest.mark.parametrize(("count", "columns"), [(10, 2), (16, 3)])
def test_place_lanes_chain_wraps_before_its_nodes_get_too_small(count: int, columns: int) -> None:
    place = place_lanes(count, np.arange(count - 1), np.arange(1, count))
    assert place.column.max() + 1 == columns
    # In 480 x 200 px, a pane of a window of 1024 px, nodes have room for a line of text.
    assert min(480 / place.width, 200 / place.height) * NODE_HEIGHT > 12


def test_place_lanes_long_chain_wraps_towards_the_aspect() -> None:
    place = place_lanes(1000, np.arange(999), np.arange(1, 1000), aspect=1.7)
    assert 1.7 / 1.5 < place.width / place.height < 1.7 * 1.5
    torn = np.flatnonzero(np.diff(place.column))
    routed = np.flatnonzero(np.diff(place.route_offset))
    assert routed.tolist() == torn.tolist()


def test_place_lanes_very_wide_graph_has_narrow_nodes() -> None:
    shape = wide_shape(lanes=64, length=12)
    place = place_lanes(len(shape.works), *edges_of(shape))
    assert place.node_width == NODE_WIDTH_LEAST
    shape = fork_join_shape()
    assert place_lanes(len(shape.works), *edges_of(shape)).node_width == NODE_WIDTH


@pytest.mark.parametrize("count", [0, 1])
def test_place_lanes_without_edges(count: int) -> None:
    place = place_lanes(count, [], [])
    assert len(place) == count
    assert place.route_offset.tolist() == [0]


def test_place_lanes_100_000_nodes_every_node_has_its_own_place() -> None:
    shape = transformer_shape(layers=6_666)
    place = place_lanes(len(shape.works), *edges_of(shape))
    assert len(np.unique(np.column_stack((place.x, place.y)), axis=0)) == len(shape.works)


def test_count_crossing_edges_counts_each_row_an_edge_enters() -> None:
    crossing = count_crossing_edges(4, np.array([0, 0, 2]), np.array([1, 3, 3]))
    assert crossing.tolist() == [0, 2, 1, 2]


def test_cut_rows_prefers_the_row_where_fewest_edges_are_torn() -> None:
    crossing = np.full(20, 5)
    crossing[8] = 1
    assert cut_rows(crossing, 2).tolist() == [0, 8]
