"""Layouts: one declaration for Python, numpy and C."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from gviz.spool.records.format import RecordType
from gviz.spool.records.structure import U8, U32, U64, Char8, Layout, Tail, Text, U32x3
from gviz.spool.records.table import ENUMS, LAYOUTS, PARTS, TEXTS

ROOT = Path(__file__).resolve().parents[4]
ALL = [*PARTS, *LAYOUTS.values()]


class Mixed(NamedTuple):
    """Fields that C pads: 7 bytes after the first, 4 after the last."""

    kind: U8
    time_ns: U64
    grid: U32x3
    text: Text = ""


class Named(NamedTuple):
    """A name of fixed size."""

    name: Char8
    value: U32


class Open(NamedTuple):
    """Something else follows."""

    size: U32
    rest: Annotated[bytes, Tail()] = b""


MIXED = Layout(Mixed)


def test_fields_stand_where_c_puts_them() -> None:
    assert [(field.name, field.offset) for field in MIXED.fields] == [
        ("kind", 0), ("time_ns", 8), ("grid", 16),
    ]  # fmt: skip
    assert MIXED.size == 32


def test_packed_record_is_unpacked_by_python_and_by_numpy() -> None:
    payload = MIXED.pack(3, 7, (1, 2, 3), "naïve")
    assert MIXED.unpack(payload) == Mixed(3, 7, (1, 2, 3), "naïve")
    (read,) = np.frombuffer(payload, MIXED.dtype, 1)
    assert (read["kind"], read["time_ns"], read["grid"].tolist()) == (3, 7, [1, 2, 3])


def test_text_that_is_no_utf8_is_replaced() -> None:
    assert MIXED.unpack(MIXED.pack(0, 0, (0, 0, 0)) + b"a\xff").text == "a�"


def test_tail_that_is_no_text_is_left_to_the_reader() -> None:
    layout = Layout(Open)
    assert layout.pack(2, b"ab") == b"\2\0\0\0ab"
    assert layout.unpack(b"\2\0\0\0ab") == Open(2)


def test_bytes_of_fixed_size_are_filled_with_zeros() -> None:
    payload = Layout(Named).pack(b"ab", 5)
    assert payload == b"ab\0\0\0\0\0\0\5\0\0\0"
    assert Layout(Named).unpack(payload) == Named(b"ab\0\0\0\0\0\0", 5)


@pytest.mark.parametrize("payload", [b"", bytes(11), bytes(13)], ids=len)
def test_payload_of_another_size_is_refused(payload: bytes) -> None:
    with pytest.raises(struct.error):
        Layout(Named).unpack(payload)


def test_structure_inside_a_buffer_is_read_at_its_offset() -> None:
    payload = bytes(5) + Layout(Named).pack(b"x", 9) + bytes(5)
    assert Layout(Named).unpack_from(payload, 5).value == 9


def test_every_type_of_record_is_a_structure_or_a_text() -> None:
    assert LAYOUTS.keys() | TEXTS.keys() == set(RecordType)
    assert not LAYOUTS.keys() & TEXTS.keys()


@pytest.mark.parametrize("layout", ALL, ids=lambda layout: layout.record.__name__)
def test_numpy_reads_what_python_reads(layout: Layout[Any]) -> None:
    payload = os.urandom(layout.size)
    record = layout.unpack_from(payload)
    (read,) = np.frombuffer(payload, layout.dtype, 1)
    for field in layout.fields:
        value = read[field.name]
        expected = getattr(record, field.name)
        if isinstance(expected, bytes):
            assert bytes(value) == expected.rstrip(b"\0")
        else:
            assert np.array_equal(value, expected)


def check_c(tmp_path: Path, lines: list[str]) -> None:
    """Compile lines that include the header; every assertion in them holds."""
    source = tmp_path / "checked.c"
    source.write_text("\n".join(['#include "records/records.h"', *lines]))
    csrc = ROOT / "collectors" / "csrc"
    command = ["cc", "-std=c11", "-fsyntax-only", f"-I{csrc}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("meaning", [*ENUMS, RecordType], ids=lambda meaning: meaning.__name__)
def test_c_compiler_finds_every_number_that_stands_for_a_word(
    tmp_path: Path, meaning: type[IntEnum]
) -> None:
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", meaning.__name__).lower()
    prefix = name.partition("_")[0].upper()
    lines = [f'_Static_assert({prefix}_{one.name} == {one.value}, "");' for one in meaning]
    check_c(tmp_path, [f"enum {name} declared;", *lines])


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_c_compiler_finds_every_field_at_its_offset(tmp_path: Path) -> None:
    lines = []
    for layout in ALL:
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", layout.record.__name__).lower()
        lines += [
            f"_Static_assert(offsetof(struct {name}, {f.name}) == {f.offset} &&"
            f" sizeof(((struct {name} *)0)->{f.name}) == {f.end - f.offset}, \"{f.name}\");"
            for f in layout.fields
        ]  # fmt: skip
        lines.append(f'_Static_assert(sizeof(struct {name}) == {layout.size}, "{name}");')
    check_c(tmp_path, lines)
