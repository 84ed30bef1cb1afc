"""Nodes that are given addresses in the same memory."""

from __future__ import annotations

import numpy as np
from memory_graphs import (
    BASE,
    SIZE,
    Argument,
    Operation,
    arguments,
    operations,
    pointer,
    structure,
)

from gviz.model.memory.uses import Access, MemoryUses, find_uses

GIVEN, READ, WRITTEN = Access.GIVEN, Access.READ, Access.WRITTEN
ALLOCATED, FREED, LOOKS = Access.ALLOCATED, Access.FREED, Access.LOOKS
OTHER = BASE + (1 << 30)


def found(
    given: list[Argument],
    done: list[Operation] | None = None,
    order: list[int] | None = None,
    elsewhere: tuple[tuple[int, int], ...] = (),
) -> MemoryUses:
    ranks = np.array(order or range(10), np.int64)
    return find_uses(arguments(*given), operations(*(done or ())), ranks, elsewhere)


def rows(uses: MemoryUses) -> list[tuple[int, int, int]]:
    """Return (node, access, address) of each use."""
    columns = (uses.node, uses.access, uses.address)
    return list(zip(*(c.tolist() for c in columns), strict=True))


def test_nodes_that_are_given_one_allocation_are_found() -> None:
    uses = found([pointer(1, BASE), pointer(2, BASE + 512)])
    assert uses.allocation_address.tolist() == [BASE]
    assert uses.allocation_bytes.tolist() == [SIZE]
    assert rows(uses) == [(1, GIVEN, BASE), (2, GIVEN, BASE + 512)]
    assert uses.place_address.tolist() == [BASE, BASE + 512]
    assert uses.of_node(2).tolist() == [1]
    assert uses.sharing(0).tolist() == [0]


def test_address_inside_a_structure_is_found_by_its_value() -> None:
    uses = found([pointer(1, BASE), structure(5, 7, BASE + 64, 12345)])
    assert rows(uses) == [(1, GIVEN, BASE), (5, GIVEN, BASE + 64)]


def test_numbers_outside_every_allocation_are_no_addresses() -> None:
    given = [pointer(1, BASE), structure(2, BASE + SIZE), structure(3, BASE - 1)]
    uses = found([*given, Argument(4, b"\x01\x02\x03")])
    assert set(uses.node.tolist()) == {1}


def test_word_at_the_start_of_a_block_near_known_memory_looks_like_an_address() -> None:
    near = BASE + (256 << 20)
    given = [pointer(1, BASE), structure(2, near, slot=1), structure(3, 0, near, slot=1)]
    uses = found(given)
    assert rows(uses) == [(2, LOOKS, near), (3, LOOKS, near), (1, GIVEN, BASE)]
    assert uses.allocation.tolist() == [-1, -1, 0]


def test_word_in_one_slot_only_is_what_was_left_on_the_stack() -> None:
    near = BASE + (256 << 20)
    given = [pointer(1, BASE), structure(2, near, slot=1), structure(3, near, slot=1)]
    assert set(found(given).node.tolist()) == {1}


def test_word_with_a_small_lower_half_is_a_number_beside_padding() -> None:
    word = BASE >> 32 << 32 | 1024
    given = [pointer(1, BASE), structure(2, word, slot=1), structure(3, word, slot=2)]
    assert set(found(given).node.tolist()) == {1}


def test_word_that_a_copy_uses_is_an_address_wherever_it_is() -> None:
    far = 0x302000000
    uses = found([structure(2, 5, far)], [(3, WRITTEN, far, 64)])
    assert rows(uses) == [(2, LOOKS, far), (3, WRITTEN, far)]
    assert set(uses.sharing(0).tolist()) == {0, 1}


def test_copies_and_memsets_read_and_write() -> None:
    done = [(2, READ, BASE + 8, 64), (2, WRITTEN, OTHER, 64), (3, WRITTEN, BASE, 32)]
    uses = found([pointer(1, BASE), pointer(1, OTHER, OTHER)], done)
    assert rows(uses) == [
        (1, GIVEN, BASE),
        (3, WRITTEN, BASE),
        (2, READ, BASE + 8),
        (1, GIVEN, OTHER),
        (2, WRITTEN, OTHER),
    ]
    assert uses.allocation.tolist() == [0, 0, 0, 1, 1]
    # The memset's 32 bytes cover what the copy reads from byte 8 on.
    assert uses.reach.tolist() == [1, 2, 1, 1, 1]
    assert set(uses.sharing(2).tolist()) == {1, 2}


def test_host_memory_of_copies_is_a_place_without_an_allocation() -> None:
    uses = found([], [(1, WRITTEN, 0x5500_0000_1000, 64), (2, READ, 0x5500_0000_1000, 64)])
    assert uses.allocation.tolist() == [-1, -1]
    assert uses.sharing(0).tolist() == [0, 1]


def test_allocations_of_other_graphs_need_no_argument() -> None:
    uses = found([structure(1, BASE + 256)], elsewhere=((BASE, 4096),))
    assert rows(uses) == [(1, GIVEN, BASE + 256)]
    assert uses.allocation_node.tolist() == [-1]


def test_one_address_belongs_to_the_allocation_made_last_before() -> None:
    done = [
        (0, ALLOCATED, BASE, 1024),
        (2, FREED, BASE, -1),
        (3, ALLOCATED, BASE, 4096),
        (5, FREED, BASE, -1),
    ]
    uses = found([structure(1, BASE), structure(4, BASE + 512)], done)
    assert uses.allocation_bytes.tolist() == [1024, 4096]
    assert uses.allocation_node.tolist() == [0, 3]
    of = {int(n): int(a) for n, a in zip(uses.node, uses.allocation, strict=True)}
    assert of == {0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 1}
    freed = uses.access == FREED
    assert uses.bytes[freed].tolist() == [1024, 4096]
    # Equal addresses of different allocations are different places.
    (first,) = uses.of_node(1)
    assert {int(n) for n in uses.node[uses.sharing(first)]} == {0, 1, 2}


def test_allocation_of_an_argument_gives_way_to_the_alloc_node() -> None:
    uses = found([pointer(1, BASE, BASE, 1024)], [(0, ALLOCATED, BASE, 1024)])
    assert uses.allocation_node.tolist() == [0]


def test_range_inside_another_is_the_same_allocation() -> None:
    uses = found([pointer(1, BASE, BASE, SIZE), pointer(2, BASE + 4096, BASE + 4096, 512)])
    assert uses.allocation_bytes.tolist() == [SIZE]


def test_uses_of_a_place_stand_in_the_order_of_the_graph() -> None:
    given = [pointer(n, BASE) for n in range(4)]
    uses = found(given, [(4, WRITTEN, BASE - 0, 1024)], order=[3, 0, 2, 1, 4])
    assert uses.node[uses.of_place(0)].tolist() == [1, 3, 2, 0, 4]


def test_graph_without_arguments_uses_nothing() -> None:
    uses = found([])
    assert len(uses) == 0
    assert uses.place_address.tolist() == []
    assert uses.of_node(0).tolist() == []
