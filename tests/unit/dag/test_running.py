"""Nodes that may be running, by what has ended."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.dag.running import find_running

CHAIN = [(0, 1), (1, 2), (2, 3), (3, 4)]
DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize(
    ("count", "edges", "ended", "not_ended", "possible", "last", "next_"),
    [
        (5, CHAIN, [], [], [0, 1, 2, 3, 4], [], []),
        (5, CHAIN, [1], [3], [2, 3], [1], [3]),
        (5, CHAIN, [0, 1], [2, 3, 4], [2], [1], [2]),
        (5, CHAIN, [4], [], [], [4], []),
        (5, CHAIN, [], [0, 1], [0], [], [0]),
        # A crumb that is written says that all before it have ended, whatever theirs say.
        (5, CHAIN, [2], [0, 3], [3], [2], [3]),
        (4, DIAMOND, [1], [2, 3], [2], [1], [2]),
        (4, DIAMOND, [0], [1, 2], [1, 2], [0], [1, 2]),
        (3, [], [0], [1], [1, 2], [0], [1]),
    ],
)
def test_running(
    count: int, edges: list[tuple[int, int]], ended: list[int], not_ended: list[int],
    possible: list[int], last: list[int], next_: list[int],
) -> None:  # fmt: skip
    pairs = np.array(edges, np.int64).reshape(-1, 2)
    marks = np.zeros((2, count), bool)
    marks[0, ended] = True
    marks[1, not_ended] = True
    found = find_running(count, pairs[:, 0], pairs[:, 1], marks[0], marks[1])
    assert found.possible.tolist() == possible
    assert found.last.tolist() == last
    assert found.next.tolist() == next_
