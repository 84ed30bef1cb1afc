"""Extents of the memory that nodes are given, and where in an argument its address stands."""

from __future__ import annotations

import numpy as np
from memory_graphs import BASE, SIZE, Argument, arguments, operations, pointer, structure

from gviz.cuda import parse_type
from gviz.model.memory.buffers import (
    NO_BLOCKS,
    Blocks,
    ExtentKind,
    buffer_names,
    find_extents,
)
from gviz.model.memory.level_memory import number_parameters
from gviz.model.memory.uses import Access, MemoryUses, find_uses
from gviz.model.parameters.kernel_parameters import KernelParameter, declared_parameters
from gviz.recording.rows import KernelFunction


def found(*given: Argument, done: tuple[tuple[int, Access, int, int], ...] = ()) -> MemoryUses:
    return find_uses(arguments(*given), operations(*done), np.arange(10))


def extents(uses: MemoryUses, blocks: Blocks = NO_BLOCKS) -> dict[tuple[int, int], tuple[int, int]]:
    """Return (bytes, how) by (node, position)."""
    reached = find_extents(uses, blocks)
    columns = (uses.node, uses.position, reached.bytes, reached.how)
    return {(n, p): (b, h) for n, p, b, h in zip(*(c.tolist() for c in columns), strict=True)}


def test_memory_reaches_to_the_next_address_or_the_end_of_its_allocation() -> None:
    uses = found(pointer(1, BASE), pointer(2, BASE + 4096))
    assert extents(uses) == {
        (1, 0): (4096, ExtentKind.NEXT),
        (2, 0): (SIZE - 4096, ExtentKind.ALLOCATION),
    }


def test_numbers_of_kinds_are_those_of_payloads() -> None:
    kinds = {name: int(kind) for name, kind in ExtentKind.__members__.items()}
    assert kinds == {"UNKNOWN": 0, "REPORTED": 1, "BLOCK": 2, "NEXT": 3, "ALLOCATION": 4}


def test_what_cuda_reports_goes_before_all_else() -> None:
    uses = found(pointer(1, BASE), done=((2, Access.WRITTEN, BASE, 64),))
    assert extents(uses)[2, 0] == (64, ExtentKind.REPORTED)
    assert extents(uses)[1, 0] == (SIZE, ExtentKind.ALLOCATION)


def test_a_block_ends_what_lies_in_it() -> None:
    blocks = Blocks(np.array([BASE + 512], np.uint64), np.array([1024]))
    uses = found(pointer(1, BASE), pointer(2, BASE + 512), pointer(3, BASE + 768))
    assert extents(uses, blocks) == {
        (1, 0): (512, ExtentKind.NEXT),
        (2, 0): (1024, ExtentKind.BLOCK),
        (3, 0): (768, ExtentKind.BLOCK),
    }


def test_memory_of_no_known_allocation_has_no_known_end() -> None:
    far = 0x302000000
    uses = found(structure(2, 5, far), done=((3, Access.WRITTEN, far, 64),))
    assert extents(uses)[2, 0] == (-1, ExtentKind.UNKNOWN)


def test_an_address_is_found_at_its_place_in_a_parameter() -> None:
    inside = structure(3, 7, BASE + 64, BASE + 64, position=2)
    uses = found(pointer(1, BASE), inside, pointer(3, BASE + 64, position=4))
    columns = (uses.node, uses.position, uses.offset)
    assert sorted(zip(*(c.tolist() for c in columns), strict=True)) == [
        (1, 0, 0),
        (3, 2, 8),
        (3, 4, 0),
    ]


def test_a_copy_writes_at_position_0_and_reads_at_1() -> None:
    uses = found(done=((1, Access.READ, BASE, 64), (1, Access.WRITTEN, BASE + 64, 64)))
    by = dict(zip(uses.access.tolist(), uses.position.tolist(), strict=True))
    assert by == {Access.READ: 1, Access.WRITTEN: 0}


def test_a_pointer_to_const_is_read() -> None:
    uses = found(pointer(1, BASE, read_only=True), pointer(2, BASE))
    assert uses.access.tolist() == [Access.READ_ONLY, Access.GIVEN]


def test_parameters_are_those_of_declarations_that_fit() -> None:
    names = {1: "f(float*, float const*)", 2: "g(float const*, int)"}
    declared = {
        n: (declared_parameters(KernelFunction(function_id=n, run_id=1, mangled_name=x, name=x)),)
        for n, x in names.items()
    }
    function, position = np.array([1, 1, 2, 2, -1]), np.array([0, 1, 0, 1, 0])
    size = np.array([8, 8, 8, 8, 8])  # the int of g has four bytes
    number, found = number_parameters(declared, function, position, size)
    texts = [None if p.type is None else p.type.text for p in (found[n] for n in number.tolist())]
    assert texts == ["float*", "const float*", None, None, None]
    number, found = number_parameters(declared, *(np.zeros(0, np.int64),) * 3)
    assert (number.tolist(), found) == ([], [])


def test_a_buffer_is_called_as_the_node_calls_it_that_fills_it() -> None:
    names = {0: ("out", "*fp16"), 1: ("x", "*fp16"), 2: ("n", "i64"), 3: ("state", "ns::State*")}
    parameters = [KernelParameter(n, name, parse_type(kind)) for n, (name, kind) in names.items()]
    parameters.append(KernelParameter(4))
    uses = found(
        pointer(1, BASE, parameter=0),
        pointer(2, BASE, parameter=1),
        pointer(1, BASE + 512, parameter=4),  # nothing tells what it is
        pointer(1, BASE + 1024, parameter=2),  # a number that looks like an address
        pointer(1, BASE + 2048, parameter=3),
        pointer(2, BASE + 2048, parameter=1),
    )
    assert buffer_names(uses, parameters) == ("half out", None, None, "half state")
