"""Data of edges: bytes of copies, and words for what their ends do."""

from __future__ import annotations

import numpy as np
from memory_graphs import BASE, SIZE, arguments, operations, pointer, structure

from gviz.model.memory.edge_data import Common, DataEdges, data_edges
from gviz.model.memory.uses import Access, MemoryUses, find_uses

ORDER = np.arange(10)


def edges(uses: MemoryUses, *pairs: tuple[int, int]) -> DataEdges:
    source, target = np.array(pairs, np.int64).T
    return data_edges(uses, source, target)


def test_copy_to_a_kernel_carries_the_copys_bytes_once() -> None:
    given = [pointer(1, BASE), pointer(1, BASE + 512), pointer(2, BASE + 8192)]
    uses = find_uses(arguments(*given), operations((0, Access.WRITTEN, BASE, 4096)), ORDER)
    found = edges(uses, (0, 1), (0, 2))
    assert found.common.tolist() == [Common.ADDRESS, Common.ALLOCATION]
    assert found.count.tolist() == [2, 0]
    assert found.bytes[0] == 4096
    assert np.isnan(found.bytes[1])
    assert found.source_access.tolist() == [1 << Access.WRITTEN, 0]
    assert found.target_access.tolist() == [1 << Access.GIVEN, 0]


def test_copy_after_a_copy_carries_what_both_move() -> None:
    done = [(0, Access.WRITTEN, BASE, 4096), (1, Access.READ, BASE + 1024, 8192)]
    found = edges(find_uses(arguments(), operations(*done), ORDER), (0, 1))
    assert found.bytes.tolist() == [3072]


def test_kernels_carry_an_address_without_a_number_of_bytes() -> None:
    uses = find_uses(arguments(pointer(0, BASE), pointer(1, BASE)), operations(), ORDER)
    found = edges(uses, (0, 1))
    assert found.common.tolist() == [Common.ADDRESS]
    assert np.isnan(found.bytes[0])
    assert uses.allocation_bytes[found.allocation].tolist() == [SIZE]


def test_what_is_an_address_by_its_looks_is_distinguished() -> None:
    near = BASE + (1 << 28)
    given = [pointer(3, BASE), structure(0, near), structure(1, 0, near)]
    found = edges(find_uses(arguments(*given), operations(), ORDER), (0, 1), (0, 3))
    assert found.common.tolist() == [Common.LOOKS, Common.NOTHING]
    assert found.allocation.tolist() == [-1, -1]


def test_alloc_node_shares_all_of_its_memory() -> None:
    done = [(0, Access.ALLOCATED, BASE, 4096), (2, Access.FREED, BASE, -1)]
    uses = find_uses(arguments(structure(1, BASE + 2048)), operations(*done), ORDER)
    found = edges(uses, (0, 1), (1, 2))
    assert found.common.tolist() == [Common.ADDRESS, Common.ADDRESS]
    assert np.isnan(found.bytes).all()
    assert found.target_access.tolist() == [1 << Access.GIVEN, 1 << Access.FREED]


def test_graph_without_edges_or_memory_carries_nothing() -> None:
    nothing = np.zeros(0, np.int64)
    uses = find_uses(arguments(), operations(), ORDER)
    assert len(data_edges(uses, nothing, nothing).common) == 0
    found = edges(uses, (0, 1))
    assert found.common.tolist() == [Common.NOTHING]
    assert found.place.tolist() == [-1]
