"""Launches whose times contradict the graph's dependencies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gviz.dag.contradicted import TOLERANCE_NS
from gviz.spool.streams.consistency import cut_launches, impossible_launches

#: launch, node, start, duration
Span = tuple[int, int, int, int]
DEFAULT, PROGRAMMATIC = 0, 1


def level(*edges: tuple[int, int, int]) -> npt.NDArray[np.int64]:
    return np.array([[a, b, kind, 0, 0] for a, b, kind in edges], np.int64).reshape(-1, 5)


def impossible(edges: npt.NDArray[np.int64], spans: list[Span]) -> list[int]:
    table = np.array(spans, np.int64).reshape(-1, 4)
    found: list[int] = impossible_launches(edges, *table.T).tolist()
    return found


def chain(launch: int, gap: int = 100) -> list[Span]:
    return [(launch, 0, 0, 500), (launch, 1, 500 + gap, 500)]


CHAIN = level((0, 1, DEFAULT))


def test_launches_in_order_are_possible() -> None:
    assert impossible(CHAIN, chain(1) + chain(2)) == []


def test_planted_contradiction_is_found_and_only_it() -> None:
    spans = [*chain(1), (4, 0, 0, 500000), (4, 1, 3000, 500), *chain(7)]
    assert impossible(CHAIN, spans) == [4]


def test_order_of_launches_makes_no_difference() -> None:
    spans = [*chain(7), (4, 0, 0, 500000), (4, 1, 3000, 500), *chain(1)]
    assert impossible(CHAIN, spans) == [4]
    interleaved = [spans[i] for i in (2, 0, 4, 3, 1, 5)]
    assert impossible(CHAIN, interleaved) == [4]


def test_several_are_found_in_ascending_order() -> None:
    spans = chain(2, gap=-TOLERANCE_NS - 1) + chain(3) + chain(9, gap=-TOLERANCE_NS - 1)
    assert impossible(CHAIN, spans) == [2, 9]


def test_clock_difference_up_to_the_tolerance_is_allowed() -> None:
    assert impossible(CHAIN, chain(1, gap=-TOLERANCE_NS)) == []
    assert impossible(CHAIN, chain(1, gap=-TOLERANCE_NS - 1)) == [1]


def test_programmatic_dependency_allows_an_early_start() -> None:
    early = [(1, 0, 0, 500_000), (1, 1, 100_000, 500)]
    assert impossible(level((0, 1, PROGRAMMATIC)), early) == []
    assert impossible(level((0, 1, PROGRAMMATIC), (0, 1, DEFAULT)), early) == [1]


def test_nodes_that_ran_several_times_are_left_out() -> None:
    loop = [(1, 0, 0, 500), (1, 0, 600_000, 500), (1, 1, 300_000, 10), *chain(2)]
    assert impossible(CHAIN, loop) == []
    repeated = [(1, 0, 0, 900_000), (1, 1, 0, 1), (1, 1, 900_000, 1)]
    assert impossible(CHAIN, repeated) == []


def test_node_without_a_span_says_nothing() -> None:
    chained = level((0, 1, DEFAULT), (1, 2, DEFAULT))
    assert impossible(chained, [(1, 0, 0, 900_000), (1, 2, 0, 1), (2, 1, 900_000, 1)]) == []


def test_spans_of_nodes_beyond_the_level_are_allowed() -> None:
    assert impossible(CHAIN, [*chain(1), (1, 900, 0, 5)]) == []


def test_graph_without_edges_or_spans_has_none() -> None:
    assert impossible(level(), chain(1)) == []
    assert impossible(CHAIN, []) == []


def test_last_launch_of_each_executable_may_be_cut_and_no_other() -> None:
    # Launches of four executables in turn; those of the last may rightly lack nodes.
    exec_of = np.array([0, 1, 2, -1] * 2)
    lacking = {2, 5, 6, 7}  # of the third executable all lack it
    spans = [(n, node) for n in range(8) for node in (0, 1) if not (node and n in lacking)]
    launch, node = np.array(spans).T
    assert cut_launches(exec_of, np.zeros(8, np.int64), launch, node).tolist() == [5]


def test_last_launch_in_a_window_may_be_cut() -> None:
    # Two executables in turn, four launches of each, in windows of four launches.
    exec_of, window_of = np.array([0, 1] * 4), np.array([0] * 4 + [1] * 4)
    lacking = {2, 4, 7}  # the fifth does not end its window
    spans = [(n, node) for n in range(8) for node in (0, 1, 2) if not (node and n in lacking)]
    launch, node = np.array(spans).T
    assert cut_launches(exec_of, window_of, launch, node).tolist() == [2, 7]
    assert cut_launches(exec_of, np.zeros(8, np.int64), launch, node).tolist() == [7]


def test_launches_of_different_slices_are_not_cut() -> None:
    spans = [(n, node) for n in range(6) for node in ((0, 1, 2), (3, 4))[n % 2]]
    launch, node = np.array(spans).T
    zeros = np.zeros(6, np.int64)
    assert cut_launches(zeros, np.arange(6), launch, node).tolist() == []
