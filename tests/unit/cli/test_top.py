"""``gviz top``: a program that runs, looked at again and again until it ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

from live_spool import NODES, LiveProgram

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]


def _row(lines: IO[str], launches: int) -> list[str]:
    """Return the graph's next row that has so many launches; waits for it."""
    seen = []
    for line in lines:
        seen.append(line)
        words = line.split()
        if words[:1] == ["1"] and str(launches) in words:
            return words
    raise AssertionError(seen)


def test_launches_are_counted_as_they_come_until_the_program_ends(tmp_path: Path) -> None:
    program = LiveProgram(tmp_path / "live.gviz")
    program.instantiate()
    program.launch(5)
    command = [sys.executable, "-P", "-m", "gviz", "top", "--every", "0.1"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as top:
        assert top.stdout is not None
        row = _row(top.stdout, 5)
        assert str(NODES) in row
        assert "0" in row, "nothing was launched between the two looks"
        program.launch(10)
        row = _row(top.stdout, 15)
        program.end()
        assert top.stdout.read().endswith(
            "gviz: live.gviz is recorded no more; 'gviz info' says what is in it\n"
        )
    assert top.returncode == 0


def test_once_prints_one_screen(gviz: Gviz, tmp_path: Path) -> None:
    program = LiveProgram(tmp_path / "live.gviz")
    program.instantiate()
    program.launch(5)
    done = gviz("top", tmp_path / "live.gviz", "--once", "--every", "0.1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("live.gviz, recorded now; rates over the last ")
    assert "\x1b" not in done.stdout
    assert done.stdout.count("A second") == 1


def test_nothing_that_is_recorded_is_a_sentence(
    gviz_here: Gviz, tmp_path: Path, small_recording: Path
) -> None:
    done = gviz_here("top", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothing is being recorded here; start 'gviz run PROGRAM'" in done.stderr
    done = gviz_here("top", small_recording)
    assert "is not being recorded; 'gviz info" in done.stderr
