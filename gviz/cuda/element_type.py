"""Types of elements: the numbers that arrays in device memory hold, and their values in text."""

from __future__ import annotations

import re
import struct
from enum import IntEnum

_FACTS: dict[str, tuple[str, int, str | None]] = {
    "BYTES": ("byte", 1, None),
    "BOOL": ("bool", 1, "bool"),
    "INT8": ("signed char", 1, "int8"),
    "UINT8": ("unsigned char", 1, "uint8"),
    "INT16": ("short", 2, "int16"),
    "UINT16": ("unsigned short", 2, "uint16"),
    "INT32": ("int", 4, "int32"),
    "UINT32": ("unsigned int", 4, "uint32"),
    "INT64": ("long", 8, "int64"),
    "UINT64": ("unsigned long", 8, "uint64"),
    "HALF": ("half", 2, "float16"),
    "BFLOAT16": ("bfloat16", 2, None),
    "FLOAT": ("float", 4, "float32"),
    "DOUBLE": ("double", 8, "float64"),
    "FP8_E4M3": ("fp8_e4m3", 1, None),
    "FP8_E5M2": ("fp8_e5m2", 1, None),
}


class ElementType(IntEnum):
    """The type of an array's elements; BYTES: nothing says what they are.

    The numbers stand in recordings.
    """

    BYTES = 0
    BOOL = 1
    INT8 = 2
    UINT8 = 3
    INT16 = 4
    UINT16 = 5
    INT32 = 6
    UINT32 = 7
    INT64 = 8
    UINT64 = 9
    HALF = 10
    BFLOAT16 = 11
    FLOAT = 12
    DOUBLE = 13
    FP8_E4M3 = 14
    FP8_E5M2 = 15

    @property
    def text(self) -> str:
        """Return its name, as signatures have it."""
        return _FACTS[self.name][0]

    @property
    def size_bytes(self) -> int:
        """Return the size of an element."""
        return _FACTS[self.name][1]

    @property
    def dtype(self) -> str | None:
        """Return numpy's name of it; None: numpy has none."""
        return _FACTS[self.name][2]


#: Names of types in demangled names, in sources, and in Triton's signatures, without what is const
#: and the namespaces around. Of char and void nobody says that they are numbers.
_NAMES: dict[str, ElementType] = {
    **dict.fromkeys(("bool", "i1", "u1"), ElementType.BOOL),
    **dict.fromkeys(("signed char", "int8_t", "i8"), ElementType.INT8),
    **dict.fromkeys(("unsigned char", "uint8_t", "u8"), ElementType.UINT8),
    **dict.fromkeys(("short", "int16_t", "i16"), ElementType.INT16),
    **dict.fromkeys(("unsigned short", "uint16_t", "u16"), ElementType.UINT16),
    **dict.fromkeys(("int", "int32_t", "i32"), ElementType.INT32),
    **dict.fromkeys(("unsigned int", "unsigned", "uint32_t", "u32"), ElementType.UINT32),
    **dict.fromkeys(("long", "long long", "int64_t", "ptrdiff_t", "i64"), ElementType.INT64),
    **dict.fromkeys(
        ("unsigned long", "unsigned long long", "uint64_t", "size_t", "u64"), ElementType.UINT64
    ),
    **dict.fromkeys(("half", "__half", "Half", "half_t", "float16", "fp16"), ElementType.HALF),
    **dict.fromkeys(
        ("bfloat16", "__nv_bfloat16", "nv_bfloat16", "BFloat16", "bfloat16_t", "bf16"),
        ElementType.BFLOAT16,
    ),
    **dict.fromkeys(("float", "fp32"), ElementType.FLOAT),
    **dict.fromkeys(("double", "fp64"), ElementType.DOUBLE),
    **dict.fromkeys(
        ("__nv_fp8_e4m3", "Float8_e4m3fn", "float_e4m3_t", "fp8_e4m3", "fp8e4nv"),
        ElementType.FP8_E4M3,
    ),
    **dict.fromkeys(
        ("__nv_fp8_e5m2", "Float8_e5m2", "float_e5m2_t", "fp8_e5m2", "fp8e5"), ElementType.FP8_E5M2
    ),
}
_FORMS = {
    ElementType.BOOL: "<?",
    ElementType.INT8: "<b",
    ElementType.UINT8: "<B",
    ElementType.INT16: "<h",
    ElementType.UINT16: "<H",
    ElementType.INT32: "<i",
    ElementType.UINT32: "<I",
    ElementType.INT64: "<q",
    ElementType.UINT64: "<Q",
    ElementType.HALF: "<e",
    ElementType.FLOAT: "<f",
    ElementType.DOUBLE: "<d",
}
_NAMESPACES = re.compile(r"(?:\w+::)+")


def element_named(name: str) -> ElementType | None:
    """Return the element type that a type's name means; None: it is none.

    Parameters
    ----------
    name
        Of a demangled name, a source or a Triton signature, without ``const``.

    Examples
    --------
    >>> element_named("c10::BFloat16")
    <ElementType.BFLOAT16: 11>
    >>> element_named("at::Tensor") is None
    True
    """
    return _NAMES.get(_NAMESPACES.sub("", name.strip()))


def number_of(element: ElementType, value: bytes) -> bool | int | float | None:
    """Return the number that the little-endian bytes of an element are; None: of no known format.

    Bytes of another size than the element's are no number either.
    """
    if len(value) != element.size_bytes:
        return None
    if element == ElementType.BFLOAT16:
        value, element = bytes(2) + value, ElementType.FLOAT
    form = _FORMS.get(element)
    if form is None:
        return None
    (number,) = struct.unpack(form, value)
    found: bool | int | float = number
    return found
