"""Contents that are kept beside a recording: their names, and their elements as NumPy has them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from gviz.cuda import ElementType
from gviz.errors import RecordingError
from gviz.recording import (
    contents_folder,
    contents_name,
    forget_contents,
    keep_contents,
    load_contents,
)


def kept(folder: Path, element: ElementType, raw: bytes) -> Path:
    """Keep contents as a watched process leaves them; return their file."""
    name = contents_name(-1, len(raw), 0x7F08, element)
    (folder / f"{name}.contents").write_bytes(raw)
    recording = folder / "x.gviz"
    keep_contents(folder, recording)
    return contents_folder(recording) / f"{name}.npy"


def test_name_tells_contents_from_others() -> None:
    name = contents_name(-1, 24, 0x7F0C, ElementType.HALF)
    assert name == "ffffffffffffffff-24-4-10"


@pytest.mark.parametrize(
    ("element", "raw", "expected"),
    [
        (ElementType.FLOAT, np.array([1.5, np.nan], "<f4").tobytes(), [1.5, np.nan]),
        (ElementType.HALF, np.array([0.25, -np.inf], "<f2").tobytes(), [0.25, -np.inf]),
        (ElementType.INT64, np.array([2**53 + 1], "<i8").tobytes(), [2**53 + 1]),
        (ElementType.BOOL, b"\1\0", [True, False]),
        # The bits of bfloat16 are the upper half of a float's.
        (ElementType.BFLOAT16, b"\x80\x3f\xc0\x7f\x40\xc0", [1.0, np.nan, -3.0]),
        # OCP 8-bit floating point: e4m3 has 448 at most, 2^-9 at least, and nothing infinite.
        (ElementType.FP8_E4M3, b"\x7e\x01\x7f\xb8", [448.0, 2**-9, np.nan, -1.0]),
        (ElementType.FP8_E5M2, b"\x7b\x01\x7c\xbc", [57344.0, 2**-16, np.inf, -1.0]),
        (ElementType.BYTES, b"abc", [97, 98, 99]),
        # A range that ends within an element.
        (ElementType.FLOAT, b"\0\0\x80\x3f\1", [0, 0, 0x80, 0x3F, 1]),
        (ElementType.BFLOAT16, b"\x80\x3f\1", [0x80, 0x3F, 1]),
    ],
)  # fmt: skip
def test_elements_are_those_that_memory_held(
    tmp_path: Path, element: ElementType, raw: bytes, expected: list[float]
) -> None:
    np.testing.assert_array_equal(load_contents(kept(tmp_path, element, raw)), expected)


def test_only_the_owner_may_read_them(tmp_path: Path) -> None:
    file = kept(tmp_path, ElementType.FLOAT, bytes(8))
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert list(file.parent.iterdir()) == [file]


def test_without_contents_there_is_no_folder(tmp_path: Path) -> None:
    keep_contents(tmp_path, tmp_path / "x.gviz")
    assert not contents_folder(tmp_path / "x.gviz").exists()


def test_files_of_others_in_a_spool_are_left_alone(tmp_path: Path) -> None:
    for name in ("mine.contents", "0123456789abcdef-8-0-99.contents"):
        (tmp_path / name).write_bytes(bytes(8))
    file = kept(tmp_path, ElementType.FLOAT, bytes(8))
    assert list(file.parent.iterdir()) == [file]


def test_damaged_contents_are_refused(tmp_path: Path) -> None:
    file = kept(tmp_path, ElementType.FLOAT, bytes(8))
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(RecordingError, match="cannot read the contents"):
        load_contents(file)
    np.save(file, np.zeros(2))
    with pytest.raises(RecordingError, match="holds float64, not float; record it anew"):
        load_contents(file)
    other = file.with_name("mine.npy")
    np.save(other, np.zeros(2))
    with pytest.raises(RecordingError, match="cannot read the contents"):
        load_contents(other)


def test_pipe_and_a_false_size_are_refused(tmp_path: Path) -> None:
    file = kept(tmp_path, ElementType.FLOAT, bytes(8))
    header = {"descr": "<f4", "fortran_order": False, "shape": (1 << 50,)}
    with file.open("wb") as claiming:
        np.lib.format.write_array_header_1_0(claiming, header)
    with pytest.raises(RecordingError, match="cannot read the contents"):
        load_contents(file)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(RecordingError, match="it is a pipe"):
        load_contents(file)


def test_only_what_is_gvizs_goes_when_the_recording_is_written_anew(tmp_path: Path) -> None:
    file = kept(tmp_path, ElementType.FLOAT, bytes(8))
    forget_contents(tmp_path / "x.gviz")
    assert not file.parent.exists()
    file = kept(tmp_path, ElementType.FLOAT, bytes(8))
    mine = file.with_name("notes.txt")
    mine.touch()
    forget_contents(tmp_path / "x.gviz")
    assert list(file.parent.iterdir()) == [mine]
