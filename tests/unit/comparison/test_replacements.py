"""Kernels that another took the place of, compared with the nodes that vanished around them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from edited_graphs import EditableGraph, EditedNode

from gviz.comparison.changes.durations import NodeDurations
from gviz.comparison.changes.replacements import (
    Replacement,
    find_replacements,
    paired_durations,
    replaced_by_name,
)
from gviz.comparison.pairing.compared_graph import ComparedGraph
from gviz.cuda.node_type import NodeType

NONE = -1


def chain(*names: str) -> ComparedGraph:
    graph = EditableGraph()
    last: list[int] = []
    for name in names:
        kind = NodeType.MEMCPY if name.startswith("MEMCPY") else NodeType.KERNEL
        last = [graph.add(EditedNode(int(kind), name), last)]
    return graph.to_compared()


def find(before: ComparedGraph, after: ComparedGraph, *partners: int) -> list[Replacement]:
    """Find replacements; ``partners``: of each node before, -1 for none."""
    pairs = [(a, b) for a, b in enumerate(partners) if b != NONE]
    return list(find_replacements(before, after, np.array(pairs, np.int64).reshape(-1, 2)))


def members(found: list[Replacement]) -> list[tuple[list[int], list[int]]]:
    return [(one.before.tolist(), one.after.tolist()) for one in found]


def test_fused_kernel_stands_for_all_that_vanished_around_it() -> None:
    before = chain("a", "scale", "softmax", "mul", "matmul", "b")
    after = chain("a", "attention", "b")
    found = find(before, after, 0, NONE, 1, NONE, NONE, 2)
    assert members(found) == [([1, 2, 3, 4], [1])]
    assert found[0].name == "softmax + 3 more → attention"
    assert found[0].pairs.tolist() == [1]


def test_split_kernel_is_compared_with_both_of_its_parts() -> None:
    found = find(chain("a", "sum", "b"), chain("a", "sum_1", "sum_2", "b"), 0, 1, 3)
    assert members(found) == [([1], [1, 2])]
    assert found[0].name == "sum → sum_1 + 1 more"


def test_other_kernels_in_a_row_are_replacements_of_their_own() -> None:
    found = find(chain("a", "b", "c"), chain("x", "y", "c"), 0, 1, 2)
    assert members(found) == [([0], [0]), ([1], [1])]


def test_what_vanished_between_two_joins_them() -> None:
    found = find(chain("a", "b", "c"), chain("x", "y"), 0, NONE, 1)
    assert members(found) == [([0, 1, 2], [0, 1])]
    assert found[0].pairs.tolist() == [0, 1]


def test_what_vanished_elsewhere_is_no_part_of_it() -> None:
    found = find(chain("a", "b", "c", "d"), chain("x", "c"), 0, NONE, 1, NONE)
    assert members(found) == [([0, 1], [0])]


def test_same_kernels_and_copies_are_not_replaced() -> None:
    before, after = chain("a", "MEMCPY HtoD", "c"), chain("a", "MEMCPY DtoD", "c")
    assert find(before, after, 0, 1, 2) == []
    assert find(before, chain("a", "copy", "c"), 0, 1, 2) != []


def test_without_edges_neighbours_are_those_of_the_order_of_creation() -> None:
    before = replace(chain("a", "b", "c"), source=np.zeros(0, np.int64),
                     target=np.zeros(0, np.int64), edges_known=False)  # fmt: skip
    assert members(find(before, chain("x", "c"), 0, NONE, 1)) == [([0, 1], [0])]


def test_first_pair_has_the_sums_and_further_ones_have_none() -> None:
    found = find(chain("a", "b", "c", "d"), chain("x", "y", "d"), 0, NONE, 1, 2)
    before = NodeDurations(np.array([[1.0, 20, 300, 7]]), np.array([1.0, 20, 300, 7]), frozenset())
    after = NodeDurations(np.array([[50.0, 60, 8]]), np.array([50.0, 60, 8]), frozenset())
    pairs = np.array([[0, 0], [2, 1], [3, 2]])
    one, two = paired_durations(before, after, pairs, found)
    for values, expected in ((one, [321, np.nan, 7]), (two, [110, np.nan, 8])):
        np.testing.assert_array_equal(values.launches, [expected])
        np.testing.assert_array_equal(values.typical, expected)


def test_replacements_of_one_name_are_one_group() -> None:
    before, after = chain("a", "b", "k", "a", "b"), chain("x", "k", "x")
    groups = replaced_by_name(find(before, after, 0, NONE, 1, 2, NONE))
    assert groups.name == ("a + 1 more → x",)
    assert groups.before[0].tolist() == [0, 1, 3, 4]
    assert groups.after[0].tolist() == [0, 2]
