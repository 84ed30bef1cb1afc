"""Values of many events as arrays: as one by one, whether numpy can take them or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gviz.formats.kineto.columns import dimensions, graph_nodes, nanoseconds, numbers, threads
from gviz.recording import LATEST_NS


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], []),
        ([b"4422386608658.417", b"0.001"], [4_422_386_608_658_417, 1]),
        ([b"7", b"7.5", b"7.25", b"0.125"], [7_000, 7_500, 7_250, 125]),
        ([b"1790857026000000.123"], [1_790_857_026_000_000_123]),
        # More decimals than nanoseconds have are rounded, the half to the even.
        ([b"1.0005", b"1.0015", b"2"], [1_000, 1_002, 2_000]),
        ([b"1e3", b"2.5"], [1_000_000, 2_500]),
        ([b"-4.5", b"1.5"], [-1, 1_500]),
        ([b'"12.5"', b"3"], [12_500, 3_000]),
        ([b"", b"null", b"true", b"[1]", b'"a b"', b"3"], [-1, -1, -1, -1, -1, 3_000]),
        ([b"9" * 18, b"1"], [LATEST_NS, 1_000]),
        ([b"9" * 30], [-1]),
        ([b"9" * 5_000, b"2.5"], [-1, 2_500]),
    ],
)
def test_microseconds_are_whole_nanoseconds(texts: Sequence[bytes], expected: list[int]) -> None:
    assert nanoseconds(texts).tolist() == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([1, 2, 3], [1, 2, 3]),
        ([None, None], [-1, -1]),
        ([1, None, 9], [1, -1, -1]),
        ([-5, 8], [-1, 8]),
        (["5", 2.0, True, [], 1 << 70], [5, 2, -1, -1, -1]),
    ],
)
def test_ids_are_numbers_up_to_the_most(values: list[Any], expected: list[int]) -> None:
    assert numbers(values, 8).tolist() == expected


def test_threads_are_known_where_they_are_numbers() -> None:
    found, is_known = threads([7, -3, 1 << 32 | 5])
    assert (found.tolist(), is_known.tolist()) == ([7, 0, 5], [True, True, True])
    found, is_known = threads([7, None, "12", "main"])
    assert (found.tolist(), is_known.tolist()) == ([7, 0, 12, 0], [True, False, True, False])


@pytest.mark.parametrize("other", [None, [1, 2], "x", [1, 2, None], [1, 2, -3], [1, 2, 1 << 32]])
def test_dimensions_are_three_numbers(other: Any) -> None:
    none = [-1, -1, -1]
    assert dimensions([[1, 2, 3], other]).tolist() == [[1, 2, 3], none]
    assert dimensions([[1, "2", 3.0], other]).tolist() == [[1, 2, 3], none]


def test_nodes_stand_below_what_their_id_or_the_graph_says() -> None:
    exec_id, node_id = graph_nodes([3 << 32 | 7, 5, 6, None, 0], [9, 9, None, 9, None])
    assert exec_id.tolist() == [3, 9, 0, -1, -1]
    assert node_id.tolist() == [7, 5, 6, -1, -1]
    exec_id, node_id = graph_nodes([1 << 63, "5", None], [None, "9", None])
    assert exec_id.tolist() == [1 << 31, 9, -1]
    assert node_id.tolist() == [0, 5, -1]
