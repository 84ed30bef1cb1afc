"""Files packed with gzip or not: the same bytes in whatever pieces, and errors where they are."""

from __future__ import annotations

import gzip
import random
import threading
from pathlib import Path

import pytest

from gviz.errors import ImportingError
from gviz.formats.kineto import source_file
from gviz.formats.kineto.source_file import SourceFile

CONTENT = random.Random(1).randbytes(300_001) + bytes(200_000)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_file, "_UNPACKED_BYTES", 70_000)


def read_all(path: Path, count: int) -> bytes:
    """Return what a file holds, asked for so many bytes at a time."""
    with SourceFile(path) as source:
        pieces = list(iter(lambda: source.read(count), b""))
        assert source.read(count) == b""
        assert source.share == 1.0
    assert max(map(len, pieces)) <= count
    return b"".join(pieces)


def drain(source: SourceFile) -> None:
    """Read to the end."""
    while source.read(65_536):
        pass


@pytest.mark.parametrize("count", [1_000, 69_999, 70_000, 70_001, 10**6])
@pytest.mark.parametrize("members", [0, 1, 2])
def test_the_same_bytes_come_out_in_pieces_of_any_size(
    tmp_path: Path, members: int, count: int
) -> None:
    path = tmp_path / "trace"
    half = len(CONTENT) // 2
    path.write_bytes(
        [
            CONTENT,
            gzip.compress(CONTENT),
            gzip.compress(CONTENT[:half]) + gzip.compress(CONTENT[half:]),
        ][members]
    )
    assert read_all(path, count) == CONTENT


def test_a_file_cut_off_ends_in_an_error_each_time_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "trace.gz"
    path.write_bytes(gzip.compress(CONTENT)[:-9])
    with SourceFile(path) as source:
        for _ in range(2):
            with pytest.raises(EOFError):
                drain(source)


def test_no_more_comes_out_than_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "trace.gz"
    path.write_bytes(gzip.compress(bytes(10 << 20)))
    with (
        SourceFile(path, most_bytes=1 << 20) as source,
        pytest.raises(ImportingError, match="unpacks to more than 1 MiB"),
    ):
        drain(source)


def test_the_thread_that_unpacks_ends_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "trace.gz"
    path.write_bytes(gzip.compress(CONTENT))
    before = threading.active_count()
    with SourceFile(path) as source:
        assert source.read(10) == CONTENT[:10]
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
