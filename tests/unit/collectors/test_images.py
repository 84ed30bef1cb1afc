"""Images of modules, as the native library reads them before it tries their kernels."""

from __future__ import annotations

import ctypes
import struct

import pytest

from gviz.collectors import native

VARIABLES = "a module of its kernels has variables in global memory, which are not saved"
CALLS = "a module of its kernels prints, allocates memory or launches kernels by itself"
UNREADABLE = (
    "the code of its kernels is compressed or of an unknown form, so that their variables are "
    "not known"
)
_STRTAB = 3


def fault(image: bytes) -> str | None:
    path = native.library_path()
    assert path is not None
    find = ctypes.CDLL(str(path)).gviz_image_fault
    find.restype = ctypes.c_char_p
    found: bytes | None = find(image)
    return found.decode() if found else None


def elf(sections: dict[bytes, bytes]) -> bytes:
    """Return a 64-bit ELF file of these sections; string tables by their names."""
    names = b"\0" + b"".join(name + b"\0" for name in (*sections, b".shstrtab"))
    data, headers = b"", [bytes(64)]
    for name, content in {**sections, b".shstrtab": names}.items():
        kind = _STRTAB if name.endswith(b"strtab") else 1
        at = struct.pack("<QQ", 64 + len(data), len(content))
        headers.append(
            struct.pack("<II", names.index(b"\0" + name + b"\0") + 1, kind)
            + bytes(16) + at + bytes(24)
        )  # fmt: skip
        data += content
    start = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + bytes(24)
    counts = struct.pack("<HHHHHH", 64, 0, 0, 64, len(headers), len(headers) - 1)
    return start + struct.pack("<QI", 64 + len(data), 0) + counts + data + b"".join(headers)


def fat(*parts: bytes, kind: int = 2, compressed: int = 0) -> bytes:
    """Return a fat binary: a header, and a header before each part."""
    body = b"".join(
        struct.pack("<HHIQI", kind, 0x101, 64, len(part), compressed).ljust(64, b"\0") + part
        for part in parts
    )
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


KERNEL = b"\0_Z4workv\0"
CLEAN = elf({b".text._Z4workv": b"code", b".strtab": KERNEL})
COUNTING = elf({b".nv.global": bytes(4), b".strtab": KERNEL})
PRINTING = elf({b".text._Z4workv": b"code", b".strtab": KERNEL + b"vprintf\0"})
HEAD = b".version 7.0\n.target sm_50\n"


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (HEAD + b".visible .entry k() { st.global.u32 [%rd1], 1; }\n\0", None),
        (HEAD + b"\t.weak .global .align 4 .b32 count;\n\0", VARIABLES),
        (HEAD + b".const .align 4 .b32 table[4];\n\0", None),
        (HEAD + b"call.uni (r), vprintf, (a, b);\n\0", CALLS),
        (CLEAN, None),
        (COUNTING, VARIABLES),
        (PRINTING, CALLS),
        (fat(CLEAN), None),
        (fat(CLEAN, COUNTING), VARIABLES),
        (fat(CLEAN, compressed=99), UNREADABLE),
        (fat(HEAD + b".global .u32 count;\n", kind=1), VARIABLES),
        (fat(HEAD, kind=1), None),
        (fat(HEAD, kind=7), UNREADABLE),
        (b"\x01\x02\x03\x04 something else", UNREADABLE),
    ],
)
def test_image_says_whether_kernels_keep_or_print_something(
    image: bytes, expected: str | None
) -> None:
    assert fault(image) == expected
