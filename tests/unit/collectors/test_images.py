"""Images of modules, as the native library reads them before it tries their kernels."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path

import pytest

from gviz.collectors import native

UNKNOWN = "the code of its kernels is of an unknown form, so that their variables are not known"
GOLDEN = Path(__file__).parents[2] / "golden" / "images"
_ELF, _PTX = 2, 1
HEAD = b".version 7.0\n.target sm_50\n"


def described(image: bytes, capability: int = 90) -> list[str]:
    path = native.library_path()
    assert path is not None
    describe = ctypes.CDLL(str(path)).gviz_image_text
    describe.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(1 << 16)
    assert describe(image, capability, room, len(room)) < len(room)
    return room.value.decode().splitlines()


def part(image: bytes, capability: int = 90, kind: int = _ELF, flags: int = 0x11) -> bytes:
    """Return a part of a fat binary, with its header."""
    header = struct.pack(
        "<HHIQIIHHIIIQQQ",
        kind, 0x101, 64, len(image), 0, 0, 8, 1, capability, 0, 0, flags, 0, 0,
    )  # fmt: skip
    return header + image


def fat(*parts: bytes) -> bytes:
    body = b"".join(parts)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b".visible .entry k() { st.global.u32 [%rd1], 1; }\n", []),
        (b"\t.weak .global .align 4 .b32 count;\n", ["variable count 0"]),
        (b".visible .global .align 4 .b32 rows[4] = {1, 2};\n", ["variable rows 0"]),
        (b".global .b32 one; .global .b32 two;\n", ["variable one 0", "variable two 0"]),
        (b".global .b32 one, two;\n", [f"fault {UNKNOWN}"]),
        (b".visible .entry k(.param .u64 .ptr .global .align 1 p) { ret; }\n", []),
        (b".const .align 4 .b32 table[4];\n", []),
        (b"call.uni (r), vprintf, (a, b);\n", ["all call"]),
    ],
)
def test_ptx_says_which_variables_it_declares_and_whether_it_prints(
    text: bytes, expected: list[str]
) -> None:
    assert described(HEAD + text + b"\0") == expected
    assert described(fat(part(HEAD + text + b"\0", kind=_PTX))) == expected


#: What nvcc 13.3 makes of modules.cu: plain, and compressed in each of its ways.
COMPILED = ("plain", "zstd", "lz4")


@pytest.mark.parametrize("name", COMPILED)
def test_binary_says_where_variables_are_and_which_kernels_call_the_driver(name: str) -> None:
    lines = described((GOLDEN / f"{name}.fatbin").read_bytes())
    variables = {line.split()[1]: int(line.split()[2]) for line in lines if "variable" in line}
    named = {name: size for name, size in variables.items() if name[0] not in "$_"}
    assert named == {"counter": 4, "functions": 16, "hidden": 4, "table": 16}
    calls = [line.partition(" ")[2] for line in lines if line.startswith("calls")]
    # By a call, by one of a function that calls, and by an address of a function that may.
    assert sorted(calls) == ["_Z14prints_by_callPf", "_Z17prints_by_pointerPfi", "_Z6printsPf",
                             "_Z9allocatesPPf"]  # fmt: skip


def test_of_a_fat_binary_the_part_for_the_gpu_is_read() -> None:
    # A part's text of PTX says which was read.
    parts = [
        part(HEAD + b".global .b32 for_50;\n\0", 50, _PTX),
        part(HEAD + b".global .b32 for_80;\n\0", 80, _PTX),
        part(HEAD + b".global .b32 for_100;\n\0", 100, _PTX),
    ]
    assert described(fat(*parts)) == ["variable for_80 0"]
    assert described(fat(*parts), 75) == ["variable for_50 0"]
    assert described(fat(*parts), 30) == [f"fault {UNKNOWN}"]
    binary = (GOLDEN / "plain.fatbin").read_bytes()[16:]
    assert "variable counter" in "".join(described(fat(*parts, binary)))
    assert described(fat(*parts, binary), 80) == ["variable for_80 0"]


@pytest.mark.parametrize(
    "image",
    [
        b"\x01\x02\x03\x04 something else",
        fat(part(HEAD, kind=7)),
        fat(part(b"\x7fELF" + bytes(60))),
        fat(part((GOLDEN / "plain.fatbin").read_bytes()[80:400])),
    ],
)
def test_what_is_not_understood_is_said(image: bytes) -> None:
    assert described(image) == [f"fault {UNKNOWN}"]


def test_broken_compression_is_said() -> None:
    whole = bytearray((GOLDEN / "zstd.fatbin").read_bytes())
    whole[-200:-100] = bytes(100)
    (line,) = described(bytes(whole))
    assert line.startswith("fault the code of its kernels is compressed, and could not be read")
