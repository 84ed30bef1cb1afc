"""Removal of spools, and of crumbs that others have left in the memory of the machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gviz.spool.processes import removal
from gviz.spool.records import CRUMBS_BYTES, CRUMBS_FILE

_NO_PROCESS = 1 << 22  # above the largest id (man 5 proc, pid_max)
_HERE = os.readlink("/proc/self/ns/pid")
_TWO_DAYS_S = 2 * 24 * 3600


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of the machine's memory."""
    folder = tmp_path / "memory"
    folder.mkdir()
    monkeypatch.setattr(removal, "_IN_MEMORY", folder)
    monkeypatch.delenv("GVIZ_KEEP_SPOOL", raising=False)
    return folder


@pytest.fixture
def spool(tmp_path: Path, memory: Path) -> Path:
    """A spool whose crumbs are in memory."""
    made = tmp_path / "x.gviz-spool"
    made.mkdir()
    (made / CRUMBS_FILE).symlink_to(leave(memory, made))
    return made


def leave(
    memory: Path,
    spool: Path,
    process_id: int = _NO_PROCESS,
    space: str = _HERE,
    age_s: float = _TWO_DAYS_S,
) -> Path:
    """Leave the crumbs of a process, as the native library does."""
    file = memory / f"gviz-crumbs-{process_id}-{len(list(memory.iterdir()))}"
    origin = f"{space}\n{spool / CRUMBS_FILE}".encode().ljust(4096, b"\0")
    file.write_bytes(bytes(CRUMBS_BYTES) + origin)
    os.utime(file, (time.time() - age_s,) * 2)
    return file


@pytest.mark.parametrize("keep_folders", [False, True])
def test_crumbs_in_memory_go_with_their_spool(
    spool: Path, memory: Path, monkeypatch: pytest.MonkeyPatch, keep_folders: bool
) -> None:
    (spool / "child").mkdir()
    monkeypatch.setenv("GVIZ_KEEP_SPOOL", "1")
    removal.remove_spool(spool, keep_folders=keep_folders)
    assert (spool / CRUMBS_FILE).exists()
    monkeypatch.delenv("GVIZ_KEEP_SPOOL")
    removal.remove_spool(spool, keep_folders=keep_folders)
    assert list(memory.iterdir()) == []
    assert (spool / "child").exists() == keep_folders
    assert not (spool / CRUMBS_FILE).is_symlink()


def test_link_to_another_file_removes_the_link_alone(spool: Path, tmp_path: Path) -> None:
    other = tmp_path / "gviz-crumbs-1-1"
    other.touch()
    (spool / CRUMBS_FILE).unlink()
    (spool / CRUMBS_FILE).symlink_to(other)
    removal.remove_spool(spool)
    assert other.exists()


def test_crumbs_of_a_deleted_spool_go_with_the_next(
    spool: Path, memory: Path, tmp_path: Path
) -> None:
    left = leave(memory, tmp_path / "deleted.gviz-spool")
    removal.remove_spool(spool)
    assert not left.exists()


def _of_this_process(memory: Path, gone: Path) -> Path:
    left = leave(memory, gone, os.getpid())
    return left.rename(left.with_name(f"gviz-crumbs-{os.getpid()}-0"))  # 0: any start


@pytest.mark.parametrize(
    "make",
    [
        lambda memory, gone: leave(memory, gone.parent / "there.gviz-spool"),
        _of_this_process,
        lambda memory, gone: leave(memory, gone, space="pid:[1]"),
        lambda memory, gone: leave(memory, gone, age_s=60),
        lambda memory, gone: leave(memory, gone).rename(memory / "gviz-crumbs-of-others"),
    ],
    ids=["spool there", "process runs", "elsewhere", "of today", "other name"],
)
def test_crumbs_that_somebody_may_want_stay(
    spool: Path, memory: Path, tmp_path: Path, make: Callable[[Path, Path], Path]
) -> None:
    there = tmp_path / "there.gviz-spool"
    there.mkdir()
    (there / CRUMBS_FILE).symlink_to("anything")
    left = make(memory, tmp_path / "deleted.gviz-spool")
    removal.remove_spool(spool)
    assert left.exists()
