"""Nodes of a tree as columns: the same as the rows of the recording, in parts and one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from places import ROOT
from recordings import write_loop_recording

from gviz.app.views.node_neighbours import Grouped
from gviz.app.views.row_table import RowTable
from gviz.app.views.wire import Strings
from gviz.model.tree.graph_tree import GraphTree, read_tree
from gviz.model.tree.tree_nodes import SHOWN, all_columns, distinct
from gviz.recording import rows
from gviz.recording.columns import Texts
from gviz.recording.reader import Recording

BUNDLED = ROOT / "assets" / "recordings"


@pytest.fixture(params=["training_step", "cupy_pipeline", "loop"])
def recording(request: pytest.FixtureRequest, tmp_path: Path) -> Recording:
    if request.param == "loop":
        return Recording(write_loop_recording(tmp_path / "loop.gviz"))
    return Recording(BUNDLED / f"{request.param}.gviz")


def rows_of(recording: Recording, tree: GraphTree) -> list[rows.Node]:
    """Return the nodes of every level as rows, with the ranges that the tree found for them."""
    found = [node for level in tree.levels for node in recording.fetch_nodes(level.graph.graph_id)]
    for at in np.flatnonzero(tree.has_range_of_capture).tolist():
        assert found[at].nvtx_path_id is None
        found[at] = replace(found[at], nvtx_path_id=tree.nodes[at].nvtx_path_id)
    return found


def values(node: object) -> list[object]:
    """Return what views show of a node."""
    return [getattr(node, name) for name in SHOWN]


def test_nodes_are_the_rows_of_the_recording(recording: Recording) -> None:
    tree = read_tree(recording, 1)
    expected = list(map(values, rows_of(recording, tree)))
    assert list(map(values, tree.nodes)) == expected
    assert len(tree) == len(tree.nodes) == len(expected) > 0
    for at in (0, len(expected) // 2, -1):
        assert values(tree.nodes[at]) == expected[at]
    assert list(map(values, tree.nodes[1:-1][1:])) == expected[1:-1][1:]
    with pytest.raises(IndexError):
        tree.nodes[len(expected)]


def test_columns_of_a_part_are_those_of_its_nodes(recording: Recording) -> None:
    tree = read_tree(recording, 1, columns=all_columns())
    part = tree.nodes[2:]
    expected = rows_of(recording, tree)[2:]
    for name in all_columns():
        values = [getattr(node, name) for node in expected]
        assert part.listed(name) == values
        assert part.any_known(name) == any(value is not None for value in values)
    assert part.integers("type").tolist() == [node.type for node in expected]


def test_every_node_is_found_by_its_ids(recording: Recording) -> None:
    tree = read_tree(recording, 1)
    for at, node in enumerate(tree.nodes):
        assert tree.key_in(int(tree.level[at]), node.node_id) == tree.key[at]
        level = tree.levels[tree.level[at]].graph.graph_id
        assert tree.index.find(np.array([level]), np.array([node.node_id])).tolist() == [at]
    assert tree.key_in(0, 2**40) is None


def test_a_column_that_was_not_read_is_refused(recording: Recording) -> None:
    node = read_tree(recording, 1, columns=("grid_x",)).nodes[0]
    assert (node.node_id, node.grid_x) == (node.node_id, node.columns.value("grid_x", 0))
    with pytest.raises(KeyError, match="priority"):
        _ = node.priority


def test_distinct_rows_are_numbered_alike_where_they_are_equal() -> None:
    columns = [np.array([1, 1, 2, 1, 2]), np.array([0, 5, 0, 5, 0]), np.array([3, 3, 3, 3, 3])]
    first, which = distinct(columns)
    rows = list(zip(*(c.tolist() for c in columns), strict=True))
    assert [rows[first[n]] for n in which] == rows
    assert len(first) == len(set(rows))
    empty_first, empty = distinct([np.zeros(0, np.int64)])
    assert (len(empty_first), len(empty)) == (0, 0)


def test_strings_of_a_column_are_numbered_as_they_come_and_unused_ones_left_out() -> None:
    strings = Strings(["known"])
    column = Texts(np.array([3, -1, 1, 3, 2], np.int32), ["unused", "b", "known", "d"])
    assert strings.codes(column).tolist() == [1, -1, 2, 1, 0]
    assert strings.to_list() == ["known", "d", "b"]
    assert strings.codes(Texts(np.zeros(0, np.int32), [])).tolist() == []


def test_rows_are_read_when_they_are_requested() -> None:
    read: list[int] = []
    table = RowTable(np.array([2, 5, 9]), lambda key: read.append(key) or f"row {key}")
    assert (len(table), list(table), 5 in table, 4 in table, "x" in table) == (
        3,
        [2, 5, 9],
        True,
        False,
        False,
    )
    assert (table.index_of(9), table.index_of(10)) == (2, None)
    assert not read
    assert table[5] == "row 5"
    assert read == [5]
    with pytest.raises(KeyError):
        table[6]
    assert not RowTable(np.zeros(0, np.int64), str)


def test_numbers_are_grouped_by_node_in_their_order() -> None:
    found = Grouped(np.array([4, 1, 4, 9, 1]), np.array([10, 20, 5, 7, 20]))
    assert found.lists([0, 1, 2, 4, 9, 10]) == [[], [20, 20], [], [10, 5], [7], []]
    assert found.lists([9, 4]) == [[7], [10, 5]]
    assert len(found) == 3
    # No number of a node stands for none: a damaged file may have any.
    assert Grouped(np.array([-1, 2]), np.array([5, 6])).lists([-1, 3]) == [[5], []]
    nothing = Grouped(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert (len(nothing), nothing.lists([4, -1])) == (0, [[], []])
