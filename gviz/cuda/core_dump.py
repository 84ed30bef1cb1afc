"""Core dumps of a GPU: which kernel failed, and at which instruction.

References
----------
cudacoredump.h of the CUDA toolkit (extras/Debugger/include): the sections and their tables.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gviz.dataclass import dataclass

_MAGIC = b"\x7fELF\x02\x01"
#: Section types, above SHT_LOUSER.
_LOUSER = 0x80000000
_RELOCATED_IMAGE, _SM_TABLE, _GRID_TABLE, _CTA_TABLE, _WARP_TABLE = (
    _LOUSER + number for number in (7, 11, 12, 13, 14)
)
_SYMBOL_TABLE, _FUNCTION = 2, 2


@dataclass(frozen=True, slots=True)
class CoreDump:
    """Contents of a core dump, as far as gviz reads it.

    Attributes
    ----------
    kernel
        Mangled name of the kernel that failed; None: it cannot be read.
    program_counter
        Address of the instruction that failed.
    """

    kernel: str | None
    program_counter: int | None


class _Section(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


class _Elf:
    """An ELF file of 64 bits, little endian: its sections."""

    def __init__(self, data: bytes) -> None:
        if data[: len(_MAGIC)] != _MAGIC:
            raise ValueError("no ELF file")
        self.data = data
        (start,) = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<HH", data, 58)
        if not count and start:  # more than 65,279
            count = _Section(*struct.unpack_from("<IIQQQQIIQQ", data, start)).size
        self.sections = [
            _Section(*struct.unpack_from("<IIQQQQIIQQ", data, start + i * size))
            for i in range(count)
        ]

    def rows(self, section: _Section, layout: str) -> Iterator[tuple[int, ...]]:
        """Yield the rows of a table: the first fields of each."""
        step = section.entry_size or struct.calcsize(layout)
        for at in range(section.offset, section.offset + section.size - step + 1, step):
            yield struct.unpack_from(layout, self.data, at)

    def of_type(self, kind: int) -> Iterator[_Section]:
        """Yield the sections of a type."""
        return (one for one in self.sections if one.type == kind)

    def image(self, section: _Section) -> bytes:
        """Return the bytes of a section."""
        return self.data[section.offset : section.offset + section.size]


def read_core_dump(path: Path) -> CoreDump | None:
    """Return what a core dump says; None: it is not such a file, or damaged."""
    try:
        return _read(_Elf(path.read_bytes()))
    except (OSError, ValueError, struct.error, LookupError):
        return None


def _read(dump: _Elf) -> CoreDump:
    entries = {
        grid[0]: grid[3] for table in dump.of_type(_GRID_TABLE) for grid in dump.rows(table, "<4Q")
    }
    failed, counter = _failed_grids(dump)
    wanted = {entries[grid] for grid in failed if grid in entries} or set(entries.values())
    names = {name for name, address in _functions(dump) if address in wanted}
    return CoreDump(kernel=names.pop() if len(names) == 1 else None, program_counter=counter)


def _failed_grids(dump: _Elf) -> tuple[set[int], int | None]:
    """Return the ids of the grids with a warp that failed, and the address of one's instruction."""
    grids: set[int] = set()
    counter: int | None = None
    for warps in dump.of_type(_WARP_TABLE):
        for error, *_, is_valid in dump.rows(warps, "<Q5I"):
            if not is_valid:
                continue
            counter = counter or error
            blocks = list(dump.rows(dump.sections[warps.link], "<Q"))
            grids.add(blocks[warps.info][0])
    for processors in dump.of_type(_SM_TABLE):
        if processors.entry_size < 24:  # before driver 555
            continue
        for *_, is_valid, error in dump.rows(processors, "<4IQ"):
            counter = counter or (error if is_valid else None)
    return grids, counter


def _functions(dump: _Elf) -> Iterator[tuple[str, int]]:
    """Yield the functions of the loaded modules: name and address on the GPU."""
    for section in dump.of_type(_RELOCATED_IMAGE):
        image = _Elf(dump.image(section))
        for table in image.of_type(_SYMBOL_TABLE):
            names = image.image(image.sections[table.link])
            for name, info, _, index, value, _ in image.rows(table, "<IBBHQQ"):
                if info & 0xF != _FUNCTION or index >= len(image.sections):
                    continue
                text = names[name : names.index(b"\0", name)].decode(errors="replace")
                yield text, value
                yield text, value + image.sections[index].address
