"""A command that writes a file: stopped when nobody waits for it, or it takes too long."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gviz.app.server import writer
from gviz.app.server.writer import run_writer
from gviz.errors import RecordingError


def sleeper(pid: Path) -> list[str]:
    """A command that would take a minute, and notes that it has begun."""
    code = "import os, pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))"
    return [sys.executable, "-c", f"{code}; time.sleep(60)", str(pid)]


def is_running(pid: Path) -> bool:
    try:
        os.kill(int(pid.read_text()), 0)
    except ProcessLookupError:
        return False
    return True


def test_command_is_stopped_once_nobody_waits(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    with pytest.raises(RecordingError, match="the page that wanted the file is gone"):
        run_writer(sleeper(pid), lambda: pid.exists() and pid.read_text() != "")
    assert not is_running(pid)


def test_command_that_takes_too_long_is_stopped_with_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MOST_SECONDS", 0.0)
    with pytest.raises(RecordingError, match=r"not written in 0 minutes: .*gviz export --html"):
        run_writer(sleeper(tmp_path / "pid"), lambda: False)


def test_turn_is_waited_for_no_longer_than_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MOST_SECONDS", 0.0)
    with writer._ONE_AT_A_TIME, pytest.raises(RecordingError, match="not written in 0 minutes"):
        run_writer([sys.executable, "-c", "raise SystemExit"], lambda: False)


def test_sentence_of_the_command_is_passed_on() -> None:
    code = "import sys; sys.exit('other words\\ngviz: there is no graph 7')"
    with pytest.raises(RecordingError, match=r"^there is no graph 7$"):
        run_writer([sys.executable, "-c", code], lambda: False)
    with pytest.raises(RecordingError, match="the file could not be written"):
        run_writer([sys.executable, "-c", "raise SystemExit(1)"], lambda: False)
