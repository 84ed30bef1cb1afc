"""Which nodes are given addresses in the same memory."""

from __future__ import annotations

import struct

from gviz.memory_use import GivenArgument, MemoryOperation, Use, memory_uses

BASE, SIZE = 0x7F00_0000_0000, 2 << 20


def pointer(node: int, address: int, base: int | None = BASE) -> GivenArgument:
    return GivenArgument(node, struct.pack("<Q", address), base, SIZE if base else None)


def test_nodes_that_are_given_one_allocation_are_found() -> None:
    found = memory_uses([pointer(1, BASE), pointer(2, BASE + 512)], [])
    (allocation,) = found
    assert (allocation.address, allocation.bytes) == (BASE, SIZE)
    assert allocation.uses == (Use(1, "given", BASE), Use(2, "given", BASE + 512))
    assert allocation.of_node(2) == (Use(2, "given", BASE + 512),)


def test_address_inside_a_structure_is_found_by_its_value() -> None:
    inner = struct.pack("<IIQQ", 7, 0, BASE + 64, 12345)
    (allocation,) = memory_uses([pointer(1, BASE), GivenArgument(5, inner, None, None)], [])
    assert allocation.of_node(5) == (Use(5, "given", BASE + 64),)


def test_numbers_outside_every_allocation_are_no_addresses() -> None:
    arguments = [
        pointer(1, BASE),
        GivenArgument(2, struct.pack("<Q", BASE + SIZE), None, None),
        GivenArgument(3, struct.pack("<Q", BASE - 1), None, None),
        GivenArgument(4, b"\x01\x02\x03", None, None),
    ]
    (allocation,) = memory_uses(arguments, [])
    assert {use.node_id for use in allocation.uses} == {1}


def test_copies_and_memsets_read_and_write() -> None:
    other = BASE + (1 << 30)
    arguments = [pointer(1, BASE), pointer(1, other, other)]
    operations = [
        MemoryOperation(2, BASE + 8, other, 64),
        MemoryOperation(3, None, BASE, 32),
        MemoryOperation(4, 0x1000, None, 16),
    ]
    first, second = memory_uses(arguments, operations)
    assert first.of_node(2) == (Use(2, "read", BASE + 8, 64),)
    assert second.of_node(2) == (Use(2, "written", other, 64),)
    assert first.of_node(3) == (Use(3, "written", BASE, 32),)
    assert not any(use.node_id == 4 for a in (first, second) for use in a.uses)


def test_known_allocations_need_no_argument_of_their_own() -> None:
    operations = [MemoryOperation(1, None, BASE, 8), MemoryOperation(2, BASE, None, 8)]
    (allocation,) = memory_uses([], operations, [(BASE, 4096)])
    assert [use.access for use in allocation.uses] == ["written", "read"]


def test_graph_without_arguments_uses_nothing() -> None:
    assert memory_uses([], []) == []
    assert memory_uses([], [MemoryOperation(1, 5, 6, 7)]) == []
