"""Lifetimes of a graph's memory, and its amount over time."""

from __future__ import annotations

import numpy as np
from memory_graphs import BASE, Operation, arguments, operations

from gviz.model.memory.lifetimes import Lifetimes, address_bands, find_lifetimes, used_steps
from gviz.model.memory.uses import Access, find_uses

ALLOCATED, FREED = Access.ALLOCATED, Access.FREED


def lifetimes(
    *done: Operation, times: list[float], elsewhere: tuple[tuple[int, int], ...] = ()
) -> Lifetimes:
    order = np.arange(len(times))
    at = np.array(times)
    return find_lifetimes(find_uses(arguments(), operations(*done), order, elsewhere), at, at)


def test_memory_lives_from_its_alloc_node_to_its_free_node() -> None:
    found = lifetimes((0, ALLOCATED, BASE, 1024), (2, FREED, BASE, -1), times=[5.0, 7.0, 9.0])
    assert (found.alloc.tolist(), found.free.tolist()) == ([0], [2])
    assert (found.start.tolist(), found.end.tolist()) == ([5.0], [9.0])
    assert found.bytes.tolist() == [1024]


def test_memory_that_no_node_frees_has_no_end() -> None:
    found = lifetimes((0, ALLOCATED, BASE, 1024), times=[5.0])
    assert found.free.tolist() == [-1]
    assert np.isnan(found.end).all()


def test_memory_of_another_graph_has_no_start() -> None:
    found = lifetimes((1, FREED, BASE, -1), times=[0.0, 4.0], elsewhere=((BASE, 2048),))
    assert (found.alloc.tolist(), found.free.tolist()) == ([-1], [1])
    assert np.isnan(found.start).all()
    assert (found.end.tolist(), found.bytes.tolist()) == ([4.0], [2048])


def test_free_of_memory_that_nobody_knows_is_no_lifetime() -> None:
    assert len(lifetimes((0, FREED, BASE, -1), times=[0.0])) == 0


def test_memory_that_only_kernels_are_given_is_no_lifetime() -> None:
    uses = find_uses(arguments(), operations((0, Access.READ, BASE, 4)), np.arange(1))
    assert len(find_lifetimes(uses, np.zeros(1), np.zeros(1))) == 0


def test_address_used_again_lives_twice() -> None:
    found = lifetimes(
        (0, ALLOCATED, BASE, 1024),
        (1, FREED, BASE, -1),
        (2, ALLOCATED, BASE, 4096),
        (3, FREED, BASE, -1),
        times=[0.0, 5.0, 5.0, 8.0],
    )
    assert found.bytes.tolist() == [1024, 4096]
    assert found.end.tolist() == [5.0, 8.0]
    steps = used_steps(found, np.arange(4))
    # Freed before it is allocated again, at one time.
    assert steps.bytes.tolist() == [1024, 0, 4096, 0]
    assert steps.peak == 2


def test_of_nodes_that_nothing_orders_the_alloc_node_counts_first() -> None:
    found = lifetimes(
        (0, ALLOCATED, BASE, 100),
        (1, FREED, BASE, -1),
        (2, ALLOCATED, BASE + 4096, 50),
        times=[0.0, 5.0, 5.0],
    )
    assert used_steps(found, np.array([0, 1, 1])).bytes.tolist() == [100, 150, 50]


def test_memory_of_another_graph_is_there_from_the_beginning() -> None:
    found = lifetimes(
        (0, ALLOCATED, BASE, 100),
        (1, FREED, BASE + 4096, -1),
        times=[0.0, 4.0],
        elsewhere=((BASE + 4096, 50),),
    )
    steps = used_steps(found, np.arange(2))
    assert steps.time.tolist() == [-np.inf, 0.0, 4.0]
    assert steps.bytes.tolist() == [50, 150, 100]


def test_nothing_has_no_peak() -> None:
    steps = used_steps(lifetimes(times=[]), np.zeros(0, np.int64))
    assert steps.peak is None


def test_bands_leave_out_what_lies_between() -> None:
    bands = address_bands(
        np.array([BASE + 8192, BASE, BASE + 512, BASE], np.uint64), np.array([100, 1024, 1024, 512])
    )
    assert bands.offset.tolist() == [1536, 0, 512, 0]
    assert bands.range_address.tolist() == [BASE, BASE + 8192]
    assert bands.range_bytes.tolist() == [1536, 100]
    assert bands.range_offset.tolist() == [0, 1536]
