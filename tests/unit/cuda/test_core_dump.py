"""Core dumps of a GPU, written here as cudacoredump.h describes them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

from gviz.cuda.core_dump import CoreDump, read_core_dump

_LOUSER = 0x80000000
RELOCATED, SM_TABLE, GRID_TABLE, CTA_TABLE, WARP_TABLE = (_LOUSER + n for n in (7, 11, 12, 13, 14))
SYMBOLS, STRINGS, CODE = 2, 3, 1
HEADER, ENTRY = 64, 64


class Part(NamedTuple):
    """A section: its type, bytes, size of an entry, link, info, address."""

    type: int
    data: bytes
    entry: int = 0
    link: int = 0
    info: int = 0
    address: int = 0


def elf(*parts: Part) -> bytes:
    sections, body = [bytes(ENTRY)], b""
    for part in parts:
        sections.append(
            struct.pack(
                "<IIQQQQIIQQ", 0, part.type, 0, part.address, HEADER + len(body), len(part.data),
                part.link, part.info, 8, part.entry,
            )
        )  # fmt: skip
        body += part.data
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01\x33", 4, 0xBE, 1, 0, 0,
                       HEADER + len(body), 0, 64, 0, 0, ENTRY, len(sections), 0)  # fmt: skip
    return head + body + b"".join(sections)


def module(*functions: tuple[str, int]) -> bytes:
    """Return the image of a module with functions at addresses, in a section at 0x1000."""
    names, symbols = b"\0", bytes(24)
    for name, address in functions:
        symbols += struct.pack("<IBBHQQ", len(names), 0x12, 0, 1, address - 0x1000, 16)
        names += name.encode() + b"\0"
    return elf(
        Part(CODE, b"code", address=0x1000), Part(STRINGS, names), Part(SYMBOLS, symbols, 24, 2)
    )


def grid(number: int, entry: int) -> bytes:
    return struct.pack("<7Q12I", number, 1, 2, entry, 3, 0, 0, *[0] * 12)


def warp(counter: int, *, is_valid: bool) -> bytes:
    return struct.pack("<Q6I", counter, 0, 0, 0, 0, is_valid, 0)


def dump_of(*warps: bytes) -> bytes:
    """Return a dump of two grids; the warps are the second block's, which is of grid 8."""
    blocks = struct.pack("<Q4I", 7, 0, 0, 0, 0) + struct.pack("<Q4I", 8, 1, 0, 0, 0)
    grids = grid(7, 0x1100) + grid(8, 0x1200)
    return elf(
        Part(GRID_TABLE, grids, 104),
        Part(CTA_TABLE, blocks, 24),
        Part(WARP_TABLE, b"".join(warps), 32, link=2, info=1),
        Part(RELOCATED, module(("_Z4goodv", 0x1100), ("_Z3badv", 0x1200))),
    )


def test_kernel_of_the_warp_that_failed_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.nvcudmp"
    path.write_bytes(dump_of(warp(0x9, is_valid=False), warp(0x1230, is_valid=True)))
    assert read_core_dump(path) == CoreDump("_Z3badv", 0x1230)


def test_counter_of_a_multiprocessor_is_taken_where_its_warps_have_gone(tmp_path: Path) -> None:
    path = tmp_path / "x.nvcudmp"
    processor = struct.pack("<4IQ", 3, 0, 14, 1, 0x1250)
    path.write_bytes(elf(Part(SM_TABLE, processor, 24), Part(GRID_TABLE, grid(8, 0x1200), 104),
                         Part(RELOCATED, module(("_Z3badv", 0x1200)))))  # fmt: skip
    assert read_core_dump(path) == CoreDump("_Z3badv", 0x1250)


def test_two_grids_without_a_failed_warp_name_none(tmp_path: Path) -> None:
    path = tmp_path / "x.nvcudmp"
    path.write_bytes(dump_of(warp(0x9, is_valid=False)))
    assert read_core_dump(path) == CoreDump(None, None)


def test_file_that_is_none_or_cut_off_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.nvcudmp"
    whole = dump_of(warp(0x1230, is_valid=True))
    for data in (b"", b"text", whole[:100], whole[: len(whole) - 70]):
        path.write_bytes(data)
        assert read_core_dump(path) is None
    assert read_core_dump(tmp_path / "none") is None
