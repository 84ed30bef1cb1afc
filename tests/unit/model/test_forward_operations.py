"""Operations of the forward pass of autograd's nodes, by PyTorch's sequence numbers."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gviz.model import GraphTree, read_tree
from gviz.model.tree.forward_operations import (
    Creations,
    ForwardOperations,
    find_forward_operations,
)
from gviz.recording import Recording

TRAINING = Path(__file__).parents[3] / "assets" / "recordings" / "training_step.gviz"
CAPTURING, AUTOGRAD, OTHER = 7, 8, 9


@dataclass(frozen=True)
class Made:
    """A node: its number, its autograd node, its thread."""

    number: int = -1
    name: str | None = None
    thread: int = CAPTURING
    created_ns: int | None = None


def back(number: int, name: str = "MulBackward0", thread: int = AUTOGRAD) -> Made:
    return Made(number, name, thread)


def find(*made: Made, capturing: int | None = CAPTURING) -> ForwardOperations:
    """Find the operations of nodes that were created one after the other."""
    times = [at if x.created_ns is None else x.created_ns for at, x in enumerate(made, start=100)]
    creations = Creations(
        np.array(times, np.int64),
        np.array([x.thread for x in made], np.int64),
        [x.name for x in made],
        np.array([x.number for x in made], np.int64),
    )
    return find_forward_operations(creations, capturing)


def test_node_of_autograd_is_of_the_operation_of_its_number() -> None:
    found = find(Made(3), Made(), Made(5), back(5), back(5), back(3))
    assert found.forward.tolist() == [-1, -1, -1, 2, 2, 0]
    assert found.is_exact.tolist() == [False] * 3 + [True] * 3
    assert found.operation.tolist() == [0, 0, 2, -1, -1, -1]


@pytest.mark.parametrize(
    ("name", "number", "expected"),
    [
        ("TransposeBackward0", 4, 1),
        ("UnsafeViewBackward0", 4, 0),
        ("CopySlices", 4, 0),
        ("AsStridedBackward0", 4, 0),
        ("ViewBackward0", 9, 1),
        ("ViewBackward0", 2, -1),
    ],
    ids=["reads", "of a result", "written", "strided", "after all", "before all"],
)
def test_view_is_of_the_operation_beside_it(name: str, number: int, expected: int) -> None:
    found = find(Made(3), Made(6), back(number, name))
    assert found.forward.tolist() == [-1, -1, expected]
    assert not found.is_exact.any()


def test_gradient_that_is_added_to_a_leaf_is_of_the_operation_that_gave_it() -> None:
    accumulates = back(-1, "torch::autograd::AccumulateGrad")
    other = back(-1, "torch::autograd::AccumulateGrad", OTHER)
    found = find(Made(3), Made(5), accumulates, back(5), accumulates, back(3), accumulates, other)
    assert found.forward.tolist() == [-1, -1, -1, 1, 1, 0, 0, -1]
    assert found.is_exact.tolist() == [False, False, False, True, False, True, False, False]


def test_operation_that_is_called_after_its_backward_pass_is_another_of_that_number() -> None:
    assert find(Made(2), back(5), Made(5)).forward.tolist() == [-1, -1, -1]


def test_second_pass_has_operations_of_its_own() -> None:
    found = find(Made(3), back(3), Made(5), Made(), back(5), Made())
    assert found.forward.tolist() == [-1, 0, -1, -1, 2, -1]
    assert found.operation.tolist() == [0, -1, 2, 2, -1, -1]


def test_numbers_of_several_threads_are_those_of_the_capturing_one() -> None:
    made = (Made(3), Made(3, thread=OTHER), back(3))
    assert find(*made).forward.tolist() == [-1, -1, 0]
    assert find(*made, capturing=None).forward.tolist() == [-1, -1, -1]
    alone = (Made(3, thread=OTHER), back(3))
    assert find(*alone).forward.tolist() == [-1, 0]


@pytest.mark.parametrize(
    "made",
    [(), (Made(), Made()), (back(3),), (Made(3, created_ns=-1), back(3))],
    ids=["no node", "no number", "no forward pass", "no time"],
)
def test_nothing_is_known_without_operations(made: Sequence[Made]) -> None:
    found = find(*made)
    assert found.forward.tolist() == [-1] * len(made)
    assert not found.is_exact.any()


# -- in a graph ---------------------------------------------------------------------------------


def tree_of(target: Path, *statements: str) -> GraphTree:
    """Return the tree of the training step without its own numbers, with changes."""
    target.write_bytes(TRAINING.read_bytes())
    with closing(sqlite3.connect(target)) as database, database:
        for statement in (_WITHOUT, *statements):
            database.execute(statement)
    with Recording(target) as recording:
        return read_tree(recording, 1)


_WITHOUT = "UPDATE node SET sequence_nr = NULL, autograd_name = NULL"
_AUTOGRAD = "created_thread_id != (SELECT capture_thread_id FROM graph)"
NUMBERED = (
    "UPDATE node SET sequence_nr = node_id WHERE nvtx_path_id = 2",
    f"UPDATE node SET sequence_nr = 40, autograd_name = 'MulBackward0' WHERE {_AUTOGRAD}",
)


def ranges_of_autograd(tree: GraphTree) -> set[str | None]:
    own = np.flatnonzero(tree.operations.forward >= 0).tolist()
    return {tree.nvtx.get(tree.nodes[node].nvtx_path_id or 0) for node in own}


def test_range_beside_that_of_the_operation_stays(tmp_path: Path) -> None:
    tree = tree_of(tmp_path / "x.gviz", *NUMBERED)
    assert int((tree.operations.forward == 40).sum()) == 1_367
    assert ranges_of_autograd(tree) == {"backward"}
    assert int(tree.has_range_of_capture.sum()) == 1_367
    assert not tree.has_range_of_forward.any()


def test_range_of_the_operation_inside_the_open_one_is_the_node_s(tmp_path: Path) -> None:
    within = "UPDATE nvtx_path SET parent_id = 3 WHERE nvtx_path_id = 2"
    tree = tree_of(tmp_path / "x.gviz", *NUMBERED, within)
    assert ranges_of_autograd(tree) == {"backward › forward"}
    assert int(tree.has_range_of_forward.sum()) == 1_367
    assert not tree.has_range_of_capture.any()


def test_range_of_the_operation_is_the_node_s_where_none_was_open(tmp_path: Path) -> None:
    tree = tree_of(tmp_path / "x.gviz", *NUMBERED, "DELETE FROM nvtx_range")
    assert ranges_of_autograd(tree) == {"forward"}
    assert int(tree.has_range_of_forward.sum()) == 1_367


def test_recording_without_numbers_has_no_operations(tmp_path: Path) -> None:
    tree = tree_of(tmp_path / "x.gviz")
    assert (tree.operations.forward == -1).all()
    assert (tree.operations.operation == -1).all()
