"""Dependencies that times contradict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gviz.dag.contradicted import TOLERANCE_NS, contradictions, time_table

LATE = TOLERANCE_NS + 1


def edges(*pairs: tuple[int, int]) -> np.ndarray:
    return np.array(pairs, np.int64).reshape(-1, 2)


def times(*launches: list[tuple[int, int] | None]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return start, end and whether there is a time, one row a launch."""
    start, end = (
        np.array([[0 if t is None else t[side] for t in row] for row in launches], np.int64)
        for side in (0, 1)
    )
    return start, end, np.array([[t is not None for t in row] for row in launches])


def test_launches_and_edges_are_counted_with_the_worst_of_each() -> None:
    start, end, _ = times(
        [(0, 10), (10, 20), (20, 30)],
        [(0, LATE + 4), (4, 20), (20, 30)],
        [(0, LATE + 9), (2, LATE + 9), (3, 30)],
    )
    found = contradictions(start, end, edges((0, 1), (1, 2)))
    assert found.count.tolist() == [0, 1, 2]
    assert found.worst_ns.tolist() == [0, LATE, LATE + 7]
    assert found.edge_count.tolist() == [2, 1]
    assert found.edge_worst_ns.tolist() == [LATE + 7, LATE + 6]
    assert (found.total, found.worst) == (3, LATE + 7)


def test_the_tolerance_is_allowed() -> None:
    start, end, _ = times([(0, TOLERANCE_NS), (0, 9)])
    assert contradictions(start, end, edges((0, 1))).total == 0
    assert contradictions(start, end, edges((0, 1)), tolerance_ns=0).total == 1


def test_a_programmatic_dependent_starts_while_its_dependency_runs_but_not_before() -> None:
    start, end, _ = times([(0, 90_000), (5, 90_000)], [(LATE, 90_000), (0, 90_000)])
    found = contradictions(start, end, edges((0, 1)), programmatic=np.array([True]))
    assert found.count.tolist() == [0, 1]


def test_nodes_without_times_hand_on_what_they_wait_for() -> None:
    # 0 -> 1 -> 2 -> 4 and 3 -> 2; neither 1 nor 2 ever has a time.
    start, end, timed = times([(0, 10), None, None, (0, LATE + 20), (20, 30)])
    graph = edges((0, 1), (2, 4), (1, 2), (3, 2))
    found = contradictions(start, end, graph, timed=timed)
    assert found.edge_count.tolist() == [0, 1, 0, 0]
    assert found.worst == LATE


def test_a_programmatic_edge_is_handed_on_as_one() -> None:
    start, end, timed = times([(0, 90_000), None, (9, 20)])
    kinds = np.array([True, False])
    graph = edges((0, 1), (1, 2))
    assert contradictions(start, end, graph, timed=timed, programmatic=kinds).total == 0
    assert contradictions(start, end, graph, timed=timed).total == 1


def test_a_time_that_lacks_in_one_launch_says_nothing_there() -> None:
    start, end, timed = times([(0, 90_000), None, (0, 9)], [(0, 10), (10, 20), (20, 30)])
    assert contradictions(start, end, edges((0, 1), (1, 2)), timed=timed).total == 0


def test_nodes_without_times_in_a_cycle_hand_nothing_on() -> None:
    start, end, timed = times([(0, 90_000), None, None, (5, 9)])
    graph = edges((0, 1), (1, 2), (2, 1), (2, 3))
    assert contradictions(start, end, graph, timed=timed).total == 0


def test_without_launches_edges_or_nodes_there_are_none() -> None:
    start, end, _ = times([(0, 9)])
    assert contradictions(start, end, edges()).count.tolist() == [0]
    assert contradictions(start[:0], end[:0], edges((0, 0))).edge_count.tolist() == [0]
    nothing = np.zeros((0, 0), np.int64)
    assert contradictions(nothing, nothing, edges()).total == 0


def test_parts_of_many_launches_are_added_up() -> None:
    count = 300_000
    start, end = np.zeros((count, 2), np.int64), np.full((count, 2), LATE)
    start[::3, 1] = LATE
    found = contradictions(start, end, edges(*[(0, 1)] * 20))
    assert found.total == 20 * 200_000 == int(found.edge_count.sum())


class Counted(np.ndarray[Any, np.dtype[Any]]):
    """An array that counts the elements taken from it, and from what is taken."""

    taken = 0

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        Counted.taken += np.size(part)
        return part


def test_a_long_chain_without_times_is_looked_at_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Counted, "taken", 0)
    count = 20_000
    start, end = np.zeros((1, count), np.int64), np.full((1, count), 9 * LATE)
    timed = np.zeros((1, count), bool)
    timed[0, 0] = timed[0, -1] = True
    chain = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)
    arrays = [array.view(Counted) for array in (start, end, chain, timed)]
    assert contradictions(*arrays[:3], timed=arrays[3]).total == 1
    # 28 a node; 40,000, were each of the rounds to look at all edges.
    assert count < Counted.taken < 40 * count


def test_a_table_has_no_time_of_a_node_that_ran_twice() -> None:
    row, node = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    start, end, timed = time_table(row, node, np.arange(4), np.arange(4) + 5, (2, 2))
    assert start[timed].tolist() == [0, 1]
    assert end[timed].tolist() == [5, 6]
    assert timed.tolist() == [[True, True], [False, False]]
