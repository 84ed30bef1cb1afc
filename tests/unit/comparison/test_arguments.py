"""Differences between arguments: values, addresses, and bytes that no one can tell."""

from __future__ import annotations

import struct

import pytest

from gviz.comparison.changes.arguments import (
    ArgumentChange,
    ArgumentPair,
    NodeArgument,
    compare_arguments,
)

SCALE = "void scale<float>(float*, int, Functor, unsigned long)"
UNKNOWN = "triton_poi_fused_add_0"
HERE, THERE = 0x7F13_B800_0000, 0x7FB1_4940_0000


def pointer(value: int) -> bytes:
    return struct.pack("<Q", value)


def pair(
    position: int, before: bytes, after: bytes, *, kernel: str = SCALE, index: int = 0
) -> ArgumentPair:
    one, two = (NodeArgument(7, position, value, None) for value in (before, after))
    return ArgumentPair(index, kernel, "shape", one, two)


def functor(scale: float, padding: bytes) -> bytes:
    """A class of a float, padding, and an address."""
    return struct.pack("<f", scale) + padding + pointer(HERE)


def kinds(found: list[ArgumentChange]) -> list[tuple[int, str]]:
    return [(change.position, change.kind) for change in found]


def test_equal_arguments_differ_in_nothing() -> None:
    assert compare_arguments([pair(1, b"\1\0\0\0", b"\1\0\0\0")]) == []


def test_pointer_by_its_type_is_an_address() -> None:
    assert kinds(compare_arguments([pair(0, pointer(4096), pointer(8192))])) == [(0, "address")]


def test_pointer_that_became_null_is_a_value() -> None:
    assert kinds(compare_arguments([pair(0, pointer(HERE), pointer(0))])) == [(0, "value")]


def test_number_by_its_type_is_a_value() -> None:
    (change,) = compare_arguments([pair(1, struct.pack("<i", 4096), struct.pack("<i", 8192))])
    assert (change.kind, change.before, change.after) == ("value", "4096", "8192")


def test_number_that_holds_an_address_is_an_address() -> None:
    found = compare_arguments([pair(3, pointer(HERE), pointer(THERE))])
    assert kinds(found) == [(3, "address")]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (pointer(HERE), pointer(THERE), "address"),
        (pointer(12), pointer(13), "value"),
        (pointer(12), pointer(THERE), "value"),
        (struct.pack("<i", 3), struct.pack("<i", 4), "value"),
    ],
)
def test_without_types_the_bytes_decide(before: bytes, after: bytes, kind: str) -> None:
    assert kinds(compare_arguments([pair(0, before, after, kernel=UNKNOWN)])) == [(0, kind)]


def test_pointer_into_an_allocation_is_an_address_wherever_it_lies() -> None:
    low = 0x3_0000_0000
    one, two = NodeArgument(7, 0, pointer(low), low), NodeArgument(7, 0, pointer(2 * low), 2 * low)
    assert kinds(compare_arguments([ArgumentPair(0, UNKNOWN, "shape", one, two)])) == [
        (0, "address")
    ]


def test_other_size_is_a_value() -> None:
    (change,) = compare_arguments([pair(2, bytes(16), bytes(24))])
    assert (change.kind, change.before, change.after) == ("value", "16 bytes", "24 bytes")


def test_padding_of_a_class_is_no_value() -> None:
    pairs = [
        pair(2, functor(0.5, b"\x60\xa5\x7e\xa6"), functor(0.5, b"\x60\xa5\xbe\x88"), index=i)
        for i in range(4)
    ]
    assert kinds(compare_arguments(pairs)) == [(2, "unknown")] * 4


def test_address_inside_a_class_is_an_address() -> None:
    pairs = [pair(2, bytes(8) + pointer(HERE), bytes(8) + pointer(THERE), index=i) for i in (0, 1)]
    assert kinds(compare_arguments(pairs)) == [(2, "address")] * 2


def test_number_inside_a_class_is_a_value_if_nodes_of_equal_work_agree() -> None:
    pairs = [pair(2, functor(0.125, bytes(4)), functor(0.25, bytes(4)), index=i) for i in range(3)]
    found = compare_arguments(pairs)
    assert kinds(found) == [(2, "value")] * 3
    assert (found[0].offset, found[0].before, found[0].after) == (0, "0.125", "0.25")


def test_number_inside_a_class_is_unknown_without_a_witness() -> None:
    found = compare_arguments([pair(2, functor(0.125, bytes(4)), functor(0.25, bytes(4)))])
    assert kinds(found) == [(2, "unknown")]


def test_number_that_differs_among_nodes_of_equal_work_is_unknown() -> None:
    pairs = [pair(2, functor(i, bytes(4)), functor(i + 1, bytes(4)), index=i) for i in range(3)]
    assert {kind for _, kind in kinds(compare_arguments(pairs))} == {"unknown"}


@pytest.mark.parametrize("word", [0x7FD4, 0x3E37_3BC0])
def test_rest_of_an_address_is_no_number(word: int) -> None:
    # The upper half of addresses seen elsewhere, and a heap address that is a float of many digits.
    old = struct.pack("<I", word) + bytes(4) + pointer(0x7FD4_0000_1000)
    new = struct.pack("<I", word + 0x100) + bytes(4) + pointer(0x7FD4_0000_1000)
    pairs = [pair(2, old, new, index=i) for i in range(3)]
    assert {kind for _, kind in kinds(compare_arguments(pairs))} == {"unknown"}


def test_empty_class_of_one_byte_is_unknown() -> None:
    found = compare_arguments([pair(2, b"\xc0", b"\x20", index=i) for i in range(3)])
    assert {kind for _, kind in kinds(found)} == {"unknown"}
