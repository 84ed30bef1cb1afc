"""Differences between an executable and the graph that it could not be updated to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gviz.cuda.node_type import NodeType
from gviz.cuda.update_failure import (
    MOST_DIFFERENCES,
    GraphFacts,
    NodeFacts,
    UpdateError,
    UpdateResult,
    differences,
    explain_update,
    update_result_name,
)


def kernel(node_id: int, name: str = "a", **more: Any) -> NodeFacts:
    return NodeFacts(node_id, NodeType.KERNEL, name, **more)


def chain(*nodes: NodeFacts) -> GraphFacts:
    return GraphFacts(nodes, [(i, i + 1) for i in range(len(nodes) - 1)])


OLD = chain(kernel(0), kernel(1), kernel(2))


def test_other_kernel_at_the_node_that_the_driver_named() -> None:
    new = chain(kernel(0), kernel(1, "b"), kernel(2, "c"))
    error = UpdateError(UpdateResult.UNSUPPORTED_FUNCTION_CHANGE, 1)
    assert explain_update(error, OLD, new) == (
        "node 1: kernel changed from a to b (UNSUPPORTED_FUNCTION_CHANGE)"
    )


def test_other_type() -> None:
    new = chain(kernel(0), NodeFacts(1, NodeType.MEMSET, "MEMSET"), kernel(2))
    found = explain_update(UpdateError(UpdateResult.NODE_TYPE_CHANGED, 1), OLD, new)
    assert found == "node 1: type changed from KERNEL a to MEMSET (NODE_TYPE_CHANGED)"


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ({"cooperative": 0}, {"cooperative": 1}, "cooperative launch changed from 0 to 1"),
        ({"priority": 0}, {"priority": -5}, "priority changed from 0 to -5"),
        ({"device_id": 0}, {"device_id": 1}, "device changed from 0 to 1"),
        ({"memory": (1, 2)}, {"memory": (2, 3)},
         "memory types changed from host to device to device to array"),
        ({"memory": (1, 2)}, {"memory": (1, 9)},
         "memory types changed from host to device to host to type 9"),
        ({"element_bytes": 4}, {"element_bytes": 1},
         "element size changed from 4 bytes to 1 bytes"),
        ({"bytes": 64}, {"bytes": 32}, "size changed from 64 bytes to 32 bytes"),
        ({"child": 3}, {"child": 4}, "nodes of the child graph changed from 3 to 4"),
    ],
)  # fmt: skip
def test_field_that_differs(before: dict[str, Any], after: dict[str, Any], sentence: str) -> None:
    node = NodeFacts(0, NodeType.MEMCPY, "MEMCPY")
    assert differences(replace(node, **before), replace(node, **after)) == [sentence]


def test_unknown_fields_are_no_difference() -> None:
    assert differences(kernel(0, priority=None), kernel(0, priority=3)) == []


def test_nodes_added_and_gone_are_counted_by_kind() -> None:
    new = chain(kernel(0), kernel(1), kernel(2), kernel(3, "b"), kernel(4, "b"))
    assert explain_update(UpdateError(UpdateResult.TOPOLOGY_CHANGED), OLD, new) == (
        "the new graph has 5 nodes, the executable 3; KERNEL b added 2 times (TOPOLOGY_CHANGED)"
    )
    assert explain_update(UpdateError(UpdateResult.TOPOLOGY_CHANGED), new, OLD) == (
        "the new graph has 3 nodes, the executable 5; KERNEL b removed 2 times (TOPOLOGY_CHANGED)"
    )


def test_edges_added_and_gone() -> None:
    new = GraphFacts(OLD.nodes, [(0, 1), (0, 2)])
    assert explain_update(UpdateError(UpdateResult.TOPOLOGY_CHANGED, 2, 0), OLD, new) == (
        "node 2: its dependencies on node 0 differ; edge 0 to 2 added; edge 1 to 2 removed "
        "(TOPOLOGY_CHANGED)"
    )


def test_no_node_named_lists_what_differs_anywhere() -> None:
    new = chain(kernel(0, "b"), kernel(1), kernel(2, "c"))
    assert explain_update(UpdateError(UpdateResult.ERROR), OLD, new) == (
        "node 0: kernel changed from a to b; node 2: kernel changed from a to c (ERROR)"
    )
    assert explain_update(UpdateError(None), OLD, OLD) == (
        "no difference in what is recorded (not reported)"
    )


def test_long_lists_are_cut() -> None:
    old = chain(*(kernel(i) for i in range(20)))
    new = chain(*(kernel(i, "b") for i in range(20)))
    found = explain_update(UpdateError(UpdateResult.ERROR), old, new)
    assert found.count("changed") == MOST_DIFFERENCES
    assert found.endswith("; and 15 more (ERROR)")


def test_graph_that_was_not_read() -> None:
    assert explain_update(UpdateError(UpdateResult.NOT_SUPPORTED, 7), OLD, None) == (
        "The driver refused the update at node 7 (NOT_SUPPORTED); the new graph was not read."
    )


def test_node_that_differs_in_nothing_recorded_says_so() -> None:
    found = explain_update(UpdateError(UpdateResult.ATTRIBUTES_CHANGED, 1), OLD, OLD)
    assert found == (
        "node 1: KERNEL a differs in something that is not recorded (ATTRIBUTES_CHANGED)"
    )
    assert "no partner" in explain_update(UpdateError(5, 3), OLD, chain(*OLD.nodes, kernel(3)))
    assert "not among" in explain_update(UpdateError(5, 9), OLD, OLD)


def test_equal_sets_in_another_order() -> None:
    found = explain_update(UpdateError(UpdateResult.TOPOLOGY_CHANGED), OLD, OLD)
    assert found.startswith("the nodes agree in number")


def test_result_names() -> None:
    assert update_result_name(3) == "NODE_TYPE_CHANGED"
    assert update_result_name(99) == "result 99"
    assert update_result_name(None) == "not reported"
