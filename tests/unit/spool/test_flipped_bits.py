"""Spools of a real GPU with flipped bits: whatever can be read of them becomes a recording."""

from __future__ import annotations

import random
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzzing.spools import write_reduced_spool
from golden_spools import FOLDER, SUFFIX

from gviz.recording.reader import Recording
from gviz.spool.processes.left_over import fold_left_over

_NAMES = ("cupy_pipeline", "decode_step")


@pytest.fixture(scope="module", params=_NAMES)
def reduced(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A spool with the first records of each kind, so that every bit means something."""
    folder = tmp_path_factory.mktemp("golden")
    with tarfile.open(FOLDER / f"{request.param}{SUFFIX}") as archive:
        archive.extractall(folder, filter="data")
    (segment,) = folder.rglob("000000.segment")
    return write_reduced_spool(segment.parent, folder / "reduced.gviz-spool")


def _fold_changed(spool: Path, folder: Path, dice: random.Random, flips: int) -> None:
    copy = folder / "x.gviz-spool"
    shutil.copytree(spool, copy)
    segment = copy / "000000.segment"
    data = bytearray(segment.read_bytes())
    # The segment's own header says what follows at all.
    for _ in range(flips):
        data[dice.randrange(64, len(data))] ^= 1 << dice.randrange(8)
    segment.write_bytes(data)
    with Recording(fold_left_over(copy)) as recording:
        assert len(recording.fetch_runs()) == 1
    (folder / "x.gviz").unlink()


@pytest.mark.parametrize(("flips", "times"), [(1, 40), (5, 10)])
def test_spool_with_flipped_bits_becomes_a_recording(
    reduced: Path, tmp_path: Path, flips: int, times: int
) -> None:
    dice = random.Random(24)
    for _ in range(times):
        _fold_changed(reduced, tmp_path, dice, flips)


def test_command_recovers_a_spool_and_says_what_was_lost(
    reduced: Path, tmp_path: Path, gviz_here: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    copy, output = tmp_path / "x.gviz-spool", tmp_path / "other.gviz"
    shutil.copytree(reduced, copy)
    segment = copy / "000000.segment"
    data = bytearray(segment.read_bytes())
    # Some of it hits no text, which any bytes can be.
    for at in range(1_000, len(data.rstrip(bytes(1))), 5_000):
        data[at : at + 64] = b"\xff" * 64
    segment.write_bytes(data)
    done = gviz_here("recover", copy, "-o", output)
    assert done.returncode == 3, done.stderr
    assert "unreadable" in done.stderr
    assert f"wrote {output}" in done.stderr
    assert not (tmp_path / "x.gviz").exists()
    with Recording(output) as recording:
        assert len(recording.fetch_runs()) == 1
    assert gviz_here("recover", copy).returncode == 1
