"""Times inside nodes that hold bodies: loops, branches, what runs at once, what is not known."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.model.tree.body_times import BodySpans, BodyTimes, Iterations, Nesting, measure_bodies

#: Top level: 0 a loop, 1 a kernel. Body of 0 (level 1): 2 and 3 kernels, 4 a child graph, 5 an IF.
#: Child graph of 4 (level 2): 6 and 7. Body of 5 (level 3): 8.
LEVEL = [0, 0, 1, 1, 1, 1, 2, 2, 3]
PARENT = [-1, 0, 4, 5]
ONCE = [n == 4 for n in range(9)]


def measure(
    *spans: tuple[int, int, int, int], is_launched: bool = True
) -> tuple[BodyTimes, Iterations]:
    """Measure spans of (launch, node, start, duration)."""
    nesting = Nesting(np.array(LEVEL), np.array(PARENT), np.array(ONCE), is_launched)
    table = np.array(spans, np.int64).reshape(-1, 4)
    return measure_bodies(nesting, BodySpans(*table.T))


def test_iterations_of_a_loop_are_summed_over_the_launch() -> None:
    times, iterations = measure((0, 2, 0, 10), (0, 2, 20, 10), (0, 3, 10, 5), (0, 3, 30, 5))
    assert times.median_ns[0] == 30
    assert times.launches[0] == 1
    assert iterations.median[1] == 2
    assert np.isnan(times.median_ns[1])


def test_what_runs_at_once_counts_once_as_running_and_in_full_as_sum() -> None:
    times, _ = measure((0, 6, 0, 10), (0, 7, 5, 10))
    assert times.median_ns[4] == times.median_ns[0] == 20
    assert times.running_ns[0] == 15


def test_running_time_inside_a_loop_is_that_of_an_iteration() -> None:
    times, iterations = measure((0, 2, 0, 1), (0, 8, 1, 4), (0, 2, 10, 1), (0, 8, 11, 8))
    assert iterations.median[1] == 2
    assert times.running_ns[5] == 6  # 12 in two iterations
    assert times.running_ns[0] == 14


def test_launch_in_which_nothing_inside_ran_does_not_count() -> None:
    times, iterations = measure((0, 8, 0, 4), (1, 1, 0, 9), (2, 8, 0, 6))
    assert times.launches[5] == 2
    assert times.median_ns[5] == 5
    assert iterations.launches[3] == 2


def test_child_graph_shows_the_iterations_of_the_level_around() -> None:
    times, iterations = measure(*((0, 6, 10 * iteration, 3) for iteration in range(4)))
    assert iterations.median[2] == iterations.median[1] == 4
    assert times.running_ns[4] == 3


def test_each_launch_has_its_own_iterations_of_the_level_around() -> None:
    # Two, then four of the loop; in each the child graph's kernel runs once.
    spans = [(n, 6, 10 * at, 3) for n, count in ((1, 2), (2, 4)) for at in range(count)]
    times, iterations = measure(*spans)
    assert iterations.median[1] == 3
    assert times.running_ns[4] == 3


def test_conditional_node_does_not_show_the_iterations_of_the_level_around() -> None:
    times, iterations = measure(*((0, 8, 10 * iteration, 3) for iteration in range(4)))
    assert iterations.median[3] == 4
    assert np.isnan(iterations.median[1])
    assert np.isnan(times.running_ns[5])
    assert times.median_ns[5] == 12


def test_copy_that_is_reported_twice_does_not_double_the_iterations() -> None:
    _, iterations = measure(
        (0, 2, 0, 3), (0, 3, 4, 3), (0, 3, 4, 3), (0, 6, 8, 2), (0, 2, 20, 3), (0, 3, 24, 3),
        (0, 3, 24, 3), (0, 6, 28, 2),
    )  # fmt: skip
    assert iterations.median[1] == 2


def test_level_that_is_a_body_itself_counts_its_own_iterations() -> None:
    spans = [(0, 1, 10 * iteration, 2) for iteration in range(3)] + [
        (0, 2, 10 * iteration, 3) for iteration in (0, 1)
    ]
    assert measure(*spans, is_launched=False)[0].running_ns[0] == 2
    assert measure(*spans)[0].running_ns[0] == 6


@pytest.mark.parametrize("spans", [(), ((0, 1, 0, 5),)])
def test_nothing_inside_ran(spans: tuple[tuple[int, int, int, int], ...]) -> None:
    times, iterations = measure(*spans)
    assert np.isnan(times.median_ns).all()
    assert not times.launches.any()
    assert np.isnan(iterations.median[1:]).all()
