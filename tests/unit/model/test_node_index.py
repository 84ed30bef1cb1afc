"""Nodes of several levels, found by (graph_id, node_id)."""

from __future__ import annotations

import numpy as np
import pytest

from gviz.model.node_index import NodeIndex

GRAPH = [3, 3, 1, 1, 3, 2**40]
NODE = [5, 4, 5, 0, 2**50, 7]


def ints(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


@pytest.mark.parametrize("repeat", [1, 1_000], ids=["a few", "more than the ids reach"])
def test_every_node_is_found_by_its_key_and_no_other(repeat: int) -> None:
    index = NodeIndex.of(ints(*GRAPH), ints(*NODE))
    keys = [*zip(GRAPH, NODE, strict=True)]
    requested = [*keys, (3, 6), (1, 4), (2, 5), (3, -1), (2**40, 5), (-1, 7)] * repeat
    found = index.find(*np.array(requested, np.int64).T)
    assert found.tolist() == [keys.index(key) if key in keys else -1 for key in requested]


def test_nodes_of_one_level_are_found_whether_their_ids_are_close_or_far_apart() -> None:
    for ids in ([7, 8, 9, 11], [7, 2**62, 9, 11]):
        index = NodeIndex.of(np.full(4, 2, np.int64), ints(*ids))
        assert index.find(np.full(6, 2), ints(*ids, 10, 6)).tolist() == [0, 1, 2, 3, -1, -1]
        assert index.find(np.full(2, 1), ints(7, 8)).tolist() == [-1, -1]


def test_nothing_is_found_of_nothing_and_in_nothing() -> None:
    assert NodeIndex.of(ints(), ints()).find(ints(1), ints(1)).tolist() == [-1]
    assert NodeIndex.of(ints(1), ints(1)).find(ints(), ints()).tolist() == []


@pytest.mark.parametrize("count", [1, 2, 4, 9])
def test_parts_cover_every_node_once_in_order_of_their_keys(count: int) -> None:
    parts = NodeIndex.of(ints(*GRAPH), ints(*NODE)).parts(count)
    keys = sorted(zip(GRAPH, NODE, strict=True))
    inside = [[key for key in keys if first <= key <= last] for first, last in parts]
    assert [key for part in inside for key in part] == keys
    assert len(parts) == min(count, len(keys))
    assert NodeIndex.of(ints(), ints()).parts(count) == []
