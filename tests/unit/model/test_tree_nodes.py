"""Nodes of a tree as columns: the same as the rows of the recording, in parts and one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from places import ROOT
from recordings import write_loop_recording

from gviz.app.views.node_neighbours import Grouped
from gviz.app.views.row_table import RowTable
from gviz.app.views.wire import Strings
from gviz.model.tree.graph_tree import ExecNodes, GraphTree, read_tree
from gviz.model.tree.tree_nodes import TreeNode, distinct
from gviz.recording.columns import Texts
from gviz.recording.reader import Recording

BUNDLED = ROOT / "assets" / "recordings"


@pytest.fixture(params=["training_step", "cupy_pipeline", "loop"])
def recording(request: pytest.FixtureRequest, tmp_path: Path) -> Recording:
    if request.param == "loop":
        return Recording(write_loop_recording(tmp_path / "loop.gviz"))
    return Recording(BUNDLED / f"{request.param}.gviz")


def rows_of(recording: Recording, tree: GraphTree) -> list[TreeNode]:
    """Return the nodes of every level as rows of the recording have them."""
    return [
        TreeNode(*(getattr(node, name) for name in TreeNode._fields))
        for level in tree.levels
        for node in recording.fetch_nodes(level.graph.graph_id)
    ]


def test_nodes_are_the_rows_of_the_recording(recording: Recording) -> None:
    tree = read_tree(recording, 1)
    expected = rows_of(recording, tree)
    assert list(tree.nodes) == expected
    assert len(tree.nodes) == len(expected) > 0
    for at in (0, len(expected) // 2, -1):
        assert tree.nodes[at] == expected[at]
    assert list(tree.nodes[1:-1][1:]) == expected[1:-1][1:]
    with pytest.raises(IndexError):
        tree.nodes[len(expected)]


def test_columns_of_a_part_are_those_of_its_nodes(recording: Recording) -> None:
    tree = read_tree(recording, 1)
    part = tree.nodes[2:]
    expected = rows_of(recording, tree)[2:]
    for name in TreeNode._fields:
        values = [getattr(node, name) for node in expected]
        assert part.listed(name) == values
        assert part.any_known(name) == any(value is not None for value in values)
    assert part.integers("type").tolist() == [node.type for node in expected]


def test_every_node_is_found_by_its_ids(recording: Recording) -> None:
    tree = read_tree(recording, 1)
    for at, node in enumerate(tree.nodes):
        assert tree.key_in(int(tree.level[at]), node.node_id) == tree.key[at]
        if node.exec_node_id is not None:
            assert tree.owners(np.array([node.exec_node_id])).tolist() == [at]
    assert tree.key_in(0, 2**40) is None


def test_ids_of_executables_find_the_first_node_that_has_them() -> None:
    found = ExecNodes.of(np.array([7, -1, 3, 7, -1]))
    assert found.find(np.array([3, 7, 5, -1, 9])).tolist() == [2, 0, -1, -1, -1]
    assert ExecNodes.of(np.array([-1, -1])).find(np.array([0, -1])).tolist() == [-1, -1]
    assert ExecNodes.of(np.zeros(0, np.int64)).find(np.array([1])).tolist() == [-1]


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


def test_rows_are_read_when_they_are_asked_for() -> None:
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
    assert dict(found) == {1: [20, 20], 4: [10, 5], 9: [7]}
    assert found.get(2, ()) == ()
    assert not Grouped(np.zeros(0, np.int64), np.zeros(0, np.int64))
