"""Types of parameters and elements, from names of C++ and of Triton."""

from __future__ import annotations

import struct

import pytest

from gviz.cuda.element_type import ElementType, element_named, number_of
from gviz.cuda.parameter_type import parse_type


@pytest.mark.parametrize(
    ("text", "shown", "is_pointer", "is_const", "element"),
    [
        ("c10::Half const*", "const half*", True, True, ElementType.HALF),
        ("__nv_bfloat16*", "bfloat16*", True, False, ElementType.BFLOAT16),
        ("const float* __restrict__", "const float*", True, True, ElementType.FLOAT),
        ("float const* const", "const float*", True, True, ElementType.FLOAT),
        ("float* const", "float*", True, False, ElementType.FLOAT),
        ("float const&", "const float&", True, True, ElementType.FLOAT),
        ("unsigned long", "unsigned long", False, False, ElementType.UINT64),
        ("int const", "int", False, False, ElementType.INT32),
        ("char*", "char*", True, False, None),
        ("void const*", "const void*", True, True, None),
        ("float**", "float**", True, False, None),
        ("std::array<char*, 3ul>", "array<char*>", False, False, None),
        ("at::native::Foo<float>*", "Foo<float>*", True, False, None),
        ("cutlass::gemm::Params", "Params", False, False, None),
        ("*fp16", "half*", True, False, ElementType.HALF),
        ("*ki64", "const long*", True, True, ElementType.INT64),
        ("i32", "int", False, False, ElementType.INT32),
        ("fp8e4nv", "fp8_e4m3", False, False, ElementType.FP8_E4M3),
    ],
)
def test_types_are_read_from_names(
    text: str, shown: str, is_pointer: bool, is_const: bool, element: ElementType | None
) -> None:
    found = parse_type(text)
    assert (found.text, found.is_pointer, found.is_const) == (shown, is_pointer, is_const)
    assert found.element == element


@pytest.mark.parametrize(
    ("text", "value", "shown"),
    [
        ("int", struct.pack("<i", -7), "-7"),
        ("unsigned int", struct.pack("<i", -7), "4294967289"),
        ("bool", b"\x01", "true"),
        ("float", struct.pack("<f", 0.1), "0.1"),
        ("double", struct.pack("<d", 1e300), "1e+300"),
        ("half", struct.pack("<e", 1.5), "1.5"),
        ("bf16", struct.pack("<f", 2.5)[2:], "2.5"),
        ("float", struct.pack("<f", float("nan")), "nan"),
        ("float*", struct.pack("<Q", 0x7F00_8000_0000), "0x7f0080000000"),
        ("float*", bytes(8), "nullptr"),
        # What a type does not tell stays untold.
        ("Params", bytes(8), None),
        ("fp8e5", b"\x3c", None),
        ("int", bytes(8), None),
    ],
)
def test_values_are_what_their_type_tells(text: str, value: bytes, shown: str | None) -> None:
    assert parse_type(text).value_text(value) == shown


def test_every_element_type_has_a_name_that_is_read_back() -> None:
    for element in ElementType:
        if element != ElementType.BYTES:
            assert element_named(element.text) == element
            assert parse_type(f"{element.text} const*").element == element
        assert element.size_bytes in (1, 2, 4, 8)


def test_a_long_class_is_cut() -> None:
    found = parse_type(f"ns::{'long_name_' * 20}*")
    assert len(found.text) < 70
    assert found.text.endswith("…*")


def test_number_of_another_size_is_none() -> None:
    assert number_of(ElementType.INT32, bytes(4)) == 0
    assert number_of(ElementType.INT32, bytes(3)) is None
    assert number_of(ElementType.BYTES, b"\x01") is None
