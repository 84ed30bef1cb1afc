"""Preloading of the gate: LD_PRELOAD for a program, if the dynamic linker can take it quietly."""

from __future__ import annotations

import os
import shutil
import struct
import sys
from pathlib import Path

from gviz.dataclass import dataclass

#: These end the program unless they are loaded before all others.
SANITIZERS = ("libasan.so", "libtsan.so")
_ELF = b"\x7fELF"
_LITTLE_64 = b"\x02\x01"
_DYNAMIC_SEGMENT, _LOADED_SEGMENT = 2, 1
_NEEDED, _STRING_TABLE = 1, 5


@dataclass(frozen=True, slots=True)
class Preloading:
    """LD_PRELOAD of a program that is to have the gate, or why it has none.

    Attributes
    ----------
    variable
        LD_PRELOAD of the program; None: it stays as it is.
    obstacle
        Why the gate is left out; None where it is not.
    """

    variable: str | None
    obstacle: str | None


def plan_preloading(gate: Path | None, program: str, given: str | None) -> Preloading:
    """Return how a program gets the gate.

    The dynamic linker complains on the program's stderr about what it cannot load: what would
    make it complain is found here instead.

    Parameters
    ----------
    gate
        The gate; None where it was not built.
    program
        The program as it is started: a path, or a name on PATH.
    given
        LD_PRELOAD as the user set it: it stays in front.
    """
    if gate is None:
        return Preloading(None, "it was not built")
    if not os.access(gate, os.R_OK):
        return Preloading(None, f"{gate} cannot be read")
    if set(str(gate)) & set(" :$"):
        return Preloading(None, f"{gate} has a character that LD_PRELOAD cannot hold")
    ours = read_machine(gate)
    if ours is None:
        return Preloading(None, f"{gate} is no 64-bit library")
    file = Path(shutil.which(program) or program)
    theirs = read_machine(file) if _is_elf(file) else read_machine(Path(sys.executable))
    if theirs != ours:
        return Preloading(None, f"{gate} is of another architecture than {file}")
    first = [name for name in read_needed(file) if name.startswith(SANITIZERS)]
    entries = [*first, *filter(None, [given]), str(gate)]
    return Preloading(":".join(entries), None)


def _is_elf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == _ELF
    except OSError:
        return False


def read_machine(path: Path) -> int | None:
    """Return an ELF file's machine, or None where it is not a 64-bit little-endian ELF file."""
    try:
        with path.open("rb") as file:
            head = file.read(20)
    except OSError:
        return None
    if len(head) < 20 or head[:6] != _ELF + _LITTLE_64:
        return None
    (machine,) = struct.unpack_from("<H", head, 18)
    return int(machine)


def read_needed(path: Path) -> list[str]:
    """Return the libraries that a program is linked with; none for scripts and damaged files."""
    if read_machine(path) is None:
        return []
    try:
        return _needed(path.read_bytes())
    except (OSError, struct.error, ValueError):
        return []


def _needed(data: bytes) -> list[str]:
    """Return DT_NEEDED of a 64-bit ELF file.

    Raises
    ------
    struct.error, ValueError
        If offsets in it lead outside.
    """
    (headers_at,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQ", data, headers_at + size * i) for i in range(count)]
    tags: list[tuple[int, int]] = []
    for kind, _, offset, _, _, length in segments:
        if kind == _DYNAMIC_SEGMENT:
            tags = list(struct.iter_unpack("<QQ", data[offset : offset + length // 16 * 16]))
    table = next((value for tag, value in tags if tag == _STRING_TABLE), None)
    for kind, _, offset, address, _, length in segments:
        if table is not None and kind == _LOADED_SEGMENT and 0 <= table - address < length:
            start = offset + table - address
            return [_text_at(data, start + value) for tag, value in tags if tag == _NEEDED]
    return []


def _text_at(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode(errors="replace")
