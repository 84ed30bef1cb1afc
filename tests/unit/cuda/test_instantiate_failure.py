"""Reasons of refused instantiations."""

from __future__ import annotations

import pytest

from gviz.cuda.instantiate_failure import (
    InstantiateResult,
    explain_instantiate,
    instantiate_result_name,
)
from gviz.cuda.node_type import NodeType

PLAIN = frozenset({int(NodeType.KERNEL)})


@pytest.mark.parametrize(
    ("result", "detail", "node", "expected"),
    [
        (1, 2, None, "Refused: the graph's structure is invalid, such as a cycle."),
        (801, 3, "node 4 (HOST HOST)", "Refused at node 4 (HOST HOST): a node does what"),
        (2, None, None, "Refused: out of device memory."),
        (1, None, None, "something in the graph is invalid (CUDA_ERROR_INVALID_VALUE)"),
        (801, None, None, "not supported on this driver or device"),
        (719, 1, None, "Refused with CUresult 719."),
    ],
)
def test_refusal_in_words(result: int, detail: int | None, node: str | None, expected: str) -> None:
    assert expected in explain_instantiate(result, detail, node, PLAIN, 0)


def test_second_executable_of_a_graph_that_allows_one() -> None:
    types = PLAIN | {int(NodeType.MEM_ALLOC), int(NodeType.MEM_FREE)}
    found = explain_instantiate(1, None, None, types, 1)
    assert "MEM_ALLOC and MEM_FREE nodes allows one executable at a time" in found
    assert "one executable" not in explain_instantiate(1, None, None, types, 0)
    assert "one executable" not in explain_instantiate(1, None, None, PLAIN, 1)


def test_detail_names() -> None:
    assert instantiate_result_name(None) is None
    assert instantiate_result_name(2) == "INVALID_STRUCTURE"
    assert instantiate_result_name(77) == "result 77"
    assert [r.value for r in InstantiateResult] == list(range(6))
