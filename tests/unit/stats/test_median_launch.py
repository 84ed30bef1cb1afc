"""The median launch: medians of each node on its own, and their order."""

from __future__ import annotations

import numpy as np

from gviz.stats.medians import MedianLaunch, join_medians, median_launch


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_odd_number_of_launches_takes_the_middle_of_each_column() -> None:
    # Node 7 in three launches: the median start and the median duration are not of one launch.
    found = median_launch(ints(7, 7, 7), ints(0, 0, 0), ints(10, 30, 20), ints(5, 6, 9))
    assert (found.start_ns.tolist(), found.duration_ns.tolist()) == ([20.0], [6.0])
    assert found.count.tolist() == [3]


def test_even_number_of_launches_takes_the_mean_of_the_two_in_the_middle() -> None:
    found = median_launch(ints(7, 7), ints(0, 0), ints(1, 4), ints(10, 11))
    assert (found.start_ns[0], found.duration_ns[0]) == (2.5, 10.5)


def test_entries_are_in_order_of_start_and_iterations_stay_apart() -> None:
    found = median_launch(
        ints(3, 9, 9, 3, 9, 9), ints(0, 0, 1, 0, 0, 1), ints(50, 0, 20, 52, 0, 24), ints(*[5] * 6)
    )
    assert found.node_id.tolist() == [9, 9, 3]
    assert found.iteration.tolist() == [0, 1, 0]
    assert found.start_ns.tolist() == [0.0, 22.0, 51.0]


def test_node_that_ran_in_some_launches_only_counts_those() -> None:
    found = median_launch(ints(1, 2, 1), ints(0, 0, 0), ints(0, 9, 0), ints(4, 7, 6))
    assert dict(zip(found.node_id.tolist(), found.count.tolist(), strict=True)) == {1: 2, 2: 1}


def test_no_spans_make_an_empty_launch() -> None:
    assert len(median_launch(ints(), ints(), ints(), ints()).node_id) == 0


def columns(found: MedianLaunch) -> list[list[float]]:
    arrays = (found.node_id, found.iteration, found.start_ns, found.duration_ns, found.count)
    return [array.tolist() for array in arrays]


def test_medians_of_some_nodes_each_join_to_those_of_all() -> None:
    rng = np.random.default_rng(3)
    node, iteration = rng.integers(0, 40, 2_000), rng.integers(0, 3, 2_000)
    start, duration = rng.integers(0, 50, 2_000), rng.integers(1, 9, 2_000)
    whole = median_launch(node, iteration, start, duration)
    parts = [
        median_launch(node[some], iteration[some], start[some], duration[some])
        for some in (node < 13, (node >= 13) & (node < 20), node >= 20)
    ]
    assert columns(join_medians(parts)) == columns(whole)
    assert columns(join_medians([])) == [[]] * 5


def test_each_launch_with_every_node_once_in_an_order_of_its_own() -> None:
    rng = np.random.default_rng(4)
    node = np.concatenate([rng.permutation(50) for _ in range(6)])
    start, duration = rng.integers(0, 900, 300), rng.integers(1, 90, 300)
    found = median_launch(node, np.zeros(300, np.int64), start, duration)
    for at, number in enumerate(found.node_id.tolist()):
        own = node == number
        assert found.start_ns[at] == np.median(start[own])
        assert found.duration_ns[at] == np.median(duration[own])


def test_a_launch_with_one_node_twice_is_not_taken_for_all_nodes_once() -> None:
    found = median_launch(ints(1, 1, 2, 2), ints(0, 0, 0, 0), ints(5, 7, 10, 30), ints(1, 3, 4, 4))
    assert found.start_ns.tolist() == [6.0, 20.0]
    assert found.duration_ns.tolist() == [2.0, 4.0]
