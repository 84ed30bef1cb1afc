"""Instantiations that an update of an earlier executable would have replaced."""

from __future__ import annotations

from gviz.cuda.node_type import NodeType
from gviz.model.reinstantiation import Instantiation, identity_of, updatable

SAME = ("shape",)


def made(
    number: int, at: int | None, *launches: int, identity: tuple[str, ...] | None = SAME
) -> Instantiation:
    first, last = (min(launches), max(launches)) if launches else (None, None)
    return Instantiation(number, identity, at, first, last)


def test_equal_graph_made_again_after_the_last_launch_of_the_first() -> None:
    assert updatable([made(1, 10, 20, 30), made(2, 40, 50)]) == {2: 1}


def test_chain_names_the_latest_earlier_one() -> None:
    found = updatable([made(3, 70, 80), made(1, 10, 20), made(2, 40, 50)])
    assert found == {2: 1, 3: 2}


def test_executables_used_alternately_are_both_needed() -> None:
    assert updatable([made(1, 10, 20, 60), made(2, 40, 50, 70)]) == {}


def test_executable_that_was_never_launched_was_made_ahead() -> None:
    assert updatable([made(1, 10), made(2, 40, 50)]) == {}


def test_other_shape_and_unknown_shape_are_left_alone() -> None:
    assert updatable([made(1, 10, 20), made(2, 40, identity=("other",))]) == {}
    assert updatable([made(1, 10, 20, identity=None), made(2, 40, identity=None)]) == {}
    assert updatable([made(1, None, 20), made(2, 40)]) == {}


def test_identity_is_shape_fixed_parameters_and_flags() -> None:
    types = [NodeType.KERNEL, NodeType.MEMCPY]
    first = identity_of(["a", "b"], types, (1, 2), 0)
    assert first == identity_of(["a", "b"], types, (1, 2), 0)
    assert first != identity_of(["a", "c"], types, (1, 2), 0)
    assert first != identity_of(["a", "b"], types, (1, 3), 0)
    assert first != identity_of(["a", "b"], types, (1, 2), 1)


def test_graphs_with_memory_or_conditional_nodes_are_not_claimed() -> None:
    for kind in (NodeType.MEM_ALLOC, NodeType.MEM_FREE, NodeType.CONDITIONAL):
        assert identity_of(["a"], [NodeType.KERNEL, kind], (), 0) is None
